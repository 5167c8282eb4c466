//! Which instruction comes first in the program, as the threads show it.

use std::cmp::Ordering;

use rustc_hash::FxHashSet;

use crate::trace::model::{NO_INSTRUCTION, Tables, Trace, TraceAccess};

/// The static order of a trace's instructions.
///
/// C 5.3.2 takes it from instruction names, which its instrumentation hands out in program order. Other
/// tracers do not: here an instruction precedes another if a thread does it before, in the same iteration of
/// all loops around both.
#[derive(Debug, Clone)]
pub struct ProgramOrder {
    /// Position of each instruction.
    rank: Vec<u32>,
}

impl ProgramOrder {
    /// The order that the threads of a trace show.
    pub fn new(trace: &Trace) -> Self {
        let mut builder = ProgramOrderBuilder::default();
        for thread in 0..trace.threads() {
            for pair in trace.thread(thread).windows(2) {
                let of = |a: &TraceAccess| (a.instruction, a.iteration);
                builder.follows(&trace.tables, of(&pair[0]), of(&pair[1]));
            }
        }
        builder.finish(trace.tables.instructions().len())
    }

    /// Which of two accesses of threads in lock-step comes first: by the iterations of the loops around
    /// both, outermost first, then by the place in the program (C 5.3.2).
    pub fn compare(&self, tables: &Tables, a: &TraceAccess, b: &TraceAccess) -> Ordering {
        if (a.iteration, a.instruction) == (b.iteration, b.instruction) {
            return Ordering::Equal;
        }
        // An access without an instruction comes after those that have one.
        let rank = |i: u32| self.rank.get(i as usize).copied().unwrap_or(u32::MAX);
        loops(tables, a.iteration, b.iteration)
            .then_with(|| rank(a.instruction).cmp(&rank(b.instruction)))
            // One that is deeper in loops comes before the rest of the surrounding one.
            .then_with(|| tables.pairs(b.iteration).len().cmp(&tables.pairs(a.iteration).len()))
            .then_with(|| tables.pairs(a.iteration).cmp(tables.pairs(b.iteration)))
    }
}

/// Collects what threads show of the order.
#[derive(Debug, Default)]
pub struct ProgramOrderBuilder {
    edges: FxHashSet<(u32, u32)>,
}

impl ProgramOrderBuilder {
    /// A thread does an access, by instruction and iteration, right after another.
    #[inline]
    pub fn follows(&mut self, tables: &Tables, before: (u32, u32), after: (u32, u32)) {
        let known = before.0 != NO_INSTRUCTION && after.0 != NO_INSTRUCTION;
        if known && before.0 != after.0 && loops(tables, before.1, after.1) == Ordering::Equal {
            self.edges.insert((before.0, after.0));
        }
    }

    /// The order of so many instructions.
    pub fn finish(self, count: usize) -> ProgramOrder {
        ProgramOrder { rank: sorted(count, &self.edges) }
    }
}

/// By the iterations of common loops.
fn loops(tables: &Tables, a: u32, b: u32) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    let pairs = tables.pairs(a).iter().zip(tables.pairs(b));
    for (x, y) in pairs.take_while(|(x, y)| x.0 == y.0) {
        let by_iteration = x.1.cmp(&y.1);
        if by_iteration != Ordering::Equal {
            return by_iteration;
        }
    }
    Ordering::Equal
}

/// Positions in an order in which edges lead upwards; of free ones, that met first comes first. What is on
/// a circle, because a trace does not know its loops, comes in the order in which it was met.
fn sorted(count: usize, edges: &FxHashSet<(u32, u32)>) -> Vec<u32> {
    let mut after = vec![Vec::new(); count];
    let mut waits = vec![0_u32; count];
    for &(a, b) in edges {
        after[a as usize].push(b as usize);
        waits[b as usize] += 1;
    }
    let mut rank = vec![u32::MAX; count];
    let mut free: std::collections::BTreeSet<usize> = (0..count).filter(|&i| waits[i] == 0).collect();
    let mut next = 0;
    loop {
        let Some(first) = free.pop_first() else {
            match rank.iter().position(|&r| r == u32::MAX) {
                Some(stuck) => {
                    free.insert(stuck);
                    continue;
                }
                None => return rank,
            }
        };
        rank[first] = next;
        next += 1;
        for &b in &after[first] {
            waits[b] = waits[b].saturating_sub(1);
            if waits[b] == 0 && rank[b] == u32::MAX {
                free.insert(b);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_what_threads_do_whatever_the_names() {
        let edges = [(1, 2), (2, 0)].into_iter().collect();
        assert_eq!(sorted(3, &edges), [2, 0, 1]);
        let circle = [(0, 1), (1, 0), (1, 2)].into_iter().collect();
        assert_eq!(sorted(3, &circle), [0, 1, 2]);
    }
}
