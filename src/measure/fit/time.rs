//! Fits of the coefficients of the time: bandwidths, latencies and what else the measured times tell of.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::curve::Interval;
use crate::curve::fit::{LeastSquares, Normal, ParameterBounds, minimise};
use crate::curve::{COEFFICIENTS, Fit, FittedOn, Known};
use crate::measure::join::{Case, MeasuredGroup};
use crate::parallel;
use crate::predict::Estimator;

/// What came of one coefficient of the time.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TimeFitOutcome {
    /// Its key in a curve file.
    #[serde(rename = "name", serialize_with = "name")]
    #[schemars(with = "String")]
    pub known: &'static Known,
    /// Its value before.
    pub(crate) before: f64,
    /// Its value now.
    pub(crate) value: f64,
    /// 95 % interval.
    pub interval: Option<Interval>,
    /// Why the value is kept.
    pub kept: Option<&'static str>,
}

fn name<S: Serializer>(known: &Known, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(known.name)
}

/// The coefficients that times can tell of.
fn places() -> Vec<&'static Known> {
    COEFFICIENTS.iter().filter(|known| known.fitted_on == FittedOn::Times).collect()
}

/// Names of the coefficients that can be fitted.
pub fn time_coefficients() -> impl Iterator<Item = &'static str> {
    places().into_iter().map(|known| known.name)
}

/// A value of a coefficient that is there: those of the device were put in before.
fn value(known: &Known, fit: &Fit) -> f64 {
    known.value(fit).expect("the curve file was completed from the device")
}

/// A launch that moves the logarithm of its time by this much per logarithm of a coefficient tells of it.
const SENSITIVE: f64 = 0.02;
/// Launches that must tell of it.
const LAUNCHES: usize = 8;
/// Standard deviation of the logarithm of a coefficient before anything is measured: a factor of 2.
const PRIOR: f64 = 0.7;
/// A coefficient whose logarithm stays more uncertain than this keeps its default: a factor of 1.3.
const UNSURE: f64 = 0.26;
/// Scale of the loss over the standard deviation, as for hit rates.
const CAUCHY: f64 = 2.385;
/// Step for slopes, as a logarithm.
const STEP: f64 = 1e-4;

/// Fits what the times tell of; `only` names coefficients, all if it is empty.
pub(super) fn fit_time(
    groups: &[MeasuredGroup],
    estimators: &[Estimator<'_>],
    fit: &Fit,
    only: &[String],
) -> (Fit, Vec<TimeFitOutcome>) {
    let rows = rows(groups);
    let places = places();
    let base: Vec<f64> = places.iter().map(|known| value(known, fit)).collect();
    let all = Times { rows: &rows, estimators, fit, which: places.clone(), prior: &[], scale: 1.0 };
    let mut kept: Vec<Option<&'static str>> = places
        .iter()
        .zip(all.telling())
        .zip(&base)
        .map(|((place, launches), &value)| {
            if !only.is_empty() && !only.iter().any(|n| n == place.name) {
                Some("not asked for")
            } else if value <= 0.0 || launches < LAUNCHES {
                Some("too few launches tell of it")
            } else {
                None
            }
        })
        .collect();
    let (mut best, mut deviations);
    loop {
        let free: Vec<usize> = (0..places.len()).filter(|&i| kept[i].is_none()).collect();
        let which: Vec<&Known> = free.iter().map(|&i| places[i]).collect();
        let prior: Vec<f64> = free.iter().map(|&i| base[i].ln()).collect();
        let times = Times { rows: &rows, estimators, fit, which, prior: &prior, scale: 1.0 };
        (best, deviations) = times.settled();
        // The least sure one first: without it the others may be surer.
        let unsure = deviations.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        match unsure.filter(|u| u.1 > UNSURE) {
            Some((least_sure, _)) => kept[free[least_sure]] = Some("the measurements leave it unsure"),
            None => break,
        }
    }
    let mut after = fit.clone();
    let mut fitted = best.iter().zip(&deviations);
    let mut outcomes = Vec::new();
    for ((place, &before), kept) in places.iter().zip(&base).zip(kept) {
        let found = if kept.is_none() { fitted.next() } else { None };
        let (value, interval) = match found {
            Some((log, by)) => (log.exp(), Some(Interval::around(*log, 1.96 * by))),
            None => (before, None),
        };
        place.set(&mut after, value);
        outcomes.push(TimeFitOutcome { known: place, before, value, interval, kept });
    }
    (after, outcomes)
}

/// A launch with a measured time.
struct TimedLaunch<'a> {
    group: usize,
    case: &'a Case,
    log_seconds: f64,
    weight: f64,
}

/// Kernels count alike, however many of their launches were measured.
fn rows(groups: &[MeasuredGroup]) -> Vec<TimedLaunch<'_>> {
    let mut rows: Vec<TimedLaunch<'_>> = Vec::new();
    for (g, group) in groups.iter().enumerate() {
        let timed = group.cases.iter().filter_map(|c| Some((c, c.seconds(&group.device)?)));
        rows.extend(timed.map(|(case, s)| TimedLaunch { group: g, case, log_seconds: s.ln(), weight: 1.0 }));
    }
    let kernel = |row: &TimedLaunch<'_>| groups[row.group].kernel.name.as_str();
    let mut counts: std::collections::BTreeMap<&str, f64> = std::collections::BTreeMap::new();
    for row in &rows {
        *counts.entry(kernel(row)).or_default() += 1.0;
    }
    let mean = rows.len() as f64 / counts.len().max(1) as f64;
    let weights: Vec<f64> = rows.iter().map(|r| (mean / counts[kernel(r)]).sqrt()).collect();
    for (row, weight) in rows.iter_mut().zip(weights) {
        row.weight = weight;
    }
    rows
}

/// Logarithms of predicted over measured times, by some coefficients.
struct Times<'a> {
    rows: &'a [TimedLaunch<'a>],
    estimators: &'a [Estimator<'a>],
    fit: &'a Fit,
    which: Vec<&'static Known>,
    /// Logarithms of the coefficients before.
    prior: &'a [f64],
    scale: f64,
}

impl Times<'_> {
    /// The curve file with these logarithms.
    fn with(&self, logs: &[f64]) -> Fit {
        let mut fit = self.fit.clone();
        for (place, log) in self.which.iter().zip(logs) {
            place.set(&mut fit, log.exp());
        }
        fit
    }

    fn residuals(&self, logs: &[f64]) -> Vec<f64> {
        let fit = self.with(logs);
        let one = |row: &TimedLaunch<'_>| {
            let estimator = &self.estimators[row.group];
            let mut prediction = row.case.prediction.clone();
            estimator.refit(&mut prediction, &fit);
            row.weight * (prediction.time.seconds.get().ln() - row.log_seconds)
        };
        parallel::map(self.rows, one)
    }

    /// Residuals and their slopes, coefficient by coefficient.
    fn slopes(&self, logs: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let at = self.residuals(logs);
        let by = |i: usize| {
            let mut moved = logs.to_vec();
            moved[i] += STEP;
            self.residuals(&moved).iter().zip(&at).map(|(up, at)| (up - at) / STEP).collect()
        };
        let slopes = (0..logs.len()).map(by).collect();
        (at, slopes)
    }

    /// Launches that tell of each coefficient.
    fn telling(&self) -> Vec<usize> {
        let logs: Vec<f64> =
            self.which.iter().map(|known| value(known, self.fit).max(f64::MIN_POSITIVE).ln()).collect();
        let (_, slopes) = self.slopes(&logs);
        slopes.iter().map(|s| s.iter().filter(|by| by.abs() > SENSITIVE).count()).collect()
    }

    /// The best logarithms and their standard deviations.
    fn settled(mut self) -> (Vec<f64>, Vec<f64>) {
        let n = self.which.len();
        let wide = (3.0_f64 * PRIOR, n);
        let bounds = ParameterBounds::new(self.prior.iter().map(|p| (p - wide.0, p + wide.0)));
        let mut logs = self.prior.to_vec();
        for _ in 0..6 {
            self.scale = deviation(&self.residuals(&logs)).max(1e-6);
            let next = minimise(&self, &logs, &bounds, 1e-4).0;
            let moved = next.iter().zip(&logs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            logs = next;
            if moved < 1e-3 {
                break;
            }
        }
        let normal = self.normal(&logs);
        let deviations = inverse_diagonal(&normal.matrix).into_iter().map(f64::sqrt).collect();
        (logs, deviations)
    }
}

/// Standard deviation without outliers: from the median of amounts.
fn deviation(residuals: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = residuals.iter().map(|r| r.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    sizes[sizes.len() / 2] / 0.674_489_75
}

/// Variances from a normal matrix in units of the standard deviation of residuals.
fn inverse_diagonal(matrix: &[Vec<f64>]) -> Vec<f64> {
    let inverse = crate::curve::fit::inverse(matrix);
    let diagonal = |inverse: Vec<Vec<f64>>| inverse.iter().enumerate().map(|(i, row)| row[i]).collect();
    inverse.map_or_else(|| vec![f64::INFINITY; matrix.len()], diagonal)
}

impl LeastSquares for Times<'_> {
    fn normal(&self, logs: &[f64]) -> Normal {
        let (residuals, slopes) = self.slopes(logs);
        let n = logs.len();
        let mut normal = Normal::new(n);
        let c = CAUCHY;
        for (i, r) in residuals.iter().enumerate() {
            let r = r / self.scale;
            let z = (r / c).powi(2);
            normal.cost += 0.5 * c * c * z.ln_1p();
            let slope: Vec<f64> = slopes.iter().map(|s| s[i] / self.scale).collect();
            normal.add(r, &slope, 1.0 / (1.0 + z));
        }
        for (i, (log, prior)) in logs.iter().zip(self.prior).enumerate() {
            let r = (log - prior) / PRIOR;
            normal.cost += 0.5 * r * r;
            let slope: Vec<f64> = (0..n).map(|j| if i == j { 1.0 / PRIOR } else { 0.0 }).collect();
            normal.add(r, &slope, 1.0);
        }
        normal
    }
}
