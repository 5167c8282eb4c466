//! `wavecast/validation/1`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::super::check::{DeviceSummary, Tool, Warning};
use crate::measure::measurements::MeasuredQuantity;
use crate::measure::{Case, MeasuredGroup, OrderScore, Validation};
use crate::traffic::Caches;

/// Predictions beside measurements: `wavecast/validation/1`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
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
    pub quantities: Vec<ScoreDocument>,
    /// How well the order of launches is predicted: means over the groups with enough launches, the
    /// sum of their launches, and the largest `best_at`; null if no times were measured.
    pub order: Option<OrderDocument>,
    /// Groups in these means.
    pub ordered_groups: usize,
    /// The launches of one kernel with its parameters on one device.
    pub groups: Vec<GroupDocument>,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
}

/// How predictions were made.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ModelDocument {
    /// `default` or `roofline`.
    pub id: &'static str,
    /// `linear` or `grid`.
    pub addressing: &'static str,
    /// What the caches held when launches began: `warm`, `cold` or both, each once.
    pub caches: Vec<&'static str>,
    /// Whose hit rates and coefficients were used, each once.
    pub curves: Vec<String>,
}

/// How many launches there were.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct ValidationSummary {
    /// Rows that were measured.
    pub rows: usize,
    /// Different launches among them.
    pub launches: usize,
    /// Those with a prediction.
    pub predicted: usize,
}

/// Errors of one quantity.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ScoreDocument {
    /// Its name in the measurement format.
    pub quantity: &'static str,
    /// Launches with a measured value other than zero.
    pub launches: usize,
    /// Measured zeros, of which there is no relative error.
    pub zeros: usize,
    /// Mean of |predicted / measured - 1|, in percent.
    pub mean_absolute_error_percent: f64,
    /// The value that half of these are below.
    pub median_absolute_error_percent: f64,
    /// Mean of predicted / measured - 1, in percent: above zero where too much is predicted.
    pub bias_percent: f64,
    /// The launches with the largest errors.
    pub worst: Vec<WorstDocument>,
}

/// A launch with a large error.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WorstDocument {
    /// Position of its group, from 0.
    pub group: usize,
    /// Threads of a block.
    pub block: [i64; 3],
    /// Work items of a thread.
    pub fold: [i64; 3],
    /// Predicted and measured.
    #[serde(flatten)]
    pub pair: PairDocument,
    /// Lines of its measurements.
    pub lines: Vec<usize>,
}

/// A number as it was predicted and as it was measured: bytes or counts per work item, seconds, work
/// items per second, cycles.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct PairDocument {
    /// What is predicted.
    pub predicted: f64,
    /// What was measured.
    pub measured: f64,
    /// predicted / measured - 1, in percent; null where zero was measured.
    pub error_percent: Option<f64>,
}

/// How well the order of launches is predicted.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct OrderDocument {
    /// Launches with a measured time.
    pub launches: usize,
    /// Spearman's rank correlation of predicted and measured times.
    pub spearman: f64,
    /// Kendall's rank correlation, tau-b.
    pub kendall: f64,
    /// Rate of the first choice over the best one, in percent.
    pub first_percent: f64,
    /// Best rate of the first five choices over the best one, in percent.
    pub first_five_percent: f64,
    /// Place of the best one among the choices, from 1.
    pub best_at: usize,
}

impl From<&OrderScore> for OrderDocument {
    fn from(o: &OrderScore) -> Self {
        Self {
            launches: o.launches,
            spearman: o.spearman,
            kendall: o.kendall,
            first_percent: 100.0 * o.first,
            first_five_percent: 100.0 * o.first_five,
            best_at: o.best_at,
        }
    }
}

/// The launches of one kernel with its parameters on one device.
#[derive(Debug, Clone, Serialize, JsonSchema)]
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
    /// How well the order of these launches is predicted; null without two times.
    pub order: Option<OrderDocument>,
    /// The launches.
    pub launches: Vec<LaunchDocument>,
    /// Launches that cannot be predicted.
    pub rejected: Vec<RejectedDocument>,
}

/// A measured launch beside its prediction.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LaunchDocument {
    /// Threads of a block.
    pub block: [i64; 3],
    /// Work items of a thread.
    pub fold: [i64; 3],
    /// What is predicted to limit it.
    pub limiter: &'static str,
    /// By the name of the quantity in the measurement format.
    pub values: BTreeMap<&'static str, PairDocument>,
    /// Lines of its measurements.
    pub lines: Vec<usize>,
}

/// A launch that cannot be predicted.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RejectedDocument {
    /// Threads of a block.
    pub block: [i64; 3],
    /// Work items of a thread.
    pub fold: [i64; 3],
    /// A stable name of the reason.
    pub code: &'static str,
    /// The reason.
    pub reason: String,
    /// Lines of its measurements.
    pub lines: Vec<usize>,
}

/// The document of a validation; `worst` launches are listed for each quantity.
pub fn validation_document(
    groups: &[MeasuredGroup],
    validation: &Validation,
    model: ModelDocument,
    worst: usize,
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
        quantities: validation.scores.iter().map(|s| score(groups, s, worst)).collect(),
        order: validation.order.as_ref().map(OrderDocument::from),
        ordered_groups: validation.ordered,
        groups: groups.iter().zip(&validation.orders).map(|(g, o)| group(g, o.as_ref())).collect(),
        warnings,
    }
}

fn score(groups: &[MeasuredGroup], score: &crate::measure::Score, worst: usize) -> ScoreDocument {
    let of = |s: &crate::measure::Scored| {
        let case = groups.get(s.group)?.cases.get(s.case)?;
        Some(WorstDocument {
            group: s.group,
            block: case.candidate.block(),
            fold: case.candidate.fold(),
            pair: pair(s.predicted, s.measured),
            lines: case.lines.clone(),
        })
    };
    ScoreDocument {
        quantity: score.quantity.name(),
        launches: score.launches.len(),
        zeros: score.zeros,
        mean_absolute_error_percent: 100.0 * score.error,
        median_absolute_error_percent: 100.0 * score.median,
        bias_percent: 100.0 * score.bias,
        worst: score.launches.iter().take(worst).filter_map(of).collect(),
    }
}

fn group(group: &MeasuredGroup, order: Option<&OrderScore>) -> GroupDocument {
    GroupDocument {
        kernel: group.kernel.name.clone(),
        variant: group.subject.variant.clone(),
        params: group.subject.params.clone(),
        device: DeviceSummary { id: group.device.id.clone(), name: group.device.name.clone() },
        caches: group.subject.caches.map(Caches::word),
        order: order.map(OrderDocument::from),
        launches: group.cases.iter().map(|c| launch(group, c)).collect(),
        rejected: group
            .rejected
            .iter()
            .map(|r| RejectedDocument {
                block: r.candidate.block(),
                fold: r.candidate.fold(),
                code: r.code,
                reason: r.reason.clone(),
                lines: r.lines.clone(),
            })
            .collect(),
    }
}

fn launch(group: &MeasuredGroup, case: &Case) -> LaunchDocument {
    let of =
        |q: MeasuredQuantity| Some((q.name(), pair(case.predicted(q, &group.device)?, case.measured(q)?)));
    LaunchDocument {
        block: case.candidate.block(),
        fold: case.candidate.fold(),
        limiter: case.prediction.time.limiter.word(),
        values: MeasuredQuantity::ALL.into_iter().filter_map(of).collect(),
        lines: case.lines.clone(),
    }
}

fn pair(predicted: f64, measured: f64) -> PairDocument {
    let error_percent = (measured > 0.0).then(|| 100.0 * (predicted / measured - 1.0));
    PairDocument { predicted, measured, error_percent }
}
