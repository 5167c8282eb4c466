//! From footprints to what a cache asks of the memory below it: hits on earlier blocks while their
//! data is still there (layer conditions, sections 4.4.2 and 4.5 of the paper).

use super::footprints::{FieldFootprint, Footprints};
use crate::curve::VolumeFit;

/// Bytes between L2 and memory per work item.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MemoryVolumes {
    /// Loads that a wave alone cannot avoid.
    pub load_compulsory: f64,
    /// Saved by hits on earlier blocks: in the same row, a row back, a plane back.
    pub reuse: [f64; 3],
    /// Saved by hits on what an earlier launch left, where arrays fit.
    pub reuse_launch: f64,
    /// Loaded again by blocks of one wave.
    pub load_capacity: f64,
    /// Loads that complete sectors which were written in part.
    pub partial_store_fill: f64,
    /// Stores that cannot be avoided.
    pub store_compulsory: f64,
    /// Stores of a sector that was written out before.
    pub store_redundant: f64,
}

impl MemoryVolumes {
    /// All loads.
    pub fn load(&self) -> f64 {
        let saved = self.reuse.iter().sum::<f64>() + self.reuse_launch;
        self.load_compulsory - saved + self.load_capacity + self.partial_store_fill
    }

    /// All stores.
    pub fn store(&self) -> f64 {
        self.store_compulsory + self.store_redundant
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.load_compulsory += other.load_compulsory;
        for (sum, part) in self.reuse.iter_mut().zip(other.reuse) {
            *sum += part;
        }
        self.reuse_launch += other.reuse_launch;
        self.load_capacity += other.load_capacity;
        self.partial_store_fill += other.partial_store_fill;
        self.store_compulsory += other.store_compulsory;
        self.store_redundant += other.store_redundant;
    }
}

/// A cache shared by all SMs, with the miss rates that its pressure leads to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cache {
    /// Bytes between two uses over the capacity: within a wave, and since the last blocks of the row,
    /// the last row and the last plane.
    pub(super) oversubscription: [f64; 4],
    /// Misses at each of them.
    pub(super) miss: [f64; 4],
    /// Misses of what an earlier launch left.
    pub(super) launch_miss: f64,
}

impl Cache {
    pub(super) fn new(capacity: f64, fit: &VolumeFit, footprints: &Footprints) -> Self {
        // Two uses by blocks of a wave lie a part of the wave apart, at whatever distance in the grid.
        let within = fit.wave_share.value * footprints.wave;
        let [_, row, plane] = footprints.past;
        // Blocks of the same row follow each other at once.
        let distances = [within, within, row.max(within), plane.max(within)];
        let oversubscription = distances.map(|d| d / capacity.max(1.0));
        let cold = |f: &FieldFootprint| {
            (f.wave_load - f.reuse.iter().sum::<f64>()) + (f.wave_store - f.store_reuse.iter().sum::<f64>())
        };
        let grid = footprints.fields.iter().map(cold).sum::<f64>() * footprints.items;
        Self {
            oversubscription,
            miss: std::array::from_fn(|d| fit.reuse(d).miss(oversubscription[d])),
            launch_miss: fit.l2_reuse.miss(grid / capacity.max(1.0)),
        }
    }

    /// What one field needs from below.
    pub(super) fn below(&self, f: &FieldFootprint, stored: Stored) -> MemoryVolumes {
        let hit = |d: usize| 1.0 - self.miss[d + 1];
        let reuse: [f64; 3] = std::array::from_fn(|d| f.reuse[d] * hit(d));
        let unavoidable = f.wave_load - f.reuse.iter().sum::<f64>();
        let again: f64 = (0..3).map(|d| f.store_reuse[d] * hit(d)).sum();
        let fill = self.launch_miss * stored.fill;
        let first_stores = f.wave_store - again;
        // What was changed by atomics and is loaded again was written in between.
        let [of_wave, of_blocks] = f.atomics;
        let changed_again = self.miss[0] * (of_blocks - of_wave).max(0.0);
        MemoryVolumes {
            load_compulsory: f.wave_load,
            reuse,
            reuse_launch: unavoidable.max(0.0) * (1.0 - self.launch_miss),
            load_capacity: self.miss[0] * (f.mean_block_fetch - f.wave_load).max(0.0),
            partial_store_fill: fill,
            store_compulsory: first_stores * self.launch_miss,
            store_redundant: fill + changed_again,
        }
    }
}

/// Sectors that warps write in part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stored {
    /// Bytes of sectors that are written out before the rest of them comes, per work item.
    pub(super) fill: f64,
}

impl Stored {
    /// Of the sectors that each warp stores, those that several of them store to are incomplete in
    /// between.
    pub(super) fn new(fit: &VolumeFit, f: &FieldFootprint, by_warps: f64, oversubscription: f64) -> Self {
        let once = f.wave_store - f.store_reuse.iter().sum::<f64>();
        Self { fill: fit.partial(oversubscription) * (by_warps - once).max(0.0) }
    }
}
