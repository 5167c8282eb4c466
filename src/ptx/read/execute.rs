//! What single instructions do to registers.

use super::arithmetic::{Outcome, arithmetic};
use super::event::Event;
use super::reader::Reader;
use super::state::{State, Value};
use super::why::Cause;
use crate::ptx::flow::{writes, writes_one};
use crate::ptx::syntax::{Operand, PtxInstruction, RegisterId, Special, Type};
use crate::ptx::value::{Atom, Cond, Poly, WhyId};

/// Threads of a warp.
const LANES: i128 = 32;

impl Reader<'_> {
    /// Does an instruction where `cond` holds.
    pub(super) fn execute(&mut self, i: usize, state: &mut State, cond: &Cond, events: &mut Vec<Event>) {
        let instruction = self.instruction(i);
        if matches!(instruction.name.as_str(), "bra" | "brx" | "ret" | "exit" | "trap") {
            return;
        }
        let guard = instruction.guard.map(|guard| self.guard(i, guard, state));
        if guard == Some(Cond::False) {
            return;
        }
        match &guard {
            None => self.touch(i, state, cond, events),
            Some(guard) => {
                let when = Cond::and(cond.clone(), guard.clone());
                if when == Cond::False {
                    return;
                }
                self.touch(i, state, &when, events);
                // What the guard says holds for this instruction alone.
                self.know(cond);
            }
        }
        if let Some(result) = writes_one(instruction) {
            let value = self.result(i, instruction, result, state);
            self.put(i, result, value, guard.as_ref(), state);
            return;
        }
        for (id, value) in self.results(i, instruction, state) {
            self.put(i, id, value, guard.as_ref(), state);
        }
    }

    /// Puts the result of an instruction into a register, where the guard holds. Numbers are for registers of numbers, and
    /// truths for predicates.
    fn put(&mut self, i: usize, id: RegisterId, value: Value, guard: Option<&Cond>, state: &mut State) {
        let predicate = self.function.register(id).ty.kind == 'p';
        let value = match (predicate, value) {
            (true, Value::Int(_)) | (false, Value::Truth(_)) => self.unknown(i, Cause::Instruction, None),
            (_, value) => value,
        };
        let value = match guard {
            None | Some(Cond::True) => value,
            Some(guard) => {
                let old = state.get(id).clone();
                let block = self.graph.blocks.partition_point(|b| b.instructions.start <= i);
                self.either(guard, value, old, block.min(self.graph.blocks.len() - 1))
            }
        };
        state.set(id, value);
    }

    /// What the registers that an instruction writes hold afterwards, where these are several or parts of registers.
    fn results(&mut self, i: usize, instruction: &PtxInstruction, state: &State) -> Vec<(RegisterId, Value)> {
        let written = writes(instruction);
        if instruction.name == "setp"
            && let Some(Operand::Pair(first, second)) = instruction.operands.first()
            && let (Operand::Register(p), Operand::Register(q)) = (&**first, &**second)
        {
            let (yes, no) =
                (self.comparison(i, instruction, state, false), self.comparison(i, instruction, state, true));
            return vec![(*p, yes), (*q, no)];
        }
        if instruction.name == "ld"
            && instruction.has("param")
            && let Some(Operand::Vector(parts)) = instruction.operands.first()
        {
            let parts = (0..).zip(parts).filter_map(|(at, part)| match part {
                Operand::Register(id) => Some((at, *id)),
                _ => None,
            });
            let parts: Vec<(i64, RegisterId)> = parts.collect();
            return parts.into_iter().map(|(at, id)| (id, self.parameter(i, instruction, at))).collect();
        }
        // `mov.b64 {lo, hi}, value`.
        if instruction.name == "mov"
            && let [Operand::Vector(parts), from] = &instruction.operands[..]
            && let Some(ty) = instruction.ty()
        {
            // No type has more bits than it can be cut into; beyond that, each part would have none.
            let bits = u32::try_from(parts.len()).map_or(0, |parts| ty.bits / parts.max(1));
            let whole = self.number(i, from, state);
            let mut out = Vec::new();
            for (part, at) in parts.iter().zip(0_u32..) {
                let Operand::Register(id) = part else { continue };
                let value = whole.as_ref().map_err(|why| *why).map(|p| {
                    let bits = if at == 0 {
                        Some(p.clone())
                    } else {
                        let p = self.algebra.integer(p, ty.bits, false);
                        p.and_then(|p| self.algebra.div(&p, 1 << (bits * at)))
                    };
                    bits.map_or_else(|| self.unknown(i, Cause::Formula, None), Value::Int)
                });
                out.push((*id, value.unwrap_or_else(Value::Unknown)));
            }
            return out;
        }
        let cause = cause(instruction);
        let from = written.first().and(None);
        written.into_iter().map(|id| (id, self.unknown(i, cause.clone(), from))).collect()
    }

    fn result(&mut self, i: usize, instruction: &PtxInstruction, result: RegisterId, state: &State) -> Value {
        let operands = &instruction.operands[1..];
        match instruction.name.as_str() {
            "setp" => return self.comparison(i, instruction, state, false),
            "selp" => {
                let [a, b, Operand::Register(p)] = operands else {
                    return self.unknown(i, Cause::Instruction, None);
                };
                let (a, b) = (self.any(i, a, state), self.any(i, b, state));
                let guard = crate::ptx::syntax::Guard { register: *p, negated: false };
                let cond = self.guard(i, guard, state);
                return match cond {
                    Cond::True => a,
                    Cond::False => b,
                    _ if a != b && self.guessed(&cond) => a,
                    // Of what data choose from, both may be asked for; what grows in loops is left alone.
                    _ if cond.data().is_some() && a != b => match (&a, &b) {
                        (Value::Int(a), Value::Int(b)) if !self.unsolved(a) && !self.unsolved(b) => {
                            Value::Int(self.algebra.make(Atom::Select(cond, a.clone(), b.clone())))
                        }
                        _ => self.unknown(i, Cause::Choice, cond.data()),
                    },
                    _ => self.either(&cond, a, b, 0),
                };
            }
            "ld" if instruction.has("param") => return self.parameter(i, instruction, 0),
            "mov" | "and" | "or" | "xor" | "not" if instruction.has("pred") => {
                return Value::Truth(self.logic(i, instruction, operands, state));
            }
            "ld" | "ldu" | "atom" => {
                let address = operands.first().and_then(|o| Self::address_reason(o, state));
                return self.unknown(i, Cause::Memory, address);
            }
            _ => {}
        }
        let mut args = Vec::new();
        for operand in operands {
            match self.number(i, operand, state) {
                Ok(p) => args.push(p),
                Err(why) => return self.through(i, instruction, state, why),
            }
        }
        let bits = self.function.register(result).ty.bits;
        match arithmetic(&mut self.algebra, instruction, &args, bits) {
            Outcome::Number(p) => Value::Int(p),
            Outcome::NoFormula => {
                let array = args.iter().find_map(|p| self.argument_in(p));
                let from = array.map(|argument| self.why(i, Cause::Argument(argument), None));
                self.unknown(i, Cause::Formula, from)
            }
            Outcome::Float => self.unknown(i, Cause::Float, None),
            Outcome::Other => self.unknown(i, cause(instruction), None),
        }
    }

    /// A parameter of the kernel: its value, or what it points to. `part` counts components of a vector.
    fn parameter(&mut self, i: usize, instruction: &PtxInstruction, part: i64) -> Value {
        let Some(Operand::Address(crate::ptx::syntax::Base::Symbol(name), offset)) =
            instruction.operands.get(1)
        else {
            return self.unknown(i, Cause::Instruction, None);
        };
        let Some(number) = self.function.params.iter().position(|p| p.name == *name) else {
            return self.unknown(i, Cause::Call(name.clone()), None);
        };
        let ty = instruction.ty().unwrap_or(Type { kind: 'b', bits: 64 });
        let at = offset + part * i64::from(ty.bits / 8);
        if let Some(value) = self.arguments.numbers.get(&(number, at)) {
            return Value::Int(Poly::constant(*value));
        }
        if ty.bits == 64 && ty.kind != 'f' {
            let name = &self.function.params[number].name;
            let (name, offset) = match self.arguments.pointers.get(&(number, at)) {
                Some(pointer) => (pointer.name.clone(), pointer.offset),
                None if at == 0 => (name.clone(), 0),
                None => (format!("{name}_{at}"), 0),
            };
            let base = self.base(&super::reader::BaseKind::Param(name, number));
            return base
                .add_number(offset.into())
                .map_or_else(|| self.unknown(i, Cause::Formula, None), Value::Int);
        }
        let cause = if ty.kind == 'f' { Cause::Float } else { Cause::Argument(number) };
        self.unknown(i, cause, None)
    }

    /// The bits of an operand as a number.
    pub(super) fn number(&mut self, i: usize, operand: &Operand, state: &State) -> Result<Poly, WhyId> {
        match self.any(i, operand, state) {
            Value::Int(p) => Ok(p),
            Value::Unknown(why) => Err(why),
            Value::Truth(_) => Err(self.why(i, Cause::Instruction, None)),
        }
    }

    fn any(&mut self, i: usize, operand: &Operand, state: &State) -> Value {
        match operand {
            Operand::Register(id) => state.get(*id).clone(),
            Operand::Integer(value) => Value::Int(Poly::constant((*value).into())),
            Operand::Special(special) => match self.special(*special) {
                Some(p) => Value::Int(p),
                None => self.unknown(i, Cause::Formula, None),
            },
            Operand::Symbol(name, 0) if name == "WARP_SZ" => Value::Int(Poly::constant(LANES)),
            Operand::Symbol(name, offset) => {
                let place = self.variable(name).and_then(|p| p.add_number((*offset).into()));
                place.map_or_else(|| self.unknown(i, Cause::Instruction, None), Value::Int)
            }
            Operand::Vector(parts) => self.packed(i, parts, state),
            Operand::Single(_) | Operand::Double(_) => self.unknown(i, Cause::Float, None),
            Operand::Machine(_) => self.unknown(i, Cause::Lanes, None),
            _ => self.unknown(i, Cause::Instruction, None),
        }
    }

    /// `{lo, hi}` as the bits of one register.
    fn packed(&mut self, i: usize, parts: &[Operand], state: &State) -> Value {
        let (mut sum, mut at) = (Poly::default(), 0);
        for part in parts {
            let Operand::Register(id) = part else { return self.unknown(i, Cause::Instruction, None) };
            let bits = self.function.register(*id).ty.bits;
            let p = match self.number(i, part, state) {
                Ok(p) => p,
                Err(why) => return self.unknown(i, Cause::Through, Some(why)),
            };
            let p = self.algebra.integer(&p, bits, false);
            match p.filter(|_| at < 64).and_then(|p| sum.plus(&p, 1 << at)) {
                Some(p) => sum = p,
                None => return self.unknown(i, Cause::Formula, None),
            }
            at += bits;
        }
        Value::Int(sum)
    }

    fn special(&mut self, special: Special) -> Option<Poly> {
        let launch = self.algebra.launch;
        Some(match special {
            Special::Tid(d) => self.algebra.tid(d.index()),
            Special::Ctaid(d) => self.algebra.ctaid(d.index()),
            Special::Ntid(d) => Poly::constant(launch.block[d.index()].into()),
            Special::Nctaid(d) => Poly::constant(launch.grid[d.index()].into()),
            Special::LaneId => {
                let linear = self.linear_thread()?;
                self.algebra.rem(&linear, 32)?
            }
            Special::WarpId => {
                let linear = self.linear_thread()?;
                self.algebra.div(&linear, 32)?
            }
        })
    }

    /// Whether a formula has something in it that changes in a loop in a way that is not known yet, or a choice: a search
    /// chooses again in each iteration.
    fn unsolved(&self, p: &Poly) -> bool {
        self.algebra.mentions(p, &|atom| matches!(atom, Atom::Phi(..) | Atom::Select(..)))
    }

    /// The parameter that a formula has in it as if it were a number.
    pub(super) fn argument_in(&self, p: &Poly) -> Option<usize> {
        let found = std::cell::Cell::new(None);
        self.algebra.mentions(p, &|atom| {
            if let Atom::Base(number, _) = atom
                && let super::reader::BaseKind::Param(_, argument) = &self.bases[*number as usize]
            {
                found.set(Some(*argument));
            }
            found.get().is_some()
        });
        found.get()
    }
}

/// Why the result of an instruction that gives no formula is not known.
fn cause(instruction: &PtxInstruction) -> Cause {
    let name = instruction.name.as_str();
    let float = instruction.modifiers.iter().filter_map(|m| Type::named(m)).any(|t| t.kind == 'f');
    match name {
        "ld" | "ldu" | "atom" | "ldmatrix" | "tex" | "suld" | "tld4" => Cause::Memory,
        "shfl" | "vote" | "match" | "activemask" | "redux" | "elect" => Cause::Lanes,
        "wmma" | "mma" | "wgmma" => Cause::Float,
        _ if float => Cause::Float,
        _ => Cause::Instruction,
    }
}
