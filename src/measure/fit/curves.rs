//! Fits of hit rates.

use std::collections::BTreeMap;

use serde::Serialize;

use super::parts::Parts;
use crate::curve::Interval;
use crate::curve::fit::{CurveShape, FitOptions, FitRefusal, FittedCurve, Noise, Points, bootstrap, fit};
use crate::launch::Candidate;
use crate::measure::join::{Case, MeasuredGroup};
use crate::quantity::{Plain, Ratio};
use crate::sorting;

/// The form of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CurveForm {
    /// Hill's, or the sigmoid if it is clearly better.
    #[default]
    Auto,
    /// 1 / (1 + (o0 / O)^k).
    Hill,
    /// a exp(-b exp(-c O)), the paper's (section 4.5).
    Sigmoid,
}

/// What came of one curve or coefficient of the volumes.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveFit {
    /// Its key in a curve file.
    pub name: &'static str,
    /// What it says, for people.
    pub title: &'static str,
    /// What was fitted, or why nothing was.
    pub outcome: CurveOutcome,
    /// The rates that it was fitted to.
    pub points: Vec<RatePoint>,
}

/// What came of a fit.
#[derive(Debug, Clone, PartialEq)]
pub enum CurveOutcome {
    /// A curve with intervals by resampling.
    Curve(Box<FittedCurve>, Vec<Interval>),
    /// A number that is the same everywhere.
    Constant {
        /// The number.
        value: Plain,
        /// Half of the rates, weighted, are between these.
        quartiles: Interval,
    },
    /// The default is kept.
    Kept(String),
}

/// A measured rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RatePoint {
    /// Name of the kernel.
    pub kernel: String,
    /// Parameters that the measurements set.
    pub params: BTreeMap<String, i64>,
    /// Block and fold.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Bytes that compete for the cache over its capacity: where several parts can miss, their mean by bytes.
    pub oversubscription: Ratio,
    /// Measured misses in what could hit.
    #[serde(rename = "measured")]
    pub measured_share: f64,
    /// What the curve says.
    #[serde(rename = "fitted")]
    pub fitted_share: Option<f64>,
    /// Bytes that could hit over all that were measured.
    #[serde(rename = "weight")]
    pub open_share: f64,
}

/// A launch with what its volume says of a rate.
pub(super) struct PartedLaunch<'g> {
    pub(super) group: &'g MeasuredGroup,
    pub(super) case: &'g Case,
    pub(super) parts: Parts,
    /// Launches of one class count as much as those of another.
    pub(super) class: &'g str,
}

/// What each launch counts so that classes count alike, however many of their launches tell of the rate.
fn weights(rows: &[&PartedLaunch<'_>]) -> Vec<f64> {
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    for row in rows {
        *counts.entry(row.class).or_default() += 1.0;
    }
    let mean = rows.len() as f64 / counts.len().max(1) as f64;
    rows.iter().map(|row| mean / counts[row.class]).collect()
}

/// Volumes of launches.
pub(super) type Rows<'g> = [PartedLaunch<'g>];

/// What could hit must be this share of a volume for a curve: otherwise its rate is mostly noise, and many
/// residuals that nothing can change would make the others look like outliers.
const OF_CURVE: f64 = 0.1;
/// The same for a number that is the same everywhere.
const OF_CONSTANT: f64 = 0.01;
/// The sigmoid has a parameter more and must leave this much less.
const BETTER: f64 = 0.8;

/// Fits a curve to volumes.
pub(super) fn curve(
    name: &'static str,
    title: &'static str,
    rows: &Rows<'_>,
    form: CurveForm,
    options: &FitOptions,
    resamples: (usize, u64),
) -> CurveFit {
    let rows: Vec<&PartedLaunch<'_>> = rows.iter().filter(|r| possible(&r.parts) >= OF_CURVE).collect();
    let mut points = Points::new();
    for (PartedLaunch { parts, .. }, weight) in rows.iter().zip(weights(&rows)) {
        // A residual is then an error of the volume, relative to what was measured.
        points.push(&parts.points(), parts.measured - parts.base, weight.sqrt() / parts.measured);
    }
    // The weights say already how volumes spread.
    let options = &FitOptions { noise: Noise::Absolute, ..options.clone() };
    let outcome = match best(&points, form, options) {
        Ok(found) => {
            let (count, seed) = resamples;
            let intervals = bootstrap(&points, options, &found, count, seed);
            CurveOutcome::Curve(Box::new(found), intervals)
        }
        Err(why) => CurveOutcome::Kept(why.to_string()),
    };
    CurveFit::new(name, title, outcome, seen(&rows))
}

/// Bytes that could hit over what was measured.
fn possible(parts: &Parts) -> f64 {
    if parts.measured > 0.0 { parts.possible() / parts.measured } else { 0.0 }
}

fn best(points: &Points, form: CurveForm, options: &FitOptions) -> Result<FittedCurve, FitRefusal> {
    match form {
        CurveForm::Hill => fit(points, CurveShape::Hill, options),
        CurveForm::Sigmoid => fit(points, CurveShape::Rising, options),
        CurveForm::Auto => {
            let hill = fit(points, CurveShape::Hill, options)?;
            match fit(points, CurveShape::Rising, options) {
                Ok(sigmoid) if sigmoid.deviation < BETTER * hill.deviation => Ok(sigmoid),
                _ => Ok(hill),
            }
        }
    }
}

fn seen(rows: &[&PartedLaunch<'_>]) -> Vec<RatePoint> {
    rows.iter()
        .map(|PartedLaunch { group, case, parts, .. }| {
            let all = parts.possible();
            RatePoint {
                kernel: group.kernel.name.clone(),
                params: group.subject.params.clone(),
                candidate: case.candidate,
                oversubscription: Ratio::new(
                    parts.open.iter().flatten().map(|(o, share)| o * share).sum::<f64>() / all,
                ),
                measured_share: (parts.measured - parts.base) / all,
                fitted_share: None,
                open_share: all / parts.measured,
            }
        })
        .collect()
}

/// Launches that a constant needs.
const FEW: usize = 4;

/// The weighted median of rates: a number that is the same everywhere.
pub(super) fn constant(name: &'static str, title: &'static str, rows: &Rows<'_>) -> CurveFit {
    let rows: Vec<&PartedLaunch<'_>> = rows.iter().filter(|r| possible(&r.parts) >= OF_CONSTANT).collect();
    let mut seen = seen(&rows);
    let outcome = if seen.len() < FEW {
        CurveOutcome::Kept(format!(
            "{} launches in which it matters are too few, {FEW} are needed",
            seen.len()
        ))
    } else {
        let mut sorted: Vec<(f64, f64)> = seen
            .iter()
            .zip(weights(&rows))
            .map(|(point, weight)| (point.measured_share, weight * point.open_share))
            .collect();
        sorting::sort_by(&mut sorted, |a, b| a.0.total_cmp(&b.0));
        sorting::sort_by(&mut seen, |a, b| a.measured_share.total_cmp(&b.measured_share));
        let at = |share| weighted(&sorted, share).max(0.0);
        CurveOutcome::Constant { value: Plain::new(at(0.5)), quartiles: Interval::new(at(0.25), at(0.75)) }
    };
    CurveFit::new(name, title, outcome, seen)
}

/// The rate below which a share of the weights lies.
fn weighted(sorted: &[(f64, f64)], share: f64) -> f64 {
    let all: f64 = sorted.iter().map(|s| s.1).sum();
    let mut sum = 0.0;
    let found = sorted.iter().find(|s| {
        sum += s.1;
        sum >= share * all
    });
    found.or(sorted.last()).map_or(0.0, |s| s.0)
}

impl CurveFit {
    fn new(name: &'static str, title: &'static str, outcome: CurveOutcome, points: Vec<RatePoint>) -> Self {
        let mut fit = Self { name, title, outcome, points: Vec::new() };
        let fitted = |p: RatePoint| RatePoint { fitted_share: fit.rate(p.oversubscription.get()), ..p };
        fit.points = points.into_iter().map(fitted).collect();
        fit
    }

    /// The rate that the fit gives at an oversubscription.
    pub fn rate(&self, o: f64) -> Option<f64> {
        match &self.outcome {
            CurveOutcome::Curve(found, _) => Some(found.rate(o)),
            CurveOutcome::Constant { value, .. } => Some(value.get()),
            CurveOutcome::Kept(_) => None,
        }
    }
}
