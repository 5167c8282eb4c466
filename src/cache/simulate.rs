//! One L1 cache and the blocks of its core (C 6.4), in the order of C 5.3.3.

use std::borrow::Borrow;

use super::array::{CacheShape, SectoredCache, WritePolicy};
use super::statistics::{Classifier, Miss, Statistics};
use crate::trace::coalesce::{LineRequest, Requests};
use crate::trace::schedule::{Assignment, assign};
use crate::trace::{Trace, TraceKind};

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

/// Sees every request that reads: its instruction, its line and whether it missed.
pub type ReadVisit<'v> = dyn FnMut(u32, u64, bool) + 'v;

/// Sends the requests of a core's blocks through a cache.
pub fn simulate(all: &Requests, config: &SimulationConfig, visit: &mut ReadVisit<'_>) -> Statistics {
    let blocks = all.warps.last().map_or(0, |w| w.block as usize + 1);
    let Filter { cores, core, assignment, max_groups } = config.filter;
    let mut window = Window::new(config.cache.clone(), max_groups);
    for block in assign(blocks, cores as usize, core as usize, assignment) {
        window.enter(all, block, visit);
    }
    window.finish(visit)
}

/// The blocks that run at a time on a core, and its cache. Each enters when there is room for it.
#[derive(Debug)]
pub struct Window<R> {
    simulation: Simulation,
    active: Vec<Block<R>>,
    most: usize,
    active_bytes: u64,
}

impl<R: Borrow<Requests>> Window<R> {
    /// An empty one, for so many blocks at a time, or all.
    pub fn new(cache: CacheShape, max_groups: Option<u32>) -> Self {
        let most = max_groups.map_or(usize::MAX, |m| m.max(1) as usize);
        Self { simulation: Simulation::new(cache), active: Vec::new(), most, active_bytes: 0 }
    }

    /// Lets a block enter, after as many instructions of those before it as that needs. It is a block of its
    /// requests.
    pub fn enter(&mut self, requests: R, block: usize, visit: &mut ReadVisit<'_>) {
        while self.active.len() >= self.most {
            self.round(visit);
        }
        let block = Block::new(requests, block);
        self.active_bytes += block.bytes();
        self.active.push(block);
    }

    /// Runs all blocks to their end.
    pub fn finish(mut self, visit: &mut ReadVisit<'_>) -> Statistics {
        while !self.active.is_empty() {
            self.round(visit);
        }
        self.simulation.statistics
    }

    /// About the bytes that the blocks that run take, and the lines seen so far.
    pub fn bytes(&self) -> u64 {
        self.active_bytes + self.simulation.classifier.bytes()
    }

    /// Warp 0 of each block, then warp 1 of each, and so on; each does one instruction.
    fn round(&mut self, visit: &mut ReadVisit<'_>) {
        let warps = self.active.iter().map(|b| b.next.len()).max().unwrap_or(0);
        for warp in 0..warps {
            for block in &mut self.active {
                let Some(at) = block.advance(warp) else { continue };
                let all = block.requests.borrow();
                for &request in all.of_step(&all.warps[block.first + warp], at) {
                    let line = all.lines[request.line as usize];
                    let missed = self.simulation.request(line, request);
                    if request.kind == TraceKind::Load {
                        visit(all.steps[at].instruction, line, missed);
                    }
                }
            }
        }
        self.active.iter_mut().for_each(Block::open);
        let active_bytes = &mut self.active_bytes;
        self.active.retain(|b| {
            let done = b.is_done();
            if done {
                *active_bytes -= b.bytes();
            }
            !done
        });
    }
}

/// Sends accesses in a given order through a cache, each on its own (C 5.2).
pub fn simulate_order(trace: &Trace, order: &[u32], blocks: &[usize], cache: &CacheShape) -> Statistics {
    let mut chosen = vec![false; trace.blocks()];
    for &block in blocks {
        chosen[block] = true;
    }
    let mut simulation = Simulation::new(cache.clone());
    let size = trace.block_threads();
    let shift = cache.geometry().line().ilog2();
    for &position in order {
        let access = &trace.accesses()[position as usize];
        if access.kind == TraceKind::Barrier || !chosen[access.thread as usize / size] {
            continue;
        }
        let last = access.address.saturating_add(u64::from(access.bytes.max(1)) - 1);
        for line in access.address >> shift..=last >> shift {
            let request = LineRequest { line: 0, lane: 0, kind: access.kind, sectors: u8::MAX };
            simulation.request(line, request);
        }
    }
    simulation.statistics
}

#[derive(Debug)]
struct Simulation {
    cache: SectoredCache,
    classifier: Classifier,
    statistics: Statistics,
}

impl Simulation {
    fn new(shape: CacheShape) -> Self {
        let classifier = Classifier::new(shape.geometry().lines());
        Self { cache: SectoredCache::new(shape), classifier, statistics: Statistics::default() }
    }

    /// A request; whether it misses. Lines are whole here: they have one sector.
    fn request(&mut self, line: u64, request: LineRequest) -> bool {
        let statistics = &mut self.statistics;
        let found = match request.kind {
            TraceKind::Barrier => return false,
            TraceKind::Load => {
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
            TraceKind::Store | TraceKind::Atomic => {
                let found = self.cache.write(line, 1);
                statistics.writes += 1;
                statistics.write_misses += u64::from(!found.hit);
                if found.hit || self.cache.shape().write() == WritePolicy::BackAllocate {
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
#[derive(Debug)]
struct Block<R> {
    requests: R,
    /// Its first warp.
    first: usize,
    /// Next step of each warp.
    next: Vec<usize>,
    waits: Vec<bool>,
}

impl<R: Borrow<Requests>> Block<R> {
    fn new(requests: R, block: usize) -> Self {
        let all = requests.borrow();
        let (count, first) = (all.warps_per_block, block * all.warps_per_block);
        let next = all.warps[first..first + count].iter().map(|w| w.steps.start).collect();
        Self { waits: vec![false; count], requests, first, next }
    }

    /// About the bytes that it takes, where it has its requests for itself.
    fn bytes(&self) -> u64 {
        self.requests.borrow().bytes()
    }

    /// The next step of a warp, if it can go on.
    fn advance(&mut self, warp: usize) -> Option<usize> {
        if self.waits[warp] || !self.has_more(warp) {
            return None;
        }
        let at = self.next[warp];
        self.next[warp] += 1;
        self.waits[warp] = self.requests.borrow().steps[at].barrier;
        Some(at)
    }

    fn has_more(&self, warp: usize) -> bool {
        self.next[warp] < self.requests.borrow().warps[self.first + warp].steps.end
    }

    /// Lets all warps pass a barrier at which all wait that are not done.
    fn open(&mut self) {
        if !(0..self.next.len()).any(|w| !self.waits[w] && self.has_more(w)) {
            self.waits.fill(false);
        }
    }

    fn is_done(&self) -> bool {
        (0..self.next.len()).all(|w| !self.has_more(w))
    }
}
