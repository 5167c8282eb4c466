//! An L1 cache of each SM over a shared L2 cache, sector by sector, driven by blocks in their order.

use std::collections::VecDeque;

use super::array::{Cache, CacheShape};
use crate::trace::coalesce::{Request, Requests};
use crate::trace::model::Kind;

/// The machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HierarchyConfig {
    /// Of each SM.
    pub l1: CacheShape,
    /// Shared.
    pub l2: CacheShape,
    /// SMs.
    pub sms: u32,
    /// Blocks that an SM runs at a time.
    pub blocks_per_sm: u32,
    /// Bytes of a sector.
    pub sector: u64,
}

/// Bytes at each boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LevelVolumes {
    /// Sectors that loads ask the L1 caches for.
    pub l1_load: u64,
    /// Sectors that loads miss in the L1 caches.
    pub l2_load: u64,
    /// Sectors that are written to L2.
    pub l2_store: u64,
    /// Sectors that loads miss in L2.
    pub dram_load: u64,
    /// Sectors written back from L2.
    pub dram_store: u64,
    /// Blocks that have ended.
    pub blocks: u64,
}

impl LevelVolumes {
    /// What came after an earlier state.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            l1_load: self.l1_load - before.l1_load,
            l2_load: self.l2_load - before.l2_load,
            l2_store: self.l2_store - before.l2_store,
            dram_load: self.dram_load - before.dram_load,
            dram_store: self.dram_store - before.dram_store,
            blocks: self.blocks - before.blocks,
        }
    }
}

/// The machine at work. Blocks are made when they start and dropped when they end.
#[derive(Debug)]
pub struct Hierarchy {
    l1: Vec<Cache>,
    l2: Cache,
    sector: u64,
    blocks_per_sm: usize,
    volumes: LevelVolumes,
}

struct Running {
    requests: Requests,
    next: Vec<usize>,
    waits: Vec<bool>,
}

impl Hierarchy {
    /// With empty caches.
    pub fn new(config: &HierarchyConfig) -> Self {
        let sms = config.sms.max(1) as usize;
        Self {
            l1: vec![Cache::new(config.l1.clone()); sms],
            l2: Cache::new(config.l2.clone()),
            sector: config.sector,
            blocks_per_sm: config.blocks_per_sm.max(1) as usize,
            volumes: LevelVolumes::default(),
        }
    }

    /// What has been counted so far.
    pub fn volumes(&self) -> LevelVolumes {
        self.volumes
    }

    /// Sectors that wait in L2 to be written back, in bytes.
    pub fn dirty(&self) -> u64 {
        self.l2.dirty_sectors() * self.sector
    }

    /// Runs blocks in their order: they go round the SMs, and an SM that is done with one gets the next.
    /// Each SM's caches of L1 begin empty where `fresh`, as between kernel launches.
    pub fn run<E>(
        &mut self,
        blocks: impl IntoIterator<Item = u64>,
        mut make: impl FnMut(u64) -> Result<Requests, E>,
    ) -> Result<(), E> {
        let mut waiting: VecDeque<u64> = blocks.into_iter().collect();
        let sms = self.l1.len();
        let mut running: Vec<Vec<Running>> = (0..sms).map(|_| Vec::new()).collect();
        for _ in 0..self.blocks_per_sm {
            for of_sm in &mut running {
                if let Some(block) = waiting.pop_front() {
                    of_sm.push(Running::new(make(block)?));
                }
            }
        }
        while running.iter().any(|r| !r.is_empty()) {
            for (sm, of_sm) in running.iter_mut().enumerate() {
                for block in of_sm.iter_mut() {
                    for warp in 0..block.next.len() {
                        self.step(sm, block, warp);
                    }
                    block.open();
                }
                let before = of_sm.len();
                of_sm.retain(|b| !b.is_done());
                self.volumes.blocks += (before - of_sm.len()) as u64;
                while of_sm.len() < self.blocks_per_sm
                    && let Some(block) = waiting.pop_front()
                {
                    of_sm.push(Running::new(make(block)?));
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, sm: usize, block: &mut Running, warp: usize) {
        let Some(at) = block.advance(warp) else { return };
        let all = &block.requests;
        for &request in all.of_step(&all.warps[warp], at) {
            self.request(sm, all.lines[request.line as usize], request);
        }
    }

    fn bytes(&self, sectors: u8) -> u64 {
        u64::from(sectors.count_ones()) * self.sector
    }

    fn request(&mut self, sm: usize, line: u64, request: Request) {
        match request.kind {
            Kind::Barrier => {}
            Kind::Load => {
                self.volumes.l1_load += self.bytes(request.sectors);
                let missing = self.l1[sm].read(line, request.sectors).missing;
                if missing != 0 {
                    self.volumes.l2_load += self.bytes(missing);
                    let found = self.l2.read(line, missing);
                    self.volumes.dram_load += self.bytes(found.missing);
                    self.volumes.dram_store += self.bytes(found.dirty);
                }
            }
            Kind::Store | Kind::Atomic => {
                // Written through; an atomic is done in L2, and what L1 has of it is stale.
                if request.kind == Kind::Store {
                    self.l1[sm].write(line, request.sectors);
                } else {
                    self.l1[sm].invalidate(line, request.sectors);
                }
                self.volumes.l2_store += self.bytes(request.sectors);
                let found = self.l2.write(line, request.sectors);
                self.volumes.dram_store += self.bytes(found.dirty);
                if request.kind == Kind::Atomic {
                    self.volumes.dram_load += self.bytes(found.missing);
                }
            }
        }
    }
}

impl Running {
    fn new(requests: Requests) -> Self {
        let next: Vec<usize> = requests.warps.iter().map(|w| w.steps.start).collect();
        Self { waits: vec![false; next.len()], next, requests }
    }

    fn advance(&mut self, warp: usize) -> Option<usize> {
        let at = self.next[warp];
        if self.waits[warp] || at >= self.requests.warps[warp].steps.end {
            return None;
        }
        self.next[warp] += 1;
        self.waits[warp] = self.requests.steps[at].barrier;
        Some(at)
    }

    fn has_more(&self, warp: usize) -> bool {
        self.next[warp] < self.requests.warps[warp].steps.end
    }

    fn open(&mut self) {
        if !(0..self.next.len()).any(|w| !self.waits[w] && self.has_more(w)) {
            self.waits.fill(false);
        }
    }

    fn is_done(&self) -> bool {
        (0..self.next.len()).all(|w| !self.has_more(w))
    }
}
