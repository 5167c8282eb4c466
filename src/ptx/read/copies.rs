//! Instructions that copy without a register between: `cp.async`, bulk copies, rows of matrices.

use rustc_hash::FxHashMap;

use super::event::{Event, Operation};
use super::memory::moved;
use super::reader::Reader;
use super::state::State;
use super::why::Cause;
use crate::ptx::syntax::{Operand, PtxInstruction, StateSpace};
use crate::ptx::value::{Atom, Cond, Poly};

/// Numbers that the length of a copy may choose between.
const LENGTHS: usize = 16;

/// Bytes that one access of a document has at most.
const MOST: u64 = 1 << 20;

/// What of copies is not read, and what to do about it.
const TENSOR: &str = "where the parts of a tensor lie is said by a map that the host makes, and not in the PTX: copy rows \
                      with `cp.async.bulk` or load them";
const MULTICAST: &str = "it copies into the shared memory of several blocks: compile it without clusters";
const REDUCTION: &str = "copies that also add are not read: store or add what threads hold";
const OTHER_BLOCK: &str = "it copies between the shared memories of blocks: compile it without clusters";
const ODD: &str = "its operands are not those of a copy that is read";
const LENGTH: &str = "how many bytes it copies is no number, or beyond 2^20: give its parameters values, or copy parts of \
                      equal size";
const SHAPE: &str = "rows of matrices are read of 8 x 8 elements of 16 bits (`m8n8`, `b16`)";

/// Whether a `cp` only waits for copies, or says that data will be wanted: it touches no array.
pub(in crate::ptx) fn copies_nothing(instruction: &PtxInstruction) -> bool {
    let words = ["commit_group", "wait_group", "wait_all", "mbarrier", "prefetch"];
    words.into_iter().any(|word| instruction.has(word))
}

impl Reader<'_> {
    /// `cp`: copies of a thread, or waiting for them.
    pub(super) fn copy(&mut self, i: usize, state: &State, cond: &Cond, events: &mut Vec<Event>) {
        let instruction = self.instruction(i);
        let has = |word: &str| instruction.has(word);
        if copies_nothing(instruction) {
            return;
        }
        let refused = if has("bulk") {
            self.bulk(i, state, cond, events)
        } else {
            self.few_bytes(i, state, cond, events)
        };
        if let Err(why) = refused {
            self.lost(i, Operation::Load, Some(StateSpace::Global), Cause::NotRead(why), cond, events);
        }
        // What follows is done under the condition of the copy alone, and not where it had a length.
        self.know(cond);
    }

    /// `cp.async`: a load from global memory and a store to shared memory.
    fn few_bytes(
        &mut self,
        i: usize,
        state: &State,
        cond: &Cond,
        events: &mut Vec<Event>,
    ) -> Result<(), &'static str> {
        let instruction = self.instruction(i);
        let [to, from, Operand::Integer(size), rest @ ..] = &instruction.operands[..] else {
            return Err(ODD);
        };
        let size = u64::try_from(*size).map_err(|_| ODD)?;
        // A number of bytes that are really read; the others are zero.
        let hints = usize::from(instruction.has("L2::cache_hint"));
        let read = match rest.first().filter(|_| rest.len() > hints) {
            Some(operand) => self.number(i, operand, state),
            None => Ok(Poly::constant(size.into())),
        };
        let parts = match &read {
            Ok(p) => self.numbers(p, cond, LENGTHS),
            Err(why) => Some(vec![(size.into(), Cond::and(cond.clone(), Cond::Data(*why, true)))]),
        };
        if let Some(parts) = parts.filter(|parts| parts.iter().all(|(n, _)| *n >= 0)) {
            for (bytes, cond) in parts {
                // Not more are read than are copied, however many are asked for.
                let bytes = u64::try_from(bytes).map_or(size, |n| n.min(size));
                if bytes > 0 {
                    let (load, space) = (Operation::Load, Some(StateSpace::Global));
                    self.access(i, load, space, Some(from), bytes, state, &cond, events);
                }
            }
        } else {
            self.lost(i, Operation::Load, Some(StateSpace::Global), Cause::Choice, cond, events);
        }
        self.access(i, Operation::Store, Some(StateSpace::Shared), Some(to), size, state, cond, events);
        Ok(())
    }

    /// `cp.async.bulk` of bytes in a row between global memory and the block's shared memory: one thread asks for them.
    fn bulk(
        &mut self,
        i: usize,
        state: &State,
        cond: &Cond,
        events: &mut Vec<Event>,
    ) -> Result<(), &'static str> {
        let instruction = self.instruction(i);
        for (word, why) in [("tensor", TENSOR), ("multicast::cluster", MULTICAST), ("reduce", REDUCTION)] {
            if instruction.has(word) {
                return Err(why);
            }
        }
        let mut spaces = instruction.modifiers.iter().filter_map(|m| StateSpace::named(m));
        let (to_space, from_space) = match (spaces.next(), spaces.next()) {
            (Some(StateSpace::Shared), Some(StateSpace::Global)) => (StateSpace::Shared, StateSpace::Global),
            (Some(StateSpace::Global), Some(StateSpace::Shared)) => (StateSpace::Global, StateSpace::Shared),
            (Some(StateSpace::Shared), Some(StateSpace::Shared)) => return Err(OTHER_BLOCK),
            _ => return Err(ODD),
        };
        let [to, from, size, ..] = &instruction.operands[..] else { return Err(ODD) };
        let size = self.number(i, size, state).map_err(|_| LENGTH)?;
        let sizes = self.numbers(&size, cond, LENGTHS).ok_or(LENGTH)?;
        let sizes = sizes.into_iter().map(|(n, cond)| {
            let bytes = u64::try_from(n).ok().filter(|n| *n <= MOST)?;
            Some((bytes, cond))
        });
        let sizes: Vec<(u64, Cond)> = sizes.collect::<Option<_>>().ok_or(LENGTH)?;
        for (bytes, cond) in sizes.into_iter().filter(|(bytes, _)| *bytes > 0) {
            self.access(i, Operation::Load, Some(from_space), Some(from), bytes, state, &cond, events);
            self.access(i, Operation::Store, Some(to_space), Some(to), bytes, state, &cond, events);
        }
        Ok(())
    }

    /// The numbers that a formula comes to where a condition holds, each with the condition for it; none where it is no
    /// choice between at most so many.
    fn numbers(&mut self, p: &Poly, cond: &Cond, most: usize) -> Option<Vec<(i128, Cond)>> {
        self.know(cond);
        let (least, greatest) = (-self.algebra.upper(&p.scale(-1)?), self.algebra.upper(p));
        if least == greatest {
            return Some(vec![(least, cond.clone())]);
        }
        let least_of = p.terms.iter().find_map(|(id, _)| match self.algebra.atom(*id) {
            Atom::Min(a, b) => Some((*id, a.clone(), b.clone(), true)),
            Atom::Max(a, b) => Some((*id, a.clone(), b.clone(), false)),
            _ => None,
        });
        let (id, which, a, b) = match least_of {
            Some((id, a, b, least)) => {
                let first = if least { b.sub(&a)? } else { a.sub(&b)? };
                (id, self.algebra.decided(Cond::Ge(first)), a, b)
            }
            None => self.choice(p)?,
        };
        let mut all = Vec::new();
        for (value, when) in [(a, which.clone()), (b, which.not())] {
            let cond = Cond::and(cond.clone(), when);
            if cond == Cond::False {
                continue;
            }
            self.know(&cond);
            let part = self.algebra.replace(p, &mut FxHashMap::from_iter([(id, value)]))?;
            all.extend(self.numbers(&part, &cond, most / 2).filter(|_| most > 1)?);
        }
        Some(all)
    }

    /// `ldmatrix`, `stmatrix`: each of the first lanes says where a row of 16 bytes lies.
    pub(super) fn matrix(&mut self, i: usize, state: &State, cond: &Cond, events: &mut Vec<Event>) {
        let instruction = self.instruction(i);
        let (operation, operand) = moved(instruction, instruction.name == "ldmatrix");
        let lanes = [("x4", 32), ("x2", 16), ("x1", 8)].into_iter().find(|(word, _)| instruction.has(word));
        let lanes = lanes.filter(|_| instruction.has("m8n8") && instruction.has("b16"));
        let lane = self.linear_thread().and_then(|linear| self.algebra.rem(&linear, 32));
        let below = lane.zip(lanes).and_then(|(lane, (_, lanes))| lane.scale(-1)?.add_number(lanes - 1));
        let Some(below) = below else {
            return self.lost(i, operation, Some(StateSpace::Shared), Cause::NotRead(SHAPE), cond, events);
        };
        let chosen = self.algebra.decided(Cond::Ge(below));
        let when = Cond::and(cond.clone(), chosen);
        self.access(i, operation, Some(StateSpace::Shared), operand, 16, state, &when, events);
        self.know(cond);
    }
}
