//! From footprints to what a cache asks of the memory below it: hits on earlier blocks while their
//! data is still there (layer conditions, sections 4.4.2 and 4.5 of the paper).

use super::caches::Caches;
use super::footprints::FieldFootprint;
use super::passes::Again;
use crate::curve::VolumeFit;

/// Bytes between L2 and memory per work item.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct MemoryVolumes {
    /// Loads that a wave alone cannot avoid.
    pub load_compulsory: f64,
    /// Saved by hits on earlier blocks: in the same row, a row back, a plane back.
    pub reuse: [f64; 3],
    /// Saved by hits on what an earlier launch left, where arrays fit.
    pub reuse_launch: f64,
    /// Loaded again by blocks of one wave: by several of them, or by the same in another pass.
    pub load_capacity: f64,
    /// Loads that complete sectors which were written in part.
    pub partial_store_fill: f64,
    /// Stores that cannot be avoided.
    pub store_compulsory: f64,
    /// Stores of a sector that was written out before.
    pub store_redundant: f64,
    /// Stores that wait in the cache until the next launch stores there again, where arrays fit.
    pub store_kept: f64,
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

    /// Adds a share of others.
    pub(super) fn add(&mut self, other: &Self, share: f64) {
        self.load_compulsory += share * other.load_compulsory;
        for (sum, part) in self.reuse.iter_mut().zip(other.reuse) {
            *sum += share * part;
        }
        self.reuse_launch += share * other.reuse_launch;
        self.load_capacity += share * other.load_capacity;
        self.partial_store_fill += share * other.partial_store_fill;
        self.store_compulsory += share * other.store_compulsory;
        self.store_redundant += share * other.store_redundant;
        self.store_kept += share * other.store_kept;
    }
}

/// A cache shared by all SMs, with the miss rates that its pressure leads to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cache<'f> {
    capacity: f64,
    fit: &'f VolumeFit,
    /// Bytes between two uses over the capacity: within a wave, and since the last blocks of the row,
    /// the last row and the last plane.
    pub(super) oversubscription: [f64; 4],
    /// Misses at each of them.
    pub(super) miss: [f64; 4],
    /// Misses of what no earlier block of the launch touched: all of it unless an earlier launch left it.
    pub(super) launch_miss: f64,
    /// Which part of what the launch touches leaves the cache before the launch ends.
    spilled: f64,
}

impl<'f> Cache<'f> {
    /// For a wave that touches so many bytes, as much as `past` says having been touched before it, in a
    /// launch that touches `launch` bytes.
    pub(super) fn new(
        capacity: f64,
        fit: &'f VolumeFit,
        caches: Caches,
        wave: f64,
        past: [f64; 3],
        launch: f64,
    ) -> Self {
        // Two uses by blocks of a wave lie a part of the wave apart, at whatever distance in the grid.
        let within = fit.wave_share.value * wave;
        let [_, row, plane] = past;
        // Blocks of the same row follow each other at once.
        let distances = [within, within, row.max(within), plane.max(within)];
        let oversubscription = distances.map(|d| d / capacity.max(1.0));
        let spilled = fit.l2_reuse.miss(launch / capacity.max(1.0));
        Self {
            capacity,
            fit,
            oversubscription,
            miss: std::array::from_fn(|d| fit.reuse(d).miss(oversubscription[d])),
            launch_miss: match caches {
                Caches::Warm => spilled,
                Caches::Cold => 1.0,
            },
            spilled,
        }
    }

    /// Bytes that miss of those that come again at some distances.
    fn lost(&self, again: &[Again], share: f64, asked: &dyn Fn(&Again) -> f64) -> f64 {
        let miss = |a: &Again| self.fit.reuse(0).miss(share * a.distance / self.capacity.max(1.0));
        again.iter().map(|a| asked(a) * miss(a)).sum()
    }

    /// What one field needs from below. `asked` says how much of what comes again in a later pass gets
    /// past the L1.
    pub(super) fn below(
        &self,
        f: &FieldFootprint,
        stored: Stored,
        asked: &dyn Fn(&Again) -> f64,
    ) -> MemoryVolumes {
        let hit = |d: usize| 1.0 - self.miss[d + 1];
        let reuse: [f64; 3] = std::array::from_fn(|d| f.reuse[d] * hit(d));
        let unavoidable = f.wave_load - f.reuse.iter().sum::<f64>();
        let again: f64 = (0..3).map(|d| f.store_reuse[d] * hit(d)).sum();
        // A sector that stays until all of it is written needs no completing, whatever was there before.
        let fill = self.spilled * stored.fill;
        // What is stored leaves once at least, however the sectors at the ends of this wave lie.
        let first_stores = (f.wave_store - again).max(f.stored);
        // What was changed by atomics and is loaded again was written in between.
        let [of_wave, of_blocks] = f.atomics;
        let changed_again = self.miss[0] * (of_blocks - of_wave).max(0.0);
        let all = |a: &Again| a.bytes;
        // Two blocks of the wave use a line at independent times.
        let shared = self.lost(&f.passes.shared, self.fit.wave_share.value, &all);
        let load_capacity = shared + self.lost(&f.passes.wave, 1.0, asked);
        let stored_again = self.lost(&f.passes.stores, 1.0, &all);
        MemoryVolumes {
            load_compulsory: f.wave_load,
            reuse,
            reuse_launch: unavoidable.max(0.0) * (1.0 - self.launch_miss),
            load_capacity,
            partial_store_fill: fill,
            store_compulsory: first_stores * self.launch_miss,
            store_redundant: fill + changed_again + stored_again,
            store_kept: first_stores * (1.0 - self.launch_miss),
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
