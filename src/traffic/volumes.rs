//! Bytes at each boundary of the memory hierarchy, per work item: footprints with hit rates applied.

use serde::Serialize;

use super::caches::Caches;
use super::footprints::{FieldFootprint, Footprints};
use super::in_l1::{AskedAgain, BytesPerItem, l1_capacity};
use super::kept::SharedL1;
use super::l1::{FieldCounts, L1Counts};
use super::memory::{LaunchEnd, MemoryVolumes};
use super::passes::Again;
use super::shared_cache::SharedCache;
use crate::curve::VolumeFit;
use crate::device::{Device, Vendor};
use crate::kernel::FieldId;
use crate::launch::{Launch, Occupancy};
use crate::quantity::{
    Byte, Bytes, Cycles, Pages, PerAddress, PerBlock, PerCache, PerItem, PerThread, PerWave, Ratio, Sectors,
    Share, Times, Wavefronts,
};

/// Bytes per work item at each boundary, and what else the time depends on.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Volumes {
    /// Registers and L1.
    pub l1: L1Volumes,
    /// L1 and L2.
    pub l2: L2Volumes,
    /// L2 and the last-level cache, on devices that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub llc: Option<MemoryVolumes>,
    /// The last cache and memory.
    pub dram: MemoryVolumes,
    /// Address translation.
    pub tlb: TlbVolumes,
    /// Pages of a wave per byte of it. Of a wave of an SM that is not full, as many bytes as it would have if it were.
    #[serde(skip)]
    pub scatter: Pages<Byte>,
    /// Loads from memory that no cache could avoid.
    #[serde(skip)]
    pub first_loads: Bytes<PerItem>,
    /// Bytes that memory gives beside those loaded: it reads two sectors where one is asked for.
    #[serde(skip)]
    pub beside: Bytes<PerItem>,
    /// Further runs of sectors of warp-wide stores that reach memory.
    #[serde(skip)]
    pub further_runs: Times<PerItem>,
    /// Requests of the L1 to the L2.
    #[serde(skip)]
    pub requests: L2Requests,
    /// Part of the sectors that loads of warps ask for which the same warp has not loaded before.
    #[serde(skip)]
    pub new_to_warps: Share,
    /// Loads and atomics of warps in global memory.
    #[serde(skip)]
    pub loads: Times<PerItem>,
    /// Accesses of warps.
    #[serde(skip)]
    pub issues: Times<PerItem>,
    /// Warps for each thread: more than one over their size where some are not full.
    #[serde(skip)]
    pub warps_per_thread: Times<PerThread>,
    /// Stores of a thread.
    #[serde(skip)]
    pub thread_stores: Times<PerThread>,
    /// Atomics of a wave on the same address: of the field where they are most, on average.
    #[serde(skip)]
    pub atomics_per_address: Times<PerAddress>,
    /// By field.
    #[serde(skip)]
    pub fields: Vec<FieldVolumes>,
    /// How far the caches are oversubscribed.
    #[serde(skip)]
    pub pressure: Pressure,
}

/// Registers and L1, per work item.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct L1Volumes {
    /// Cycles of the pipe.
    pub wavefront_cycles: Cycles<PerItem>,
    /// Wavefronts of the data stage.
    pub data_wavefronts: Wavefronts<PerItem>,
    /// Wavefronts of the tag stage.
    pub tag_wavefronts: Wavefronts<PerItem>,
    /// Bytes of the sectors that loads ask for (`V_up`).
    pub load_bytes: Bytes<PerItem>,
    /// Bytes of the sectors that stores write.
    pub store_bytes: Bytes<PerItem>,
}

/// L1 and L2, bytes per work item.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct L2Volumes {
    /// Loads.
    pub load: L2Load,
    /// Stores, written through.
    pub store: L2Store,
    /// Code that the instruction caches do not hold; of fields 0.
    pub code: Bytes<PerItem>,
}

/// Loads from L2.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct L2Load {
    /// That a block cannot avoid.
    pub compulsory: Bytes<PerItem>,
    /// Of what the L1 lost.
    pub capacity: Bytes<PerItem>,
    /// Their sum.
    pub total: Bytes<PerItem>,
    /// What blocks would load beyond that, each by itself: the L1 still has it from other blocks of the SM.
    pub shared: Bytes<PerItem>,
}

/// Stores to L2.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct L2Store {
    /// All of them.
    pub total: Bytes<PerItem>,
}

impl L2Volumes {
    fn new(
        [compulsory, shared]: [Bytes<PerItem>; 2],
        capacity: Bytes<PerItem>,
        stored: Bytes<PerItem>,
    ) -> Self {
        let load = L2Load { compulsory, capacity, total: compulsory + capacity, shared };
        Self { load, store: L2Store { total: stored }, code: Bytes::ZERO }
    }

    /// Loads and stores, which go through the L1: without code.
    pub fn total(&self) -> Bytes<PerItem> {
        self.load.total + self.store.total
    }

    fn plus(&self, other: &Self) -> Self {
        let (load, of_other) = (&self.load, &other.load);
        let of_blocks = [load.compulsory + of_other.compulsory, load.shared + of_other.shared];
        Self::new(of_blocks, load.capacity + of_other.capacity, self.store.total + other.store.total)
    }
}

/// Requests of the L1 to the L2, each for sectors of one line.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct L2Requests {
    /// That bring sectors.
    pub load: Times<PerItem>,
    /// That take sectors along.
    pub store: Times<PerItem>,
}

/// Address translation.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TlbVolumes {
    /// Distinct pages of a wave.
    pub pages_per_wave: Pages<PerWave>,
    /// Distinct pages of a block.
    pub pages_per_block: Pages<PerBlock>,
    /// Those of one iteration of the innermost loops of a block: what it uses at a time.
    #[serde(skip)]
    pub pages_at_a_time: Pages<PerBlock>,
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
    /// Bytes of the pieces of memory in which something is stored over those of the sectors that are.
    pub spread: Ratio,
}

/// Oversubscription O of the caches (equation 4) and the miss rates that follow.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Pressure {
    /// Capacity of the L1 that is left beside shared memory.
    pub l1_capacity: Bytes<PerCache>,
    /// L1: lines of all resident blocks of an SM, of what each does at a time.
    pub l1: Ratio,
    /// Misses of what warps load again.
    pub l1_miss: Share,
    /// L2: what lies between two uses within a wave, and since a row and a plane of blocks.
    pub l2: [Ratio; 4],
    /// Misses at each of them.
    pub l2_miss: [Share; 4],
}

impl Volumes {
    /// Takes away the stores that still wait in a cache when the launch ends.
    fn leave_stores(&mut self, device: &Device, footprints: &Footprints) {
        let after = |capacity: u64| LaunchEnd::new(capacity, footprints);
        let mut last = after(device.l2.effective.value.0);
        if let (Some(below_l2), Some(cache)) = (&mut self.llc, &device.llc) {
            below_l2.wait(below_l2.waiting(&last));
            last = after(cache.capacity.value.0);
        }
        let part = self.dram.waiting(&last);
        self.dram.wait(part);
        for field in &mut self.fields {
            field.dram.wait(part);
        }
    }
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
    let per = BytesPerItem { sector, items };
    let shared_l1 = SharedL1::new(device, launch, occupancy, fit, footprints);
    let of_blocks = shared_l1.of_blocks(footprints);
    let in_step = in_step(device, launch);
    let level =
        |capacity: u64| SharedCache::new(Bytes::new(capacity as f64), fit, caches, footprints, in_step);
    let l2 = level(device.l2.effective.value.0);
    let llc = device.llc.as_ref().map(|c| level(c.capacity.value.0));
    let mut out = Volumes {
        l1: L1Volumes {
            wavefront_cycles: l1.pipe_cycles.per_item(items),
            data_wavefronts: l1.total.data.per_item(items),
            tag_wavefronts: l1.total.tag.per_item(items),
            ..Default::default()
        },
        tlb: TlbVolumes {
            pages_per_wave: footprints.wave_pages,
            pages_per_block: footprints.block_pages,
            pages_at_a_time: footprints.iteration_pages,
        },
        scatter: scatter(device, occupancy, footprints),
        new_to_warps: new_to_warps(device, l1),
        loads: l1.global_loads.per_item(items),
        issues: l1.total.issues.per_item(items),
        warps_per_thread: warps_per_thread(device, launch),
        thread_stores: Times::new(l1.store_issues / l1.warps.max(Times::new(1.0))),
        pressure: Pressure {
            l1_capacity: l1_capacity(device, launch, occupancy),
            l1: of_blocks.oversubscription(footprints.stretch_alloc),
            l1_miss: of_blocks.miss(footprints.stretch_alloc),
            l2: l2.middle.oversubscription,
            l2_miss: l2.middle.miss,
        },
        llc: llc.as_ref().map(|_| MemoryVolumes::default()),
        fields: Vec::with_capacity(footprints.fields.len()),
        ..Default::default()
    };
    for (number, f) in footprints.fields.iter().enumerate() {
        let of_warps = l1.fields[usize::from(f.field.0)];
        out.l1.load_bytes += per.bytes(of_warps.load_sectors);
        let store_warp = per.bytes(of_warps.store_sectors + of_warps.atomic_sectors);
        out.l1.store_bytes += store_warp;
        let in_l1 = shared_l1.of_field(f);
        let asked = |a: &Again<PerWave>| {
            a.bytes * a.in_block.map_or(Share::ALL, |distance| in_l1.miss_again(f, distance))
        };
        // Items of a thread that lie apart find less of the sectors that their instructions share.
        let [by_warps, by_items] = again_in_l1(f, &of_warps, per, footprints, launch);
        let lost = in_l1.lost(by_warps) + in_l1.lost_in_passes(f) + in_l1.lost(by_items);
        let cut = cut(f);
        let stored_by_warps = per.bytes(of_warps.warp_store_sectors);
        let fill = l2.fill(fit, number, stored_by_warps);
        let stored = store_warp + fill * fit.partial_store_l2.value;
        // What all blocks load comes to an SM once, as far as the L1 keeps it.
        let kept = shared_l1.kept(f, footprints);
        let of_l2 = L2Volumes::new([(f.block_load - kept) * cut, kept * cut], lost * cut, stored);
        out.requests.load += Times::new(of_l2.load.total.get() / (sector * of_warps.sectors_per_request()));
        out.requests.store += of_warps.store_lines.per_item(items);
        let changed = f.atomic_elements;
        if changed > Bytes::ZERO {
            let times = Times::new(of_warps.atomic_bytes.per_item(items) / changed);
            out.atomics_per_address = out.atomics_per_address.max(times);
        }
        // What passes ask for again is told apart by its distance.
        let of_l1 = (in_l1.lost(by_warps) + in_l1.lost(by_items) - kept) * cut;
        let below = l2.below(&l2, fit, number, [stored_by_warps, of_l1], &asked);
        let last = llc.as_ref().unwrap_or(&l2);
        out.first_loads += f.first_loads() * last.middle.launch_miss;
        // Sectors that are filled first are written one by one anyway.
        let runs = of_warps.distinct_store_runs() * f.incomplete.rest().get();
        out.further_runs += (runs * last.middle.launch_miss).per_item(items);
        let of_dram =
            llc.as_ref().map_or(below, |c| c.below(&l2, fit, number, [stored_by_warps, of_l1], &asked));
        out.beside += of_dram.load.total * (f.pairs.get() - 1.0);
        out.l2 = out.l2.plus(&of_l2);
        if let Some(level) = &mut out.llc {
            level.add(&below, Share::ALL);
        }
        out.dram.add(&of_dram, Share::ALL);
        out.fields.push(FieldVolumes { field: f.field, l2: of_l2, dram: of_dram, spread: f.spread });
    }
    if caches == Caches::Empty {
        out.leave_stores(device, footprints);
    }
    out
}

/// What of the loads from the L2 could hit in the L1, in programs without loops: oversubscriptions, and bytes per work
/// item at each.
pub(crate) fn open_in_l1(
    device: &Device,
    launch: &Launch,
    occupancy: &Occupancy,
    fit: &VolumeFit,
    l1: &L1Counts,
    footprints: &Footprints,
) -> Vec<(Ratio, Bytes<PerItem>)> {
    let per = BytesPerItem { sector: device.l1.sector.value.0 as f64, items: footprints.items_in_l1(l1) };
    let shared_l1 = SharedL1::new(device, launch, occupancy, fit, footprints);
    let of_field = |f: &FieldFootprint| {
        let again = again_in_l1(f, &l1.fields[usize::from(f.field.0)], per, footprints, launch);
        let cut = cut(f);
        shared_l1.open(f, footprints, again).map(|(o, bytes)| (o, bytes * cut))
    };
    footprints.fields.iter().flat_map(of_field).filter(|(_, bytes)| *bytes > Bytes::ZERO).collect()
}

/// What a block loads again of a field in the stretches of its program: by other warps, and for other items of a thread.
fn again_in_l1(
    f: &FieldFootprint,
    counts: &FieldCounts,
    per: BytesPerItem,
    footprints: &Footprints,
    launch: &Launch,
) -> [AskedAgain; 2] {
    let items = launch.candidate.fold().volume();
    [AskedAgain::by_warps(f, counts, per), AskedAgain::by_items(counts, per, footprints.stretch_alloc, items)]
}

/// Blocks that the domain cuts load more per work item, whether for the first time or again.
fn cut(f: &FieldFootprint) -> f64 {
    if f.block_load > Bytes::ZERO { f.mean_block_load / f.block_load } else { 1.0 }
}

/// How far apart blocks of a wave are when they use the same line, against blocks whose threads load all they need at
/// once. Compilers for AMD leave the work items of a thread one after the other, so that blocks which started together
/// are at the same work item: no measurement here says so, but published fetches of a folded Laplacian, which fall with
/// the fold (docs/fits.md).
fn in_step(device: &Device, launch: &Launch) -> Ratio {
    match device.vendor {
        Vendor::Nvidia => Ratio::new(1.0),
        Vendor::Amd => Ratio::new(1.0 / launch.candidate.fold().volume() as f64),
    }
}

/// Pages of a wave per byte of a wave of full SMs: fewer warps at a time were not
/// seen to open more rows of the memory (docs/fits.md).
fn scatter(device: &Device, occupancy: &Occupancy, footprints: &Footprints) -> Pages<Byte> {
    let most = device.sm.max_warps.value.0 as f64;
    let full = most / (occupancy.warps_per_sm as f64).clamp(1.0, most);
    Pages::new(footprints.wave_pages.get() / (footprints.wave.get() * full).max(1.0))
}

/// Where each lane walks along a line of its own, a warp finds what it loaded a step before, and waits only for the
/// first of these steps. Of lanes that share sectors some sector of each step is new.
fn new_to_warps(device: &Device, l1: &L1Counts) -> Share {
    let (mut all, mut new, mut issues) = (Sectors::ZERO, Sectors::ZERO, Times::ZERO);
    for field in &l1.fields {
        all += field.load_sectors;
        new += field.warp_load_sectors;
        issues += field.load_issues;
    }
    let lanes = device.sm.warp_size.value.0 as f64;
    let apart = all > Sectors::ZERO && all.get() >= APART * lanes * issues.get();
    if apart { Share::new((new / all).min(1.0)) } else { Share::ALL }
}

/// Sectors for each lane of a load from which on its lanes lie apart.
const APART: f64 = 0.5;

fn warps_per_thread(device: &Device, launch: &Launch) -> Times<PerThread> {
    let (threads, warp) = (launch.threads_per_block() as f64, device.sm.warp_size.value.0 as f64);
    Times::new((threads / warp).ceil() / threads.max(1.0))
}
