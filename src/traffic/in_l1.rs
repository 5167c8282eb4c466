//! What the L1 still has when a block asks for it again, and how large it is beside shared memory.

use super::footprints::FieldFootprint;
use crate::curve::VolumeFit;
use crate::device::Device;
use crate::launch::{Launch, Occupancy};
use crate::quantity::{Bytes, PerBlock, PerCache, PerItem, Ratio, Share};

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

    /// Misses between the instructions of one warp that do the same for several work items of a thread: the others lie
    /// between them. None where a thread does one work item.
    pub(super) fn apart(&self, alloc: Bytes<PerBlock>, items: i64) -> Share {
        let others = 1.0 - 1.0 / items.max(1) as f64;
        if others > 0.0 { self.miss(alloc * others) } else { Share::ZERO }
    }

    pub(super) fn miss(&self, alloc: Bytes<PerBlock>) -> Share {
        Share::new(self.fit.l1_redundant.miss(self.oversubscription(alloc).get()))
    }

    /// Bytes of a field that miss in the same stretch, of those that warps load in stretches, each by itself.
    pub(super) fn lost_in_stretches(&self, f: &FieldFootprint, by_warps: Bytes<PerItem>) -> Bytes<PerItem> {
        (by_warps - f.passes.in_stretches).or_none() * self.miss(f.passes.stretch_alloc)
    }

    /// Bytes of a field that miss, of those that warps load in stretches, each by itself, and in later passes.
    pub(super) fn lost(&self, f: &FieldFootprint, by_warps: Bytes<PerItem>) -> Bytes<PerItem> {
        let again = f.passes.block.iter().map(|a| a.bytes * self.miss_again(f, a.distance));
        self.lost_in_stretches(f, by_warps) + again.sum::<Bytes<_>>()
    }

    /// Misses of what later passes ask for again.
    pub(super) fn miss_again(&self, f: &FieldFootprint, distance: Bytes<PerBlock>) -> Share {
        match &self.fit.l1_private {
            Some(private) if f.private => Share::new(private.miss(self.oversubscription(distance).get())),
            _ => self.miss(distance),
        }
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
