//! What moves at each level, what it is made of, and which reuse the caches lose.

use crate::device::Device;
use crate::predict::prediction::Prediction;
use crate::traffic::{Again, FieldFootprint, MemoryVolumes};

/// All levels, from registers to memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// Between L1 and L2.
    pub l2: Level,
    /// Between L2 and the last-level cache, where there is one.
    pub llc: Option<Level>,
    /// Between the last cache and memory.
    pub dram: Level,
    /// Reuse between blocks that run at different times: within a wave, along x, along y, along z.
    pub layers: [Layer; 4],
}

/// A boundary of the memory hierarchy, bytes per work item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Loads.
    pub load: f64,
    /// Stores.
    pub store: f64,
    /// Loads that no cache above could avoid: first touches of a block or of the launch.
    pub unavoidable: f64,
    /// Loads of what the cache above had and lost.
    pub lost: Lost,
    /// Bytes of the cache above.
    pub capacity: f64,
    /// Bytes that compete for it over its capacity (equation 4 of the paper): for the L1 the lines of
    /// all resident blocks (with loops, of an innermost iteration), for the L2 what lies between two uses within a wave.
    pub oversubscription: f64,
    /// The share of repeated loads that misses there.
    pub miss: f64,
}

/// Loads that a larger cache would save, bytes per work item.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Lost {
    /// Loaded before by blocks of the same row, the row before and the plane before.
    pub reuse: [f64; 3],
    /// Loaded again by warps of a block, or by blocks of a wave.
    pub within: f64,
    /// Loaded to complete sectors that were written in part.
    pub fill: f64,
}

/// Reuse at one distance: a layer condition (section 4.4.2 of the paper).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layer {
    /// Bytes touched between two uses.
    pub distance: f64,
    /// Bytes of the L2.
    pub capacity: f64,
    /// Share of the loads that misses.
    pub miss: f64,
    /// Bytes per work item that could hit.
    pub reusable: f64,
    /// Bytes per work item of those that miss.
    pub lost: f64,
}

impl Layer {
    /// Distance over capacity.
    pub fn oversubscription(&self) -> f64 {
        self.distance / self.capacity.max(1.0)
    }
}

/// The levels of a prediction.
pub(super) fn levels(device: &Device, prediction: &Prediction) -> Levels {
    let (volumes, pressure) = (&prediction.volumes, &prediction.volumes.pressure);
    let fields = &prediction.footprints.fields;
    let capacity = device.l2.effective.value.0 as f64;
    let [within, ..] = pressure.l2;
    let [within_miss, ..] = pressure.l2_miss;
    let below_l2 = |of: &MemoryVolumes| {
        memory(fields, of, Level { capacity, oversubscription: within, miss: within_miss, ..EMPTY })
    };
    // Below a last-level cache its own pressure counts, which is not kept: what it lost is.
    let below_llc = |of: &MemoryVolumes, bytes: u64| {
        let level = Level {
            capacity: bytes as f64,
            oversubscription: within * capacity / (bytes as f64).max(1.0),
            ..EMPTY
        };
        let again = again(fields);
        let miss = if again > 0.0 { of.load_capacity / again } else { 0.0 };
        memory(fields, of, Level { miss, ..level })
    };
    let (llc, dram) = match (&volumes.llc, &device.llc) {
        (Some(of_llc), Some(cache)) => {
            (Some(below_l2(of_llc)), below_llc(&volumes.dram, cache.capacity.value.0))
        }
        _ => (None, below_l2(&volumes.dram)),
    };
    Levels {
        l2: Level {
            load: volumes.l2.load(),
            store: volumes.l2.store,
            unavoidable: volumes.l2.load_compulsory,
            lost: Lost { within: volumes.l2.load_capacity, ..Lost::default() },
            capacity: pressure.l1_capacity,
            oversubscription: pressure.l1,
            miss: pressure.l1_miss,
        },
        layers: layers(prediction, capacity, volumes.llc.as_ref().unwrap_or(&volumes.dram)),
        llc,
        dram,
    }
}

const EMPTY: Level = Level {
    load: 0.0,
    store: 0.0,
    unavoidable: 0.0,
    lost: Lost { reuse: [0.0; 3], within: 0.0, fill: 0.0 },
    capacity: 0.0,
    oversubscription: 0.0,
    miss: 0.0,
};

/// What blocks of a wave load again, bytes per work item.
fn again(fields: &[FieldFootprint]) -> f64 {
    let bytes = |list: &[Again]| list.iter().map(|a| a.bytes).sum::<f64>();
    fields.iter().map(|f| bytes(&f.passes.shared) + bytes(&f.passes.wave)).sum()
}

/// What blocks that ran before touched of what the wave loads.
fn reusable(fields: &[FieldFootprint], d: usize) -> f64 {
    fields.iter().map(|f| f.reuse[d]).sum()
}

fn memory(fields: &[FieldFootprint], of: &MemoryVolumes, level: Level) -> Level {
    let lost = Lost {
        reuse: std::array::from_fn(|d| (reusable(fields, d) - of.reuse[d]).max(0.0)),
        within: of.load_capacity,
        fill: of.partial_store_fill,
    };
    let load = of.load();
    let unavoidable = (load - lost.reuse.iter().sum::<f64>() - lost.within - lost.fill).max(0.0);
    Level { load, store: of.store(), unavoidable, lost, ..level }
}

fn layers(prediction: &Prediction, capacity: f64, below: &MemoryVolumes) -> [Layer; 4] {
    let (fields, pressure) = (&prediction.footprints.fields, &prediction.volumes.pressure);
    std::array::from_fn(|i| {
        let (reusable, lost) = match i.checked_sub(1) {
            None => (again(fields), below.load_capacity),
            Some(d) => (reusable(fields, d), (reusable(fields, d) - below.reuse[d]).max(0.0)),
        };
        Layer { distance: pressure.l2[i] * capacity, capacity, miss: pressure.l2_miss[i], reusable, lost }
    })
}
