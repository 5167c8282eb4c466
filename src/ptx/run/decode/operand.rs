//! Operands: registers, constants, addresses.

use super::super::code::{List, NOWHERE, Place, Slot, Where};
use super::super::convert::Number;
use super::super::half::{brain, half};
use super::super::layout::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};
use super::super::word::Word;
use super::builder::{Builder, small};
use crate::ptx::syntax::{Base, Operand, PtxInstruction, Special, StateSpace};

/// How many operands an instruction has to have, and which.
pub(super) fn operand(instruction: &PtxInstruction, number: usize) -> Result<&Operand, String> {
    instruction.operands.get(number).ok_or_else(|| format!("`{}` lacks an operand", instruction.full_name()))
}

impl Builder<'_> {
    /// A register that is written.
    pub fn result(&self, operand: &Operand) -> Result<Slot, String> {
        match operand {
            Operand::Register(id) => Ok(self.base + id.0),
            Operand::Nothing => Ok(NOWHERE),
            other => Err(format!("a result is {other:?}")),
        }
    }

    /// A register that is read. `number` says what a constant of the text is: a float of one size in the text may stand
    /// for one of another.
    pub fn value(&mut self, operand: &Operand, number: Option<Number>) -> Result<Slot, String> {
        let bits = match operand {
            Operand::Register(id) => return Ok(self.base + id.0),
            Operand::Special(special) => return Ok(self.special(*special)),
            Operand::Machine(name) => return Ok(self.machine(name)),
            Operand::Integer(value) => match number {
                Some(Number::Double | Number::Single) => float(*value as f64, number),
                _ => value.cast_unsigned(),
            },
            Operand::Single(bits) => match number {
                Some(Number::Double) => f64::from(f32::from_bits(*bits)).to_bits(),
                _ => u64::from(*bits),
            },
            Operand::Double(bits) => float(f64::from_bits(*bits), number),
            Operand::Symbol(name, 0) if name == "WARP_SZ" => 32,
            Operand::Symbol(name, offset) => {
                let symbol = self.symbol(name).ok_or_else(|| format!("`{name}` has no address here"))?;
                symbol.address.wrapping_add_signed(*offset)
            }
            other => return Err(format!("an operand is {other:?}")),
        };
        Ok(self.constant(bits))
    }

    /// A predicate that is read, and whether its contrary is meant.
    pub fn predicate(&mut self, operand: &Operand) -> Result<(Slot, bool), String> {
        match operand {
            Operand::Not(inner) => {
                let (slot, negated) = self.predicate(inner)?;
                Ok((slot, !negated))
            }
            other => Ok((self.value(other, None)?, false)),
        }
    }

    fn special(&mut self, special: Special) -> Slot {
        match special {
            Special::Ntid(dim) => self.constant(u64::from(self.block[dim.index()])),
            Special::Nctaid(dim) => self.constant(u64::from(self.grid[dim.index()])),
            Special::Tid(dim) => self.place(Place::Thread(dim.index())),
            Special::Ctaid(dim) => self.place(Place::Block(dim.index())),
            Special::LaneId => self.place(Place::Lane),
            Special::WarpId => self.place(Place::Warp),
        }
    }

    fn machine(&mut self, name: &str) -> Slot {
        let threads = self.block.iter().map(|&n| u64::from(n)).product::<u64>();
        match name {
            "%nwarpid" => self.constant(threads.div_ceil(32)),
            "%lanemask_eq" => self.place(Place::ThisLane),
            "%lanemask_lt" => self.place(Place::LanesBelow),
            "%lanemask_le" => self.place(Place::LanesUpTo),
            "%lanemask_gt" => self.place(Place::LanesAbove),
            "%lanemask_ge" => self.place(Place::LanesFrom),
            "%gridid" => self.constant(1),
            // Without clusters each block is one.
            "%cluster_ctaid.x" | "%cluster_ctaid.y" | "%cluster_ctaid.z" | "%cluster_ctarank" => {
                self.constant(0)
            }
            "%cluster_nctaid.x" | "%cluster_nctaid.y" | "%cluster_nctaid.z" | "%cluster_nctarank" => {
                self.constant(1)
            }
            "%dynamic_smem_size" => self.constant(self.dynamic_shared),
            "%total_smem_size" => self.constant(self.layout.shared_bytes),
            _ => self.unknown(),
        }
    }

    /// Register and offset of an address in a space; of `None`, any space.
    pub fn address(&mut self, operand: &Operand, space: Where) -> Result<(Slot, i64), String> {
        let Operand::Address(base, offset) = operand else {
            return Err(format!("an address is {operand:?}"));
        };
        match base {
            Base::Register(id) => Ok((self.base + id.0, *offset)),
            Base::Nothing => Ok((self.constant(0), *offset)),
            Base::Symbol(name) => {
                let symbol = self.symbol(name).ok_or_else(|| format!("`{name}` has no address here"))?;
                let window = match (space, symbol.space) {
                    (Where::Generic, StateSpace::Shared) => SHARED_WINDOW,
                    (Where::Generic, StateSpace::Local) => LOCAL_WINDOW,
                    (Where::Generic, StateSpace::Param) => PARAM_WINDOW,
                    _ => 0,
                };
                Ok((self.constant(symbol.address.wrapping_add(window)), *offset))
            }
        }
    }

    /// Several registers behind each other.
    pub fn list(&mut self, slots: &[Slot]) -> List {
        let start = small(self.code.lists.len());
        self.code.lists.extend(slots);
        List { start, count: small(slots.len()) }
    }

    /// One result, or those between braces.
    pub fn results(&mut self, operand: &Operand) -> Result<Vec<Slot>, String> {
        match operand {
            Operand::Vector(parts) => parts.iter().map(|p| self.result(p)).collect(),
            Operand::Pair(a, b) => Ok(vec![self.result(a)?, self.result(b)?]),
            one => Ok(vec![self.result(one)?]),
        }
    }

    /// One value, or those between braces.
    pub fn values(&mut self, operand: &Operand, number: Option<Number>) -> Result<Vec<Slot>, String> {
        match operand {
            Operand::Vector(parts) => parts.iter().map(|p| self.value(p, number)).collect(),
            one => Ok(vec![self.value(one, number)?]),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a constant of the text for a single is the nearest one")]
fn float(value: f64, number: Option<Number>) -> u64 {
    match number {
        Some(Number::Single) => (value as f32).word(),
        Some(Number::Half) => half(value as f32),
        Some(Number::Brain) => brain(value as f32),
        _ => value.to_bits(),
    }
}
