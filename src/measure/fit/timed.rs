//! The launches that coefficients of the time are fitted to.

use std::collections::BTreeMap;

use super::launches::Launches;
use crate::curve::Fit;
use crate::measure::join::Case;
use crate::parallel;
use crate::predict::{Estimator, Prediction};

/// A launch with a measured time, and its prediction with volumes that are settled.
pub(super) struct TimedLaunch<'a> {
    estimator: &'a Estimator<'a>,
    device: usize,
    prediction: Prediction,
    log_seconds: f64,
    weight: f64,
}

impl TimedLaunch<'_> {
    pub(super) fn residual(&self, fits: &[Fit]) -> f64 {
        let time = self.estimator.retimed(&self.prediction, &fits[self.device].time);
        self.weight * (time.seconds.get().ln() - self.log_seconds)
    }
}

/// The launches with measured times. Classes count alike, however many of their launches were measured.
pub(super) fn timed_launches<'a>(groups: &'a [Launches<'a>], fits: &[Fit]) -> Vec<TimedLaunch<'a>> {
    let timed = |l: &'a Launches<'a>| {
        let cases = l.group.cases.iter();
        cases.filter_map(move |c| Some((l, c, c.seconds(&l.group.device)? / l.clock_factor)))
    };
    let timed: Vec<(&Launches<'_>, &Case, f64)> = groups.iter().flat_map(timed).collect();
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    for (launches, ..) in &timed {
        *counts.entry(&launches.class).or_default() += 1.0;
    }
    let mean = timed.len() as f64 / counts.len().max(1) as f64;
    parallel::map(&timed, |&(Launches { estimator, device, class, .. }, case, seconds)| {
        let mut prediction = case.prediction.clone();
        estimator.refit(&mut prediction, &fits[*device]);
        let weight = (mean / counts[class.as_str()]).sqrt();
        TimedLaunch { estimator, device: *device, prediction, log_seconds: seconds.ln(), weight }
    })
}

/// Some launches, and which of them ran on each device.
pub(super) struct TimedRows<'a> {
    pub(super) rows: Vec<&'a TimedLaunch<'a>>,
    of_device: Vec<Vec<usize>>,
    all: Vec<usize>,
}

/// Launches that find about where coefficients lie.
const FEW: usize = 1024;

impl<'a> TimedRows<'a> {
    pub(super) fn new(rows: Vec<&'a TimedLaunch<'a>>, devices: usize) -> Self {
        let mut of_device = vec![Vec::new(); devices];
        for (i, row) in rows.iter().enumerate() {
            of_device[row.device].push(i);
        }
        Self { all: (0..rows.len()).collect(), rows, of_device }
    }

    /// Every so many of them, if there are many.
    pub(super) fn few(&self, devices: usize) -> Option<Self> {
        let every = self.rows.len() / FEW;
        (every > 1).then(|| Self::new(self.rows.iter().copied().step_by(every).collect(), devices))
    }

    /// The positions of those that ran on a device, or of all.
    pub(super) fn on(&self, device: Option<usize>) -> &[usize] {
        device.map_or(&self.all, |device| &self.of_device[device])
    }
}
