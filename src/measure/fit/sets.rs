//! Fits to whole sets of several kernels and devices, and how good they are on sets that they have not seen.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::curves::{CurveFit, CurveOutcome};
use super::launches::Launches;
use super::run::{FitRequest, FittedDevices, NoFit, fit_devices};
use super::time::TimeFitOutcome;
use crate::curve::{COEFFICIENTS, CoefficientSource, Fit, FittedOn, for_device};
use crate::device::Device;
use crate::measure::join::{Library, MeasuredGroup, estimator};
use crate::measure::sets::{
    ClockFactors, MeasuredSet, PredictedSet, RejectedConfiguration, SetFacts, SetGroup, SetScore, summaries,
};
use crate::parallel;
use crate::quantity::Plain;
use crate::random::Random;

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
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FittedSet {
    /// Its short name.
    pub id: String,
    /// Rows that are left out since `when` says nothing of them.
    pub rows_unsaid: usize,
    /// With the curves before.
    pub before: Vec<SetScore>,
    /// With those that were fitted to all sets, this one included.
    pub fitted: Vec<SetScore>,
    /// With those that were fitted to all other sets; null if nobody asked, or there are none. Sets that have rows of a
    /// table in common are left out together. What holds for one device alone is found anew from the other sets, or
    /// follows from the device.
    pub left_out: Option<Vec<SetScore>>,
    /// What all devices share, as fitted to all other sets.
    pub coefficients: BTreeMap<&'static str, Plain>,
    /// Coefficients that all devices share and that the other sets tell too little of: left out too, the set was
    /// predicted with those before.
    pub kept: Vec<&'static str>,
    /// Coefficients of the set's devices that no other set tells of: left out, they follow from the device.
    pub of_device: Vec<String>,
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct SetFitRequest<'r> {
    /// How to fit.
    pub fit: &'r FitRequest,
    /// Whether to fit to all sets but each in turn, too.
    pub leave_one_out: bool,
    /// Problems with less configurations do not count in the means over choices.
    pub least: usize,
    /// Fit to no more than so many launches of each set, drawn by chance; all are scored.
    pub most: Option<usize>,
}

/// Fits to all sets, each of which counts alike; and to all but each in turn, if the request says so. What the devices
/// share comes from `shared`, or from the curves of the first one.
pub fn fit_sets(
    mut sets: Vec<PredictedGroups>,
    library: &dyn Library,
    shared: Option<&Fit>,
    request: SetFitRequest<'_>,
) -> Result<SetFitting, NoFit> {
    let SetFitRequest { least, .. } = request;
    let bases = Bases::new(&sets, shared)?;
    let (before, factors): (Vec<Vec<SetScore>>, Vec<ClockFactors>) =
        sets.iter().map(|set| scores(set, least)).unzip();
    let all = Selection { sets: &sets, factors: &factors, without: None }.fit(library, &bases, request);
    let quick = FitRequest { resamples: (0, request.fit.resamples.1), ..request.fit.clone() };
    let quick = SetFitRequest { fit: &quick, ..request };
    let left_out: Vec<usize> =
        if request.leave_one_out && sets.len() > 1 { (0..sets.len()).collect() } else { Vec::new() };
    let others = parallel::map(&left_out, |&i| {
        let others = Selection { sets: &sets, factors: &factors, without: Some(i) };
        (!others.is_empty()).then(|| others.fit(library, &bases, quick))
    });
    let mut others = others.into_iter();
    let mut found = Vec::new();
    for (set, before) in sets.iter_mut().zip(before) {
        let fitted = scores_with(set, library, &bases, &all.fits, least);
        let others = others.next().flatten();
        let left_out = others.as_ref().map(|others| scores_with(set, library, &bases, &others.fits, least));
        let coefficients = others.as_ref().map(|others| coefficients(&others.fits[0])).unwrap_or_default();
        let (kept, of_device) = others.map(|others| kept(&others, set)).unwrap_or_default();
        let SetFacts { id, rows_unsaid, .. } = set.set.facts.clone();
        found.push(FittedSet { id, rows_unsaid, before, fitted, left_out, coefficients, kept, of_device });
    }
    Ok(SetFitting { fits: all.fits, curves: all.curves, time: all.time, sets: found })
}

/// The predictions of each set with coefficients that were fitted to all others, as [`fit_sets`] does; with those that are
/// there if it is the only one.
pub fn left_out(
    mut sets: Vec<PredictedGroups>,
    library: &dyn Library,
    shared: Option<&Fit>,
    request: SetFitRequest<'_>,
) -> Result<Vec<PredictedSet>, NoFit> {
    let bases = Bases::new(&sets, shared)?;
    let factors: Vec<ClockFactors> = sets.iter().map(|set| fitted_clock(set).1).collect();
    let numbers: Vec<usize> = (0..sets.len()).collect();
    let others = parallel::map(&numbers, |&i| {
        let others = Selection { sets: &sets, factors: &factors, without: Some(i) };
        (!others.is_empty()).then(|| others.fit(library, &bases, request).fits)
    });
    let mut found = Vec::new();
    for (set, others) in sets.iter_mut().zip(others) {
        if let Some(fits) = others {
            refit(set, library, &bases, &fits);
        }
        found.push(fitted_clock(set).0);
    }
    Ok(found)
}

/// What is fitted and holds for all devices.
fn coefficients(fit: &Fit) -> BTreeMap<&'static str, Plain> {
    let shared = COEFFICIENTS.iter().filter(|k| !k.is_optional() && k.fitted_on != FittedOn::Nothing);
    shared.filter_map(|known| Some((known.name, Plain::new(known.value(fit)?)))).collect()
}

/// What a fit to other sets left as it was: what all devices share, and what is of the devices of a set.
fn kept(others: &FittedDevices, set: &PredictedGroups) -> (Vec<&'static str>, Vec<String>) {
    let is_kept = |curve: &&CurveFit| matches!(curve.outcome, CurveOutcome::Kept(_));
    let mut shared: Vec<&str> = others.curves.iter().filter(is_kept).map(|curve| curve.name).collect();
    let mut of_device = Vec::new();
    for outcome in others.time.iter().filter(|t| t.kept.is_some()) {
        match &outcome.device {
            None => shared.push(outcome.known.name),
            Some(device) if runs_on(set, device) => {
                of_device.push(format!("{} of {device}", outcome.known.name));
            }
            Some(_) => {}
        }
    }
    (shared, of_device)
}

fn runs_on(set: &PredictedGroups, device: &str) -> bool {
    set.groups.iter().any(|g| g.group.device.id == device)
}

/// Whether two sets have rows of a table in common.
fn related(a: &PredictedGroups, b: &PredictedGroups) -> bool {
    let lines = |set: &'_ PredictedGroups| -> BTreeSet<usize> {
        set.set.cases.iter().flat_map(|case| &case.rows).map(|row| row.line).collect()
    };
    a.set.facts.data == b.set.facts.data && !lines(a).is_disjoint(&lines(b))
}

/// The curve files from which a fit starts, by device.
struct Bases {
    places: BTreeMap<String, usize>,
    fits: Vec<Fit>,
    /// The same for devices of which nothing was measured.
    unmeasured: Vec<Fit>,
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
        let shared = &shared.unwrap_or(for_device(first).fit).for_heir(first);
        let places = devices.iter().enumerate().map(|(i, d)| (d.id.clone(), i)).collect();
        let fits = devices.iter().map(|d| base(shared, d)).collect();
        let unmeasured = devices.iter().map(|d| completed(shared.inherited_by(""), d)).collect();
        Ok(Self { places, fits, unmeasured })
    }

    fn place(&self, group: &MeasuredGroup) -> usize {
        self.places[&group.device.id]
    }
}

/// What is shared, with what the curves of a device say of it alone.
fn base(shared: &Fit, device: &Device) -> Fit {
    let curves = for_device(device);
    let mut fit = shared.inherited_by(if curves.own && curves.fit.id == shared.id { &shared.id } else { "" });
    if curves.own {
        let ships = curves.fit.for_heir(device);
        let source = format!("of {}", device.id);
        for known in COEFFICIENTS.iter().filter(|known| known.is_optional()) {
            // Curves that were given for the device are nearer than those that ship.
            if let (None, Some(value)) = (known.value(&fit), known.value(&ships)) {
                known.set(&mut fit, value);
                known.name_source(&mut fit, &source);
            }
        }
        let text = format!("as it ships for {}", device.id);
        fit.sources.insert(source, CoefficientSource { text, ..CoefficientSource::default() });
    }
    completed(fit, device)
}

/// With what follows from a device.
fn completed(mut fit: Fit, device: &Device) -> Fit {
    fit.inherit = None;
    fit.id.clone_from(&device.id);
    fit.complete(device);
    fit
}

/// All sets, or all but one and those of the same measurements.
struct Selection<'s> {
    sets: &'s [PredictedGroups],
    /// For each set what predicted times are multiplied with on a device.
    factors: &'s [ClockFactors],
    without: Option<usize>,
}

impl<'s> Selection<'s> {
    fn seen(&self) -> impl Iterator<Item = (&'s PredictedGroups, &'s ClockFactors)> {
        let without = self.without.map(|i| &self.sets[i]);
        let all = self.sets.iter().zip(self.factors);
        all.filter(move |(set, _)| without.is_none_or(|without| !related(set, without)))
    }

    fn is_empty(&self) -> bool {
        self.seen().all(|(set, _)| set.groups.is_empty())
    }

    fn fit(&self, library: &dyn Library, bases: &Bases, request: SetFitRequest<'_>) -> FittedDevices {
        let mut launches = Vec::new();
        for (set, factors) in self.seen() {
            launches.extend(drawn(set, request.most).into_iter().map(|group| Launches {
                group,
                estimator: group.estimator(library),
                device: bases.place(group),
                clock_factor: factors.get(&group.device.id).copied().unwrap_or(1.0),
                class: set.set.facts.id.clone(),
            }));
        }
        let start = if self.without.is_none() { &bases.fits } else { &bases.unmeasured };
        fit_devices(&launches, start, start.clone(), request.fit)
    }
}

/// At most so many launches, the same in each fit.
fn drawn(set: &PredictedGroups, most: Option<usize>) -> Vec<&MeasuredGroup> {
    let mut groups: Vec<&MeasuredGroup> = set.groups.iter().map(|g| &g.group).collect();
    if let Some(most) = most.filter(|&most| most < groups.len()) {
        Random::new(1).shuffle(&mut groups);
        groups.truncate(most);
    }
    groups
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
