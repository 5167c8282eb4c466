//! `wavecast/diff/1`.

use serde::Serialize;

use crate::quantity::Ratio;
use crate::report::check::Tool;

/// Two predictions and what makes the difference: `wavecast/diff/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DifferenceDocument {
    /// `wavecast/diff/1`.
    pub schema: &'static str,
    /// The program.
    pub tool: Tool,
    /// The first prediction.
    pub a: SideSummary,
    /// The second.
    pub b: SideSummary,
    /// How many times as fast as the first the second is, by work items per second.
    pub speedup: Ratio,
    /// What times of the second were multiplied by, so that both are times of the work items of the first; 1 where both do
    /// as many.
    pub scale: Ratio,
    /// Seconds by which the second takes longer; negative where it is faster.
    pub difference_s: f64,
    /// Which is faster, and what makes it so, in a sentence or two.
    pub verdict: String,
    /// The parts of the times; their effects add up to the difference. What makes most of it comes first.
    pub terms: Vec<TermDifference>,
    /// Volumes that differ.
    pub volumes: Vec<NumberDifference>,
    /// Bytes per work item of each array that differ: loads from the L2 and from memory, and stores to them.
    pub fields: Vec<NumberDifference>,
    /// Work items per second that each resource allows by itself, where they differ.
    pub limits: Vec<NumberDifference>,
    /// What an SM holds, where it differs.
    pub occupancy: Vec<NumberDifference>,
}

/// A prediction that is compared.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SideSummary {
    /// The kernel.
    pub kernel: String,
    /// What a work item is called.
    pub unit: String,
    /// The device.
    pub device: String,
    /// The variant, if the document has variants.
    pub variant: Option<String>,
    /// Threads of a block.
    pub block: [i64; 3],
    /// Work items of a thread.
    pub fold: [i64; 3],
    /// Registers of a thread.
    pub registers: i64,
    /// Work items per second.
    pub rate_per_s: f64,
    /// Seconds of a launch.
    pub time_s: f64,
    /// What limits it.
    pub limiter: String,
}

/// A part of the times.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TermDifference {
    /// Its name in `time_terms_s` of a prediction.
    pub term: String,
    /// Seconds of the first.
    pub a_s: f64,
    /// Seconds of the second, scaled.
    pub b_s: f64,
    /// Seconds of the difference that it makes.
    pub effect_s: f64,
    /// The share of the difference that it makes: 1 for all of it, negative where it makes it smaller; null without a
    /// difference.
    pub share: Option<f64>,
    /// How many times as much there is to move or do; null where no volume stands for it.
    pub volume_factor: Option<Ratio>,
    /// How many times as fast it is moved or done.
    pub speed_factor: Option<Ratio>,
}

/// A number that differs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NumberDifference {
    /// Where it stands in a prediction, under `volumes`, `fields`, `limits_per_s` or `occupancy`.
    pub name: String,
    /// Of the first; null where it has none.
    pub(super) a: Option<f64>,
    /// Of the second.
    pub(super) b: Option<f64>,
}
