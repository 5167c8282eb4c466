//! Bytes at each boundary of the memory hierarchy, per work item: footprints with hit rates applied.

use super::caches::Caches;
use super::footprints::{FieldFootprint, Footprints};
use super::l1::L1Counts;
use super::memory::{Cache, MemoryVolumes, Stored};
use super::passes::Again;
use crate::curve::VolumeFit;
use crate::device::Device;
use crate::kernel::FieldId;
use crate::launch::{Launch, Occupancy};

/// All volumes of a launch, per work item.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Volumes {
    /// Between registers and L1.
    pub l1: L1Volumes,
    /// Between L1 and L2.
    pub l2: L2Volumes,
    /// Between L2 and the last-level cache, where there is one.
    pub llc: Option<MemoryVolumes>,
    /// Between the last cache and memory.
    pub dram: MemoryVolumes,
    /// Distinct pages of a wave.
    pub pages_per_wave: f64,
    /// Distinct pages of a block.
    pub pages_per_block: f64,
    /// Those of one iteration of its innermost loops: what it uses at a time.
    pub pages_at_a_time: f64,
    /// Pages of a wave beyond those of contiguous arrays, per byte of the wave.
    pub scatter: f64,
    /// Loads from memory that no cache could avoid, per work item.
    pub first_loads: f64,
    /// Further runs of sectors of warp-wide stores that reach memory, per work item.
    pub further_runs: f64,
    /// Stores of a thread.
    pub thread_stores: f64,
    /// Atomics of a wave on the same address: of the field where they are most, on average.
    pub atomics_per_address: f64,
    /// By field.
    pub fields: Vec<FieldVolumes>,
    /// How far the caches are oversubscribed.
    pub pressure: Pressure,
}

/// What the pipe of the L1 does per work item.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct L1Volumes {
    /// Cycles of the pipe.
    pub cycles: f64,
    /// Wavefronts of the data stage.
    pub data: f64,
    /// Wavefronts of the tag stage.
    pub tag: f64,
    /// Bytes of sectors that loads ask for (`V_up`).
    pub load: f64,
    /// Bytes of sectors that stores write.
    pub store: f64,
}

/// Bytes between L1 and L2 per work item.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct L2Volumes {
    /// Loads that a block cannot avoid.
    pub load_compulsory: f64,
    /// Loads of what the L1 lost.
    pub load_capacity: f64,
    /// Stores, written through.
    pub store: f64,
}

impl L2Volumes {
    /// All loads.
    pub fn load(&self) -> f64 {
        self.load_compulsory + self.load_capacity
    }
}

/// Bytes of one field per work item.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FieldVolumes {
    /// The field.
    pub field: FieldId,
    /// Between L1 and L2.
    pub l2: L2Volumes,
    /// Between L2 and memory.
    pub dram: MemoryVolumes,
}

/// Oversubscription O of the caches (equation 4) and the miss rates that follow.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Pressure {
    /// Capacity of the L1 that is left beside shared memory, in bytes.
    pub l1_capacity: f64,
    /// L1: lines of all resident blocks of an SM, of what each does at a time.
    pub l1: f64,
    /// Misses of what warps load again.
    pub l1_miss: f64,
    /// L2: what lies between two uses within a wave, and since a row and a plane of blocks.
    pub l2: [f64; 4],
    /// Misses at each of them.
    pub l2_miss: [f64; 4],
}

/// Volumes of a launch.
pub fn volumes(
    device: &Device,
    launch: &Launch,
    occupancy: &Occupancy,
    fit: &VolumeFit,
    caches: Caches,
    l1: &L1Counts,
    footprints: &Footprints,
) -> Volumes {
    let sector = device.l1.sector.value.0 as f64;
    let items = footprints.items_in_l1(l1);
    let capacity = l1_capacity(device, launch, occupancy);
    let blocks = occupancy.resident_per_sm(device, footprints.working_blocks) as f64;
    let in_l1 = InL1 { fit, blocks_per_byte: blocks / capacity.max(1.0) };
    let asked = |a: &Again| a.bytes * a.in_block.map_or(1.0, |distance| in_l1.miss(distance));
    let level = |capacity: u64| Level::new(capacity as f64, fit, caches, footprints);
    let l2 = level(device.l2.effective.value.0);
    let llc = device.llc.as_ref().map(|c| level(c.capacity.value.0));
    let mut out = Volumes {
        l1: L1Volumes {
            cycles: l1.pipe_cycles / items,
            data: l1.total.data / items,
            tag: l1.total.tag / items,
            ..Default::default()
        },
        pages_per_wave: footprints.wave_pages,
        pages_per_block: footprints.block_pages,
        pages_at_a_time: footprints.iteration_pages,
        scatter: (footprints.wave_pages - footprints.contiguous_pages).max(0.0) / footprints.wave.max(1.0),
        thread_stores: l1.store_issues / l1.warps.max(1.0),
        pressure: Pressure {
            l1_capacity: capacity,
            l1: in_l1.oversubscription(footprints.stretch_alloc),
            l1_miss: in_l1.miss(footprints.stretch_alloc),
            l2: l2.middle.oversubscription,
            l2_miss: l2.middle.miss,
        },
        llc: llc.as_ref().map(|_| MemoryVolumes::default()),
        ..Default::default()
    };
    for (number, f) in footprints.fields.iter().enumerate() {
        let of_warps = l1.fields[usize::from(f.field.0)];
        let per_item = |sectors: f64| sectors * sector / items;
        out.l1.load += per_item(of_warps.load_sectors);
        let store_warp = per_item(of_warps.store_sectors + of_warps.atomic_sectors);
        out.l1.store += store_warp;
        let lost = in_l1.lost(f, per_item(of_warps.iteration_load_sectors));
        // Blocks that the domain cuts load more per work item, in both parts.
        let cut = if f.block_load > 0.0 { f.mean_block_load / f.block_load } else { 1.0 };
        let by_warps = per_item(of_warps.warp_store_sectors);
        let fill = l2.fill(fit, number, by_warps);
        let of_l2 = L2Volumes {
            load_compulsory: f.block_load * cut,
            load_capacity: lost * cut,
            store: store_warp + fit.partial_store_l2.value * fill,
        };
        let changed = f.atomics[0];
        if changed > 0.0 {
            let times = of_warps.atomic_bytes / items / changed;
            out.atomics_per_address = out.atomics_per_address.max(times);
        }
        let below = l2.below(&l2, fit, number, by_warps, &asked);
        let last = llc.as_ref().unwrap_or(&l2);
        out.first_loads += last.middle.launch_miss * (f.wave_load - f.reuse.iter().sum::<f64>());
        out.further_runs += last.middle.launch_miss * of_warps.distinct_store_runs() / items;
        let of_dram = llc.as_ref().map_or(below, |c| c.below(&l2, fit, number, by_warps, &asked));
        out.l2.load_compulsory += of_l2.load_compulsory;
        out.l2.load_capacity += of_l2.load_capacity;
        out.l2.store += of_l2.store;
        if let Some(level) = &mut out.llc {
            level.add(&below, 1.0);
        }
        out.dram.add(&of_dram, 1.0);
        out.fields.push(FieldVolumes { field: f.field, l2: of_l2, dram: of_dram });
    }
    out
}

/// A cache under each kind of waves.
struct Level<'f> {
    middle: Cache<'f>,
    /// Share of the kind, the cache, and what waves of the kind touch of each field.
    kinds: Vec<(f64, Cache<'f>, &'f [FieldFootprint])>,
}

impl<'f> Level<'f> {
    fn new(capacity: f64, fit: &'f VolumeFit, caches: Caches, of: &'f Footprints) -> Self {
        let launch = of.launch_bytes();
        let cache = |wave, past| Cache::new(capacity, fit, caches, wave, past, launch);
        let middle = cache(of.wave, of.past);
        let mut kinds: Vec<_> =
            of.waves.iter().map(|k| (k.share, cache(k.wave, k.past), k.fields.as_slice())).collect();
        if kinds.is_empty() {
            kinds.push((1.0, middle, of.fields.as_slice()));
        }
        Self { middle, kinds }
    }

    /// Sectors of a field that are written in part, of `by_warps` that warps store.
    fn fill(&self, fit: &VolumeFit, field: usize, by_warps: f64) -> f64 {
        let of_kind = |(share, cache, fields): &(f64, Cache<'_>, &[FieldFootprint])| {
            share * Stored::new(fit, &fields[field], by_warps, cache.oversubscription[0]).fill
        };
        self.kinds.iter().map(of_kind).sum()
    }

    /// What a field needs from below, where sectors are written in part as `l2` says.
    fn below(
        &self,
        l2: &Self,
        fit: &VolumeFit,
        field: usize,
        by_warps: f64,
        asked: &dyn Fn(&Again) -> f64,
    ) -> MemoryVolumes {
        let mut sum = MemoryVolumes::default();
        for ((share, cache, fields), (_, of_l2, _)) in self.kinds.iter().zip(&l2.kinds) {
            let stored = Stored::new(fit, &fields[field], by_warps, of_l2.oversubscription[0]);
            sum.add(&cache.below(&fields[field], stored, asked), *share);
        }
        sum
    }
}

/// How much of what a block loads again the L1 still has.
struct InL1<'f> {
    fit: &'f VolumeFit,
    /// Resident blocks over the capacity.
    blocks_per_byte: f64,
}

impl InL1<'_> {
    /// Oversubscription by so many bytes of each block (equation 4).
    fn oversubscription(&self, alloc: f64) -> f64 {
        alloc * self.blocks_per_byte
    }

    fn miss(&self, alloc: f64) -> f64 {
        self.fit.l1_redundant.miss(self.oversubscription(alloc))
    }

    /// Bytes of a field that miss, of those that warps load in stretches, each by itself.
    fn lost(&self, f: &FieldFootprint, by_warps: f64) -> f64 {
        let passes = &f.passes;
        let within = (by_warps - passes.in_stretches).max(0.0) * self.miss(passes.stretch_alloc);
        within + passes.block.iter().map(|a| a.bytes * self.miss(a.distance)).sum::<f64>()
    }
}

/// What is left of a unified L1 beside the shared memory of the resident blocks, rounded up to the sizes
/// that shared memory can take.
pub fn l1_capacity(device: &Device, launch: &Launch, occupancy: &Occupancy) -> f64 {
    let l1 = &device.l1;
    let capacity = l1.capacity.value.0 as f64;
    if !l1.unified {
        return capacity;
    }
    let of_block = launch.shared_bytes as f64
        + if launch.shared_bytes > 0 { device.sm.shared_reserved.value.0 as f64 } else { 0.0 };
    let wanted = of_block * occupancy.blocks_per_sm as f64;
    let steps = l1.carveouts.value.0.iter().map(|b| b.0 as f64);
    let carved = steps.filter(|&s| s >= wanted).fold(f64::INFINITY, f64::min);
    capacity - if carved.is_finite() { carved } else { wanted.min(capacity) }
}
