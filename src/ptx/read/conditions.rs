//! Predicates: what comparisons and logic make of registers.

use super::reader::Reader;
use super::state::{State, Value};
use super::why::Cause;
use crate::ptx::syntax::{Operand, PtxInstruction, Type};
use crate::ptx::value::{Atom, Cond, Raw, Rel};

impl Reader<'_> {
    /// `setp`; `second` is its other result.
    pub(super) fn comparison(
        &mut self,
        i: usize,
        instruction: &PtxInstruction,
        state: &State,
        second: bool,
    ) -> Value {
        let cond = self.compared(i, instruction, state);
        let cond = if second { cond.not() } else { cond };
        let other = match instruction.operands.get(3) {
            Some(other) => self.truth(i, other, state),
            None => return Value::Truth(cond),
        };
        let joined = match instruction.modifiers.iter().find(|m| matches!(m.as_str(), "and" | "or" | "xor")) {
            Some(word) => combined(word, cond, other),
            None => return self.unknown(i, Cause::Instruction, None),
        };
        Value::Truth(self.algebra.decided(joined))
    }

    fn compared(&mut self, i: usize, instruction: &PtxInstruction, state: &State) -> Cond {
        let ty = instruction.ty().unwrap_or(Type { kind: 'f', bits: 32 });
        let word = instruction.modifiers.first().map_or("", String::as_str);
        if ty.kind == 'f'
            && let Some(holds) = self.small_angle(instruction)
        {
            return if holds { Cond::True } else { Cond::False };
        }
        let rel = match word {
            "eq" => Rel::Eq,
            "ne" => Rel::Ne,
            "lt" | "lo" => Rel::Lt,
            "le" | "ls" => Rel::Le,
            "gt" | "hi" => Rel::Gt,
            "ge" | "hs" => Rel::Ge,
            _ => return Cond::Data(self.why(i, Cause::Float, None), true),
        };
        let signed = ty.kind == 's' && !matches!(word, "lo" | "ls" | "hi" | "hs");
        if ty.kind == 'f' {
            let [_, a, b, ..] = &instruction.operands[..] else {
                return Cond::Data(self.why(i, Cause::Instruction, None), true);
            };
            let from = [a, b].into_iter().find_map(|o| self.number(i, o, state).err());
            return Cond::Data(self.why(i, Cause::Float, from), true);
        }
        let [_, a, b, ..] = &instruction.operands[..] else {
            return Cond::Data(self.why(i, Cause::Instruction, None), true);
        };
        let (a, b) = match (self.number(i, a, state), self.number(i, b, state)) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(why), _) | (_, Err(why)) => return Cond::Data(self.why(i, Cause::Through, Some(why)), true),
        };
        // No array lies at address 0.
        if let ([(atom, 1)], Some(0), Rel::Eq | Rel::Ne) = (&a.terms[..], b.number(), rel)
            && matches!(self.algebra.atom(*atom), Atom::Base(..))
        {
            return if rel == Rel::Eq { Cond::False } else { Cond::True };
        }
        let raw = Raw { rel, signed, width: ty.bits, a, b };
        match self.algebra.compare(raw, true) {
            Some(cond) => cond,
            None => Cond::Data(self.why(i, Cause::Formula, None), true),
        }
    }

    fn truth(&mut self, i: usize, operand: &Operand, state: &State) -> Cond {
        match operand {
            Operand::Register(id) => match state.get(*id) {
                Value::Truth(cond) => cond.clone(),
                Value::Unknown(why) => Cond::Data(*why, true),
                Value::Int(_) => Cond::Data(self.why(i, Cause::Instruction, None), true),
            },
            Operand::Not(inner) => self.truth(i, inner, state).not(),
            Operand::Integer(value) => {
                if *value == 0 {
                    Cond::False
                } else {
                    Cond::True
                }
            }
            _ => Cond::Data(self.why(i, Cause::Instruction, None), true),
        }
    }

    pub(super) fn logic(
        &mut self,
        i: usize,
        instruction: &PtxInstruction,
        operands: &[Operand],
        state: &State,
    ) -> Cond {
        let Some(first) = operands.first() else {
            return Cond::Data(self.why(i, Cause::Instruction, None), true);
        };
        let a = self.truth(i, first, state);
        let cond = match (instruction.name.as_str(), operands.get(1)) {
            ("mov", _) => a,
            ("not", _) => a.not(),
            (word, Some(second)) => {
                let b = self.truth(i, second, state);
                combined(word, a, b)
            }
            _ => return Cond::Data(self.why(i, Cause::Instruction, None), true),
        };
        self.algebra.decided(cond)
    }
}

fn combined(word: &str, a: Cond, b: Cond) -> Cond {
    match word {
        "and" => Cond::and(a, b),
        "or" => Cond::or(a, b),
        _ => {
            let (one, other) = (Cond::and(a.clone(), b.clone().not()), Cond::and(a.not(), b));
            Cond::or(one, other)
        }
    }
}
