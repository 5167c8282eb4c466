//! Fits of hit rates.

use super::parts::Parts;
use crate::curve::fit::{
    CurveShape, FitOptions, FitRefusal, FittedCurve, Interval, Noise, Points, bootstrap, fit,
};

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
    pub seen: Vec<Seen>,
}

/// What came of a fit.
#[derive(Debug, Clone, PartialEq)]
pub enum CurveOutcome {
    /// A curve with intervals by resampling.
    Curve(Box<FittedCurve>, Vec<Interval>),
    /// A number that is the same everywhere.
    Constant {
        /// The number.
        value: f64,
        /// Half of the rates, weighted, are between these.
        quartiles: Interval,
    },
    /// The default is kept.
    Kept(String),
}

/// A measured rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// Position of its group.
    pub group: usize,
    /// Position of its launch in the group.
    pub case: usize,
    /// Oversubscription: where several parts can miss, their mean by bytes.
    pub o: f64,
    /// Measured share of misses in what could hit.
    pub rate: f64,
    /// What could hit over the measured volume.
    pub weight: f64,
}

/// Volumes of launches, by position of group and launch.
pub(super) type Rows = Vec<(usize, usize, Parts)>;

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
    rows: &Rows,
    form: CurveForm,
    options: &FitOptions,
    resamples: (usize, u64),
) -> CurveFit {
    let rows: Vec<&(usize, usize, Parts)> = rows.iter().filter(|r| possible(&r.2) >= OF_CURVE).collect();
    let mut points = Points::new();
    for (_, _, parts) in &rows {
        // A residual is then an error of the volume, relative to what was measured.
        points.push(&parts.open, parts.measured - parts.base, 1.0 / parts.measured);
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
    CurveFit { name, title, outcome, seen: seen(&rows) }
}

/// Bytes that could hit over what was measured.
fn possible(parts: &Parts) -> f64 {
    if parts.measured > 0.0 { parts.open.iter().map(|p| p.1).sum::<f64>() / parts.measured } else { 0.0 }
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

fn seen(rows: &[&(usize, usize, Parts)]) -> Vec<Seen> {
    rows.iter()
        .map(|(group, case, parts)| {
            let all: f64 = parts.open.iter().map(|p| p.1).sum();
            let o = parts.open.iter().map(|(o, share)| o * share).sum::<f64>() / all;
            let rate = (parts.measured - parts.base) / all;
            Seen { group: *group, case: *case, o, rate, weight: all / parts.measured }
        })
        .collect()
}

/// Launches that a constant needs.
const FEW: usize = 4;

/// The weighted median of rates: a number that is the same everywhere.
pub(super) fn constant(name: &'static str, title: &'static str, rows: &Rows) -> CurveFit {
    let rows: Vec<&(usize, usize, Parts)> = rows.iter().filter(|r| possible(&r.2) >= OF_CONSTANT).collect();
    let mut seen = seen(&rows);
    let outcome = if seen.len() < FEW {
        CurveOutcome::Kept(format!(
            "{} launches in which it matters are too few, {FEW} are needed",
            seen.len()
        ))
    } else {
        seen.sort_by(|a, b| a.rate.total_cmp(&b.rate));
        let at = |share| weighted(&seen, share).max(0.0);
        CurveOutcome::Constant { value: at(0.5), quartiles: Interval { low: at(0.25), high: at(0.75) } }
    };
    CurveFit { name, title, outcome, seen }
}

/// The rate below which a share of the weights lies.
fn weighted(sorted: &[Seen], share: f64) -> f64 {
    let all: f64 = sorted.iter().map(|s| s.weight).sum();
    let mut sum = 0.0;
    let found = sorted.iter().find(|s| {
        sum += s.weight;
        sum >= share * all
    });
    found.or(sorted.last()).map_or(0.0, |s| s.rate)
}

impl CurveFit {
    /// The rate that the fit gives at an oversubscription.
    pub fn rate(&self, o: f64) -> Option<f64> {
        match &self.outcome {
            CurveOutcome::Curve(found, _) => Some(found.rate(o)),
            CurveOutcome::Constant { value, .. } => Some(*value),
            CurveOutcome::Kept(_) => None,
        }
    }
}
