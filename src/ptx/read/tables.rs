//! Small tables of constants, where data say which part of them is touched.
//!
//! Functions of mathematical libraries look coefficients up. Where in a table of a few lines of cache a thread looks
//! makes little difference: it is counted at the table's beginning, and the access says so.

use super::reader::{BaseKind, Reader};
use super::state::{State, Value};
use super::why::Cause;
use crate::ptx::syntax::{Base, Operand, PtxInstruction, StateSpace};
use crate::ptx::value::{Atom, Cond, Poly, WhyId};

/// The largest table of which the beginning stands for all of it: 32 lines of 128 bytes.
const LARGEST: u64 = 4096;

impl Reader<'_> {
    /// The result of an instruction of which an operand is not known, for the reason `from`.
    pub(super) fn through(
        &mut self,
        i: usize,
        instruction: &PtxInstruction,
        state: &State,
        from: WhyId,
    ) -> Value {
        let why = self.why(i, Cause::Through, Some(from));
        if let Some(known) = self.table_part(instruction, state) {
            self.tables.insert(why, known);
        }
        Value::Unknown(why)
    }

    /// What is known of a sum: the table that it begins at and the numbers that are added.
    fn table_part(&mut self, instruction: &PtxInstruction, state: &State) -> Option<Poly> {
        let operands = &instruction.operands;
        let summands = match instruction.name.as_str() {
            "add" => operands.get(1..3)?,
            "mad" => operands.get(3..4)?,
            "mov" | "cvta" => operands.get(1..2)?,
            _ => return None,
        };
        let mut sum = Poly::default();
        for operand in summands {
            let known = match operand {
                Operand::Register(id) => match state.get(*id) {
                    Value::Int(p) => Some(p.clone()),
                    Value::Unknown(why) => self.tables.get(why).cloned(),
                    Value::Truth(_) => None,
                },
                Operand::Symbol(name, offset) => self.variable(name)?.add_number((*offset).into()),
                Operand::Integer(number) => Some(Poly::constant((*number).into())),
                _ => None,
            };
            sum = known.map_or(Some(sum.clone()), |known| sum.add(&known))?;
        }
        let bytes = self.table_bytes(&sum)?;
        (bytes <= LARGEST).then_some(sum)
    }

    /// Bytes of the table that an address begins at.
    fn table_bytes(&self, address: &Poly) -> Option<u64> {
        let [(atom, 1)] = address.terms[..] else { return None };
        let Atom::Base(base, _) = self.algebra.atom(atom) else { return None };
        let BaseKind::Variable(StateSpace::Global, name) = &self.bases[*base as usize] else { return None };
        let table = self.module.variable(name)?;
        table.count.map(|_| table.bytes())
    }

    /// Where a load of a table is counted whose address is not known: at its beginning, and a condition that says so.
    pub(super) fn table_place(&mut self, i: usize, operand: &Operand, state: &State) -> Option<(Poly, Cond)> {
        let Operand::Address(Base::Register(id), offset) = operand else { return None };
        let Value::Unknown(from) = state.get(*id) else { return None };
        let line = self.instruction(i).line;
        if self.told.assumed.contains_key(&line) {
            return None;
        }
        let (from, start) = (*from, self.tables.get(from)?.add_number((*offset).into())?);
        let bytes = i128::from(self.table_bytes(&start)?);
        // What the instruction adds may lie behind the end, where the part that is not known is negative.
        let start = if (0..bytes).contains(&start.constant) { start } else { Poly { constant: 0, ..start } };
        let why = self.why(i, Cause::TablePlace, Some(from));
        Some((start, Cond::Data(why, true)))
    }
}
