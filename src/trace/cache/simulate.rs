//! One L1 cache and the blocks of its core (C 6.4), in the order of C 5.3.3.

use std::collections::VecDeque;

use super::array::{Cache, CacheShape, WritePolicy};
use super::statistics::{Classifier, Miss, Statistics};
use crate::trace::coalesce::{Request, Requests};
use crate::trace::model::{Kind, Trace};
use crate::trace::schedule::{Assignment, assign};

/// Which blocks a core runs, and how many at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter {
    /// Cores that share the blocks.
    pub cores: u32,
    /// Which of them is simulated.
    pub core: u32,
    /// How blocks are chosen.
    pub assignment: Assignment,
    /// Blocks that run at a time; others enter as these end, which C lacks. All without it.
    pub max_groups: Option<u32>,
}

/// What is simulated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulationConfig {
    /// The cache.
    pub cache: CacheShape,
    /// The blocks.
    pub filter: Filter,
}

/// Sends the requests of a core's blocks through a cache. `visit` sees every request that reads, with the
/// access it stands for and whether it missed.
pub fn simulate(
    all: &Requests,
    config: &SimulationConfig,
    visit: &mut dyn FnMut(u32, Request, bool),
) -> Statistics {
    let blocks = all.warps.last().map_or(0, |w| w.block as usize + 1);
    let Filter { cores, core, assignment, max_groups } = config.filter;
    let mut waiting: VecDeque<usize> = assign(blocks, cores as usize, core as usize, assignment).into();
    let most = max_groups.map_or(usize::MAX, |m| m.max(1) as usize);
    let mut simulation = Simulation::new(config.cache.clone());
    let mut active: Vec<Block> = Vec::new();
    loop {
        while active.len() < most
            && let Some(block) = waiting.pop_front()
        {
            active.push(Block::new(all, block));
        }
        if active.is_empty() {
            return simulation.statistics;
        }
        // Warp 0 of each block, then warp 1 of each, and so on; each does one instruction.
        for warp in 0..all.warps_per_block {
            for block in &mut active {
                let Some((access, requests)) = block.step(all, warp) else { continue };
                for &request in requests {
                    let missed = simulation.request(all.lines[request.line as usize], request);
                    if request.kind == Kind::Load {
                        visit(access, request, missed);
                    }
                }
            }
        }
        for block in &mut active {
            block.open(all);
        }
        active.retain(|b| !b.is_done(all));
    }
}

/// Sends accesses in a given order through a cache, each on its own (C 5.2).
pub fn simulate_order(trace: &Trace, order: &[u32], blocks: &[usize], cache: &CacheShape) -> Statistics {
    let mut chosen = vec![false; trace.blocks()];
    for &block in blocks {
        if let Some(chosen) = chosen.get_mut(block) {
            *chosen = true;
        }
    }
    let mut simulation = Simulation::new(cache.clone());
    let size = trace.block_threads();
    let shift = cache.line.max(1).ilog2();
    for &position in order {
        let Some(access) = trace.accesses().get(position as usize) else { continue };
        if access.kind == Kind::Barrier || !chosen[access.thread as usize / size] {
            continue;
        }
        let last = access.address.saturating_add(u64::from(access.bytes.max(1)) - 1);
        for line in access.address >> shift..=last >> shift {
            let request = Request { line: 0, lane: 0, kind: access.kind, sectors: u8::MAX };
            simulation.request(line, request);
        }
    }
    simulation.statistics
}

struct Simulation {
    cache: Cache,
    classifier: Classifier,
    statistics: Statistics,
}

impl Simulation {
    fn new(shape: CacheShape) -> Self {
        let classifier = Classifier::new(shape.lines());
        Self { cache: Cache::new(shape), classifier, statistics: Statistics::default() }
    }

    /// A request; whether it misses. Lines are whole here: they have one sector.
    fn request(&mut self, line: u64, request: Request) -> bool {
        let statistics = &mut self.statistics;
        let found = match request.kind {
            Kind::Barrier => return false,
            Kind::Load => {
                let found = self.cache.read(line, 1);
                let why = self.classifier.used(line);
                statistics.reads += 1;
                statistics.read_misses += u64::from(!found.hit);
                if !found.hit {
                    match why {
                        Miss::Cold => statistics.cold += 1,
                        Miss::Capacity => statistics.capacity += 1,
                        Miss::Conflict => statistics.conflict += 1,
                    }
                }
                found
            }
            // Atomics are done beyond the L1 cache.
            Kind::Store | Kind::Atomic => {
                let found = self.cache.write(line, 1);
                statistics.writes += 1;
                statistics.write_misses += u64::from(!found.hit);
                if found.hit || self.cache.shape().write == WritePolicy::BackAllocate {
                    self.classifier.used(line);
                }
                found
            }
        };
        statistics.write_backs += u64::from(found.dirty != 0);
        !found.hit
    }
}

/// A block that runs.
struct Block {
    number: usize,
    /// Next step of each warp.
    next: Vec<usize>,
    waits: Vec<bool>,
}

impl Block {
    fn new(all: &Requests, number: usize) -> Self {
        let from = number * all.warps_per_block;
        let next = all.warps[from..from + all.warps_per_block].iter().map(|w| w.steps.start).collect();
        Self { number, next, waits: vec![false; all.warps_per_block] }
    }

    /// The next instruction of a warp: its first access and its requests.
    fn step<'r>(&mut self, all: &'r Requests, warp: usize) -> Option<(u32, &'r [Request])> {
        let of = &all.warps[self.number * all.warps_per_block + warp];
        let at = self.next[warp];
        if at >= of.steps.end || self.waits[warp] {
            return None;
        }
        self.next[warp] += 1;
        let step = all.steps[at];
        self.waits[warp] = step.barrier;
        Some((step.access, all.of_step(of, at)))
    }

    fn has_more(&self, all: &Requests, warp: usize) -> bool {
        self.next[warp] < all.warps[self.number * all.warps_per_block + warp].steps.end
    }

    /// Opens a barrier that all warps have reached which are not done.
    fn open(&mut self, all: &Requests) {
        let held = (0..self.next.len()).any(|w| !self.waits[w] && self.has_more(all, w));
        if !held {
            self.waits.fill(false);
        }
    }

    fn is_done(&self, all: &Requests) -> bool {
        (0..self.next.len()).all(|w| !self.has_more(all, w))
    }
}
