//! Blocks on cores: in static sets, or one after another.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Counts, Machine};
use crate::parallel;
use crate::trace::coalesce::Requests;
use crate::trace::numbering::number;
use crate::trace::reuse::config::{Batches, ReuseConfig};

/// How many blocks are active on a core (N 3.1); at least one.
fn active_blocks(config: &ReuseConfig, threads_per_block: usize) -> usize {
    let threads = number(threads_per_block.max(1));
    (config.max_threads / threads).min(config.max_blocks).max(1) as usize
}

/// Runs blocks on cores: the counts and final times of each.
pub(in crate::trace::reuse) fn run(
    all: &Requests,
    config: &ReuseConfig,
    sets: &[u32],
    blocks: usize,
    threads_per_block: usize,
) -> Vec<(Counts, u64)> {
    let active = active_blocks(config, threads_per_block);
    let cores = (config.cores.max(1) as usize).min(blocks.max(1));
    let cores: Vec<usize> = (0..cores).collect();
    let machine = |core: usize| Machine::new(all, config, sets, number(core));
    match config.rules.batches {
        // No core waits for another.
        Batches::Static => parallel::map(&cores, |&core| {
            let own: Vec<usize> = (core..blocks).step_by(cores.len()).collect();
            run_sets(machine(core), &own, active)
        }),
        Batches::Refill => {
            let mut machines: Vec<Machine<'_>> = cores.into_iter().map(machine).collect();
            refill(&mut machines, blocks, active);
            machines.into_iter().map(|m| (m.counts, m.now)).collect()
        }
    }
}

/// Runs blocks of a core, so many at a time.
fn run_sets(mut machine: Machine<'_>, own: &[usize], active: usize) -> (Counts, u64) {
    for set in own.chunks(active) {
        for &block in set {
            machine.begin(block);
        }
        while machine.running() > 0 {
            machine.run();
        }
        machine.drop_flights();
    }
    (machine.counts, machine.now)
}

/// Blocks go round until all cores are full; then the core that is done first gets the next one (N 4.1).
fn refill(machines: &mut [Machine<'_>], blocks: usize, active: usize) {
    let mut next = 0;
    for _ in 0..active {
        for machine in machines.iter_mut() {
            if next < blocks {
                machine.begin(next);
                next += 1;
            }
        }
    }
    // A core runs until a block is done; the one that is behind all others goes first, so that blocks are
    // handed out in the order of time.
    let mut waiting: BinaryHeap<Reverse<(u64, usize)>> =
        (0..machines.len()).map(|core| Reverse((0, core))).collect();
    while let Some(Reverse((_, core))) = waiting.pop() {
        let machine = &mut machines[core];
        if machine.now > 0 && next < blocks {
            machine.begin(next);
            next += 1;
        }
        if machine.running() > 0 {
            machine.run();
            waiting.push(Reverse((machine.now, core)));
        }
    }
}
