//! Explanations as documents for programs: `wavecast/explanation/1`.

use serde::Serialize;

use crate::launch::{Candidate, Staircase};
use crate::predict::{AccessCost, Halo, Layer, MemoryLevel, Terms};
use crate::quantity::{Bytes, Cycles, ItemsPerSecond, PerItem, Ratio, Share};
use crate::report::check::Warning;
use crate::report::prediction::{ChoiceDocument, Head, OfVariant, ResultDocument};
use crate::space::Domain;

/// Why a launch is as fast as it is: `wavecast/explanation/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    pub levels: Vec<MemoryLevel>,
    /// Reuse in L2 between blocks: within a wave, and from earlier blocks along x, y and z.
    pub layers: [Layer; 4],
    /// How far loads of a field reach beyond the work item.
    pub halos: Vec<Halo>,
    /// Work items along x, y, z of the box around a wave.
    pub wave_extent: Domain,
    /// How occupancy falls with more registers and more shared memory.
    pub staircase: Staircase,
    /// What other launches would change.
    pub neighbours: NeighboursDocument,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
}

/// A sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sentence {
    /// A stable name of what it is about.
    pub code: &'static str,
    /// What it says.
    pub text: String,
}

/// An instruction of a thread, per work item.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// What it costs.
    #[serde(flatten)]
    pub cost: AccessCost,
}

/// Other launches.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NeighbourDocument {
    /// What it is.
    #[serde(flatten)]
    pub config: OfVariant<Candidate>,
    /// Whether it is one of the candidates that were asked for.
    pub listed: bool,
    /// Work items per second.
    pub rate_per_s: ItemsPerSecond,
    /// The time of the launch that is explained over its own.
    pub relative: Ratio,
    /// What limits it.
    pub limiter: &'static str,
    /// Share of the warps of an SM that are resident.
    pub occupancy: Share,
    /// Blocks of its grid.
    pub blocks: i64,
    /// Seconds that each part takes by itself, as of a result.
    pub time_terms_s: Terms,
    /// Its volumes minus those of the launch that is explained, per work item of the latter.
    pub change: VolumeChange,
}

/// Differences of volumes per work item.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VolumeChange {
    /// Cycles of the L1 pipe.
    pub l1_cycles: Cycles<PerItem>,
    /// Bytes loaded from L2.
    pub l2_load_bytes: Bytes<PerItem>,
    /// Bytes stored to L2.
    pub l2_store_bytes: Bytes<PerItem>,
    /// Bytes loaded from memory.
    pub dram_load_bytes: Bytes<PerItem>,
    /// Bytes stored to memory.
    pub dram_store_bytes: Bytes<PerItem>,
}
