//! `wavecast/validation/1`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::check::{DeviceSummary, Tool, Warning};
use crate::launch::Candidate;
use crate::measure::measurements::MeasuredQuantity;
use crate::measure::{Case, MeasuredGroup, OrderScore, RejectedCase, Score, Validation, ValuePair};
use crate::traffic::Caches;

/// Predictions beside measurements: `wavecast/validation/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ValidationDocument {
    /// `wavecast/validation/1`.
    pub schema: &'static str,
    /// The program.
    pub tool: Tool,
    /// How predictions were made.
    pub model: ModelDocument,
    /// How many launches there were.
    pub summary: ValidationSummary,
    /// Errors of every quantity that was measured.
    pub quantities: Vec<Score>,
    /// How well the order of launches is predicted: means over the groups with enough launches, the
    /// sum of their launches, and the largest `best_at`; null if no times were measured.
    pub order: Option<OrderScore>,
    /// Groups in these means.
    pub ordered_groups: usize,
    /// The launches of one kernel with its parameters on one device.
    pub groups: Vec<GroupDocument>,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
}

/// How predictions were made.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ModelDocument {
    /// `default` or `roofline`.
    pub id: &'static str,
    /// `linear` or `grid`.
    pub addressing: &'static str,
    /// What the caches held when launches began: `warm`, `cold` or both, each once.
    pub caches: Vec<&'static str>,
    /// Clocks that runs had where they are not that of the device, each once, such as `1.41 GHz`.
    pub clock: Vec<String>,
    /// Whose hit rates and coefficients were used, each once.
    pub curves: Vec<String>,
}

impl ValidationDocument {
    /// How predictions were made, in words.
    pub(in crate::report) fn model_text(&self) -> String {
        let ModelDocument { id, addressing, caches, clock, curves } = &self.model;
        let clock = match clock.as_slice() {
            [] => String::new(),
            [one] if self.groups.iter().all(|g| g.clock.is_some()) => format!("clock {one}, "),
            _ => "several clocks, ".to_owned(),
        };
        let (caches, curves) = (caches.join(" and "), curves.join(", "));
        format!("model {id}, {addressing} addressing, {caches} caches, {clock}curves {curves}")
    }
}

/// How many launches there were.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ValidationSummary {
    /// Rows that were measured.
    pub rows: usize,
    /// Different launches among them.
    pub launches: usize,
    /// Those with a prediction.
    pub predicted: usize,
}

/// The launches of one kernel with its parameters on one device.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GroupDocument {
    /// Name of the kernel.
    pub kernel: String,
    /// Its variant, if it has several.
    pub variant: Option<String>,
    /// Parameters that the measurements set.
    pub params: BTreeMap<String, i64>,
    /// The device.
    pub device: DeviceSummary,
    /// What the measurements say of the caches when launches began, `warm` or `cold`; null if nothing.
    pub caches: Option<&'static str>,
    /// The clock that the runs had, such as `1.41 GHz`, if it is not that of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// How well the order of these launches is predicted; null without two times.
    pub order: Option<OrderScore>,
    /// The launches.
    pub launches: Vec<LaunchDocument>,
    /// Launches that cannot be predicted.
    pub rejected: Vec<RejectedCase>,
}

/// A measured launch beside its prediction.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaunchDocument {
    /// Block and fold.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// What is predicted to limit it.
    pub limiter: &'static str,
    /// By the name of the quantity in the measurement format.
    pub values: BTreeMap<&'static str, ValuePair>,
    /// Lines of its measurements.
    pub lines: Vec<usize>,
}

/// The document of a validation.
pub fn validation_document(
    groups: &[MeasuredGroup],
    validation: Validation,
    model: ModelDocument,
    warnings: Vec<Warning>,
) -> ValidationDocument {
    let predicted = groups.iter().map(|g| g.cases.len()).sum::<usize>();
    let rows = |g: &MeasuredGroup| {
        g.cases.iter().map(|c| c.lines.len()).sum::<usize>()
            + g.rejected.iter().map(|r| r.lines.len()).sum::<usize>()
    };
    ValidationDocument {
        schema: "wavecast/validation/1",
        tool: Tool::this(),
        model,
        summary: ValidationSummary {
            rows: groups.iter().map(rows).sum(),
            launches: predicted + groups.iter().map(|g| g.rejected.len()).sum::<usize>(),
            predicted,
        },
        quantities: validation.scores,
        order: validation.order,
        ordered_groups: validation.ordered,
        groups: groups.iter().zip(validation.orders).map(|(g, order)| group(g, order)).collect(),
        warnings,
    }
}

fn group(group: &MeasuredGroup, order: Option<OrderScore>) -> GroupDocument {
    GroupDocument {
        kernel: group.kernel.name.clone(),
        variant: group.subject.variant.clone(),
        params: group.subject.params.clone(),
        device: DeviceSummary::new(&group.device),
        caches: group.subject.caches.map(Caches::word),
        clock: group.device.run_clock().map(|clock| clock.to_string()),
        order,
        launches: group.cases.iter().map(|c| launch(group, c)).collect(),
        rejected: group.rejected.clone(),
    }
}

fn launch(group: &MeasuredGroup, case: &Case) -> LaunchDocument {
    let pair = |q: MeasuredQuantity| Some((q.name(), case.pair(q, &group.device)?));
    LaunchDocument {
        candidate: case.candidate,
        limiter: case.prediction.time.limiter.word(),
        values: MeasuredQuantity::ALL.into_iter().filter_map(pair).collect(),
        lines: case.lines.clone(),
    }
}
