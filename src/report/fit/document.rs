//! `wavecast/fit/1`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::super::check::{DeviceSummary, Tool, Warning};
use crate::curve::Fit;
use crate::curve::fit::{FittedCurve, Interval, Noise};
use crate::measure::MeasuredGroup;
use crate::measure::fit::{CurveFit, CurveOutcome, Fitting};

/// What came of a fit: `wavecast/fit/1`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FitDocument {
    /// `wavecast/fit/1`.
    pub schema: &'static str,
    /// The program.
    pub tool: Tool,
    /// The device.
    pub device: DeviceSummary,
    /// Launches with a prediction.
    pub launches: usize,
    /// Whether the measurements come from a simulation.
    pub simulated: bool,
    /// Hit rates and what else the volumes depend on.
    pub curves: Vec<CurveDocument>,
    /// Coefficients of the time; empty if no times were measured.
    pub time: Vec<TimeDocument>,
    /// Errors before and after, on the launches that were fitted to.
    pub errors: Vec<ErrorsDocument>,
    /// The curve file.
    pub file: Fit,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
}

/// A curve, or a number that is the same everywhere.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CurveDocument {
    /// Its key in a curve file.
    pub name: &'static str,
    /// What it says.
    pub title: &'static str,
    /// `hill`, `sigmoid-miss`, `sigmoid-hit` or `constant`; null if the default is kept.
    pub form: Option<&'static str>,
    /// Why the default is kept.
    pub kept: Option<String>,
    /// The parameters.
    pub parameters: Vec<ParameterDocument>,
    /// Standard deviation of the residuals without outliers, in percent of the measured volume.
    pub deviation_percent: Option<f64>,
    /// `absolute` or `relative`: how the residuals spread.
    pub noise: Option<&'static str>,
    /// Launches further than three standard deviations away.
    pub outliers: Option<usize>,
    /// The measured rates.
    pub points: Vec<PointDocument>,
}

/// A parameter with 95 % intervals.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ParameterDocument {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// From the covariance of the parameters.
    pub interval: Option<[f64; 2]>,
    /// From fits to resampled launches.
    pub bootstrap: Option<[f64; 2]>,
}

/// A measured rate.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PointDocument {
    /// Name of the kernel.
    pub kernel: String,
    /// Parameters that the measurements set.
    pub params: BTreeMap<String, i64>,
    /// Threads of a block.
    pub block: [i64; 3],
    /// Work items of a thread.
    pub fold: [i64; 3],
    /// Bytes that compete for the cache over its capacity.
    pub oversubscription: f64,
    /// Measured misses in what could hit.
    pub measured: f64,
    /// What the curve says.
    pub fitted: Option<f64>,
    /// Bytes that could hit over all that were measured.
    pub weight: f64,
}

/// A coefficient of the time.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TimeDocument {
    /// Its key in a curve file.
    pub name: &'static str,
    /// Its value before.
    pub before: f64,
    /// Its value now.
    pub value: f64,
    /// 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// Why the value is kept.
    pub kept: Option<&'static str>,
}

/// Mean absolute errors of a quantity in percent.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct ErrorsDocument {
    /// Its name in the measurement format.
    pub quantity: &'static str,
    /// With the curves before.
    pub before_percent: f64,
    /// With the new ones.
    pub after_percent: f64,
}

/// The document of a fit.
pub fn fit_document(
    groups: &[MeasuredGroup],
    fitting: &Fitting,
    simulated: bool,
    warnings: Vec<Warning>,
) -> FitDocument {
    let device = groups.first().map(|g| (g.device.id.clone(), g.device.name.clone())).unwrap_or_default();
    FitDocument {
        schema: "wavecast/fit/1",
        tool: Tool::this(),
        device: DeviceSummary { id: device.0, name: device.1 },
        launches: groups.iter().map(|g| g.cases.len()).sum(),
        simulated,
        curves: fitting.curves.iter().map(|c| curve(groups, c)).collect(),
        time: fitting
            .time
            .iter()
            .map(|t| TimeDocument {
                name: t.known.name,
                before: t.before,
                value: t.value,
                interval: t.interval.as_ref().map(ends),
                kept: t.kept,
            })
            .collect(),
        errors: fitting
            .scores
            .iter()
            .map(|s| ErrorsDocument {
                quantity: s.quantity.name(),
                before_percent: 100.0 * s.before,
                after_percent: 100.0 * s.after,
            })
            .collect(),
        file: fitting.fit.clone(),
        warnings,
    }
}

fn ends(interval: &Interval) -> [f64; 2] {
    [interval.low, interval.high]
}

fn curve(groups: &[MeasuredGroup], curve: &CurveFit) -> CurveDocument {
    let mut document = CurveDocument {
        name: curve.name,
        title: curve.title,
        form: None,
        kept: None,
        parameters: Vec::new(),
        deviation_percent: None,
        noise: None,
        outliers: None,
        points: points(groups, curve),
    };
    match &curve.outcome {
        CurveOutcome::Curve(found, resampled) => of_curve(&mut document, found, resampled),
        CurveOutcome::Constant { value, quartiles } => {
            document.form = Some("constant");
            let quartiles = ParameterDocument {
                name: "half of the rates within",
                value: *value,
                interval: Some(ends(quartiles)),
                bootstrap: None,
            };
            document.parameters = vec![quartiles];
        }
        CurveOutcome::Kept(why) => document.kept = Some(why.clone()),
    }
    document
}

fn of_curve(document: &mut CurveDocument, found: &FittedCurve, resampled: &[Interval]) {
    document.form = Some(found.shape.word());
    document.deviation_percent = Some(100.0 * found.deviation);
    document.noise = Some(if found.noise == Noise::Relative { "relative" } else { "absolute" });
    document.outliers = Some(found.outliers);
    let names = found.shape.parameters().iter().zip(&found.values).enumerate();
    document.parameters = names
        .map(|(i, (&name, &value))| ParameterDocument {
            name,
            value,
            interval: found.intervals.get(i).map(ends),
            bootstrap: resampled.get(i).filter(|r| r.low.is_finite()).map(ends),
        })
        .collect();
}

fn points(groups: &[MeasuredGroup], curve: &CurveFit) -> Vec<PointDocument> {
    let of = |seen: &crate::measure::fit::Seen| {
        let group = groups.get(seen.group)?;
        let case = group.cases.get(seen.case)?;
        Some(PointDocument {
            kernel: group.kernel.name.clone(),
            params: group.subject.params.clone(),
            block: case.candidate.block(),
            fold: case.candidate.fold(),
            oversubscription: seen.o,
            measured: seen.rate,
            fitted: curve.rate(seen.o),
            weight: seen.weight,
        })
    };
    curve.seen.iter().filter_map(of).collect()
}
