//! What the L1 still has when a block asks for it again, and how large it is beside shared memory.

use super::footprints::FieldFootprint;
use super::l1::FieldCounts;
use crate::curve::VolumeFit;
use crate::device::Device;
use crate::launch::{Launch, Occupancy};
use crate::quantity::{Bytes, ItemCount, PerBlock, PerCache, PerItem, Ratio, Sectors, Share};

/// How much of what a block loads again the L1 still has.
pub(super) struct InL1<'f> {
    pub(super) fit: &'f VolumeFit,
    /// Resident blocks over the capacity.
    pub(super) blocks_per_byte: f64,
}

impl InL1<'_> {
    /// Oversubscription by so many bytes of each block (equation 4).
    pub(super) fn oversubscription(&self, alloc: Bytes<PerBlock>) -> Ratio {
        Ratio::new(alloc.get() * self.blocks_per_byte)
    }

    pub(super) fn miss(&self, alloc: Bytes<PerBlock>) -> Share {
        Share::new(self.fit.l1_redundant.miss(self.oversubscription(alloc).get()))
    }

    /// Bytes that miss of some that are asked for again.
    pub(super) fn lost(&self, again: AskedAgain) -> Bytes<PerItem> {
        again.bytes * self.miss(again.after)
    }

    /// Bytes of a field that miss, of those that are asked for again in later passes.
    pub(super) fn lost_in_passes(&self, f: &FieldFootprint) -> Bytes<PerItem> {
        f.passes.block.iter().map(|a| a.bytes * self.miss_again(f, a.distance)).sum()
    }

    /// Misses of what later passes ask for again.
    pub(super) fn miss_again(&self, f: &FieldFootprint, distance: Bytes<PerBlock>) -> Share {
        match &self.fit.l1_private {
            Some(private) if f.private => Share::new(private.miss(self.oversubscription(distance).get())),
            _ => self.miss(distance),
        }
    }
}

/// What a block asks for again, and what it allocates in the L1 before it does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct AskedAgain {
    pub(super) bytes: Bytes<PerItem>,
    pub(super) after: Bytes<PerBlock>,
}

impl AskedAgain {
    /// What warps ask for in one stretch that another warp has asked for, or the same one before.
    pub(super) fn by_warps(f: &FieldFootprint, counts: &FieldCounts, per: BytesPerItem) -> Self {
        let bytes = (per.bytes(counts.iteration_load_sectors) - f.passes.in_stretches).or_none();
        Self { bytes, after: f.passes.stretch_alloc }
    }

    /// What the instructions of one warp ask for that do the same for several work items of a thread: the others lie between
    /// them. Nothing where a thread does one work item.
    pub(super) fn by_items(
        counts: &FieldCounts,
        per: BytesPerItem,
        alloc: Bytes<PerBlock>,
        items: i64,
    ) -> Self {
        let others = 1.0 - 1.0 / items.max(1) as f64;
        let bytes = (per.bytes(counts.load_sectors) - per.bytes(counts.warp_load_sectors)).or_none();
        Self { bytes: if others > 0.0 { bytes } else { Bytes::ZERO }, after: alloc * others }
    }
}

/// From sectors of a block to bytes per work item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BytesPerItem {
    pub(super) sector: f64,
    pub(super) items: ItemCount<PerBlock>,
}

impl BytesPerItem {
    pub(super) fn bytes(self, sectors: Sectors<PerBlock>) -> Bytes<PerItem> {
        sectors.bytes(self.sector).per_item(self.items)
    }
}

/// What is left of a unified L1 beside the shared memory of the resident blocks, rounded up to the sizes
/// that shared memory can take.
pub fn l1_capacity(device: &Device, launch: &Launch, occupancy: &Occupancy) -> Bytes<PerCache> {
    let l1 = &device.l1;
    let capacity = l1.capacity.value.0 as f64;
    if !l1.unified {
        return Bytes::new(capacity);
    }
    let of_block = launch.shared_bytes as f64
        + if launch.shared_bytes > 0 { device.sm.shared_reserved.value.0 as f64 } else { 0.0 };
    let wanted = of_block * occupancy.blocks_per_sm as f64;
    let steps = l1.carveouts.value.0.iter().map(|b| b.0 as f64);
    let carved = steps.filter(|&s| s >= wanted).fold(f64::INFINITY, f64::min);
    Bytes::new(capacity - if carved.is_finite() { carved } else { wanted.min(capacity) })
}
