//! The way from measurements to a curve file.

use std::collections::BTreeMap;

use serde::Serialize;

use super::curves::{CurveFit, CurveForm, CurveOutcome, PartedLaunch, Rows, constant, curve};
use super::launches::Launches;
use super::origins::{free_name, prune};
use super::parts::{Parts, l1, l2, stores, stores_l2};
use super::time::{TimeFitOutcome, fit_time};
use crate::curve::Interval;
use crate::curve::fit::FitOptions;
use crate::curve::{CoefficientSource, Curve, Fit, VolumeFit, coefficient, rounded};
use crate::measure::join::{Case, Library, MeasuredGroup};
use crate::measure::measurements::MeasuredQuantity;
use crate::measure::share::PercentShare;
use crate::parallel;
use crate::predict::Estimator;

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct FitRequest {
    /// Form of the hit rates.
    pub form: CurveForm,
    /// How they are fitted.
    pub options: FitOptions,
    /// Fits to resampled launches for intervals, and their seed.
    pub resamples: (usize, u64),
    /// Whether overlaps in x, y and z get curves of their own.
    pub directions: bool,
    /// Coefficients of the time to fit; all that the measurements tell of if empty.
    pub only: Vec<String>,
    /// Where the measurements come from: a text, and the SHA-256 of the file.
    pub origin: (String, Option<String>),
    /// Whether they come from a simulation.
    pub simulated: bool,
}

/// What came of a fit.
#[derive(Debug, Clone)]
pub struct Fitting {
    /// The curve file.
    pub fit: Fit,
    /// Hit rates.
    pub curves: Vec<CurveFit>,
    /// Coefficients of the time.
    pub time: Vec<TimeFitOutcome>,
    /// Errors before and after.
    pub scores: Vec<Scores>,
}

/// Mean absolute errors of a quantity in percent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Scores {
    /// Its name in the measurement format.
    #[cfg_attr(test, schemars(with = "String"))]
    pub quantity: MeasuredQuantity,
    /// With the curves before.
    #[serde(rename = "before_percent")]
    pub before: PercentShare,
    /// With the new ones, on the launches that they were fitted to.
    #[serde(rename = "after_percent")]
    pub after: PercentShare,
}

/// Why there is no fit at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoFit {
    /// Curves are of one device.
    #[error("the measurements are of several devices: {0}")]
    Devices(String),
    /// Nothing to fit to.
    #[error("none of the launches can be predicted")]
    Nothing,
}

/// Fits the curves and coefficients that the measurements tell of; the others stay as in `base`.
pub fn fit(
    groups: &[MeasuredGroup],
    library: &dyn Library,
    base: &Fit,
    request: &FitRequest,
) -> Result<Fitting, NoFit> {
    let mut devices: Vec<&str> = groups.iter().map(|g| g.device.id.as_str()).collect();
    devices.sort_unstable();
    devices.dedup();
    if devices.len() > 1 {
        return Err(NoFit::Devices(devices.join(", ")));
    }
    let first = groups.iter().find(|g| !g.cases.is_empty()).ok_or(NoFit::Nothing)?;
    let estimators: Vec<Estimator<'_>> = groups.iter().map(|g| g.estimator(library)).collect();
    let mut fit = base.clone();
    fit.inherit = None;
    fit.id.clone_from(&first.device.id);
    fit.complete(&first.device);
    let launches = groups.iter().zip(&estimators).map(|(group, estimator)| Launches {
        group,
        estimator: *estimator,
        device: 0,
        clock_factor: 1.0,
        class: group.kernel.name.clone(),
    });
    let mut found =
        fit_devices(&launches.collect::<Vec<_>>(), std::slice::from_ref(base), vec![fit], request);
    let fit = found.fits.remove(0);
    Ok(Fitting { fit, curves: found.curves, time: found.time, scores: found.scores })
}

/// What came of a fit on several devices.
#[derive(Debug, Clone)]
pub(super) struct FittedDevices {
    /// The curve files: what does not hold for one device alone is the same in all.
    pub(super) fits: Vec<Fit>,
    pub(super) curves: Vec<CurveFit>,
    pub(super) time: Vec<TimeFitOutcome>,
    pub(super) scores: Vec<Scores>,
}

/// Fits what launches on several devices tell of. The curve files have been completed from their devices; `bases` are
/// those that errors before are of.
pub(super) fn fit_devices(
    groups: &[Launches<'_>],
    bases: &[Fit],
    mut fits: Vec<Fit>,
    request: &FitRequest,
) -> FittedDevices {
    let all = All { groups, request };
    let curves = all.volumes(&mut fits);
    let timed = groups.iter().any(|g| g.group.cases.iter().any(|c| c.seconds(&g.group.device).is_some()));
    let mut time = Vec::new();
    if timed {
        (fits, time) = fit_time(groups, &fits, &request.only);
    }
    let scores = all.scores(bases, &fits);
    for (device, fit) in fits.iter_mut().enumerate() {
        let own = |t: &&TimeFitOutcome| t.of.is_none_or(|of| of == device);
        all.sources(fit, &curves, &time.iter().filter(own).collect::<Vec<_>>(), &scores);
    }
    if fits.len() > 1 {
        for outcome in &mut time {
            outcome.device = outcome.of.map(|d| fits[d].id.clone());
        }
    }
    FittedDevices { fits, curves, time, scores }
}

struct All<'a> {
    groups: &'a [Launches<'a>],
    request: &'a FitRequest,
}

impl All<'_> {
    fn rows(
        &self,
        fits: &[Fit],
        of: impl Fn(&Estimator<'_>, &MeasuredGroup, &Case, &VolumeFit) -> Option<Parts> + Sync,
    ) -> Vec<PartedLaunch<'_>> {
        let rows = parallel::map(&self.cases(), |&(launches, case)| {
            let Launches { group, estimator, device, class, .. } = launches;
            let parts = of(estimator, group, case, &fits[*device].volumes)?;
            Some(PartedLaunch { group, case, parts, class })
        });
        rows.into_iter().flatten().collect()
    }

    /// All launches, one after the other.
    fn cases(&self) -> Vec<(&Launches<'_>, &Case)> {
        self.groups.iter().flat_map(|l| l.group.cases.iter().map(move |case| (l, case))).collect()
    }

    fn curve(&self, name: &'static str, title: &'static str, rows: &Rows<'_>) -> CurveFit {
        let r = self.request;
        curve(name, title, rows, r.form, &r.options, r.resamples)
    }

    /// In an order in which nothing depends on what comes later.
    fn volumes(&self, fits: &mut [Fit]) -> Vec<CurveFit> {
        let mut all = Vec::new();
        let rows = self.rows(fits, |e, _, c, fit| l1(e, c, fit));
        let one = self.curve("l1_redundant", "L1, redundant loads", &rows);
        if let Some(curve) = curve_of(&one) {
            set(fits, |v| v.l1_redundant = curve.clone());
        }
        all.push(one);
        let rows = self.rows(fits, |e, _, c, fit| stores(e, c, fit));
        let one = self.curve("l2_store", "L2, redundant stores", &rows);
        if let Some(curve) = curve_of(&one) {
            set(fits, |v| v.l2_store = Some(curve.clone()));
        }
        all.push(one);
        let one = constant("partial_store", "L2, redundant stores, mean", &rows);
        if let CurveOutcome::Constant { value, .. } = one.outcome {
            set(fits, |v| v.partial_store.value = value.get().min(1.0));
        }
        all.push(one);
        let one = constant(
            "partial_store_l2",
            "L2, further stores of each",
            &self.rows(fits, |e, _, c, fit| stores_l2(e, c, fit)),
        );
        if let CurveOutcome::Constant { value, .. } = one.outcome {
            set(fits, |v| v.partial_store_l2.value = value.get());
        }
        all.push(one);
        let rows = self.rows(fits, l2);
        let one = self.curve("l2_reuse", "L2, all overlaps", &rows);
        if let Some(curve) = curve_of(&one) {
            set(fits, |v| {
                v.l2_reuse = curve.clone();
                (v.l2_reuse_x, v.l2_reuse_y, v.l2_reuse_z) = (None, None, None);
            });
        }
        all.push(one);
        all.extend(self.directions(fits, &rows));
        all
    }

    /// Each overlap by itself, the others as the common curve says.
    fn directions(&self, fits: &mut [Fit], rows: &Rows<'_>) -> Vec<CurveFit> {
        let common = fits[0].volumes.l2_reuse.clone();
        let names = [
            ("l2_reuse_x", "L2, overlap x"),
            ("l2_reuse_y", "L2, overlap y"),
            ("l2_reuse_z", "L2, overlap z"),
        ];
        let mut all = Vec::new();
        for (d, (name, title)) in (1..).zip(names) {
            let alone: Vec<PartedLaunch<'_>> =
                rows.iter().map(|l| PartedLaunch { parts: only(&l.parts, d, &common), ..*l }).collect();
            let one = self.curve(name, title, &alone);
            if self.request.directions
                && let Some(curve) = curve_of(&one)
            {
                set(fits, |v| {
                    let slot = [&mut v.l2_reuse_x, &mut v.l2_reuse_y, &mut v.l2_reuse_z];
                    if let Some(slot) = slot.into_iter().nth(d - 1) {
                        *slot = Some(curve.clone());
                    }
                });
            }
            all.push(one);
        }
        all
    }

    fn scores(&self, before: &[Fit], after: &[Fit]) -> Vec<Scores> {
        let pairs = self.errors(before).into_iter().zip(self.errors(after));
        pairs.map(|((quantity, before), (_, after))| Scores { quantity, before, after }).collect()
    }

    /// Mean absolute errors of everything that was measured.
    fn errors(&self, fits: &[Fit]) -> Vec<(MeasuredQuantity, PercentShare)> {
        let of_cases = parallel::map(&self.cases(), |&(Launches { group, estimator, device, .. }, case)| {
            let mut case = case.clone();
            estimator.refit(&mut case.prediction, &fits[*device]);
            MeasuredQuantity::ALL.map(|q| case.pair(q, &group.device).map(|pair| pair.error()))
        });
        let mut sums = [(0.0, 0.0, false); MeasuredQuantity::ALL.len()];
        for errors in of_cases {
            for (error, sum) in errors.into_iter().zip(&mut sums) {
                sum.2 |= error.is_some();
                if let Some(error) = error.flatten() {
                    (sum.0, sum.1) = (sum.0 + error.get().abs(), sum.1 + 1.0);
                }
            }
        }
        let all = MeasuredQuantity::ALL.into_iter().zip(sums).filter(|(_, sum)| sum.2);
        all.map(|(quantity, sum)| (quantity, PercentShare::new(sum.0 / f64::max(sum.1, 1.0)))).collect()
    }

    /// Says where each new coefficient comes from.
    fn sources(&self, fit: &mut Fit, curves: &[CurveFit], time: &[&TimeFitOutcome], scores: &[Scores]) {
        let (text, sha256) = &self.request.origin;
        let origin = |rows: usize, error: Option<PercentShare>, intervals: BTreeMap<String, Interval>| {
            CoefficientSource {
                text: text.clone(),
                rows: u32::try_from(rows).ok(),
                residual_percent: error.map(|e| rounded(e.percent())),
                sha256: sha256.clone(),
                intervals,
                simulated: self.request.simulated,
            }
        };
        for curve in curves {
            let intervals = match &curve.outcome {
                CurveOutcome::Curve(found, _) => {
                    let names = found.shape.parameters().iter();
                    names.zip(&found.intervals).map(|(n, i)| ((*n).to_owned(), ends(i))).collect()
                }
                CurveOutcome::Constant { .. } => BTreeMap::new(),
                CurveOutcome::Kept(_) => continue,
            };
            let error = match &curve.outcome {
                CurveOutcome::Curve(found, _) => Some(PercentShare::new(found.deviation.get())),
                _ => None,
            };
            let used = match curve.name {
                "l2_reuse_x" | "l2_reuse_y" | "l2_reuse_z" => self.request.directions,
                _ => true,
            };
            if used {
                fit.sources.insert(curve.name.to_owned(), origin(curve.points.len(), error, intervals));
                if let Some(known) = coefficient(curve.name) {
                    known.name_source(fit, curve.name);
                }
            }
        }
        let fitted: Vec<&TimeFitOutcome> = time.iter().copied().filter(|t| t.kept.is_none()).collect();
        // What was fitted anew names the old source no longer.
        for t in &fitted {
            t.known.name_source(fit, "");
        }
        prune(fit);
        let times = free_name(fit);
        for t in &fitted {
            t.known.name_source(fit, &times);
        }
        if !fitted.is_empty() {
            let of = |t: &&TimeFitOutcome| Some((t.known.name.to_owned(), ends(t.interval.as_ref()?)));
            let groups = self.groups.iter().map(|g| g.group);
            let rows = groups.flat_map(|g| g.cases.iter().filter(|c| c.seconds(&g.device).is_some()));
            let error = scores.iter().find(|s| s.quantity.is_speed()).map(|s| s.after);
            fit.sources.insert(times, origin(rows.count(), error, fitted.iter().filter_map(of).collect()));
        }
        fit.leave_to_device();
        fit.about = format!("{}{text}", if self.request.simulated { "simulated: " } else { "" });
        fit.round();
    }
}

/// Changes what says how volumes come about, which is the same on all devices.
fn set(fits: &mut [Fit], change: impl Fn(&mut VolumeFit)) {
    for fit in fits {
        change(&mut fit.volumes);
    }
}

/// A volume of which only one part is left open.
fn only(parts: &Parts, which: usize, common: &Curve) -> Parts {
    let others = parts.open.iter().enumerate().filter(|(i, _)| *i != which);
    let missing = others.flat_map(|(_, points)| points).map(|(o, share)| share * common.miss(*o));
    Parts {
        base: parts.base + missing.sum::<f64>(),
        open: vec![parts.open[which].clone()],
        measured: parts.measured,
    }
}

fn curve_of(fit: &CurveFit) -> Option<Curve> {
    match &fit.outcome {
        CurveOutcome::Curve(found, _) => {
            let values: Vec<f64> = found.values.iter().map(|&v| rounded(v)).collect();
            found.shape.curve(&values, fit.name)
        }
        _ => None,
    }
}

/// The ends with as many digits as coefficients have.
fn ends(interval: &Interval) -> Interval {
    Interval::new(rounded(interval.low()), rounded(interval.high()))
}
