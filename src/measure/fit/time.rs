//! Fits of the coefficients of the time: bandwidths, latencies and what else the measured times tell of.

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};

use super::launches::Launches;
use super::timed::{TimedRows, timed_launches};
use crate::curve::Interval;
use crate::curve::fit::{Enough, LeastSquares, Normal, ParameterBounds, minimise};
use crate::curve::{COEFFICIENTS, Fit, FittedOn, Known};
use crate::parallel;
use crate::sorting;

/// What came of one coefficient of the time.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimeFitOutcome {
    /// Its key in a curve file.
    #[serde(rename = "name", serialize_with = "name")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub known: &'static Known,
    /// The device that it holds for, where several were fitted; none of what holds for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The same as a position.
    #[serde(skip)]
    pub(super) of: Option<usize>,
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

/// A coefficient of one device, or of all of them.
#[derive(Debug, Clone, Copy)]
struct Parameter {
    known: &'static Known,
    device: Option<usize>,
}

impl Parameter {
    /// All of so many devices: one number each of what holds for one alone.
    fn all(devices: usize) -> Vec<Self> {
        let mut all = Vec::new();
        for known in places() {
            if known.is_optional() {
                all.extend((0..devices).map(|d| Self { known, device: Some(d) }));
            } else {
                all.push(Self { known, device: None });
            }
        }
        all
    }

    /// Its value: those of the devices were put in before.
    fn value(self, fits: &[Fit]) -> f64 {
        let value = self.known.value(&fits[self.device.unwrap_or(0)]);
        value.expect("the curve files were completed from the devices")
    }

    /// How far its logarithm may move in a fit to so many devices. The launch is no number of the device alone: it
    /// depends on how times were taken.
    fn width(self, devices: usize) -> f64 {
        match self.known.name {
            "dram_one_way" | "thread_cycles" if devices > 1 => OF_DEVICE,
            "launch_seconds" => OF_LAUNCH,
            _ => 3.0 * PRIOR,
        }
    }

    fn set(self, fits: &mut [Fit], value: f64) {
        match self.device {
            Some(device) => self.known.set(&mut fits[device], value),
            None => fits.iter_mut().for_each(|fit| self.known.set(fit, value)),
        }
    }
}

/// A launch that moves the logarithm of its time by this much per logarithm of a coefficient tells of it.
const SENSITIVE: f64 = 0.02;
/// Launches that must tell of it.
const LAUNCHES: usize = 8;
/// Standard deviation of the logarithm of a coefficient before anything is measured: a factor of 2.
const PRIOR: f64 = 0.7;
/// Of several devices, how far the logarithm of what a device file says already may move: a third. What asks for more
/// tells of something else that is missing.
const OF_DEVICE: f64 = 0.3;
/// How far that of the launch may move: a factor of 16, as times that a host takes have many microseconds in them.
const OF_LAUNCH: f64 = 4.0 * PRIOR;
/// A coefficient whose logarithm stays more uncertain than this keeps its default: a factor of 1.3.
const UNSURE: f64 = 0.26;
/// Scale of the loss over the standard deviation, as for hit rates.
const CAUCHY: f64 = 2.385;
/// The least that the scale of residuals can be.
const SMALLEST_SCALE: f64 = 1e-6;
/// What tells whether a coefficient is sure enough: a tenth of what is told from chance.
const ABOUT: Enough = Enough { step: 1e-3, gain: 0.01 };
/// A cost of 1/2 is a standard deviation.
const SETTLED: Enough = Enough { step: 1e-4, gain: 1e-5 };
/// Step for slopes, as a logarithm.
const STEP: f64 = 1e-4;

/// Fits what the times tell of; `only` names coefficients, all if it is empty.
pub(super) fn fit_time(
    groups: &[Launches<'_>],
    fits: &[Fit],
    only: &[String],
) -> (Vec<Fit>, Vec<TimeFitOutcome>) {
    let launches = timed_launches(groups, fits);
    let rows = TimedRows::new(launches.iter().collect(), fits.len());
    let few = rows.few(fits.len());
    let places = Parameter::all(fits.len());
    let base: Vec<f64> = places.iter().map(|place| place.value(fits)).collect();
    let all = Times { rows: &rows, fits, which: places.clone(), prior: &[], scale: 1.0 };
    let mut kept: Vec<Option<&'static str>> = places
        .iter()
        .zip(all.telling())
        .zip(&base)
        .map(|((place, launches), &value)| {
            if !only.is_empty() && !only.iter().any(|n| n == place.known.name) {
                Some("not asked for")
            } else if value <= 0.0 || launches < LAUNCHES {
                Some("too few launches tell of it")
            } else {
                None
            }
        })
        .collect();
    let (mut best, mut deviations): (Vec<f64>, Vec<f64>);
    let mut start: Vec<f64> = base.iter().map(|value| value.ln()).collect();
    loop {
        let free: Vec<usize> = (0..places.len()).filter(|&i| kept[i].is_none()).collect();
        let which: Vec<Parameter> = free.iter().map(|&i| places[i]).collect();
        let prior: Vec<f64> = free.iter().map(|&i| base[i].ln()).collect();
        let of = |rows| Times { rows, fits, which: which.clone(), prior: &prior, scale: 1.0 };
        best = free.iter().map(|&i| start[i]).collect();
        // Nothing is known to be unsure yet.
        deviations = vec![0.0; which.len()];
        // Some of many launches find about where it is, and all of them say whether that can be told.
        if let Some(few) = &few {
            best = of(few).settled(&best, ABOUT);
            deviations = of(&rows).scaled(&best).deviations(&best);
        }
        let mut all = of(&rows);
        for enough in [ABOUT, SETTLED] {
            if unsure(&which, &deviations).is_empty() {
                best = all.settled(&best, enough);
                deviations = all.deviations(&best);
            }
        }
        let unsure = unsure(&which, &deviations);
        let beyond: Vec<usize> = (0..which.len())
            .filter(|&i| (best[i] - prior[i]).abs() > 0.999 * which[i].width(fits.len()))
            .collect();
        if unsure.is_empty() && beyond.is_empty() {
            break;
        }
        for (&i, log) in free.iter().zip(&best) {
            start[i] = *log;
        }
        for i in unsure {
            kept[free[i]] = Some("the measurements leave it unsure");
        }
        for i in beyond {
            kept[free[i]] = Some("the measurements contradict it");
        }
    }
    let mut after = fits.to_vec();
    let mut fitted = best.iter().zip(&deviations);
    let mut outcomes = Vec::new();
    for ((place, &before), kept) in places.iter().zip(&base).zip(kept) {
        let found = if kept.is_none() { fitted.next() } else { None };
        let (value, interval) = match found {
            Some((log, by)) => (log.exp(), Some(Interval::around(*log, 1.96 * by))),
            None => (before, None),
        };
        place.set(&mut after, value);
        let Parameter { known, device: of } = *place;
        outcomes.push(TimeFitOutcome { known, device: None, of, before, value, interval, kept });
    }
    (after, outcomes)
}

/// The coefficients to give up next: the least sure one first, as without it the others may be surer. What holds for
/// one device alone hardly depends on the other devices, so that each of them gives up one at a time.
fn unsure(which: &[Parameter], deviations: &[f64]) -> Vec<usize> {
    let mut all: Vec<usize> = (0..which.len()).filter(|&i| deviations[i] > UNSURE).collect();
    sorting::sort_by(&mut all, |&a, &b| deviations[b].total_cmp(&deviations[a]));
    if all.first().is_some_and(|&i| which[i].device.is_none()) {
        all.truncate(1);
    } else {
        let mut devices = BTreeSet::new();
        all.retain(|&i| which[i].device.is_some_and(|device| devices.insert(device)));
    }
    all
}

/// Logarithms of predicted over measured times, by some coefficients.
struct Times<'a> {
    rows: &'a TimedRows<'a>,
    fits: &'a [Fit],
    which: Vec<Parameter>,
    /// Logarithms of the coefficients before.
    prior: &'a [f64],
    scale: f64,
}

impl Times<'_> {
    /// The curve files with these logarithms.
    fn with(&self, logs: &[f64]) -> Vec<Fit> {
        let mut fits = self.fits.to_vec();
        for (place, log) in self.which.iter().zip(logs) {
            place.set(&mut fits, log.exp());
        }
        fits
    }

    fn residuals(&self, logs: &[f64]) -> Vec<f64> {
        let fits = self.with(logs);
        parallel::map(&self.rows.rows, |row| row.residual(&fits))
    }

    /// Slopes of residuals, coefficient by coefficient, where residuals are `at`.
    fn slopes(&self, logs: &[f64], at: &[f64]) -> Vec<Vec<f64>> {
        let mut fits = self.with(logs);
        let mut slopes = Vec::with_capacity(logs.len());
        for (parameter, log) in self.which.iter().zip(logs) {
            parameter.set(&mut fits, (log + STEP).exp());
            let rows = self.rows.on(parameter.device);
            let moved = parallel::map(rows, |&row| self.rows.rows[row].residual(&fits));
            parameter.set(&mut fits, log.exp());
            let mut slope = vec![0.0; at.len()];
            for (&row, up) in rows.iter().zip(moved) {
                slope[row] = (up - at[row]) / STEP;
            }
            slopes.push(slope);
        }
        slopes
    }

    /// The cost of residuals at some logarithms.
    fn cost(&self, residuals: &[f64], logs: &[f64]) -> f64 {
        let of_row = |r: &f64| 0.5 * CAUCHY * CAUCHY * (r / self.scale / CAUCHY).powi(2).ln_1p();
        let of_prior = |(log, prior): (&f64, &f64)| 0.5 * ((log - prior) / PRIOR).powi(2);
        residuals.iter().map(of_row).chain(logs.iter().zip(self.prior).map(of_prior)).sum()
    }

    /// The normal equations where residuals are known.
    fn normal_of(&self, residuals: &[f64], logs: &[f64]) -> Normal {
        let (slopes, n) = (self.slopes(logs, residuals), logs.len());
        let mut normal = Normal { cost: self.cost(residuals, logs), ..Normal::new(n) };
        let mut slope = vec![0.0; n];
        for (i, r) in residuals.iter().enumerate() {
            let r = r / self.scale;
            for (by, all) in slope.iter_mut().zip(&slopes) {
                *by = all[i] / self.scale;
            }
            normal.add(r, &slope, 1.0 / (1.0 + (r / CAUCHY).powi(2)));
        }
        for (i, (log, prior)) in logs.iter().zip(self.prior).enumerate() {
            let slope: Vec<f64> = (0..n).map(|j| if i == j { 1.0 / PRIOR } else { 0.0 }).collect();
            normal.add((log - prior) / PRIOR, &slope, 1.0);
        }
        normal
    }

    /// Launches that tell of each coefficient.
    fn telling(&self) -> Vec<usize> {
        let logs: Vec<f64> =
            self.which.iter().map(|place| place.value(self.fits).max(f64::MIN_POSITIVE).ln()).collect();
        let slopes = self.slopes(&logs, &self.residuals(&logs));
        slopes.iter().map(|s| s.iter().filter(|by| by.abs() > SENSITIVE).count()).collect()
    }

    /// The best logarithms.
    fn settled(&mut self, start: &[f64], enough: Enough) -> Vec<f64> {
        let wide = self.which.iter().map(|parameter| parameter.width(self.fits.len()));
        let bounds = ParameterBounds::new(self.prior.iter().zip(wide).map(|(p, wide)| (p - wide, p + wide)));
        let mut logs = start.to_vec();
        for _ in 0..6 {
            self.scale = deviation(&self.residuals(&logs)).max(SMALLEST_SCALE);
            let next = minimise(self, &logs, &bounds, enough).0;
            let moved = next.iter().zip(&logs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            logs = next;
            if moved < 10.0 * enough.step {
                break;
            }
        }
        logs
    }

    /// With the scale that residuals have at some logarithms.
    fn scaled(mut self, logs: &[f64]) -> Self {
        self.scale = deviation(&self.residuals(logs)).max(SMALLEST_SCALE);
        self
    }

    /// Standard deviations of logarithms that are the best.
    fn deviations(&self, logs: &[f64]) -> Vec<f64> {
        inverse_diagonal(&self.normal(logs).matrix).into_iter().map(f64::sqrt).collect()
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
        self.normal_of(&self.residuals(logs), logs)
    }

    fn improved(&self, logs: &[f64], cost: f64) -> Option<Normal> {
        let residuals = self.residuals(logs);
        (self.cost(&residuals, logs) < cost).then(|| self.normal_of(&residuals, logs))
    }
}
