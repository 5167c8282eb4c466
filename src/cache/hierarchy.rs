//! An L1 cache of each SM over a shared L2 cache and perhaps another one, sector by sector, driven by blocks in their
//! order. An L1 keeps what it has while blocks come and go.

use std::collections::VecDeque;

use serde::Serialize;

use super::WritePolicy;
use super::array::CacheShape;
use super::ideal::{AnyCache, CacheKind, Ideal};
use super::level::{Level, Moved};
use crate::trace::coalesce::LineRequest;
use crate::trace::{MovedRequests, TraceKind};

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
    /// A cache between L2 and memory.
    pub llc: Option<CacheShape>,
    /// Whether sectors that leave the L2 stored in part are completed first.
    pub fill: bool,
    /// Whether memory gives two sectors where one is asked for.
    pub pairs: bool,
}

/// Bytes at each boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "VolumesDocument"))]
pub struct LevelVolumes {
    /// Sectors that loads ask the L1 caches for, in bytes.
    pub l1_load_bytes: u64,
    /// L2 to L1: sectors that loads miss in the L1 caches.
    pub l2_load_bytes: u64,
    /// L1 to L2: sectors that are written.
    pub l2_store_bytes: u64,
    /// Memory to L2: sectors that loads miss in L2; with a last-level cache, in that.
    pub dram_load_bytes: u64,
    /// Memory to L2: sectors that are stored in part and leave the L2, for what they lack; in results of commands, also
    /// those that would if all left at the end.
    pub dram_fill_bytes: u64,
    /// Memory to L2: sectors that come beside those that are asked for, as memory gives two at a time.
    pub dram_beside_bytes: u64,
    /// L2 to memory: sectors that are written back; in results of commands, those too that are still in L2 at the end.
    pub dram_store_bytes: u64,
    /// What loads miss in L2 where there is a last-level cache.
    pub llc_load_bytes: u64,
    /// Sectors that complete others on their way to a last-level cache.
    pub llc_fill_bytes: u64,
    /// What L2 writes back where there is a last-level cache.
    pub llc_store_bytes: u64,
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
            dram_fill_bytes: self.dram_fill_bytes - before.dram_fill_bytes,
            // What came before and is asked for now is no longer beside.
            dram_beside_bytes: self.dram_beside_bytes.saturating_sub(before.dram_beside_bytes),
            dram_store_bytes: self.dram_store_bytes - before.dram_store_bytes,
            llc_load_bytes: self.llc_load_bytes - before.llc_load_bytes,
            llc_fill_bytes: self.llc_fill_bytes - before.llc_fill_bytes,
            llc_store_bytes: self.llc_store_bytes - before.llc_store_bytes,
            blocks: self.blocks - before.blocks,
        }
    }

    /// With what L2 still has to write back and to complete.
    #[must_use]
    pub fn with_waiting(self, waiting: Waiting) -> Self {
        Self {
            dram_store_bytes: self.dram_store_bytes + waiting.dirty,
            dram_fill_bytes: self.dram_fill_bytes + waiting.open,
            ..self
        }
    }
}

/// What caches have not written back yet, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waiting {
    /// Sectors that wait in the L2.
    pub dirty: u64,
    /// Those that would have to be completed first.
    pub open: u64,
    /// Sectors that wait in the L2 or in a last-level cache.
    pub dirty_anywhere: u64,
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
    l2: Level,
    llc: Option<Level>,
    sector: u64,
    volumes: LevelVolumes,
}

struct Running {
    requests: MovedRequests,
    next: Vec<usize>,
    waits: Vec<bool>,
    alone: Ideal,
}

impl Hierarchy {
    /// With empty caches.
    pub fn new(config: &HierarchyConfig) -> Self {
        let mut all = Self { config: config.clone(), machines: Vec::new(), alone: None };
        all.add_over(CacheKind::Real, CacheKind::Real, config.llc.as_ref());
        all
    }

    /// Adds a machine with empty caches of other kinds over memory, which sees what comes from now on. Its number.
    pub fn add(&mut self, l1: CacheKind, l2: CacheKind) -> usize {
        self.add_over(l1, l2, None)
    }

    fn add_over(&mut self, l1: CacheKind, l2: CacheKind, llc: Option<&CacheShape>) -> usize {
        let (config, sms) = (&self.config, self.config.sms.max(1) as usize);
        let pairs = config.pairs;
        let level = |shape, kind, does| Level::new(shape, kind, config.sector, does);
        self.machines.push(Machine {
            l1: vec![AnyCache::new(&config.l1, l1); sms],
            l1_kind: l1,
            l2: level(&config.l2, l2, [config.fill, pairs && llc.is_none()]),
            llc: llc.map(|shape| level(shape, CacheKind::Real, [false, pairs])),
            sector: config.sector,
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

    /// What waits to be written back.
    pub fn waiting(&self) -> Waiting {
        self.waiting_of(0)
    }

    /// The same of a machine that was added.
    pub fn waiting_of(&self, machine: usize) -> Waiting {
        let Machine { l2, llc, sector, .. } = &self.machines[machine];
        let dirty = l2.dirty_sectors();
        let anywhere = llc.as_ref().map_or(dirty, |llc| llc.dirty_sectors() + l2.dirty_here_alone(llc));
        Waiting { dirty: dirty * sector, open: l2.open_sectors() * sector, dirty_anywhere: anywhere * sector }
    }

    /// Runs blocks in their order: they go round the SMs, and an SM that is done with one gets the next.
    pub fn run<R: Into<MovedRequests>, E>(
        &mut self,
        blocks: impl IntoIterator<Item = u64>,
        mut make: impl FnMut(u64) -> Result<R, E>,
    ) -> Result<(), E> {
        let mut waiting: VecDeque<u64> = blocks.into_iter().collect();
        let (sms, blocks_per_sm) =
            (self.config.sms.max(1) as usize, self.config.blocks_per_sm.max(1) as usize);
        let mut running: Vec<Vec<Running>> = (0..sms).map(|_| Vec::new()).collect();
        for _ in 0..blocks_per_sm {
            for of_sm in &mut running {
                if let Some(block) = waiting.pop_front() {
                    of_sm.push(Running::new(make(block)?.into()));
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
                    of_sm.push(Running::new(make(block)?.into()));
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, sm: usize, block: &mut Running, warp: usize) {
        let Some(at) = block.advance(warp) else { return };
        let Running { requests: moved, alone, .. } = block;
        let all = moved.requests();
        for place in all.places_of_step(&all.warps[warp], at) {
            let request = all.requests[place];
            let line = moved.line(request.line);
            // Without bytes, sectors are taken to be accessed as a whole.
            let bytes = all.bytes.get(place).copied().unwrap_or(u128::MAX);
            self.machines.iter_mut().for_each(|m| m.request(sm, line, request, bytes));
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

    fn request(&mut self, sm: usize, line: u64, request: LineRequest, bytes: u128) {
        match request.kind {
            TraceKind::Barrier => {}
            TraceKind::Load => {
                self.volumes.l1_load_bytes += self.bytes(request.sectors);
                let missing = self.l1[sm].read(line, request.sectors).missing;
                if missing != 0 {
                    self.volumes.l2_load_bytes += self.bytes(missing);
                    let moved = self.l2.read(line, missing);
                    self.below_l2(line, moved);
                }
            }
            TraceKind::Store => {
                // Written through.
                self.l1[sm].write(line, request.sectors);
                self.volumes.l2_store_bytes += self.bytes(request.sectors);
                let moved = self.l2.write(line, request.sectors, bytes);
                self.below_l2(line, moved);
            }
            TraceKind::Atomic => {
                // Done in L2, and what L1 has of it is stale.
                self.l1[sm].invalidate(line, request.sectors);
                self.volumes.l2_store_bytes += self.bytes(request.sectors);
                let moved = self.l2.change(line, request.sectors);
                self.below_l2(line, moved);
            }
        }
    }

    /// Counts what the L2 asks for and gives away, and hands it on.
    fn below_l2(&mut self, line: u64, moved: Moved) {
        if moved.load | moved.back == 0 {
            return;
        }
        let Some(llc) = &mut self.llc else {
            self.volumes.dram_fill_bytes += self.bytes(moved.fill);
            return self.at_memory(moved);
        };
        let asked = (moved.load != 0).then(|| llc.read(line, moved.load));
        let filled = (moved.fill != 0).then(|| llc.read(moved.gone, moved.fill));
        let stored = (moved.back != 0).then(|| llc.write(moved.gone, moved.back, u128::MAX));
        self.volumes.llc_load_bytes += self.bytes(moved.load);
        self.volumes.llc_fill_bytes += self.bytes(moved.fill);
        self.volumes.llc_store_bytes += self.bytes(moved.back);
        if let Some(Moved { load, .. }) = filled {
            // What fills is told apart from what is asked for, also at memory.
            self.volumes.dram_fill_bytes += self.bytes(load);
        }
        let filled = filled.map(|f| Moved { load: 0, known: 0, ..f });
        [asked, filled, stored].into_iter().flatten().for_each(|m| self.at_memory(m));
    }

    fn at_memory(&mut self, moved: Moved) {
        self.volumes.dram_load_bytes += self.bytes(moved.load);
        self.volumes.dram_store_bytes += self.bytes(moved.back);
        // What came beside and is asked for now was counted then.
        self.volumes.dram_beside_bytes += self.bytes(moved.beside);
        self.volumes.dram_beside_bytes -= self.bytes(moved.known);
    }
}

impl Running {
    fn new(requests: MovedRequests) -> Self {
        let next: Vec<usize> = requests.requests().warps.iter().map(|w| w.steps.start).collect();
        let alone = Ideal::new(None, WritePolicy::ThroughNoAllocate);
        Self { waits: vec![false; next.len()], next, requests, alone }
    }

    fn advance(&mut self, warp: usize) -> Option<usize> {
        let (at, all) = (self.next[warp], self.requests.requests());
        if self.waits[warp] || at >= all.warps[warp].steps.end {
            return None;
        }
        self.next[warp] += 1;
        self.waits[warp] = all.steps[at].barrier;
        Some(at)
    }

    fn has_more(&self, warp: usize) -> bool {
        self.next[warp] < self.requests.requests().warps[warp].steps.end
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
