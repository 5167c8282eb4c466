//! Fits to whole sets of several kernels and devices, and how good they are on sets that they have not seen.

use std::collections::BTreeMap;

use super::curves::CurveFit;
use super::launches::Launches;
use super::run::{FitRequest, FittedDevices, NoFit, fit_devices};
use super::time::TimeFitOutcome;
use crate::curve::{COEFFICIENTS, CoefficientSource, Fit, for_device};
use crate::device::Device;
use crate::measure::join::{Library, MeasuredGroup, estimator};
use crate::measure::sets::{
    ClockFactors, MeasuredSet, PredictedSet, RejectedConfiguration, SetGroup, SetScore, summaries,
};

/// A set with the predictions of its launches.
#[derive(Debug, Clone)]
pub struct PredictedGroups {
    /// The set.
    pub set: MeasuredSet,
    /// Its launches.
    pub groups: Vec<SetGroup>,
    /// Those without a prediction.
    pub rejected: Vec<RejectedConfiguration>,
}

/// What came of a fit to sets.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SetFitting {
    /// A curve file for each device. What does not hold for one device alone is the same in all.
    pub fits: Vec<Fit>,
    /// Hit rates.
    pub curves: Vec<CurveFit>,
    /// Coefficients of the time.
    pub time: Vec<TimeFitOutcome>,
    /// The sets, in the order in which they were given.
    pub sets: Vec<FittedSet>,
}

/// How good predictions of a set are.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FittedSet {
    /// Its short name.
    pub id: String,
    /// With the curves before.
    pub before: Vec<SetScore>,
    /// With those that were fitted to all sets.
    pub fitted: Vec<SetScore>,
    /// With those that were fitted to all other sets.
    pub left_out: Option<Vec<SetScore>>,
}

/// Fits to all sets, each of which counts alike; and to all but each in turn, if `leave_one_out` says so. What the
/// devices share comes from `shared`, or from the curves of the first one. Problems with less than `least`
/// configurations do not count in the means over choices.
pub fn fit_sets(
    mut sets: Vec<PredictedGroups>,
    library: &dyn Library,
    shared: Option<&Fit>,
    request: &FitRequest,
    (leave_one_out, least): (bool, usize),
) -> Result<SetFitting, NoFit> {
    let bases = Bases::new(&sets, shared)?;
    let (before, factors): (Vec<Vec<SetScore>>, Vec<ClockFactors>) =
        sets.iter().map(|set| scores(set, least)).unzip();
    let bases = Bases { factors, ..bases };
    let all = fit_to(&sets, None, library, &bases, request);
    let fitted: Vec<Vec<SetScore>> =
        sets.iter_mut().map(|set| scores_with(set, library, &bases, &all.fits, least)).collect();
    let quick = FitRequest { resamples: (0, request.resamples.1), ..request.clone() };
    let mut found = Vec::new();
    for (i, (before, fitted)) in before.into_iter().zip(fitted).enumerate() {
        let left_out = (leave_one_out && sets.len() > 1).then(|| {
            let others = fit_to(&sets, Some(i), library, &bases, &quick);
            scores_with(&mut sets[i], library, &bases, &others.fits, least)
        });
        found.push(FittedSet { id: sets[i].set.id.clone(), before, fitted, left_out });
    }
    Ok(SetFitting { fits: all.fits, curves: all.curves, time: all.time, sets: found })
}

/// The predictions of each set with coefficients that were fitted to all others, as [`fit_sets`] does; with those that are
/// there if it is the only one.
pub fn left_out(
    mut sets: Vec<PredictedGroups>,
    library: &dyn Library,
    shared: Option<&Fit>,
    request: &FitRequest,
) -> Result<Vec<PredictedSet>, NoFit> {
    let mut bases = Bases::new(&sets, shared)?;
    bases.factors = sets.iter().map(|set| fitted_clock(set).1).collect();
    let mut found = Vec::new();
    for i in 0..sets.len() {
        if sets.len() > 1 {
            let others = fit_to(&sets, Some(i), library, &bases, request);
            refit(&mut sets[i], library, &bases, &others.fits);
        }
        found.push(fitted_clock(&sets[i]).0);
        refit(&mut sets[i], library, &bases, &bases.fits);
    }
    Ok(found)
}

/// The curve files from which a fit starts, by device.
struct Bases {
    places: BTreeMap<String, usize>,
    fits: Vec<Fit>,
    /// For each set what predicted times are multiplied with on a device.
    factors: Vec<ClockFactors>,
}

impl Bases {
    fn new(sets: &[PredictedGroups], shared: Option<&Fit>) -> Result<Self, NoFit> {
        let mut devices: Vec<&Device> = Vec::new();
        for device in sets.iter().flat_map(|s| &s.groups).map(|g| &g.group.device) {
            if !devices.iter().any(|d| d.id == device.id) {
                devices.push(device);
            }
        }
        let first = devices.first().ok_or(NoFit::Nothing)?;
        let shared = shared.unwrap_or(for_device(first).fit);
        let places = devices.iter().enumerate().map(|(i, d)| (d.id.clone(), i)).collect();
        let fits = devices.into_iter().map(|d| base(shared, d)).collect();
        Ok(Self { places, fits, factors: Vec::new() })
    }

    fn place(&self, group: &MeasuredGroup) -> usize {
        self.places[&group.device.id]
    }
}

/// What is shared, with what the curves of a device say of it alone.
fn base(shared: &Fit, device: &Device) -> Fit {
    let curves = for_device(device);
    let mut fit = shared.inherited_by(if curves.own && curves.fit.id == shared.id { &shared.id } else { "" });
    if curves.own && curves.fit.id != shared.id {
        let source = format!("of {}", device.id);
        for known in COEFFICIENTS.iter().filter(|known| known.is_optional()) {
            if let Some(value) = known.value(curves.fit) {
                known.set(&mut fit, value);
                known.name_source(&mut fit, &source);
            }
        }
        let text = format!("as it ships for {}", device.id);
        fit.sources.insert(source, CoefficientSource { text, ..CoefficientSource::default() });
    }
    fit.inherit = None;
    fit.id.clone_from(&device.id);
    fit.complete(device);
    fit
}

/// Fits to all sets but one.
fn fit_to(
    sets: &[PredictedGroups],
    without: Option<usize>,
    library: &dyn Library,
    bases: &Bases,
    request: &FitRequest,
) -> FittedDevices {
    let seen = sets.iter().zip(&bases.factors).enumerate().filter(|(i, _)| Some(*i) != without);
    let launches: Vec<Launches<'_>> = seen
        .flat_map(|(_, (set, factors))| set.groups.iter().map(move |g| (&set.set.id, factors, &g.group)))
        .map(|(class, factors, group)| Launches {
            group,
            estimator: group.estimator(library),
            device: bases.place(group),
            clock_factor: factors.get(&group.device.id).copied().unwrap_or(1.0),
            class: class.clone(),
        })
        .collect();
    fit_devices(&launches, &bases.fits, bases.fits.clone(), request)
}

/// The predictions of a set, at the clock that is fitted to it if nobody knows it.
fn fitted_clock(set: &PredictedGroups) -> (PredictedSet, ClockFactors) {
    let mut predicted = summaries(&set.set, &set.groups, &set.rejected);
    let factors = predicted.fit_clock();
    (predicted, factors)
}

fn scores(set: &PredictedGroups, least: usize) -> (Vec<SetScore>, ClockFactors) {
    let (predicted, factors) = fitted_clock(set);
    (predicted.scores(least), factors)
}

/// The scores of a set with other curves.
fn scores_with(
    set: &mut PredictedGroups,
    library: &dyn Library,
    bases: &Bases,
    fits: &[Fit],
    least: usize,
) -> Vec<SetScore> {
    refit(set, library, bases, fits);
    scores(set, least).0
}

/// Gives the predictions of a set other curves.
fn refit(set: &mut PredictedGroups, library: &dyn Library, bases: &Bases, fits: &[Fit]) {
    for SetGroup { group, .. } in &mut set.groups {
        let fit = &fits[bases.place(group)];
        let MeasuredGroup { subject, kernel, device, cases, .. } = group;
        let estimator = estimator(library, subject, kernel, device);
        for case in cases {
            estimator.refit(&mut case.prediction, fit);
        }
    }
}
