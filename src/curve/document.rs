//! Curve files (`fits/*.yaml`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::form::Curve;
use super::interval::Interval;

/// A curve file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// Version of the format, 1.
    #[serde(rename = "wavecast-curves")]
    pub version: u8,
    /// Its name; that of a device if it was measured on one.
    pub id: String,
    /// The file whose keys hold where this one says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherit: Option<String>,
    /// One line on what it rests on.
    pub about: String,
    /// Where coefficients come from.
    pub sources: BTreeMap<String, CoefficientSource>,
    /// How volumes follow from footprints.
    pub volumes: VolumeFit,
    /// How time follows from volumes.
    pub time: TimeFit,
    /// The file that it was read from, of one that does not ship.
    #[serde(skip)]
    pub(crate) file: Option<String>,
}

impl Fit {
    /// What a file with the name `id` inherits: all, or if it is of another GPU what does not hold for
    /// this one alone.
    #[must_use]
    pub fn inherited_by(&self, id: &str) -> Self {
        let mut heir = self.clone();
        if id != self.id {
            heir.forget_device();
        }
        heir
    }
}

/// Where a coefficient comes from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CoefficientSource {
    /// What it is.
    pub text: String,
    /// Measured rows it was fitted to, if it was fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u32>,
    /// Mean absolute relative error that is left, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual_percent: Option<f64>,
    /// SHA-256 of the measurements, if they are a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// 95 % intervals of the coefficients by their names, if they were fitted by `wavecast fit`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub intervals: BTreeMap<String, Interval>,
    /// Whether the measurements come from a simulation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
}

/// A number with its source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, schemars(rename = "Coefficient"))]
pub struct CoefficientValue {
    /// The number.
    pub(crate) value: f64,
    /// Key of its source.
    pub source: String,
}

impl CoefficientValue {
    /// A number with the key of its source.
    pub fn new(value: f64, source: &str) -> Self {
        Self { value, source: source.to_owned() }
    }

    /// The number, in the unit that [`COEFFICIENTS`](super::COEFFICIENTS) names, to read and to change.
    pub fn number(&mut self) -> &mut f64 {
        &mut self.value
    }
}

/// How volumes follow from footprints. `docs/model.md` has the formulas.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct VolumeFit {
    /// Misses of what a warp loads again in its block, over the L1 lines of all resident blocks.
    pub l1_redundant: Curve,
    /// The same of memory of threads, where it was measured by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l1_private: Option<Curve>,
    /// Misses of what was touched before, over the bytes touched in between and the L2.
    pub l2_reuse: Curve,
    /// The same of loads from memory of threads, where they were measured by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l2_private: Option<Curve>,
    /// The same for what an earlier block of the row, an earlier row and an earlier plane touched, where
    /// they were measured by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l2_reuse_x: Option<Curve>,
    /// An earlier row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l2_reuse_y: Option<Curve>,
    /// An earlier plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l2_reuse_z: Option<Curve>,
    /// Part of a wave's footprint that lies between two uses by blocks of the same wave.
    pub wave_share: CoefficientValue,
    /// Sectors that a warp writes in part and that are written out before the rest comes.
    pub partial_store: CoefficientValue,
    /// The same over the bytes touched in between and the L2, where it was measured over a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l2_store: Option<Curve>,
    /// Further writes to L2 for each of them.
    pub partial_store_l2: CoefficientValue,
}

impl VolumeFit {
    /// Misses of what was touched within the wave (0), or before it in x (1), y (2), z (3).
    pub fn reuse(&self, distance: usize) -> &Curve {
        let own = match distance {
            1 => &self.l2_reuse_x,
            2 => &self.l2_reuse_y,
            3 => &self.l2_reuse_z,
            _ => &None,
        };
        own.as_ref().unwrap_or(&self.l2_reuse)
    }

    /// Part of the sectors that are written in part and are written out before the rest comes, at an
    /// oversubscription of the L2 by the wave.
    pub fn partial(&self, oversubscription: f64) -> f64 {
        self.l2_store.as_ref().map_or(self.partial_store.value, |curve| curve.miss(oversubscription))
    }
}

/// The device whose numbers those coefficients go with that stand for a number of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum GoesWith {
    /// The one that is asked about, as its file says it is.
    #[default]
    TheDevice,
    /// One that comes with Wavecast, which the file of the one that is asked about may inherit with other numbers.
    TheShippedOne,
}

/// How time follows from volumes. `docs/model.md` has the formulas.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TimeFit {
    /// Cycles of the L1 pipe over the cycles that its rules count.
    pub l1_pipe: CoefficientValue,
    /// Bytes from and to the L2 that take a cycle of the L1 pipe.
    #[serde(default = "defaults::fill_bytes")]
    pub fill_bytes: CoefficientValue,
    /// Cycles that a request of an L1 takes which asks the L2 for sectors of a line, however many.
    #[serde(default = "defaults::load_request")]
    pub load_request: CoefficientValue,
    /// The same of a request that stores sectors of a line.
    #[serde(default = "defaults::store_request")]
    pub store_request: CoefficientValue,
    /// Instructions in all over those that compute and access memory.
    #[serde(default = "defaults::issue_overhead")]
    pub issue_overhead: CoefficientValue,
    /// Part of the latency of memory that a loop waits for in each iteration that stores what it loads.
    #[serde(default = "defaults::memory_wait")]
    pub memory_wait: CoefficientValue,
    /// Part of its latency that each load from global memory waits for in loops that only load.
    #[serde(default = "defaults::none")]
    pub load_wait: CoefficientValue,
    /// Instructions that compute the address of a load from global memory.
    #[serde(default = "defaults::address_instructions")]
    pub address_instructions: CoefficientValue,
    /// Instructions that each thread takes beside its work: its place, its first addresses, its end.
    #[serde(default = "defaults::none")]
    pub thread_instructions: CoefficientValue,
    /// Instructions for an address that is too far from others for a constant in the instruction.
    #[serde(default = "defaults::none")]
    pub far_instructions: CoefficientValue,
    /// Instructions to enter a loop whose bounds depend on the thread.
    #[serde(default = "defaults::none")]
    pub entry_instructions: CoefficientValue,
    /// Instructions for each iteration of such a loop beside its body.
    #[serde(default = "defaults::none")]
    pub iteration_instructions: CoefficientValue,
    /// Instructions for a condition of accesses.
    #[serde(default = "defaults::none")]
    pub condition_instructions: CoefficientValue,
    /// Exponent that joins what warps of an SM do.
    #[serde(default = "defaults::core_norm")]
    pub core_norm: CoefficientValue,
    /// Cycles from a thread's first load to its end when nothing is in its way; twice the memory
    /// latency of the device if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_cycles: Option<CoefficientValue>,
    /// How much longer that takes per store.
    pub store_cycles: CoefficientValue,
    /// Cycles from a load from shared memory to a store there of what follows from it, in a loop.
    #[serde(default = "defaults::none")]
    pub update_cycles: CoefficientValue,
    /// Part of the cycles of a thread that one takes which loads nothing.
    #[serde(default = "defaults::store_only")]
    pub store_only: CoefficientValue,
    /// Bytes per second of one-way traffic; follows from the device's bandwidth if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dram_one_way: Option<CoefficientValue>,
    /// Loss of memory bandwidth to turns between reads and writes.
    pub turnaround: CoefficientValue,
    /// Loss of memory bandwidth when a wave is scattered over memory.
    pub scatter_loss: CoefficientValue,
    /// Scatter at which half of it is lost.
    pub scatter_half: CoefficientValue,
    /// Bytes of a wave for each page of it at which scatter is 1.
    pub scatter_bytes: CoefficientValue,
    /// Loss of memory bandwidth by data that is fetched again.
    pub refetch_loss: CoefficientValue,
    /// Bytes that each further run of sectors of a warp-wide store costs.
    pub run_bytes: CoefficientValue,
    /// Bytes that each byte costs beyond itself whose sector was written to memory before it was complete: the rest has
    /// to be read first, and the bus turns around.
    #[serde(default = "defaults::incomplete_bytes")]
    pub incomplete_bytes: CoefficientValue,
    /// Bytes that a piece of 256 costs memory at least of which something is written.
    #[serde(default = "defaults::piece_bytes")]
    pub piece_bytes: CoefficientValue,
    /// Exponent that joins memory bandwidth and latency.
    pub latency_norm: CoefficientValue,
    /// Exponent that joins the limiters.
    pub limiter_norm: CoefficientValue,
    /// The same where threads of a block wait for each other, so that it loads and computes in turn.
    #[serde(default = "defaults::barrier_norm")]
    pub barrier_norm: CoefficientValue,
    /// Part of what the first wave of blocks loads, or the last one computes, that nothing hides.
    #[serde(default = "defaults::none")]
    pub first_wave: CoefficientValue,
    /// Ways to memory and back that a block takes beside its own work, where others share its SM.
    #[serde(default = "defaults::none")]
    pub block_ways: CoefficientValue,
    /// The same where threads of a block wait for each other.
    #[serde(default = "defaults::none")]
    pub synced_block_ways: CoefficientValue,
    /// Cost of few resident blocks, per block.
    pub few_blocks: CoefficientValue,
    /// Cycles that the device takes to start a block; what the device file says if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch_cycles: Option<CoefficientValue>,
    /// Cycles of address translation per page of a block.
    pub translation_cycles: CoefficientValue,
    /// Pages of a block beyond which they are paid.
    pub translation_pages: CoefficientValue,
    /// How sharp that is.
    pub translation_power: CoefficientValue,
    /// Exponent that joins these with the rest.
    pub side_norm: CoefficientValue,
    /// Seconds that every launch takes by itself; what the device file says if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_seconds: Option<CoefficientValue>,
    /// Whose numbers bandwidth, latency, dispatch and launch go with.
    #[serde(skip)]
    pub(crate) goes_with: GoesWith,
    /// What older files say that loads from shared memory wait for. A warp's own work stands for it now.
    #[serde(default, skip_serializing)]
    #[cfg_attr(test, schemars(skip))]
    shared_wait: Unused,
    /// The same of each iteration of loops that only load.
    #[serde(default, skip_serializing)]
    #[cfg_attr(test, schemars(skip))]
    iteration_wait: Unused,
}

/// A coefficient that older curve files have and the model no longer does: it is read, and nothing follows from it.
type Unused = serde::de::IgnoredAny;

/// What stands for coefficients in curve files that are older than they are.
mod defaults {
    use super::CoefficientValue;

    macro_rules! defaults {
        ($( $name:ident = $value:literal ),* $(,)?) => {
            $( pub(super) fn $name() -> CoefficientValue {
                CoefficientValue { value: $value, source: "default".to_owned() }
            } )*
        };
    }

    defaults! {
        fill_bytes = 64.0,
        load_request = 0.0,
        store_request = 0.0,
        incomplete_bytes = 0.0,
        piece_bytes = 0.0,
        issue_overhead = 1.1,
        memory_wait = 0.85,
        none = 0.0,
        barrier_norm = 10.0,
        address_instructions = 5.0,
        core_norm = 3.3,
        store_only = 0.3,
    }
}
