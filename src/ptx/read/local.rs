//! Where what a thread has for itself lies in memory.
//!
//! Words of 4 bytes of neighbouring threads lie beside each other: a block has a row of words, one for each thread, for
//! each word of a variable. That blocks use the memory of those that are done is known of fields with `space: private`.

use super::event::{Access, Event};
use super::reader::{BaseKind, Reader};
use super::why::Cause;
use crate::ptx::syntax::{StateSpace, Variable};
use crate::ptx::value::{Cond, Poly, WhyId};

const WORD: i128 = 4;
/// The same as a width.
const WORD_BYTES: u64 = 4;

impl Reader<'_> {
    /// Notes an access to local memory, word by word.
    pub(super) fn local(&mut self, access: &Access, events: &mut Vec<Event>) {
        let (base, offset) = match &access.place {
            Ok(place) => place.clone(),
            Err(why) => match self.own_local(access.instruction, *why) {
                Some((base, cond)) => {
                    let cond = Cond::and(access.cond.clone(), cond);
                    let place = Ok((base, Poly::default()));
                    return self.local(&Access { place, cond, ..access.clone() }, events);
                }
                None => return events.push(Event::Access(access.clone())),
            },
        };
        let width = access.width.min(WORD_BYTES);
        let words = access.width.div_ceil(WORD_BYTES).max(1);
        for word in 0..i128::from(words) {
            let place = offset.add_number(WORD * word).and_then(|offset| self.interleaved(base, &offset));
            let place = match place {
                Some(place) => Ok((base, place)),
                None => Err(self.why(access.instruction, Cause::Formula, None)),
            };
            events.push(Event::Access(Access { place, width, ..access.clone() }));
        }
    }

    /// The only local variable, for accesses of which nobody knows where in it they are.
    fn own_local(&mut self, i: usize, from: WhyId) -> Option<(u32, Cond)> {
        let mut locals = self.function.variables.iter().filter(|v| v.space == StateSpace::Local);
        let (Some(only), None) = (locals.next(), locals.next()) else { return None };
        let kind = BaseKind::Variable(StateSpace::Local, only.name.clone());
        self.base(&kind);
        let base = self.bases.iter().position(|b| *b == kind)?;
        let why = self.why(i, Cause::LocalPlace, Some(from));
        Some((u32::try_from(base).ok()?, Cond::Data(why, true)))
    }

    /// Bytes in the memory of all threads, for bytes in that of one.
    fn interleaved(&mut self, base: u32, offset: &Poly) -> Option<Poly> {
        let variable = self.local_variable(base)?;
        let (row, block) = (self.row(), self.block_bytes(variable));
        let (thread, number) = (self.linear_thread()?, self.linear_block()?);
        let word = self.algebra.div(offset, WORD)?;
        let within = offset.plus(&word, -WORD)?;
        number.scale(block)?.plus(&word, row)?.plus(&thread, WORD)?.add(&within)
    }

    fn local_variable(&self, base: u32) -> Option<&Variable> {
        let BaseKind::Variable(StateSpace::Local, name) = &self.bases[base as usize] else { return None };
        self.function.variable(name).or_else(|| self.module.variable(name))
    }

    /// Bytes of a word of all threads of a block, whole warps of them.
    fn row(&self) -> i128 {
        let threads = self.algebra.launch.block.volume();
        i128::from((threads + 31) / 32 * 32) * WORD
    }

    fn block_bytes(&self, variable: &Variable) -> i128 {
        i128::from(variable.bytes().div_ceil(4)) * self.row()
    }

    /// Bytes of a local variable of all threads; none if that is more than 64 bits can say.
    pub fn local_bytes(&self, variable: &Variable) -> Option<u64> {
        let mut blocks = self.algebra.launch.grid.iter().map(|blocks| i128::from(*blocks));
        let bytes = blocks.try_fold(self.block_bytes(variable), i128::checked_mul)?;
        u64::try_from(bytes).ok()
    }

    /// The thread's number in its block.
    pub(super) fn linear_thread(&mut self) -> Option<Poly> {
        let [x, y, z] = *self.algebra.launch.block;
        let steps = [1, i128::from(x), i128::from(x) * i128::from(y)];
        let many = [x, y, z].map(|n| n > 1);
        (0..3).filter(|d| many[*d]).try_fold(Poly::default(), |sum, d| {
            let place = self.algebra.tid(d);
            sum.plus(&place, steps[d])
        })
    }

    /// The block's number in the grid.
    pub(super) fn linear_block(&mut self) -> Option<Poly> {
        let [x, y, z] = *self.algebra.launch.grid;
        let steps = [1, i128::from(x), i128::from(x) * i128::from(y)];
        let many = [x, y, z].map(|n| n > 1);
        (0..3).filter(|d| many[*d]).try_fold(Poly::default(), |sum, d| {
            let place = self.algebra.ctaid(d);
            sum.plus(&place, steps[d])
        })
    }
}
