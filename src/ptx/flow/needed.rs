//! Which instructions matter for what a loop does with registers from one iteration to the next.

use super::blocks::Graph;
use super::live::{RegisterSet, each_written, reads};
use super::loops::Loops;
use crate::ptx::syntax::{Function, RegisterId};

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
            each_written(&function.instructions[i], &mut |id| changed.insert(id));
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
    for own in &loops.all {
        let outside = |block: &&usize| own.blocks.binary_search(block).is_err();
        let behind = own.blocks.iter().flat_map(|b| graph.blocks[*b].next.iter().filter(outside));
        for block in behind.chain([&own.header]) {
            live[*block].iter().for_each(|id| wanted.insert(id));
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
