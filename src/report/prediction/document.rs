//! Predictions as documents for programs: `wavecast/ranking/1` and `wavecast/prediction/1`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::choice::ChoiceDocument;
use super::volumes::{FieldDocument, VolumesDocument};
use crate::predict::{Summary, Unpredicted};
use crate::report::check::{DeviceSummary, OccupancySummary, Tool, Warning};
use crate::space::{Block, Fold, Grid};

/// Candidates, best first: `wavecast/ranking/1`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RankingDocument {
    /// `wavecast/ranking/1`.
    pub schema: &'static str,
    /// What the ranking is about.
    #[serde(flatten)]
    pub head: Head,
    /// How many candidates there were.
    pub summary: RankingSummary,
    /// Candidates that can run, best first.
    pub results: Vec<RankedResult>,
    /// Candidates that cannot run or not be predicted, with the reason.
    pub infeasible: Vec<Rejected>,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
    /// Seconds that it took; only if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_s: Option<f64>,
}

/// A result on a line of its own.
#[derive(Debug, Clone, Serialize)]
pub struct RankingLine<'a> {
    schema: &'static str,
    kernel: &'a KernelHead,
    device: &'a DeviceSummary,
    model: &'a ModelSummary,
    #[serde(flatten)]
    result: &'a RankedResult,
}

impl RankingDocument {
    /// One line per result.
    pub fn lines(&self) -> impl Iterator<Item = RankingLine<'_>> {
        let Head { kernel, device, model, .. } = &self.head;
        let schema = self.schema;
        self.results.iter().map(move |result| RankingLine { schema, kernel, device, model, result })
    }

    /// A ranking of one.
    pub fn of_one(prediction: &PredictionDocument) -> Self {
        let PredictionDocument { head, result, warnings, .. } = prediction.clone();
        Self {
            schema: "wavecast/ranking/1",
            head,
            summary: RankingSummary { candidates: 1, feasible: 1, tie_error: 0.0 },
            results: vec![RankedResult { rank: 1, tie_group: 1, result }],
            infeasible: Vec::new(),
            warnings,
            elapsed_s: None,
        }
    }
}

/// One launch: `wavecast/prediction/1`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PredictionDocument {
    /// `wavecast/prediction/1`.
    pub schema: &'static str,
    /// What the prediction is about.
    #[serde(flatten)]
    pub head: Head,
    /// Why it is about this launch.
    pub choice: ChoiceDocument,
    /// What is predicted.
    pub result: ResultDocument,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
}

/// What a result is about.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Head {
    /// The program.
    pub tool: Tool,
    /// The kernel.
    pub kernel: KernelHead,
    /// The device.
    pub device: DeviceSummary,
    /// How the result was made.
    pub model: ModelSummary,
}

/// A kernel.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct KernelHead {
    /// Its name.
    pub name: String,
    /// What a work item is called.
    pub unit: String,
    /// Work items along the axes.
    pub domain: Vec<i64>,
    /// Parameters after overrides.
    pub params: BTreeMap<String, i64>,
}

/// How a result was made.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ModelSummary {
    /// `default` or `roofline`.
    pub id: &'static str,
    /// `linear` or `grid`.
    pub addressing: &'static str,
    /// What the caches hold when a launch begins: `warm` or `cold`.
    pub caches: &'static str,
    /// Whose hit rates and coefficients were used.
    pub curves: String,
}

/// How many candidates there were.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct RankingSummary {
    /// All.
    pub candidates: usize,
    /// Those with a result.
    pub feasible: usize,
    /// Launches whose speed, one over the time, differs by less than this share are one tie group.
    pub tie_error: f64,
}

/// A candidate in its place.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RankedResult {
    /// From 1.
    pub rank: usize,
    /// From 1; candidates that the model cannot tell apart share one.
    pub tie_group: usize,
    /// The rest.
    #[serde(flatten)]
    pub result: ResultDocument,
}

/// A candidate without a result.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Rejected {
    /// Variant, block and fold.
    pub config: RejectedConfig,
    /// Why.
    #[schemars(with = "String")]
    pub reason: Why,
    /// A stable name of the reason.
    pub code: &'static str,
}

/// Why a launch has no prediction, put into words where they are written: of a hundred thousand launches that
/// cannot run, hardly any is ever read about.
#[derive(Debug, Clone)]
pub struct Why(pub Unpredicted);

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Why {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// Variant, block and fold.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RejectedConfig {
    /// The variant, if the document has variants.
    pub variant: Option<String>,
    /// Threads of a block along x, y, z.
    pub block: Block,
    /// Work items of a thread along x, y, z.
    pub fold: Fold,
}

/// Everything that is predicted of one launch.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResultDocument {
    /// The launch.
    pub config: Config,
    /// Work items per second.
    pub rate_per_s: f64,
    /// Seconds of one launch.
    pub time_s: f64,
    /// Time of the best of the ranking over this one; null for a single prediction.
    pub relative: Option<f64>,
    /// `fp`, `l1`, `l2`, `dram`, `tlb`, `latency`, `dispatch` or `launch`.
    pub limiter: &'static str,
    /// Work items per second that each resource allows by itself; null where it is not used.
    pub limits_per_s: LimitsDocument,
    /// Seconds: the longest of fp, l1, l2, dram, latency, tlb and dispatch, plus tail, launch and
    /// combination, is the time.
    pub time_terms_s: TermsDocument,
    /// Resident blocks and waves.
    pub occupancy: OccupancySummary,
    /// Bytes per work item at each boundary.
    pub volumes: VolumesDocument,
    /// Bytes per work item by field.
    pub fields: BTreeMap<String, FieldDocument>,
    /// How distinct lines were counted.
    pub counting: CountingDocument,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
}

/// A launch.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Config {
    /// The variant, if the document has variants.
    pub variant: Option<String>,
    /// Threads of a block along x, y, z.
    pub block: Block,
    /// Work items of a thread along x, y, z.
    pub fold: Fold,
    /// Blocks along x, y, z.
    pub grid: Grid,
    /// Registers of a thread.
    pub registers: i64,
    /// Shared memory of a block.
    pub shared_bytes: i64,
}

/// Work items per second.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct LimitsDocument {
    /// Floating-point units.
    pub fp: Option<f64>,
    /// The pipe of the L1.
    pub l1: Option<f64>,
    /// Bandwidth of the L2.
    pub l2: Option<f64>,
    /// Bandwidth of the memory.
    pub dram: Option<f64>,
}

/// Seconds.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct TermsDocument {
    /// Floating-point units.
    pub fp: f64,
    /// The pipe of the L1.
    pub l1: f64,
    /// Bandwidth of the L2.
    pub l2: f64,
    /// Bandwidth of the memory.
    pub dram: f64,
    /// Waves of threads that each take at least a trip to memory.
    pub latency: f64,
    /// The last, partial wave, and few blocks on an SM.
    pub tail: f64,
    /// The launch itself.
    pub launch: f64,
    /// Address translation.
    pub tlb: f64,
    /// Starting blocks.
    pub dispatch: f64,
    /// What limiters that are close to each other cost beyond the longest.
    pub combination: f64,
}

/// How distinct lines were counted.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CountingDocument {
    /// The engines that counted.
    pub engines: Vec<&'static str>,
    /// Whether all counts are exact; estimates come with a warning.
    pub exact: bool,
    /// Number of counts.
    pub counts: usize,
    /// How many of them a second engine confirmed; 0 without `--verify`.
    pub verified: usize,
}

impl CountingDocument {
    pub(super) fn new(p: &Summary) -> Self {
        let f = &p.counting;
        let engines = f.engines.iter().map(|e| e.word()).collect();
        Self { engines, exact: !f.lines_sampled, counts: f.counts, verified: f.verified }
    }

    /// In words.
    pub(in crate::report) fn text(&self) -> String {
        let how = if self.exact { "exactly" } else { "in part from samples" };
        let confirmed = match self.verified {
            0 => String::new(),
            n => format!("; a second engine confirmed {n} of {} counts", self.counts),
        };
        format!("lines counted {how} by {}{confirmed}", self.engines.join(", "))
    }
}
