//! Explanations as documents for programs: `wavecast/explanation/1`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::report::check::Warning;
use crate::report::prediction::{ChoiceDocument, Head, ResultDocument};
use crate::space::{Block, Domain, Fold};

/// Why a launch is as fast as it is: `wavecast/explanation/1`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExplanationDocument {
    /// `wavecast/explanation/1`.
    pub schema: &'static str,
    /// What the explanation is about.
    #[serde(flatten)]
    pub head: Head,
    /// Why it is about this launch.
    pub choice: ChoiceDocument,
    /// What is predicted.
    pub result: ResultDocument,
    /// The same in words: each sentence says what the numbers of this document say.
    pub sentences: Vec<Sentence>,
    /// What each instruction of a thread costs, in program order.
    pub accesses: Vec<AccessDocument>,
    /// Each boundary of the memory hierarchy, from registers to memory.
    pub levels: Vec<LevelDocument>,
    /// Reuse in L2 between blocks: within a wave, and from earlier blocks along x, y and z.
    pub layers: Vec<LayerDocument>,
    /// How far loads of a field reach beyond the work item.
    pub halos: Vec<HaloDocument>,
    /// Work items along x, y, z of the box around a wave.
    pub wave_extent: Domain,
    /// What other launches would change.
    pub neighbours: NeighboursDocument,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
}

/// A sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Sentence {
    /// A stable name of what it is about.
    pub code: &'static str,
    /// What it says.
    pub text: String,
}

/// An instruction of a thread, per work item.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AccessDocument {
    /// Position in the program of a thread, from 0.
    pub position: usize,
    /// `load`, `store` or `atomic`.
    pub kind: &'static str,
    /// The field.
    pub field: String,
    /// As it was written, for the first work item of the thread; pointer forms with block and thread
    /// indices.
    pub at: String,
    /// Times that a warp issues it.
    pub issues: f64,
    /// Wavefronts of the data stage of the L1.
    pub data_wavefronts: f64,
    /// Wavefronts of the tag stage of the L1.
    pub tag_wavefronts: f64,
    /// Cycles of the L1 pipe; all accesses together take `volumes.l1.wavefront_cycles`.
    pub cycles: f64,
    /// Sectors per issue; null for shared memory.
    pub sectors_per_request: Option<f64>,
    /// Bytes that lanes ask for over bytes of the sectors; more than 1 where lanes share bytes.
    pub efficiency: Option<f64>,
    /// What the launch would be spared without it; null if there are too many accesses to look at each.
    pub alone: Option<AloneDocument>,
}

/// What a launch would be spared without an access, bytes per work item.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct AloneDocument {
    /// Sectors that only it loads in a block.
    pub block_load_bytes: f64,
    /// Sectors that only it loads in a wave.
    pub wave_load_bytes: f64,
    /// Sectors that only it stores in a wave.
    pub wave_store_bytes: f64,
    /// Between L1 and L2, after hit rates.
    pub l2_bytes: f64,
    /// Between L2 and memory, after hit rates.
    pub dram_bytes: f64,
    /// Work items per second without it.
    pub rate_per_s: f64,
}

/// A boundary of the memory hierarchy, bytes per work item.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct LevelDocument {
    /// `l1` (registers to L1), `l2` (L1 to L2), `llc` (L2 to last-level cache) or `dram`.
    pub level: &'static str,
    /// Loads.
    pub load_bytes: f64,
    /// Stores.
    pub store_bytes: f64,
    /// Seconds that it would take by itself; null where it is no limiter.
    pub time_s: Option<f64>,
    /// Work items per second that it allows by itself.
    pub limit_per_s: Option<f64>,
    /// What the loads are made of; null for L1.
    pub loads: Option<LoadParts>,
    /// The cache above it; null for L1.
    pub cache: Option<CacheDocument>,
}

/// What loads are made of, bytes per work item; their sum is all loads.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct LoadParts {
    /// First touches of a block (`l2`) or by any block that ran so far: no cache above avoids them.
    pub unavoidable: f64,
    /// Touched before by blocks of the same row of blocks, but lost.
    pub lost_x: f64,
    /// Touched before by the row of blocks before, but lost.
    pub lost_y: f64,
    /// Touched before by the plane of blocks before, but lost.
    pub lost_z: f64,
    /// Touched before by the same block (`l2`) or wave, but lost.
    pub lost_within: f64,
    /// That complete sectors which were written in part.
    pub fill: f64,
}

/// A cache.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct CacheDocument {
    /// Bytes that count.
    pub capacity_bytes: f64,
    /// Bytes that compete for it over its capacity.
    pub oversubscription: f64,
    /// Share of repeated loads that miss.
    pub miss: f64,
}

/// Reuse in L2 at one distance.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct LayerDocument {
    /// `wave`, `x`, `y` or `z`.
    pub along: &'static str,
    /// Bytes touched between two uses.
    pub distance_bytes: f64,
    /// Bytes of the L2 that count.
    pub capacity_bytes: f64,
    /// Distance over capacity.
    pub oversubscription: f64,
    /// Share of the loads that misses.
    pub miss: f64,
    /// Bytes per work item that could hit.
    pub reusable_bytes: f64,
    /// Bytes per work item of them that miss.
    pub lost_bytes: f64,
}

/// How far loads of a field lie apart.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HaloDocument {
    /// The field.
    pub field: String,
    /// Farthest offset forwards minus farthest backwards along x, y, z; null if an index is anything but
    /// an axis and a number.
    pub reach: [Option<i64>; 3],
}

/// Other launches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NeighboursDocument {
    /// Launches that were compared.
    pub compared: usize,
    /// Those of them that cannot run or not be predicted.
    pub rejected: usize,
    /// One step away, best first. Of a kernel that means other work in other blocks, its own candidates only.
    pub near: Vec<NeighbourDocument>,
    /// The best of all that were compared, this one left out.
    pub best: Option<NeighbourDocument>,
}

/// Another launch.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NeighbourDocument {
    /// The variant, if the document has variants.
    pub variant: Option<String>,
    /// Threads of a block along x, y, z.
    pub block: Block,
    /// Work items of a thread along x, y, z.
    pub fold: Fold,
    /// Whether it is one of the candidates that were asked for.
    pub listed: bool,
    /// Work items per second.
    pub rate_per_s: f64,
    /// The time of the launch that is explained over its own.
    pub relative: f64,
    /// What limits it.
    pub limiter: &'static str,
    /// Share of the warps of an SM that are resident.
    pub occupancy: f64,
    /// Its volumes minus those of the launch that is explained, per work item of the latter.
    pub change: Change,
}

/// Differences of volumes per work item.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Change {
    /// Cycles of the L1 pipe.
    pub l1_cycles: f64,
    /// Bytes loaded from L2.
    pub l2_load_bytes: f64,
    /// Bytes stored to L2.
    pub l2_store_bytes: f64,
    /// Bytes loaded from memory.
    pub dram_load_bytes: f64,
    /// Bytes stored to memory.
    pub dram_store_bytes: f64,
}
