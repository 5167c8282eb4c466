//! Which instructions matter for what a loop does with registers from one iteration to the next.

use super::blocks::Graph;
use super::live::{RegisterSet, each_written, reads};
use super::loops::Loops;
use crate::ptx::syntax::{Function, Operand, PtxInstruction, RegisterId, Type};

/// Registers that a loop writes and that its next iteration needs.
pub(in crate::ptx) fn changed(
    function: &Function,
    graph: &Graph,
    loops: &Loops,
    live: &[RegisterSet],
    l: usize,
) -> Vec<RegisterId> {
    let mut changed = RegisterSet::new(function.registers.len());
    for block in &loops.all[l].blocks {
        for i in graph.blocks[*block].instructions.clone() {
            each_written(&function.instructions[i], &mut |id| _ = changed.insert(id));
        }
    }
    let header = loops.all[l].header;
    changed.iter().filter(|id| live[header].contains(*id)).collect()
}

/// Of each instruction, whether control, the next iteration of a loop or what comes behind a loop depends on it. The
/// others are addresses and values for memory, as a rule: most of an unrolled loop.
pub(in crate::ptx) fn needed(
    function: &Function,
    graph: &Graph,
    loops: &Loops,
    live: &[RegisterSet],
) -> Vec<bool> {
    let all = &function.instructions;
    let mut wanted = RegisterSet::new(function.registers.len());
    let fractions = fractions(function);
    for own in &loops.all {
        let outside = |block: &&usize| own.blocks.binary_search(block).is_err();
        let behind = own.blocks.iter().flat_map(|b| graph.blocks[*b].next.iter().filter(outside));
        for block in behind.chain([&own.header]) {
            // A fraction is not known before, and not known afterwards.
            live[*block].iter().filter(|id| !fractions.contains(*id)).for_each(|id| _ = wanted.insert(id));
        }
    }
    let control = |name: &str| matches!(name, "bra" | "brx" | "ret" | "exit" | "trap");
    for id in all.iter().filter(|i| control(&i.name)).flat_map(reads) {
        wanted.insert(id);
    }
    // Backwards, as most registers are set before they are read; again until nothing is added.
    let mut needed = vec![false; all.len()];
    loop {
        let mut changed = false;
        for (i, instruction) in all.iter().enumerate().rev() {
            if needed[i] {
                continue;
            }
            // Of fractions nothing is known, whatever they are made of or wherever they are loaded from.
            let (mut any, mut fractions) = (false, true);
            each_written(instruction, &mut |id| {
                any |= wanted.contains(id);
                fractions &= function.register(id).ty.kind == 'f';
            });
            if any {
                (needed[i], changed) = (true, true);
                if fractions {
                    if let Some(guard) = &instruction.guard {
                        wanted.insert(guard.register);
                    }
                } else {
                    for id in reads(instruction) {
                        wanted.insert(id);
                    }
                }
            }
        }
        if !changed {
            return needed;
        }
    }
}

/// Registers in which there are never any but fractions, of which nothing is known: what is loaded from memory, and what
/// is computed of fractions. The bits of an integer may be put into a register for fractions too (`mov.b32`).
fn fractions(function: &Function) -> RegisterSet {
    let mut fractions = RegisterSet::new(function.registers.len());
    for (id, register) in (0..).map(RegisterId).zip(&function.registers) {
        if register.ty.kind == 'f' {
            fractions.insert(id);
        }
    }
    // Those that get something else go, and with them those that they are copied into.
    loop {
        let mut changed = false;
        for instruction in &function.instructions {
            let mut gone = |id| {
                if fractions.contains(id) && !gives_fraction(instruction, &fractions) {
                    fractions.remove(id);
                    changed = true;
                }
            };
            each_written(instruction, &mut gone);
        }
        if !changed {
            return fractions;
        }
    }
}

/// Whether nothing is ever known of what an instruction writes, where nothing is known of these registers.
fn gives_fraction(instruction: &PtxInstruction, fractions: &RegisterSet) -> bool {
    let fraction = |operand: &Operand| match operand {
        Operand::Single(_) | Operand::Double(_) => true,
        Operand::Register(id) => fractions.contains(*id),
        _ => false,
    };
    match instruction.name.as_str() {
        "ld" => !instruction.has("param"),
        "mov" => instruction.operands[1..].iter().all(fraction),
        "add" | "sub" | "mul" | "mad" | "fma" | "div" | "min" | "max" | "neg" | "abs" | "cvt" | "rcp"
        | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" => {
            instruction.modifiers.iter().filter_map(|m| Type::named(m)).any(|ty| ty.kind == 'f')
        }
        _ => false,
    }
}
