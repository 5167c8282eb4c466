//! The points of a series, in parallel and in an order that does not depend on it.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;

use super::value::VaryValue;
use super::vary::{Vary, VaryKind};
use crate::device::Device;
use crate::effort::{Instant, heeding, stop, stopped};
use crate::kernel::Kernel;
use crate::launch::Candidate;
use crate::parallel::{self, Parts};
use crate::predict::{Choice, Estimator, Summary, Unpredicted, rank};
use crate::text::Fault;

/// A document of which something varies.
pub trait Varied: Sync {
    /// The device, or another one if it is named, with these numbers changed, as `PATH=VALUE`.
    fn device(&self, name: Option<&str>, set: &[String]) -> Result<Device, Fault>;

    /// The kernels, variant by variant, with these parameters changed, as `NAME=VALUE`.
    fn kernels(&self, set: Vec<String>) -> Result<Vec<Kernel>, Fault>;

    /// The launches of a kernel.
    fn launches(&self, kernel: &Kernel) -> Vec<Candidate>;

    /// What predicts.
    fn estimator<'k>(&'k self, kernel: &'k Kernel, device: &'k Device) -> Estimator<'k>;
}

/// A series of one document.
#[derive(Clone, Copy)]
pub struct SweepPlan<'a> {
    /// What varies is a part of this.
    pub subject: &'a dyn Varied,
    /// The kernels of the document as it is, variant by variant.
    pub kernels: &'a [Kernel],
    /// Whether the best launch of all is meant, at each point anew.
    pub best: bool,
    /// What varies; the first is the axis.
    pub vary: &'a [Vary],
}

/// One point.
#[derive(Debug, Clone, PartialEq)]
pub struct Point<T> {
    /// One value of each thing that varies.
    pub values: Vec<VaryValue>,
    /// The variant, if the document has variants.
    pub variant: Option<String>,
    /// The launch; `None` if the best was asked for and there is none.
    pub candidate: Option<Candidate>,
    /// Work items along the axes; empty if the kernel could not be read.
    pub domain: Vec<i64>,
    /// Parameters after overrides.
    pub params: Vec<(String, i64)>,
    /// What was kept of the prediction, or why there is none.
    pub outcome: Result<T, Refused>,
}

/// Why a point has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Refused {
    /// A stable name of the reason.
    pub code: &'static str,
    /// The reason.
    pub reason: String,
}

impl From<&Unpredicted> for Refused {
    fn from(why: &Unpredicted) -> Self {
        Self { code: why.code(), reason: why.to_string() }
    }
}

impl From<&Fault> for Refused {
    fn from(fault: &Fault) -> Self {
        let first = fault.diagnostics.first();
        Self {
            code: first.map_or("unreadable", |d| d.code),
            reason: first.map_or_else(|| fault.to_string(), |d| d.message.clone()),
        }
    }
}

/// Predicts every point. They come series by series: for each value of the second thing that varies, each
/// variant and each launch, all values of the first. `keep` says what is kept of a prediction; `done`
/// counts the points that are finished. A value that the device refuses is a fault of the whole series.
pub fn run<T: Send>(
    plan: &SweepPlan<'_>,
    keep: &(dyn Fn(&Estimator<'_>, &Summary) -> T + Sync),
    done: &AtomicUsize,
) -> Result<Vec<Point<T>>, Fault> {
    let launches = plan.series();
    let settings = settings(plan.vary);
    let stop = stop();
    let mut rows = Vec::with_capacity(settings.len());
    let mut parts = Parts::new(&settings);
    while let Some(part) = parts.take()
        && !stopped()
    {
        let started = Instant::now();
        let found: Vec<Result<Vec<Point<T>>, Fault>> = parallel::map(part, |values| {
            let points = heeding(stop.as_ref(), || plan.at(values, &launches, keep))?;
            done.fetch_add(points.len(), Ordering::Relaxed);
            Ok(points)
        });
        // The first fault in order, whichever was found first.
        for points in found {
            rows.push(points?.into_iter());
        }
        parts.adapt(started.elapsed());
    }
    Ok(by_series(rows, plan.vary.first().map_or(1, |v| v.values.len())))
}

/// All combinations of values, the first thing fastest.
fn settings(vary: &[Vary]) -> Vec<Vec<VaryValue>> {
    let mut all: Vec<Vec<VaryValue>> = vec![Vec::new()];
    for one in vary.iter().rev() {
        let with = |rest: &Vec<VaryValue>| {
            let of = |value: &VaryValue| std::iter::once(value.clone()).chain(rest.iter().cloned()).collect();
            one.values.iter().map(of).collect::<Vec<Vec<VaryValue>>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// Points of one setting after another as one series after another; a series has `length` settings.
fn by_series<T>(rows: Vec<std::vec::IntoIter<Point<T>>>, length: usize) -> Vec<Point<T>> {
    let mut out = Vec::new();
    let mut rows = rows.into_iter();
    loop {
        let mut group: Vec<_> = rows.by_ref().take(length.max(1)).collect();
        if group.is_empty() {
            return out;
        }
        loop {
            let before = out.len();
            out.extend(group.iter_mut().filter_map(Iterator::next));
            if out.len() == before {
                break;
            }
        }
    }
}

impl SweepPlan<'_> {
    /// How many points there are.
    pub fn points(&self) -> usize {
        self.vary.iter().map(|v| v.values.len()).fold(self.series().len(), usize::saturating_mul)
    }

    /// The lines of points: the position of a variant, and its launch unless the best is looked for.
    fn series(&self) -> Vec<(usize, Option<Candidate>)> {
        if self.best {
            return vec![(0, None)];
        }
        let of = |(kernel, k)| self.subject.launches(k).into_iter().map(move |c| (kernel, Some(c)));
        self.kernels.iter().enumerate().flat_map(of).collect()
    }

    /// The points of one combination of values.
    fn at<T: Send>(
        &self,
        values: &[VaryValue],
        series: &[(usize, Option<Candidate>)],
        keep: &(dyn Fn(&Estimator<'_>, &Summary) -> T + Sync),
    ) -> Result<Vec<Point<T>>, Fault> {
        let device = self.subject.device(self.device(values), &self.texts(values, VaryKind::Device))?;
        let kernels = match self.subject.kernels(self.texts(values, VaryKind::Parameter)) {
            Ok(kernels) => kernels,
            Err(fault) => {
                let unread = |&(kernel, candidate)| self.unread(values, kernel, candidate, &fault);
                return Ok(series.iter().map(unread).collect());
            }
        };
        let estimators: Vec<Estimator<'_>> =
            kernels.iter().map(|kernel| self.subject.estimator(kernel, &device)).collect();
        let one = |&(kernel, candidate): &(usize, Option<Candidate>)| {
            let Some(candidate) = candidate else { return self.best_at(values, &estimators, keep) };
            let (estimator, candidate) = (&estimators[kernel], self.launch_at(values, candidate));
            let outcome = estimator.predict(candidate);
            let outcome = outcome.map(|p| keep(estimator, &p)).map_err(|why| Refused::from(&why));
            point(values, estimator.kernel, Some(candidate), outcome)
        };
        let stop = stop();
        Ok(parallel::map(series, |line| heeding(stop.as_ref(), || one(line))))
    }

    /// The best launch of all variants.
    fn best_at<T>(
        &self,
        values: &[VaryValue],
        estimators: &[Estimator<'_>],
        keep: &(dyn Fn(&Estimator<'_>, &Summary) -> T + Sync),
    ) -> Point<T> {
        let mut choices = Vec::new();
        for (kernel, estimator) in estimators.iter().enumerate() {
            let launches = self.subject.launches(estimator.kernel).into_iter();
            choices.extend(launches.map(|candidate| Choice { kernel, candidate }));
        }
        let ranking = rank(estimators, &choices, 0.0, 1, &AtomicUsize::new(0));
        let disagree = ranking.rejected().iter().find(|r| r.1.code() == "engines-disagree");
        if let (Some(best), None) = (ranking.results().first(), disagree) {
            let estimator = &estimators[best.kernel];
            let candidate = best.prediction.launch.candidate;
            let kept = keep(estimator, &best.prediction);
            return point(values, estimator.kernel, Some(candidate), Ok(kept));
        }
        let why = disagree.or(ranking.rejected().first()).map(|r| Refused::from(&r.1));
        let why = why.map(|r| Refused { reason: format!("no launch can run: {}", r.reason), ..r });
        let none = Refused { code: "no-candidate", reason: "there are no launches".to_owned() };
        point(values, estimators[0].kernel, None, Err(why.unwrap_or(none)))
    }

    /// A point whose kernel cannot be read with these values.
    fn unread<T>(
        &self,
        values: &[VaryValue],
        kernel: usize,
        candidate: Option<Candidate>,
        fault: &Fault,
    ) -> Point<T> {
        Point {
            values: values.to_vec(),
            variant: self.kernels[kernel].variant.clone(),
            candidate: candidate.map(|c| self.launch_at(values, c)),
            domain: Vec::new(),
            params: Vec::new(),
            outcome: Err(Refused::from(fault)),
        }
    }

    /// The device, if it varies.
    fn device<'v>(&self, values: &'v [VaryValue]) -> Option<&'v str> {
        let at = self.vary.iter().position(|v| v.kind == VaryKind::WholeDevice)?;
        match &values[at] {
            VaryValue::Amount { text, .. } => Some(text),
            _ => None,
        }
    }

    /// `NAME=VALUE` of all that varies and is of this kind.
    fn texts(&self, values: &[VaryValue], kind: VaryKind) -> Vec<String> {
        let all = self.vary.iter().zip(values).filter(|(v, _)| v.kind == kind);
        all.map(|(v, value)| format!("{}={value}", v.name)).collect()
    }

    /// The launch with these values.
    fn launch_at(&self, values: &[VaryValue], candidate: Candidate) -> Candidate {
        let (mut block, mut fold) = (candidate.block(), candidate.fold());
        for (vary, value) in self.vary.iter().zip(values) {
            match (vary.kind, value) {
                (VaryKind::Block, VaryValue::Block(given)) => block = *given,
                (VaryKind::Fold, VaryValue::Fold(given)) => fold = *given,
                (VaryKind::BlockExtent(axis), VaryValue::Integer(n)) => {
                    block = block.with(axis, *n).unwrap_or(block);
                }
                (VaryKind::FoldExtent(axis), VaryValue::Integer(n)) => {
                    fold = fold.with(axis, *n).unwrap_or(fold);
                }
                _ => {}
            }
        }
        Candidate::shaped(block, fold)
    }
}

fn point<T>(
    values: &[VaryValue],
    kernel: &Kernel,
    candidate: Option<Candidate>,
    outcome: Result<T, Refused>,
) -> Point<T> {
    Point {
        values: values.to_vec(),
        variant: kernel.variant.clone(),
        candidate,
        domain: kernel.axes.iter().map(|a| a.extent).collect(),
        params: kernel.params.clone(),
        outcome,
    }
}
