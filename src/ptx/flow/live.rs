//! Which registers hold something that is still needed.

use super::blocks::Graph;
use crate::ptx::syntax::{Base, Function, Instruction, Operand, RegisterId};

/// A set of registers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::ptx) struct RegisterSet(Vec<u64>);

impl RegisterSet {
    pub fn new(registers: usize) -> Self {
        Self(vec![0; registers.div_ceil(64)])
    }

    pub fn insert(&mut self, id: RegisterId) {
        self.0[id.0 as usize / 64] |= 1 << (id.0 % 64);
    }

    pub fn remove(&mut self, id: RegisterId) {
        self.0[id.0 as usize / 64] &= !(1 << (id.0 % 64));
    }

    pub fn contains(&self, id: RegisterId) -> bool {
        self.0[id.0 as usize / 64] >> (id.0 % 64) & 1 == 1
    }

    pub fn iter(&self) -> impl Iterator<Item = RegisterId> {
        (0_u32..).zip(&self.0).flat_map(|(word, bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| RegisterId(word * 64 + bit))
        })
    }

    fn join(&mut self, other: &RegisterSet) -> bool {
        let mut grew = false;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            grew |= *theirs & !*mine != 0;
            *mine |= theirs;
        }
        grew
    }
}

/// Whether the first operand is where the result goes.
fn has_result(instruction: &Instruction) -> bool {
    !matches!(
        instruction.name.as_str(),
        "st" | "red"
            | "bra"
            | "brx"
            | "ret"
            | "exit"
            | "trap"
            | "bar"
            | "barrier"
            | "membar"
            | "fence"
            | "prefetch"
            | "prefetchu"
            | "cp"
            | "sust"
            | "nanosleep"
            | "stmatrix"
            | "stackrestore"
            | "pmevent"
            | "brkpt"
            | "discard"
            | "applypriority"
            | "griddepcontrol"
            | "setmaxnreg"
    )
}

fn registers(operand: &Operand, into: &mut Vec<RegisterId>) {
    match operand {
        Operand::Register(id) | Operand::Component(id, _) | Operand::Address(Base::Register(id), _) => {
            into.push(*id);
        }
        Operand::Vector(all) | Operand::List(all) | Operand::Brackets(all) => {
            for operand in all {
                registers(operand, into);
            }
        }
        Operand::Pair(a, b) => {
            registers(a, into);
            registers(b, into);
        }
        Operand::Not(inner) => registers(inner, into),
        _ => {}
    }
}

/// The registers that an instruction writes.
pub(in crate::ptx) fn writes(instruction: &Instruction) -> Vec<RegisterId> {
    let mut written = Vec::new();
    if has_result(instruction)
        && let Some(first) = instruction.operands.first()
        && !matches!(first, Operand::Address(..) | Operand::Brackets(_))
    {
        registers(first, &mut written);
    }
    written
}

/// The registers that an instruction needs.
pub(super) fn reads(instruction: &Instruction) -> Vec<RegisterId> {
    let mut read: Vec<RegisterId> = instruction.guard.iter().map(|g| g.register).collect();
    let result = !writes(instruction).is_empty();
    for operand in instruction.operands.iter().skip(usize::from(result)) {
        registers(operand, &mut read);
    }
    read
}

/// Goes back over one instruction.
fn step(instruction: &Instruction, live: &mut RegisterSet) {
    // A guarded instruction may leave what was there.
    if instruction.guard.is_none() {
        for id in writes(instruction) {
            live.remove(id);
        }
    }
    for id in reads(instruction) {
        live.insert(id);
    }
    if instruction.guard.is_some() {
        for id in writes(instruction) {
            live.insert(id);
        }
    }
}

/// The registers that each block needs from those before it.
pub(in crate::ptx) fn live_at_start(function: &Function, graph: &Graph) -> Vec<RegisterSet> {
    let empty = RegisterSet::new(function.registers.len());
    let mut at_start = vec![empty.clone(); graph.blocks.len()];
    loop {
        let mut changed = false;
        for (number, block) in graph.blocks.iter().enumerate().rev() {
            let mut live = empty.clone();
            for next in &block.next {
                live.join(&at_start[*next]);
            }
            for i in block.instructions.clone().rev() {
                step(&function.instructions[i], &mut live);
            }
            changed |= at_start[number].join(&live);
        }
        if !changed {
            return at_start;
        }
    }
}

/// The most 32-bit registers that hold something at once. Predicates have registers of their own.
pub(in crate::ptx) fn most_alive(function: &Function, graph: &Graph, at_start: &[RegisterSet]) -> u32 {
    let size = |live: &RegisterSet| -> u32 {
        let words = |id: RegisterId| {
            let ty = function.register(id).ty;
            if ty.kind == 'p' { 0 } else { ty.bits.div_ceil(32) }
        };
        live.iter().map(words).sum()
    };
    let mut most = 0;
    for block in &graph.blocks {
        let mut live = RegisterSet::new(function.registers.len());
        for next in &block.next {
            live.join(&at_start[*next]);
        }
        most = most.max(size(&live));
        for i in block.instructions.clone().rev() {
            step(&function.instructions[i], &mut live);
            most = most.max(size(&live));
        }
    }
    most
}
