//! Predictions as documents for programs: `wavecast/ranking/1` and `wavecast/prediction/1`.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::choice::ChoiceDocument;
use super::confidence::ConfidenceDocument;
use crate::launch::{Candidate, Launch, Occupancy};
use crate::predict::{HowCounted, RateLimits, Terms, Unpredicted};
use crate::quantity::{Bytes, ItemsPerSecond, PerItem, Ratio, Seconds, Share};
use crate::report::check::{DeviceSummary, Tool, Warning};
use crate::report::units::{extents, grouped};
use crate::traffic::{FieldVolumes, Volumes};

/// Candidates, best first: `wavecast/ranking/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    pub infeasible: Vec<RejectedLaunch>,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
    /// Seconds that it took; only if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_s: Option<f64>,
}

/// A part of a document on a line of its own, with what it is about.
#[derive(Debug, Clone, Serialize)]
pub struct DocumentLine<'a, T> {
    schema: &'static str,
    kernel: &'a KernelHead,
    device: &'a DeviceSummary,
    model: &'a ModelSummary,
    #[serde(flatten)]
    part: &'a T,
}

impl RankingDocument {
    /// One line per result.
    pub fn lines(&self) -> impl Iterator<Item = DocumentLine<'_, RankedResult>> {
        self.head.lines(self.schema, &self.results)
    }

    /// A ranking of one.
    pub fn of_one(prediction: &PredictionDocument) -> Self {
        let PredictionDocument { head, result, warnings, .. } = prediction.clone();
        Self {
            schema: "wavecast/ranking/1",
            head,
            summary: RankingSummary { candidates: 1, feasible: 1, tie_error: Share::ZERO },
            results: vec![RankedResult { rank: 1, tie_group: 1, result }],
            infeasible: Vec::new(),
            warnings,
            elapsed_s: None,
        }
    }
}

/// One launch: `wavecast/prediction/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Head {
    /// The program.
    pub tool: Tool,
    /// The kernel.
    pub kernel: KernelHead,
    /// The device.
    pub device: DeviceSummary,
    /// How the result was made.
    pub model: ModelSummary,
    /// The time of the fastest launch on the fastest of the devices over that of the fastest here; only where several
    /// devices were asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_relative: Option<Ratio>,
}

/// A kernel.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ModelSummary {
    /// `default` or `roofline`.
    pub id: &'static str,
    /// `linear` or `grid`.
    pub addressing: &'static str,
    /// What the caches hold when a launch begins: `warm`, `cold` or `empty`.
    pub caches: &'static str,
    /// The clock that the run had, such as `1.41 GHz`, if it is not that of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// Whose hit rates and coefficients were used.
    pub curves: String,
}

impl Head {
    /// A line for each part of a document.
    pub(in crate::report) fn lines<'a, T>(
        &'a self,
        schema: &'static str,
        parts: &'a [T],
    ) -> impl Iterator<Item = DocumentLine<'a, T>> {
        parts.iter().map(move |part| self.line(schema, part))
    }

    /// The line of one of them.
    pub(in crate::report) fn line<'a, T>(&'a self, schema: &'static str, part: &'a T) -> DocumentLine<'a, T> {
        self.line_on(schema, &self.device, &self.model, part)
    }

    /// The line of one that is about another device.
    pub(in crate::report) fn line_on<'a, T>(
        &'a self,
        schema: &'static str,
        device: &'a DeviceSummary,
        model: &'a ModelSummary,
        part: &'a T,
    ) -> DocumentLine<'a, T> {
        DocumentLine { schema, kernel: &self.kernel, device, model, part }
    }

    /// The first lines of a result: kernel, domain, device, model.
    pub(in crate::report) fn text(&self) -> String {
        let KernelHead { name, unit, domain, .. } = &self.kernel;
        let items = domain.iter().fold(1_i64, |all, &n| all.saturating_mul(n));
        let shape = if domain.len() > 1 { format!("{} = ", extents(domain)) } else { String::new() };
        let DeviceSummary { id, name: device, .. } = &self.device;
        let model = self.model_text();
        format!("{name}: {shape}{} {unit} on {device} ({id})\n{model}\n", grouped(items))
    }

    /// How the result was made, in words.
    pub(in crate::report) fn model_text(&self) -> String {
        format!("{}, curves {}", self.how(), self.model.curves)
    }

    /// The same without the curves, which differ from device to device.
    pub(in crate::report) fn how(&self) -> String {
        let changes = self.device.changes();
        let changes = if changes.is_empty() { changes } else { format!(", device changed ({changes})") };
        format!("{}{changes}", self.model.text())
    }
}

impl ModelSummary {
    /// How a result was made, in words, without device and curves.
    fn text(&self) -> String {
        let Self { id, addressing, caches, clock, .. } = self;
        let clock = clock.as_ref().map(|clock| format!(", clock {clock}")).unwrap_or_default();
        format!("model {id}, {addressing} addressing, {caches} caches{clock}")
    }
}

/// How many candidates there were.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RankingSummary {
    /// All.
    pub candidates: usize,
    /// Those with a result.
    pub feasible: usize,
    /// Launches whose speed, one over the time, differs by less than this share are one tie group.
    pub tie_error: Share,
}

/// A candidate in its place.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RejectedLaunch {
    /// Variant, block and fold.
    pub config: OfVariant<Candidate>,
    /// Why.
    #[cfg_attr(test, schemars(with = "String"))]
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

/// A launch, or its block and fold, with the variant that it is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "{T}OfVariant"))]
pub struct OfVariant<T> {
    /// The variant, if the document has variants.
    pub variant: Option<String>,
    /// The rest.
    #[serde(flatten)]
    pub launch: T,
}

impl<T> std::ops::Deref for OfVariant<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.launch
    }
}

/// Everything that is predicted of one launch.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ResultDocument {
    /// The launch.
    pub config: OfVariant<Launch>,
    /// Work items per second.
    pub rate_per_s: ItemsPerSecond,
    /// Seconds of one launch.
    pub time_s: Seconds,
    /// Time of the best of the ranking over this one; null for a single prediction.
    pub relative: Option<Ratio>,
    /// `fp`, `l1`, `l2`, `dram`, `tlb`, `latency`, `issue`, `fetch`, `dispatch` or `launch`.
    pub limiter: &'static str,
    /// Work items per second that each resource allows by itself; null where it is not used.
    pub limits_per_s: RateLimits,
    /// Seconds: the longest of fp, l1, l2, dram, latency, waits, issue, fetch, tlb and dispatch, plus tail, launch and
    /// combination, is the time.
    pub time_terms_s: Terms,
    /// Resident blocks and waves.
    pub occupancy: Occupancy,
    /// Bytes per work item at each boundary.
    pub volumes: Volumes,
    /// Bytes per work item by field.
    pub fields: BTreeMap<String, FieldDocument>,
    /// How distinct lines were counted.
    pub counting: HowCounted,
    /// How sure the time is.
    pub confidence: ConfidenceDocument,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
}

/// One field, bytes per work item.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FieldDocument {
    /// Loads from L2.
    pub l2_load: Bytes<PerItem>,
    /// Stores to L2.
    pub l2_store: Bytes<PerItem>,
    /// Loads from memory.
    pub dram_load: Bytes<PerItem>,
    /// Stores to memory.
    pub dram_store: Bytes<PerItem>,
}

impl From<&FieldVolumes> for FieldDocument {
    fn from(of: &FieldVolumes) -> Self {
        Self {
            l2_load: of.l2.load.total,
            l2_store: of.l2.store.total,
            dram_load: of.dram.load.total,
            dram_store: of.dram.store.total,
        }
    }
}
