//! Which registers hold something that is still needed.

use super::blocks::{Block, Graph};
use crate::ptx::syntax::{Base, Function, Operand, PtxInstruction, RegisterId};

/// A set of registers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::ptx) struct RegisterSet(Vec<u64>);

impl RegisterSet {
    pub fn new(registers: usize) -> Self {
        Self(vec![0; registers.div_ceil(64)])
    }

    /// Puts a register in; whether it was not there.
    pub fn insert(&mut self, id: RegisterId) -> bool {
        let new = !self.contains(id);
        self.0[id.0 as usize / 64] |= 1 << (id.0 % 64);
        new
    }

    /// Takes a register out; whether it was there.
    pub fn remove(&mut self, id: RegisterId) -> bool {
        let there = self.contains(id);
        self.0[id.0 as usize / 64] &= !(1 << (id.0 % 64));
        there
    }

    pub fn contains(&self, id: RegisterId) -> bool {
        self.0[id.0 as usize / 64] >> (id.0 % 64) & 1 == 1
    }

    pub fn iter(&self) -> impl Iterator<Item = RegisterId> {
        (0_u32..).zip(&self.0).flat_map(|(word, bits)| {
            // The lowest bit goes with each step.
            std::iter::successors(Some(*bits), |bits| Some(bits & bits.wrapping_sub(1)))
                .take_while(|bits| *bits != 0)
                .map(move |bits| RegisterId(word * 64 + bits.trailing_zeros()))
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
fn has_result(instruction: &PtxInstruction) -> bool {
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

fn registers(operand: &Operand, visit: &mut dyn FnMut(RegisterId)) {
    match operand {
        Operand::Register(id) | Operand::Component(id, _) | Operand::Address(Base::Register(id), _) => {
            visit(*id);
        }
        Operand::Vector(all) | Operand::List(all) | Operand::Brackets(all) => {
            for operand in all {
                registers(operand, visit);
            }
        }
        Operand::Pair(a, b) => {
            registers(a, visit);
            registers(b, visit);
        }
        Operand::Not(inner) => registers(inner, visit),
        _ => {}
    }
}

/// The first operand, where the instruction writes to it.
fn result(instruction: &PtxInstruction) -> Option<&Operand> {
    let first = instruction.operands.first()?;
    let written = !matches!(first, Operand::Address(..) | Operand::Brackets(_)) && has_result(instruction);
    written.then_some(first)
}

/// The register that an instruction writes, if it writes this one alone and as a whole.
pub(in crate::ptx) fn writes_one(instruction: &PtxInstruction) -> Option<RegisterId> {
    match result(instruction) {
        Some(Operand::Register(id)) => Some(*id),
        _ => None,
    }
}

/// The registers that an instruction writes.
pub(in crate::ptx) fn writes(instruction: &PtxInstruction) -> Vec<RegisterId> {
    let mut written = Vec::new();
    each_written(instruction, &mut |id| written.push(id));
    written
}

/// The same one after the other, which is quicker.
pub(in crate::ptx) fn each_written(instruction: &PtxInstruction, visit: &mut dyn FnMut(RegisterId)) {
    if let Some(result) = result(instruction) {
        registers(result, visit);
    }
}

/// The registers that an instruction needs.
pub(super) fn reads(instruction: &PtxInstruction) -> Vec<RegisterId> {
    let mut read = Vec::new();
    let mut wrote = false;
    each_written(instruction, &mut |_| wrote = true);
    each_read(instruction, wrote, &mut |id| read.push(id));
    read
}

/// The registers that an instruction needs, of which it is known whether it writes any.
fn each_read(instruction: &PtxInstruction, wrote: bool, visit: &mut dyn FnMut(RegisterId)) {
    instruction.guard.iter().for_each(|guard| visit(guard.register));
    for operand in instruction.operands.iter().skip(usize::from(wrote)) {
        registers(operand, visit);
    }
}

/// Goes back over one instruction: `set` is called with each register that it sets whatever was there, `needs` with each
/// that it needs.
fn step<L>(
    live: &mut L,
    instruction: &PtxInstruction,
    set: fn(&mut L, RegisterId),
    needs: fn(&mut L, RegisterId),
) {
    let mut wrote = false;
    each_written(instruction, &mut |id| {
        wrote = true;
        // A guarded instruction may leave what was there.
        if instruction.guard.is_none() { set(live, id) } else { needs(live, id) }
    });
    each_read(instruction, wrote, &mut |id| needs(live, id));
}

/// The registers that each block needs from those before it.
pub(in crate::ptx) fn live_at_start(function: &Function, graph: &Graph) -> Vec<RegisterSet> {
    let empty = RegisterSet::new(function.registers.len());
    // A block hands on what it needs itself, and of what is needed behind it what it does not set: what is left of
    // nothing and of everything.
    let full = RegisterSet(vec![u64::MAX; empty.0.len()]);
    let through = |block: &Block| {
        let mut both = [empty.clone(), full.clone()];
        for i in block.instructions.clone().rev() {
            step(
                &mut both,
                &function.instructions[i],
                |both, id| both.iter_mut().for_each(|live| _ = live.remove(id)),
                |both, id| both.iter_mut().for_each(|live| _ = live.insert(id)),
            );
        }
        let [own, left] = both;
        (own, left)
    };
    let (mut at_start, left): (Vec<RegisterSet>, Vec<RegisterSet>) = graph.blocks.iter().map(through).unzip();
    loop {
        let mut changed = false;
        for (number, block) in graph.blocks.iter().enumerate().rev() {
            let mut live = empty.clone();
            for next in &block.next {
                live.join(&at_start[*next]);
            }
            live.0.iter_mut().zip(&left[number].0).for_each(|(live, left)| *live &= left);
            changed |= at_start[number].join(&live);
        }
        if !changed {
            return at_start;
        }
    }
}

/// The most 32-bit registers that hold something at once. Predicates have registers of their own.
pub(in crate::ptx) fn most_alive(function: &Function, graph: &Graph, at_start: &[RegisterSet]) -> u32 {
    /// Registers that hold something, and of how many words they are.
    struct Alive<'f> {
        function: &'f Function,
        live: RegisterSet,
        words: u32,
    }
    impl Alive<'_> {
        fn words(&self, id: RegisterId) -> u32 {
            let ty = self.function.register(id).ty;
            if ty.kind == 'p' { 0 } else { ty.bits.div_ceil(32) }
        }
    }
    let mut most = 0;
    for block in &graph.blocks {
        let mut live = RegisterSet::new(function.registers.len());
        for next in &block.next {
            live.join(&at_start[*next]);
        }
        let mut alive = Alive { function, live, words: 0 };
        alive.words = alive.live.iter().map(|id| alive.words(id)).sum();
        most = most.max(alive.words);
        for i in block.instructions.clone().rev() {
            step(
                &mut alive,
                &function.instructions[i],
                |alive, id| {
                    if alive.live.remove(id) {
                        alive.words -= alive.words(id);
                    }
                },
                |alive, id| {
                    if alive.live.insert(id) {
                        alive.words += alive.words(id);
                    }
                },
            );
            most = most.max(alive.words);
        }
    }
    most
}
