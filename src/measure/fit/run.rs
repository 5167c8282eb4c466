//! The way from measurements to a curve file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::curves::{CurveFit, CurveForm, CurveOutcome, PartedLaunch, Rows, constant, curve};
use super::origins::{free_name, prune};
use super::parts::{Parts, l1, l2, stores, stores_l2};
use super::time::{TimeFitOutcome, fit_time};
use crate::curve::Interval;
use crate::curve::fit::FitOptions;
use crate::curve::{CoefficientSource, Curve, Fit, coefficient, rounded};
use crate::measure::join::{Case, Library, MeasuredGroup};
use crate::measure::measurements::MeasuredQuantity;
use crate::measure::share::PercentShare;
use crate::measure::validate::{Score, validate};
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Scores {
    /// Its name in the measurement format.
    #[schemars(with = "String")]
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
    let all = All { groups, estimators: &estimators, request };
    let mut fit = base.clone();
    fit.inherit = None;
    fit.id.clone_from(&first.device.id);
    fit.complete(&first.device);
    let curves = all.volumes(&mut fit);
    let timed = groups.iter().any(|g| g.cases.iter().any(|c| c.seconds(&g.device).is_some()));
    let time = if timed {
        let (after, time) = fit_time(groups, &estimators, &fit, &request.only);
        fit = after;
        time
    } else {
        Vec::new()
    };
    let scores = all.scores(base, &fit);
    all.sources(&mut fit, &curves, &time, &scores);
    Ok(Fitting { fit, curves, time, scores })
}

struct All<'a> {
    groups: &'a [MeasuredGroup],
    estimators: &'a [Estimator<'a>],
    request: &'a FitRequest,
}

impl All<'_> {
    fn rows(
        &self,
        of: impl Fn(&Estimator<'_>, &MeasuredGroup, &Case) -> Option<Parts>,
    ) -> Vec<PartedLaunch<'_>> {
        let mut rows = Vec::new();
        for (group, estimator) in self.groups.iter().zip(self.estimators) {
            let parted = |case| Some(PartedLaunch { group, case, parts: of(estimator, group, case)? });
            rows.extend(group.cases.iter().filter_map(parted));
        }
        rows
    }

    fn curve(&self, name: &'static str, title: &'static str, rows: &Rows<'_>) -> CurveFit {
        let r = self.request;
        curve(name, title, rows, r.form, &r.options, r.resamples)
    }

    /// In an order in which nothing depends on what comes later.
    fn volumes(&self, fit: &mut Fit) -> Vec<CurveFit> {
        let mut all = Vec::new();
        let one = self.curve("l1_redundant", "L1, redundant loads", &self.rows(|e, _, c| l1(e, c, fit)));
        if let Some(curve) = curve_of(&one) {
            fit.volumes.l1_redundant = curve;
        }
        all.push(one);
        let rows = self.rows(|e, _, c| stores(e, c, fit));
        let one = self.curve("l2_store", "L2, redundant stores", &rows);
        if let Some(curve) = curve_of(&one) {
            fit.volumes.l2_store = Some(curve);
        }
        all.push(one);
        let one = constant("partial_store", "L2, redundant stores, mean", &rows);
        if let CurveOutcome::Constant { value, .. } = one.outcome {
            fit.volumes.partial_store.value = value.get().min(1.0);
        }
        all.push(one);
        let one = constant(
            "partial_store_l2",
            "L2, further stores of each",
            &self.rows(|e, _, c| stores_l2(e, c, fit)),
        );
        if let CurveOutcome::Constant { value, .. } = one.outcome {
            fit.volumes.partial_store_l2.value = value.get();
        }
        all.push(one);
        let rows = self.rows(|e, g, c| l2(e, g, c, fit));
        let one = self.curve("l2_reuse", "L2, all overlaps", &rows);
        if let Some(curve) = curve_of(&one) {
            fit.volumes.l2_reuse = curve;
            let v = &mut fit.volumes;
            (v.l2_reuse_x, v.l2_reuse_y, v.l2_reuse_z) = (None, None, None);
        }
        all.push(one);
        all.extend(self.directions(fit, &rows));
        all
    }

    /// Each overlap by itself, the others as the common curve says.
    fn directions(&self, fit: &mut Fit, rows: &Rows<'_>) -> Vec<CurveFit> {
        let common = fit.volumes.l2_reuse.clone();
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
                let v = &mut fit.volumes;
                let slot = [&mut v.l2_reuse_x, &mut v.l2_reuse_y, &mut v.l2_reuse_z];
                if let Some(slot) = slot.into_iter().nth(d - 1) {
                    *slot = Some(curve);
                }
            }
            all.push(one);
        }
        all
    }

    fn scores(&self, before: &Fit, after: &Fit) -> Vec<Scores> {
        let of = |fit: &Fit| -> Vec<Score> {
            let mut groups = self.groups.to_vec();
            for (group, estimator) in groups.iter_mut().zip(self.estimators) {
                group.cases.iter_mut().for_each(|c| estimator.refit(&mut c.prediction, fit));
            }
            validate(&groups, 0, 0).scores
        };
        let pairs = of(before).into_iter().zip(of(after));
        pairs.map(|(b, a)| Scores { quantity: b.quantity, before: b.error, after: a.error }).collect()
    }

    /// Says where each new coefficient comes from.
    fn sources(&self, fit: &mut Fit, curves: &[CurveFit], time: &[TimeFitOutcome], scores: &[Scores]) {
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
        let fitted: Vec<&TimeFitOutcome> = time.iter().filter(|t| t.kept.is_none()).collect();
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
            let rows =
                self.groups.iter().flat_map(|g| g.cases.iter().filter(|c| c.seconds(&g.device).is_some()));
            let error = scores.iter().find(|s| s.quantity.is_speed()).map(|s| s.after);
            fit.sources.insert(times, origin(rows.count(), error, fitted.iter().filter_map(of).collect()));
        }
        fit.leave_to_device();
        fit.about = format!("{}{text}", if self.request.simulated { "simulated: " } else { "" });
        fit.round();
    }
}

/// A volume of which only one part is left open.
fn only(parts: &Parts, which: usize, common: &Curve) -> Parts {
    let others = parts.open.iter().enumerate().filter(|(i, _)| *i != which);
    let base = parts.base + others.map(|(_, (o, share))| share * common.miss(*o)).sum::<f64>();
    Parts { base, open: vec![parts.open[which]], measured: parts.measured }
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
