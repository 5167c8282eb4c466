//! What moves at each level, what it is made of, and which reuse the caches lose.

use serde::Serialize;

use crate::device::Device;
use crate::predict::prediction::Prediction;
use crate::quantity::{Bytes, ItemsPerSecond, PerCache, PerItem, PerWave, Ratio, Seconds, Share};
use crate::traffic::{Again, FieldFootprint, Footprints, MemoryVolumes};

/// A boundary of the memory hierarchy, bytes per work item.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MemoryLevel {
    /// `l1` (registers to L1), `l2` (L1 to L2), `llc` (L2 to last-level cache) or `dram`.
    pub level: &'static str,
    /// Loads.
    pub load_bytes: Bytes<PerItem>,
    /// Stores.
    pub store_bytes: Bytes<PerItem>,
    /// Seconds that it would take by itself; null where it is no limiter.
    pub time_s: Option<Seconds>,
    /// Work items per second that it allows by itself.
    pub limit_per_s: Option<ItemsPerSecond>,
    /// What the loads are made of; null for L1.
    pub loads: Option<LoadParts>,
    /// The cache above it; null for L1.
    pub cache: Option<CachePressure>,
}

/// What loads are made of, bytes per work item; the sum of all but the last is all loads.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LoadParts {
    /// First touches of a block (`l2`) or by any block that ran so far: no cache above avoids them.
    pub unavoidable: Bytes<PerItem>,
    /// Touched before by blocks of the same row of blocks, but lost.
    pub lost_x: Bytes<PerItem>,
    /// Touched before by the row of blocks before, but lost.
    pub lost_y: Bytes<PerItem>,
    /// Touched before by the plane of blocks before, but lost.
    pub lost_z: Bytes<PerItem>,
    /// Touched before by the same block (`l2`) or wave, but lost.
    pub lost_within: Bytes<PerItem>,
    /// That complete sectors which were written in part.
    pub fill: Bytes<PerItem>,
    /// What is not loaded: blocks would load it, each by itself (`l2`), but the L1 still has it from other blocks of the SM.
    pub shared: Bytes<PerItem>,
}

/// A cache and what competes for it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CachePressure {
    /// Bytes that count.
    pub capacity_bytes: Bytes<PerCache>,
    /// Bytes that compete for it over its capacity (equation 4 of the paper): for the L1 the lines of all resident
    /// blocks (with loops, of an innermost iteration), for the L2 what lies between two uses within a wave.
    pub oversubscription: Ratio,
    /// Share of repeated loads that miss.
    pub miss: Share,
}

/// Reuse in L2 at one distance: a layer condition (section 4.4.2 of the paper).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Layer {
    /// `wave`, `x`, `y` or `z`.
    pub along: &'static str,
    /// Bytes touched between two uses.
    pub distance_bytes: Bytes<PerWave>,
    /// Bytes of the L2 that count.
    pub capacity_bytes: Bytes<PerCache>,
    /// Distance over capacity.
    pub oversubscription: Ratio,
    /// Share of the loads that misses.
    pub miss: Share,
    /// Bytes per work item that could hit.
    pub reusable_bytes: Bytes<PerItem>,
    /// Bytes per work item of them that miss.
    pub lost_bytes: Bytes<PerItem>,
}

/// The levels of a prediction, from registers to memory.
pub(super) fn levels(device: &Device, prediction: &Prediction) -> Vec<MemoryLevel> {
    let (volumes, pressure) = (&prediction.volumes, &prediction.volumes.pressure);
    let (terms, limits) = (&prediction.time.terms, &prediction.time.limits);
    let footprints = prediction.footprints();
    let fields = &footprints.fields;
    let (l1, l2) = (&volumes.l1, &volumes.l2);
    let above_l2 = CachePressure {
        capacity_bytes: pressure.l1_capacity,
        oversubscription: pressure.l1,
        miss: pressure.l1_miss,
    };
    let of_l2 = LoadParts {
        unavoidable: l2.load.compulsory,
        lost_within: l2.load.capacity,
        shared: l2.load.shared,
        ..NO_LOADS
    };
    let registers = MemoryLevel {
        level: "l1",
        load_bytes: l1.load_bytes,
        store_bytes: l1.store_bytes,
        time_s: Some(terms.l1),
        limit_per_s: limits.l1,
        loads: None,
        cache: None,
    };
    let block = MemoryLevel {
        level: "l2",
        load_bytes: l2.load.total,
        store_bytes: l2.store.total,
        time_s: Some(terms.l2),
        limit_per_s: limits.l2,
        loads: Some(of_l2),
        cache: Some(above_l2),
    };
    let capacity = device.l2.effective.value.0 as f64;
    let of_wave = CachePressure {
        capacity_bytes: Bytes::new(capacity),
        oversubscription: pressure.l2[0],
        miss: pressure.l2_miss[0],
    };
    let of_l2 = within_wave(device, prediction).unwrap_or(of_wave);
    let below = |level, of: &MemoryVolumes, cache| MemoryLevel {
        level,
        load_bytes: of.load.total,
        store_bytes: of.store.total,
        time_s: None,
        limit_per_s: None,
        loads: Some(load_parts(footprints, of)),
        cache: Some(cache),
    };
    let mut all = vec![registers, block];
    let last = if let (Some(of_llc), Some(cache)) = (&volumes.llc, &device.llc) {
        all.push(below("llc", of_llc, of_l2));
        // Its own pressure is not kept: what it lost is.
        let again = again(fields);
        let lost = volumes.dram.load.capacity;
        let bytes = cache.capacity.value.0 as f64;
        CachePressure {
            capacity_bytes: Bytes::new(bytes),
            oversubscription: of_l2.oversubscription * (capacity / bytes.max(1.0)),
            miss: Share::new(if again > Bytes::ZERO { lost / again } else { 0.0 }),
        }
    } else {
        of_l2
    };
    let dram = below("dram", &volumes.dram, last);
    all.push(MemoryLevel { time_s: Some(terms.dram), limit_per_s: limits.dram, ..dram });
    all
}

const NO_LOADS: LoadParts = LoadParts {
    unavoidable: Bytes::ZERO,
    lost_x: Bytes::ZERO,
    lost_y: Bytes::ZERO,
    lost_z: Bytes::ZERO,
    lost_within: Bytes::ZERO,
    fill: Bytes::ZERO,
    shared: Bytes::ZERO,
};

/// What blocks of a wave load again.
fn again(fields: &[FieldFootprint]) -> Bytes<PerItem> {
    let bytes = |list: &[Again<PerWave>]| list.iter().map(|a| a.bytes).sum::<Bytes<_>>();
    fields.iter().map(|f| bytes(&f.passes.shared) + bytes(&f.passes.wave)).sum()
}

/// What a wave loads as a whole.
fn first(fields: &[FieldFootprint]) -> Bytes<PerItem> {
    fields.iter().map(|f| f.wave_load).sum()
}

/// What blocks that ran before touched of what the wave loads, along each axis.
fn reusable(of: &Footprints) -> [Bytes<PerItem>; 3] {
    of.along_axes([0, 1, 2].map(|d| of.fields.iter().map(|f| f.reuse[d]).sum()))
}

/// Of that, what is lost along each axis.
fn lost(footprints: &Footprints, of: &MemoryVolumes) -> [Bytes<PerItem>; 3] {
    let (all, found) = (reusable(footprints), of.load.reuse());
    std::array::from_fn(|d| (all[d] - found[d]).or_none())
}

fn load_parts(footprints: &Footprints, of: &MemoryVolumes) -> LoadParts {
    let lost = lost(footprints, of);
    let (lost_within, fill) = (of.load.capacity, of.load.partial_store_fill);
    let unavoidable = (of.load.total - lost.iter().sum() - lost_within - fill).or_none();
    let [lost_x, lost_y, lost_z] = lost;
    LoadParts { unavoidable, lost_x, lost_y, lost_z, lost_within, fill, shared: Bytes::ZERO }
}

/// What blocks of a wave load again, what the L1 lost among it.
fn shared(of: &Prediction) -> Bytes<PerItem> {
    let fields = &of.footprints().fields;
    again(fields).max(of.volumes.l2.load.total - first(fields))
}

/// The pressure on the L2 between two uses within a wave of a program with loops or barriers, in which blocks share what a
/// stretch touches: on average over what they share. `None` where all that a wave touches lies in between.
fn within_wave(device: &Device, prediction: &Prediction) -> Option<CachePressure> {
    let (of, volumes) = (prediction.footprints(), &prediction.volumes);
    let below = volumes.llc.as_ref().unwrap_or(&volumes.dram);
    let (mut bytes, mut weighted) = (0.0, 0.0);
    for field in of.fields.iter().filter(|f| !f.passes.of_one_stretch) {
        for again in &field.passes.shared {
            bytes += again.bytes.get();
            weighted += again.bytes.get() * (again.distance / of.wave);
        }
    }
    let part = (bytes > 0.0 && of.wave > Bytes::ZERO).then(|| weighted / bytes)?;
    Some(CachePressure {
        capacity_bytes: Bytes::new(device.l2.effective.value.0 as f64),
        oversubscription: volumes.pressure.l2[0] * part,
        miss: Share::new(below.load.capacity / shared(prediction).max(Bytes::new(1e-9))),
    })
}

/// Reuse in L2 within a wave, along x, along y, along z.
pub(super) fn layers(device: &Device, prediction: &Prediction) -> [Layer; 4] {
    let (footprints, volumes) = (prediction.footprints(), &prediction.volumes);
    let (pressure, below) = (&volumes.pressure, volumes.llc.as_ref().unwrap_or(&volumes.dram));
    let capacity = device.l2.effective.value.0 as f64;
    let lost = lost(footprints, below);
    let within = within_wave(device, prediction);
    let reusable = reusable(footprints);
    let along = ["wave", "x", "y", "z"];
    std::array::from_fn(|i| {
        let (reusable_bytes, lost_bytes) = match i.checked_sub(1) {
            // What the L1 lost comes back to the L2 as well.
            None => (shared(prediction), below.load.capacity),
            Some(d) => (reusable[d], lost[d]),
        };
        let (distance, miss) = match within.filter(|_| i == 0) {
            Some(cache) => (cache.oversubscription.get() * capacity, cache.miss),
            None => (pressure.l2[i].get() * capacity, pressure.l2_miss[i]),
        };
        Layer {
            along: along[i],
            distance_bytes: Bytes::new(distance),
            capacity_bytes: Bytes::new(capacity),
            oversubscription: Ratio::new(distance / capacity.max(1.0)),
            miss,
            reusable_bytes,
            lost_bytes,
        }
    })
}
