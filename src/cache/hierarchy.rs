//! An L1 cache of each SM over a shared L2 cache, sector by sector, driven by blocks in their order.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::Serialize;

use super::WritePolicy;
use super::array::CacheShape;
use super::ideal::{AnyCache, CacheKind, Ideal};
use crate::trace::TraceKind;
use crate::trace::coalesce::{LineRequest, Requests};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[schemars(rename = "VolumesDocument")]
pub struct LevelVolumes {
    /// Sectors that loads ask the L1 caches for, in bytes.
    pub l1_load_bytes: u64,
    /// L2 to L1: sectors that loads miss in the L1 caches.
    pub l2_load_bytes: u64,
    /// L1 to L2: sectors that are written.
    pub l2_store_bytes: u64,
    /// Memory to L2: sectors that loads miss in L2.
    pub dram_load_bytes: u64,
    /// L2 to memory: sectors that are written back; in results of commands, those too that are still in L2 at the end.
    pub dram_store_bytes: u64,
    /// Blocks that have ended.
    pub blocks: u64,
}

impl LevelVolumes {
    /// What came after an earlier state.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            l1_load_bytes: self.l1_load_bytes - before.l1_load_bytes,
            l2_load_bytes: self.l2_load_bytes - before.l2_load_bytes,
            l2_store_bytes: self.l2_store_bytes - before.l2_store_bytes,
            dram_load_bytes: self.dram_load_bytes - before.dram_load_bytes,
            dram_store_bytes: self.dram_store_bytes - before.dram_store_bytes,
            blocks: self.blocks - before.blocks,
        }
    }

    /// With what L2 still has to write back.
    #[must_use]
    pub fn with_dirty(self, bytes: u64) -> Self {
        Self { dram_store_bytes: self.dram_store_bytes + bytes, ..self }
    }
}

/// The machine at work. Blocks are made when they start and dropped when they end. Several machines with caches of
/// other kinds can see the same requests: what blocks do does not depend on what caches hold.
#[derive(Debug)]
pub struct Hierarchy {
    config: HierarchyConfig,
    machines: Vec<Machine>,
    /// Loads that an endless L1 of each block alone would miss, in bytes; nothing where nobody asks.
    alone: Option<u64>,
}

/// The caches of one machine.
#[derive(Debug)]
struct Machine {
    l1: Vec<AnyCache>,
    l1_kind: CacheKind,
    l2: AnyCache,
    sector: u64,
    volumes: LevelVolumes,
}

struct Running {
    requests: Requests,
    next: Vec<usize>,
    waits: Vec<bool>,
    alone: Ideal,
}

impl Hierarchy {
    /// With empty caches.
    pub fn new(config: &HierarchyConfig) -> Self {
        let mut all = Self { config: config.clone(), machines: Vec::new(), alone: None };
        all.add(CacheKind::Real, CacheKind::Real);
        all
    }

    /// Adds a machine with empty caches of other kinds, which sees what comes from now on. Its number.
    pub fn add(&mut self, l1: CacheKind, l2: CacheKind) -> usize {
        let sms = self.config.sms.max(1) as usize;
        self.machines.push(Machine {
            l1: vec![AnyCache::new(&self.config.l1, l1); sms],
            l1_kind: l1,
            l2: AnyCache::new(&self.config.l2, l2),
            sector: self.config.sector,
            volumes: LevelVolumes::default(),
        });
        self.machines.len() - 1
    }

    /// Begins another launch: the L1 caches are empty, L2 keeps what it has.
    pub fn next_launch(&mut self) {
        for machine in &mut self.machines {
            machine.l1 = vec![AnyCache::new(&self.config.l1, machine.l1_kind); machine.l1.len()];
        }
    }

    /// Counts from now on what blocks would load that have an endless L1 for themselves.
    pub fn count_alone(&mut self) {
        self.alone = Some(0);
    }

    /// Bytes that blocks would load that have an endless L1 for themselves; 0 before they are counted.
    pub fn alone(&self) -> u64 {
        self.alone.unwrap_or(0)
    }

    /// What has been counted so far.
    pub fn volumes(&self) -> LevelVolumes {
        self.volumes_of(0)
    }

    /// The same of a machine that was added.
    pub fn volumes_of(&self, machine: usize) -> LevelVolumes {
        self.machines[machine].volumes
    }

    /// Sectors that wait in L2 to be written back, in bytes.
    pub fn dirty(&self) -> u64 {
        self.dirty_of(0)
    }

    /// The same of a machine that was added.
    pub fn dirty_of(&self, machine: usize) -> u64 {
        self.machines[machine].l2.dirty_sectors() * self.machines[machine].sector
    }

    /// Runs blocks in their order: they go round the SMs, and an SM that is done with one gets the next.
    pub fn run<E>(
        &mut self,
        blocks: impl IntoIterator<Item = u64>,
        mut make: impl FnMut(u64) -> Result<Requests, E>,
    ) -> Result<(), E> {
        let mut waiting: VecDeque<u64> = blocks.into_iter().collect();
        let (sms, blocks_per_sm) =
            (self.config.sms.max(1) as usize, self.config.blocks_per_sm.max(1) as usize);
        let mut running: Vec<Vec<Running>> = (0..sms).map(|_| Vec::new()).collect();
        for _ in 0..blocks_per_sm {
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
                let ended = (before - of_sm.len()) as u64;
                self.machines.iter_mut().for_each(|m| m.volumes.blocks += ended);
                while of_sm.len() < blocks_per_sm
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
        let Running { requests: all, alone, .. } = block;
        for &request in all.of_step(&all.warps[warp], at) {
            let line = all.lines[request.line as usize];
            self.machines.iter_mut().for_each(|m| m.request(sm, line, request));
            if let Some(bytes) = &mut self.alone {
                match request.kind {
                    TraceKind::Load => {
                        let missing = alone.read(line, request.sectors).missing;
                        *bytes += u64::from(missing.count_ones()) * self.config.sector;
                    }
                    TraceKind::Atomic => alone.invalidate(line, request.sectors),
                    TraceKind::Store | TraceKind::Barrier => {}
                }
            }
        }
    }
}

impl Machine {
    fn bytes(&self, sectors: u8) -> u64 {
        u64::from(sectors.count_ones()) * self.sector
    }

    fn request(&mut self, sm: usize, line: u64, request: LineRequest) {
        match request.kind {
            TraceKind::Barrier => {}
            TraceKind::Load => {
                self.volumes.l1_load_bytes += self.bytes(request.sectors);
                let missing = self.l1[sm].read(line, request.sectors).missing;
                if missing != 0 {
                    self.volumes.l2_load_bytes += self.bytes(missing);
                    let found = self.l2.read(line, missing);
                    self.volumes.dram_load_bytes += self.bytes(found.missing);
                    self.volumes.dram_store_bytes += self.bytes(found.dirty);
                }
            }
            TraceKind::Store | TraceKind::Atomic => {
                // Written through; an atomic is done in L2, and what L1 has of it is stale.
                if request.kind == TraceKind::Store {
                    self.l1[sm].write(line, request.sectors);
                } else {
                    self.l1[sm].invalidate(line, request.sectors);
                }
                self.volumes.l2_store_bytes += self.bytes(request.sectors);
                let found = self.l2.write(line, request.sectors);
                self.volumes.dram_store_bytes += self.bytes(found.dirty);
                if request.kind == TraceKind::Atomic {
                    self.volumes.dram_load_bytes += self.bytes(found.missing);
                }
            }
        }
    }
}

impl Running {
    fn new(requests: Requests) -> Self {
        let next: Vec<usize> = requests.warps.iter().map(|w| w.steps.start).collect();
        let alone = Ideal::new(None, WritePolicy::ThroughNoAllocate);
        Self { waits: vec![false; next.len()], next, requests, alone }
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
