//! From footprints to what a cache asks of the memory below it: hits on earlier blocks while their
//! data is still there (layer conditions, sections 4.4.2 and 4.5 of the paper).

use serde::Serialize;

use super::caches::Caches;
use super::footprints::{FieldFootprint, Footprints};
use super::passes::Again;
use super::phases::phases;
use crate::curve::{Curve, VolumeFit};
use crate::quantity::{Bytes, PerCache, PerItem, PerLaunch, PerWave, Ratio, Share};

/// A cache and the memory below it, bytes per work item.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MemoryVolumes {
    /// Loads.
    pub load: MemoryLoad,
    /// Stores.
    pub store: MemoryStore,
}

/// Loads from memory: total = compulsory - `reuse_x` - `reuse_y` - `reuse_z` - `reuse_launch` + capacity +
/// `partial_store_fill`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MemoryLoad {
    /// That a wave alone cannot avoid.
    pub compulsory: Bytes<PerItem>,
    /// Saved by hits on blocks of the same row.
    pub reuse_x: Bytes<PerItem>,
    /// Saved by hits on the row of blocks before.
    pub reuse_y: Bytes<PerItem>,
    /// Saved by hits on the plane of blocks before.
    pub reuse_z: Bytes<PerItem>,
    /// Saved by hits on what an earlier launch left, where arrays fit.
    pub reuse_launch: Bytes<PerItem>,
    /// Loaded again by blocks of one wave: by several of them, or by the same in another pass.
    pub capacity: Bytes<PerItem>,
    /// That complete sectors which were written in part.
    pub partial_store_fill: Bytes<PerItem>,
    /// All of it.
    pub total: Bytes<PerItem>,
}

/// Stores to memory.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MemoryStore {
    /// That cannot be avoided.
    pub compulsory: Bytes<PerItem>,
    /// Of sectors that were written out before.
    pub redundant: Bytes<PerItem>,
    /// Their sum.
    pub total: Bytes<PerItem>,
    /// Of the redundant ones those of sectors that were written out incomplete.
    #[serde(skip)]
    pub incomplete: Bytes<PerItem>,
    /// Stores that wait in the cache when the launch ends: until the next launch stores there again, where arrays fit,
    /// and at the end of a launch that began with empty caches.
    #[serde(skip)]
    pub kept: Bytes<PerItem>,
}

impl MemoryLoad {
    /// Saved by hits on earlier blocks: in the same row, a row back, a plane back.
    pub fn reuse(&self) -> [Bytes<PerItem>; 3] {
        [self.reuse_x, self.reuse_y, self.reuse_z]
    }

    /// Says the same of what is saved by hits on earlier blocks in another way.
    pub(super) fn set_reuse(&mut self, [x, y, z]: [Bytes<PerItem>; 3]) {
        (self.reuse_x, self.reuse_y, self.reuse_z) = (x, y, z);
    }

    /// Saved by hits on earlier blocks and on an earlier launch.
    pub fn saved(&self) -> Bytes<PerItem> {
        self.reuse().iter().sum::<Bytes<_>>() + self.reuse_launch
    }

    /// Loaded again, and to complete sectors.
    pub fn added(&self) -> Bytes<PerItem> {
        self.capacity + self.partial_store_fill
    }

    fn with_total(self) -> Self {
        let total = self.compulsory - self.saved() + self.capacity + self.partial_store_fill;
        Self { total, ..self }
    }
}

impl MemoryStore {
    fn with_total(self) -> Self {
        Self { total: self.compulsory + self.redundant, ..self }
    }
}

impl MemoryVolumes {
    /// Loads and stores.
    pub fn total(&self) -> Bytes<PerItem> {
        self.load.total + self.store.total
    }

    /// Part of the first stores that still waits in a cache when the launch ends, if the cache was empty before.
    pub(super) fn waiting(&self, end: &LaunchEnd) -> Share {
        if self.store.compulsory <= Bytes::ZERO {
            return Share::ZERO;
        }
        let of_wave = end.wave_stores * (end.room / end.wave.max(Bytes::new(1e-9))).min(1.0);
        // Of what is left of earlier waves as much is stores as of all that passed.
        let earlier = (end.room - end.wave).or_none() * (self.store.total / self.total());
        Share::new(((of_wave + earlier) / self.store.compulsory).min(1.0))
    }

    /// Takes a part of the first stores as waiting.
    pub(super) fn wait(&mut self, part: Share) {
        let waiting = self.store.compulsory * part;
        self.store.kept += waiting;
        self.store.compulsory = self.store.compulsory - waiting;
        self.store = self.store.with_total();
    }

    /// Adds a share of others.
    pub(super) fn add(&mut self, other: &Self, share: Share) {
        let (load, store) = (&mut self.load, &mut self.store);
        load.compulsory += other.load.compulsory * share;
        load.reuse_x += other.load.reuse_x * share;
        load.reuse_y += other.load.reuse_y * share;
        load.reuse_z += other.load.reuse_z * share;
        load.reuse_launch += other.load.reuse_launch * share;
        load.capacity += other.load.capacity * share;
        load.partial_store_fill += other.load.partial_store_fill * share;
        store.compulsory += other.store.compulsory * share;
        store.redundant += other.store.redundant * share;
        store.incomplete += other.store.incomplete * share;
        store.kept += other.store.kept * share;
        (*load, *store) = (load.with_total(), store.with_total());
    }
}

/// What a cache can hold when a launch ends, in bytes for each work item of the launch.
pub(super) struct LaunchEnd {
    /// Of sectors that are touched; lines are kept whole.
    pub(super) room: Bytes<PerItem>,
    /// What the last wave touches.
    pub(super) wave: Bytes<PerItem>,
    /// Of that, what it stores.
    pub(super) wave_stores: Bytes<PerItem>,
}

impl LaunchEnd {
    pub(super) fn new(capacity: u64, of: &Footprints) -> Self {
        let stores: Bytes<PerItem> = of.fields.iter().map(|f| f.wave_store).sum();
        Self {
            room: (Bytes::<PerLaunch>::new(capacity as f64) * (1.0 / of.lines.get())).per_item(of.items),
            wave: Bytes::<PerLaunch>::new(of.wave.get()).per_item(of.items),
            wave_stores: Bytes::<PerLaunch>::new(stores.in_all(of.wave_items).get()).per_item(of.items),
        }
    }
}

/// A cache shared by all SMs, with the miss rates that its pressure leads to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CacheRates<'f> {
    /// Its capacity, at least a byte.
    room: Bytes<PerCache>,
    fit: &'f VolumeFit,
    /// What a wave touches.
    wave: Bytes<PerWave>,
    /// Largest part of that which lies between two uses by its blocks.
    apart: Ratio,
    /// Bytes between two uses over the capacity: within a wave, and since the last blocks of the row,
    /// the last row and the last plane.
    pub(super) oversubscription: [Ratio; 4],
    /// Misses at each of them.
    pub(super) miss: [Share; 4],
    /// Misses of what no earlier block of the launch touched: all of it unless an earlier launch left it.
    pub(super) launch_miss: Share,
    /// Which part of what the launch touches leaves the cache before the launch ends.
    spilled: Share,
}

impl<'f> CacheRates<'f> {
    /// For a wave that touches so many bytes, as much as `past` says having been touched before it, in a
    /// launch that touches `launch` bytes.
    pub(super) fn new(
        capacity: Bytes<PerCache>,
        fit: &'f VolumeFit,
        caches: Caches,
        wave: Bytes<PerWave>,
        past: [Bytes<PerWave>; 3],
        launch: Bytes<PerLaunch>,
        in_step: Ratio,
    ) -> Self {
        // Two uses by blocks of a wave lie a part of the wave apart, at whatever distance in the grid.
        let half = Ratio::new(fit.wave_share.value * in_step.get());
        let within = wave * half.get();
        let apart = Ratio::new(2.0 * half.get());
        let room = capacity.max(Bytes::new(1.0));
        let [_, row, plane] = past;
        // Blocks of the same row follow each other at once.
        let distances = [within, within, row.max(within), plane.max(within)];
        let oversubscription = distances.map(|d| d.over(room));
        let of_blocks = |d| Share::new(at_any_phase(fit.reuse(d), (wave * apart.get()).over(room)));
        let of_distance = |d: usize| Share::new(fit.reuse(d).miss(oversubscription[d].get()));
        let in_wave = of_blocks(0);
        // Mostly one curve holds for all distances.
        let in_row = if std::ptr::eq(fit.reuse(0), fit.reuse(1)) { in_wave } else { of_blocks(1) };
        let miss = [in_wave, in_row, of_distance(2), of_distance(3)];
        let spilled = Share::new(fit.l2_reuse.miss(launch.over(room).get()));
        Self {
            room,
            fit,
            wave,
            apart,
            oversubscription,
            miss,
            launch_miss: match caches {
                Caches::Warm => spilled,
                Caches::Cold | Caches::Empty => Share::ALL,
            },
            spilled,
        }
    }

    /// Bytes that miss of those that come again at some distances.
    fn lost(
        &self,
        curve: &Curve,
        again: &[Again<PerWave>],
        asked: &dyn Fn(&Again<PerWave>) -> Bytes<PerItem>,
    ) -> Bytes<PerItem> {
        let miss = |a: &Again<PerWave>| curve.miss(a.distance.over(self.room).get());
        again.iter().map(|a| asked(a) * miss(a)).sum()
    }

    /// Bytes that miss of what blocks of a wave load beyond what the wave loads as a whole: several of them, or one of
    /// them again because the L1 lost it (`of_l1`: what that adds, less what the L1 keeps for other blocks).
    fn lost_within(&self, f: &FieldFootprint, of_l1: Bytes<PerItem>) -> Bytes<PerItem> {
        let (mut again, mut missing) = (Bytes::ZERO, Bytes::ZERO);
        for a in &f.passes.shared {
            again += a.bytes;
            let miss = if a.distance == self.wave {
                self.miss[0].get()
            } else {
                at_any_phase(self.fit.reuse(0), (a.distance * self.apart.get()).over(self.room))
            };
            missing += a.bytes * miss;
        }
        let miss = if again > Bytes::ZERO { missing / again } else { self.miss[0].get() };
        (again + of_l1).or_none() * miss
    }

    /// What one field needs from below, of which so much is written in part. `asked` says how much of what comes
    /// again in a later pass gets past the L1; `of_l1` what blocks ask for beyond what each has to load once.
    pub(super) fn below(
        &self,
        f: &FieldFootprint,
        in_part: Bytes<PerItem>,
        of_l1: Bytes<PerItem>,
        asked: &dyn Fn(&Again<PerWave>) -> Bytes<PerItem>,
    ) -> MemoryVolumes {
        if f.private {
            return self.below_private(f, of_l1, asked);
        }
        let hit = |d: usize| self.miss[d + 1].rest();
        let [reuse_x, reuse_y, reuse_z] = std::array::from_fn(|d| f.reuse[d] * hit(d));
        let again: Bytes<PerItem> = (0..3).map(|d| f.store_reuse[d] * hit(d)).sum();
        // A sector that stays until all of it is written needs no completing, whatever was there before.
        let fill = in_part * self.spilled;
        // One that nothing ever completes is, when it leaves, unless it was loaded anyway.
        let loaded = (f.wave_load / f.wave_store.max(Bytes::new(1e-9))).min(1.0);
        let never = (f.wave_store - again).or_none() * f.incomplete * (1.0 - loaded) * self.launch_miss;
        // What is stored leaves once at least, however the sectors at the ends of this wave lie.
        let first_stores = (f.wave_store - again).max(f.stored);
        // What was changed by atomics and is loaded again was written in between.
        let [of_wave, of_blocks] = f.atomics;
        let changed_again = (of_blocks - of_wave).or_none() * self.miss[0];
        let all = |a: &Again<PerWave>| a.bytes;
        let stored_again = self.lost(self.fit.reuse(0), &f.passes.stores, &all);
        let load = MemoryLoad {
            compulsory: f.wave_load,
            reuse_x,
            reuse_y,
            reuse_z,
            reuse_launch: f.first_loads().or_none() * self.launch_miss.rest(),
            capacity: self.lost_within(f, of_l1) + self.lost(self.fit.reuse(0), &f.passes.wave, asked),
            partial_store_fill: fill + never,
            ..MemoryLoad::default()
        };
        let store = MemoryStore {
            compulsory: first_stores * self.launch_miss,
            redundant: fill + changed_again + stored_again,
            incomplete: fill,
            kept: first_stores * self.launch_miss.rest(),
            ..MemoryStore::default()
        };
        MemoryVolumes { load: load.with_total(), store: store.with_total() }
    }

    /// The same of memory of threads: nothing is loaded that the thread has not stored, and what is stored there has
    /// to leave only for want of room, for the next wave stores in the same place.
    fn below_private(
        &self,
        f: &FieldFootprint,
        of_l1: Bytes<PerItem>,
        asked: &dyn Fn(&Again<PerWave>) -> Bytes<PerItem>,
    ) -> MemoryVolumes {
        let curve = self.fit.l2_private.as_ref().unwrap_or(self.fit.reuse(0));
        let left = self.fit.reuse(0).miss(self.wave.over(self.room).get());
        let load = MemoryLoad {
            capacity: self.lost_within(f, of_l1) + self.lost(curve, &f.passes.wave, asked),
            ..MemoryLoad::default()
        };
        let store = MemoryStore {
            redundant: f.wave_store * left
                + self.lost(self.fit.reuse(0), &f.passes.stores, &|a: &Again<PerWave>| a.bytes),
            ..MemoryStore::default()
        };
        MemoryVolumes { load: load.with_total(), store: store.with_total() }
    }
}

/// Misses where two uses lie a random part of `most` apart.
fn at_any_phase(curve: &Curve, most: Ratio) -> f64 {
    phases(most).into_iter().map(|(apart, share)| curve.miss(apart.get()) * share.get()).sum()
}

/// Sectors that are written out before the rest of them comes: of the sectors that each warp stores, those that
/// several of them store to are incomplete in between.
pub(super) fn written_in_part(
    fit: &VolumeFit,
    f: &FieldFootprint,
    by_warps: Bytes<PerItem>,
    oversubscription: Ratio,
) -> Bytes<PerItem> {
    let by_several = (by_warps - f.first_stores()).or_none();
    // Where there are none, it need not be known how many of them stay.
    if by_several > Bytes::ZERO { by_several * fit.partial(oversubscription.get()) } else { Bytes::ZERO }
}
