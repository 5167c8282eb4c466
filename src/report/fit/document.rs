//! `wavecast/fit/1`.

use serde::Serialize;

use super::super::check::{DeviceSummary, Tool, Warning};
use crate::curve::fit::{FittedCurve, Noise};
use crate::curve::{Fit, Interval};
use crate::measure::MeasuredGroup;
use crate::measure::fit::{CurveFit, CurveOutcome, Fitting, RatePoint, Scores, TimeFitOutcome};
use crate::quantity::Plain;

/// What came of a fit: `wavecast/fit/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    pub time: Vec<TimeFitOutcome>,
    /// Errors before and after, on the launches that were fitted to.
    pub errors: Vec<Scores>,
    /// The curve file.
    pub file: Fit,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
}

/// A curve, or a number that is the same everywhere.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    pub points: Vec<RatePoint>,
}

/// A parameter with 95 % intervals.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ParameterDocument {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: Plain,
    /// From the covariance of the parameters.
    pub interval: Option<Interval>,
    /// From fits to resampled launches.
    pub bootstrap: Option<Interval>,
}

/// The document of a fit.
pub fn fit_document(
    groups: &[MeasuredGroup],
    fitting: &Fitting,
    simulated: bool,
    warnings: Vec<Warning>,
) -> FitDocument {
    // Nothing is fitted to no group, and all are of one device.
    let device = &groups[0].device;
    FitDocument {
        schema: "wavecast/fit/1",
        tool: Tool::this(),
        device: DeviceSummary::new(device),
        launches: groups.iter().map(|g| g.cases.len()).sum(),
        simulated,
        curves: fitting.curves.iter().map(curve).collect(),
        time: fitting.time.clone(),
        errors: fitting.scores.clone(),
        file: fitting.fit.clone(),
        warnings,
    }
}

pub(in crate::report) fn curve(curve: &CurveFit) -> CurveDocument {
    let mut document = CurveDocument {
        name: curve.name,
        title: curve.title,
        form: None,
        kept: None,
        parameters: Vec::new(),
        deviation_percent: None,
        noise: None,
        outliers: None,
        points: curve.points.clone(),
    };
    match &curve.outcome {
        CurveOutcome::Curve(found, resampled) => of_curve(&mut document, found, resampled),
        CurveOutcome::Constant { value, quartiles } => {
            document.form = Some("constant");
            let quartiles = ParameterDocument {
                name: "half of the rates within",
                value: *value,
                interval: Some(*quartiles),
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
    document.deviation_percent = Some(100.0 * found.deviation.get());
    document.noise = Some(if found.noise == Noise::Relative { "relative" } else { "absolute" });
    document.outliers = Some(found.outliers);
    let names = found.shape.parameters().iter().zip(&found.values).enumerate();
    document.parameters = names
        .map(|(i, (&name, &value))| ParameterDocument {
            name,
            value: Plain::new(value),
            interval: Some(found.intervals[i]),
            bootstrap: resampled.get(i).copied().filter(|r| r.low().is_finite()),
        })
        .collect();
}
