//! What instructions do to memory.

use rustc_hash::FxHashMap;

use super::event::{Access, Event, Operation};
use super::reader::{BaseKind, Reader};
use super::state::{State, Value};
use super::why::Cause;
use crate::ptx::flow::{callee, recursive};
use crate::ptx::syntax::{Base, Operand, PtxInstruction, StateSpace};
use crate::ptx::value::{Atom, AtomId, Cond, Poly, WhyId};

/// Addresses that one instruction may choose between.
const CHOICES: usize = 32;

/// Instructions with an address that touch no array of the kernel: hints, barriers, descriptions of memory.
const HARMLESS: [&str; 14] = [
    "prefetch",
    "prefetchu",
    "discard",
    "applypriority",
    "isspacep",
    "createpolicy",
    "fence",
    "membar",
    "mbarrier",
    "bar",
    "barrier",
    "mov",
    "cvta",
    "call",
];

/// Most of all other instructions: none of these has anything to do with memory.
const COMPUTES: [&str; 13] =
    ["add", "mad", "fma", "mul", "mov", "setp", "cvt", "shl", "and", "sub", "bra", "selp", "or"];

impl Reader<'_> {
    /// Notes what an instruction does to memory.
    pub(super) fn touch(&mut self, i: usize, state: &State, cond: &Cond, events: &mut Vec<Event>) {
        if !self.recording {
            return;
        }
        let instruction = self.instruction(i);
        let operands = &instruction.operands;
        if COMPUTES.contains(&instruction.name.as_str()) {
            return;
        }
        let space = instruction.modifiers.iter().find_map(|m| StateSpace::named(m));
        if matches!(space, Some(StateSpace::Param)) {
            return;
        }
        // What is done, the operand with the address, and the one whose parts say how wide it is.
        let plain = match instruction.name.as_str() {
            "ld" | "ldu" => Some((Operation::Load, 1, 0)),
            "st" => Some((Operation::Store, 0, 1)),
            "atom" => Some((Operation::Atomic, 1, 0)),
            "red" => Some((Operation::Atomic, 0, 1)),
            _ => None,
        };
        if let Some((operation, address, data)) = plain {
            let (address, width) = (operands.get(address), width(instruction, data));
            if width == 0 && space != Some(StateSpace::Const) {
                let cause = Cause::NotRead("it names no type of what is moved: is the file whole?");
                return self.lost(i, operation, space, cause, cond, events);
            }
            return self.access(i, operation, space, address, width, state, cond, events);
        }
        match instruction.name.as_str() {
            "cp" => self.copy(i, state, cond, events),
            "ldmatrix" | "stmatrix" => self.matrix(i, state, cond, events),
            "bar" | "barrier" if !instruction.has("warp") && !instruction.has("arrive") => {
                events.push(Event::Sync);
            }
            "call" => self.call(i, instruction, cond, events),
            "tex" | "tld4" | "suld" | "sust" | "sured" => {
                self.lost(
                    i,
                    Operation::Load,
                    space,
                    Cause::NotRead("textures and surfaces are not read"),
                    cond,
                    events,
                );
            }
            "wmma" if instruction.has("load") || instruction.has("store") => {
                self.fragment(i, state, cond, events);
            }
            "wgmma" if instruction.has("mma_async") => {
                let note = "`wgmma` loads matrices from shared memory by itself: these loads are left out";
                self.heeded.notes.insert(note.to_owned());
            }
            name if HARMLESS.contains(&name) => {}
            _ if operands.iter().any(|o| matches!(o, Operand::Address(..) | Operand::Brackets(_))) => {
                let cause = Cause::NotRead("what this instruction does to memory is not read");
                self.lost(i, Operation::Load, space, cause, cond, events);
            }
            _ => {}
        }
    }

    pub(super) fn lost(
        &mut self,
        i: usize,
        operation: Operation,
        space: Option<StateSpace>,
        cause: Cause,
        cond: &Cond,
        events: &mut Vec<Event>,
    ) {
        let why = self.why(i, cause, None);
        let space = space.unwrap_or(StateSpace::Global);
        let (place, cond) = (Err(why), cond.clone());
        events.push(Event::Access(Access { instruction: i, operation, space, place, width: 0, cond }));
    }

    #[expect(clippy::too_many_arguments, reason = "an access has that many sides")]
    pub(super) fn access(
        &mut self,
        i: usize,
        operation: Operation,
        space: Option<StateSpace>,
        operand: Option<&Operand>,
        width: u64,
        state: &State,
        cond: &Cond,
        events: &mut Vec<Event>,
    ) {
        if operation == Operation::Load
            && let Some((start, somewhere)) = operand.and_then(|operand| self.table_place(i, operand, state))
        {
            let cond = Cond::and(cond.clone(), somewhere);
            return self.reached(i, operation, space, Ok(start), width, &cond, events);
        }
        let address = match operand {
            Some(operand) => self.address(i, operand, state),
            None => Err(self.why(i, Cause::Instruction, None)),
        };
        self.reached(i, operation, space, address, width, cond, events);
    }

    /// Notes an access at this address.
    #[expect(clippy::too_many_arguments, reason = "an access has that many sides")]
    pub(super) fn reached(
        &mut self,
        i: usize,
        operation: Operation,
        space: Option<StateSpace>,
        address: Result<Poly, WhyId>,
        width: u64,
        cond: &Cond,
        events: &mut Vec<Event>,
    ) {
        // Constants come from a cache of their own, which the model leaves out.
        if space == Some(StateSpace::Const) {
            return;
        }
        let mut todo = vec![(address, cond.clone())];
        let mut done = 0;
        while let Some((address, cond)) = todo.pop() {
            self.know(&cond);
            let chosen = address.as_ref().ok().and_then(|p| self.choice(p));
            if let (Ok(address), Some((id, which, a, b))) = (&address, chosen) {
                done += 1;
                if done < CHOICES {
                    for (value, when) in [(b, which.clone().not()), (a, which)] {
                        self.know(&cond);
                        let cond = Cond::and(cond.clone(), self.algebra.decided(when));
                        if cond == Cond::False {
                            continue;
                        }
                        self.know(&cond);
                        let mut with = FxHashMap::from_iter([(id, value)]);
                        let place = self.algebra.replace(address, &mut with);
                        let place = match place {
                            Some(place) => Ok(place),
                            None => Err(self.why(i, Cause::Formula, None)),
                        };
                        todo.push((place, cond));
                    }
                    continue;
                }
            }
            let place = address.and_then(|p| {
                if done < CHOICES { self.place(i, p) } else { Err(self.why(i, Cause::Choice, None)) }
            });
            let place = place.or_else(|why| self.assumed(i).ok_or(why));
            let space = match &place {
                Ok((base, _)) => match &self.bases[*base as usize] {
                    BaseKind::Param(..) => StateSpace::Global,
                    BaseKind::Variable(space, _) => *space,
                },
                Err(_) => space.unwrap_or(StateSpace::Global),
            };
            let access = Access { instruction: i, operation, space, place, width, cond };
            match space {
                StateSpace::Const => {}
                StateSpace::Local => self.local(&access, events),
                _ => events.push(Event::Access(access)),
            }
        }
        self.know(cond);
    }

    /// The first choice that a formula depends on: its atom, and what it chooses from.
    pub fn choice(&self, p: &Poly) -> Option<(AtomId, Cond, Poly, Poly)> {
        p.terms.iter().find_map(|(id, _)| match self.algebra.atom(*id) {
            Atom::Select(cond, a, b) => Some((*id, cond.clone(), a.clone(), b.clone())),
            Atom::Div(q, _) | Atom::Odd(q) => self.choice(q),
            Atom::Min(a, b) | Atom::Max(a, b) | Atom::Bits(_, a, b, _) => {
                self.choice(a).or_else(|| self.choice(b))
            }
            Atom::Product(all) => all.iter().find_map(|f| self.choice(&Poly::atom(*f))),
            _ => None,
        })
    }

    /// The same of a condition.
    pub(super) fn choice_in(&self, cond: &Cond) -> Option<(AtomId, Cond, Poly, Poly)> {
        match cond {
            Cond::Ge(p) | Cond::Eq(p) | Cond::Ne(p) => self.choice(p),
            Cond::Raw(raw) => self.choice(&raw.a).or_else(|| self.choice(&raw.b)),
            Cond::And(all) | Cond::Or(all) => all.iter().find_map(|one| self.choice_in(one)),
            Cond::True | Cond::False | Cond::Data(..) => None,
        }
    }

    /// The array that an address is in, and how far from its beginning.
    fn place(&mut self, i: usize, address: Poly) -> Result<(u32, Poly), WhyId> {
        let simple = if self.algebra.mentions(&address, &|a| {
            matches!(a, Atom::Div(..) | Atom::Odd(_) | Atom::Min(..) | Atom::Max(..))
        }) {
            self.algebra.replace(&address, &mut FxHashMap::default())
        } else {
            Some(address)
        };
        let Some(mut address) = simple else { return Err(self.why(i, Cause::Formula, None)) };
        let base = (0..).zip(&address.terms).find_map(|(at, (id, times))| match self.algebra.atom(*id) {
            Atom::Base(base, _) => Some((at, *base, *times)),
            _ => None,
        });
        let Some((at, base, 1)) = base else {
            let argument = self.argument_in(&address);
            let from = argument.map(|argument| self.why(i, Cause::Argument(argument), None));
            return Err(self.why(i, Cause::NoArray, from));
        };
        address.terms.remove(at);
        let rest = address;
        if self.algebra.mentions(&rest, &|atom| matches!(atom, Atom::Base(..))) {
            let argument = self.argument_in(&rest);
            let from = argument.map(|argument| self.why(i, Cause::Argument(argument), None));
            return Err(self.why(i, Cause::Arrays, from));
        }
        let (low, high) = self.algebra.interval(&rest);
        if low < -(1 << 62) || high > 1 << 62 {
            return Err(self.why(i, Cause::Formula, None));
        }
        Ok((base, rest))
    }

    pub(super) fn address(&mut self, i: usize, operand: &Operand, state: &State) -> Result<Poly, WhyId> {
        let start = match operand {
            Operand::Address(Base::Register(id), offset) => match state.get(*id) {
                Value::Int(p) => p.add_number((*offset).into()),
                Value::Unknown(why) => return Err(*why),
                Value::Truth(_) => return Err(self.why(i, Cause::Instruction, None)),
            },
            Operand::Address(Base::Symbol(name), offset) => match self.variable(name) {
                Some(start) => start.add_number((*offset).into()),
                None => return Err(self.why(i, Cause::NoArray, None)),
            },
            Operand::Address(Base::Nothing, _) => return Err(self.why(i, Cause::NoArray, None)),
            _ => return Err(self.why(i, Cause::Instruction, None)),
        };
        start.ok_or_else(|| self.why(i, Cause::Formula, None))
    }

    /// Why the address of a load is not known, for the reason why its value is not.
    pub(super) fn address_reason(operand: &Operand, state: &State) -> Option<WhyId> {
        match operand {
            Operand::Address(Base::Register(id), _) => match state.get(*id) {
                Value::Unknown(why) => Some(*why),
                _ => None,
            },
            _ => None,
        }
    }

    /// A call that is left: of a function without a body, by an address, or of one that calls itself.
    fn call(&mut self, i: usize, instruction: &PtxInstruction, cond: &Cond, events: &mut Vec<Event>) {
        let cause = match callee(instruction) {
            None => Cause::CallByAddress,
            Some(name) if self.module.function(name).is_none() => {
                self.outside.insert(i, name.to_owned());
                return;
            }
            Some(name) if recursive(self.module, name) => Cause::Recursion(name.to_owned()),
            Some(name) => Cause::Call(name.to_owned()),
        };
        self.lost(i, Operation::Load, Some(StateSpace::Global), cause, cond, events);
    }
}

/// What an instruction does that moves registers from memory or to it, and its operand with the address: in a load it
/// stands behind the registers, in a store before them.
pub(super) fn moved(instruction: &PtxInstruction, load: bool) -> (Operation, Option<&Operand>) {
    let operation = if load { Operation::Load } else { Operation::Store };
    (operation, instruction.operands.get(usize::from(load)))
}

/// Bytes that an instruction touches: those of its type, times the components of the vector at this operand.
fn width(instruction: &PtxInstruction, operand: usize) -> u64 {
    let components = match instruction.operands.get(operand) {
        Some(Operand::Vector(all)) => all.len() as u64,
        _ => 1,
    };
    instruction.ty().map_or(0, crate::ptx::syntax::Type::bytes) * components
}
