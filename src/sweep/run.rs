//! The points of a series, in parallel and in an order that does not depend on it.

use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::Serialize;

use super::value::Value;
use super::vary::{Subject, Vary};
use crate::curve::{Curves, Fit, for_device};
use crate::device::Device;
use crate::kernel::{Kernel, Options, load};
use crate::launch::Candidate;
use crate::parallel;
use crate::predict::{Choice, Estimator, Model, Summary, Unpredicted, rank};
use crate::text::Fault;
use crate::traffic::{Caches, Counting};

/// A series of one document.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// What messages call the text.
    pub name: &'a str,
    /// The text of the kernel.
    pub text: &'a str,
    /// How it is read; what varies is set beside it.
    pub options: &'a Options,
    /// Position of the document in the text.
    pub document: usize,
    /// The device with further numbers changed.
    pub device: &'a (dyn Fn(&[String]) -> Result<Device, Fault> + Sync),
    /// How time follows from volumes.
    pub model: Model,
    /// How lines are counted.
    pub counting: Counting,
    /// What the caches hold when a launch begins.
    pub caches: Caches,
    /// A curve file instead of the curves of each device.
    pub curves: Option<&'a Fit>,
    /// The kernels of the document as it is, variant by variant.
    pub kernels: &'a [Kernel],
    /// The launches of a kernel.
    pub launches: &'a (dyn Fn(&Kernel) -> Vec<Candidate> + Sync),
    /// Whether the best launch of all is meant, at each point anew.
    pub best: bool,
    /// What varies; the first is the axis.
    pub vary: &'a [Vary],
}

/// One point.
#[derive(Debug, Clone, PartialEq)]
pub struct Point<T> {
    /// One value of each thing that varies.
    pub values: Vec<Value>,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
/// counts the points that are finished. A value that the device refuses is a fault of the request.
pub fn run<T: Send>(
    request: &Request<'_>,
    keep: &(dyn Fn(&Estimator<'_>, &Summary) -> T + Sync),
    done: &AtomicUsize,
) -> Result<Vec<Point<T>>, Fault> {
    let launches = request.series();
    let settings = settings(request.vary);
    let found: Vec<Result<Vec<Point<T>>, Fault>> = parallel::map(&settings, |values| {
        let points = request.at(values, &launches, keep)?;
        done.fetch_add(points.len(), Ordering::Relaxed);
        Ok(points)
    });
    // The first fault in order, whichever was found first.
    let mut rows = Vec::with_capacity(found.len());
    for points in found {
        rows.push(points?.into_iter());
    }
    Ok(by_series(rows, request.vary.first().map_or(1, |v| v.values.len())))
}

/// All combinations of values, the first thing fastest.
fn settings(vary: &[Vary]) -> Vec<Vec<Value>> {
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    for one in vary.iter().rev() {
        let with = |rest: &Vec<Value>| {
            let of = |value: &Value| std::iter::once(value.clone()).chain(rest.iter().cloned()).collect();
            one.values.iter().map(of).collect::<Vec<Vec<Value>>>()
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

/// A line of points: the position of a variant, and its launch unless the best is looked for.
#[derive(Clone, Copy)]
struct Series {
    kernel: usize,
    candidate: Option<Candidate>,
}

impl Request<'_> {
    /// How many points there are.
    pub fn points(&self) -> usize {
        self.vary.iter().map(|v| v.values.len()).fold(self.series().len(), usize::saturating_mul)
    }

    fn series(&self) -> Vec<Series> {
        if self.best {
            return vec![Series { kernel: 0, candidate: None }];
        }
        let of = |(kernel, k)| {
            let launches = (self.launches)(k).into_iter();
            launches.map(move |c| Series { kernel, candidate: Some(c) })
        };
        self.kernels.iter().enumerate().flat_map(of).collect()
    }

    /// The points of one combination of values.
    fn at<T: Send>(
        &self,
        values: &[Value],
        series: &[Series],
        keep: &(dyn Fn(&Estimator<'_>, &Summary) -> T + Sync),
    ) -> Result<Vec<Point<T>>, Fault> {
        let device = (self.device)(&self.texts(values, Subject::Device))?;
        let kernels = self.kernels_at(values);
        let kernels = match &kernels {
            Ok(kernels) => kernels,
            Err(fault) => return Ok(series.iter().map(|s| self.unread(values, s, fault)).collect()),
        };
        let estimators: Vec<Estimator<'_>> = kernels
            .iter()
            .map(|kernel| Estimator {
                model: self.model,
                counting: self.counting,
                caches: self.caches,
                curves: self.curves.map_or_else(|| for_device(&device), |fit| Curves::of_file(fit, &device)),
                ..Estimator::new(kernel, &device)
            })
            .collect();
        if self.best {
            return Ok(self.best_at(values, &estimators, keep).into_iter().collect());
        }
        let one = |series: &Series| {
            let estimator = estimators.get(series.kernel)?;
            let candidate = self.launch_at(values, series.candidate?);
            let outcome = estimator.predict(candidate);
            let outcome = outcome.map(|p| keep(estimator, &p)).map_err(|why| Refused::from(&why));
            Some(point(values, estimator.kernel, Some(candidate), outcome))
        };
        let points: Vec<Option<Point<T>>> = parallel::map(series, one);
        Ok(points.into_iter().flatten().collect())
    }

    /// The best launch of all variants.
    fn best_at<T>(
        &self,
        values: &[Value],
        estimators: &[Estimator<'_>],
        keep: &(dyn Fn(&Estimator<'_>, &Summary) -> T + Sync),
    ) -> Option<Point<T>> {
        let mut choices = Vec::new();
        for (kernel, estimator) in estimators.iter().enumerate() {
            let launches = (self.launches)(estimator.kernel).into_iter();
            choices.extend(launches.map(|candidate| Choice { kernel, candidate }));
        }
        let ranking = rank(estimators, &choices, 0.0, 1, &AtomicUsize::new(0));
        let disagree = ranking.rejected().iter().find(|r| r.1.code() == "engines-disagree");
        if let (Some(best), None) = (ranking.results().first(), disagree) {
            let estimator = estimators.get(best.kernel)?;
            let candidate = best.prediction.launch.candidate;
            let kept = keep(estimator, &best.prediction);
            return Some(point(values, estimator.kernel, Some(candidate), Ok(kept)));
        }
        let why = disagree.or(ranking.rejected().first()).map(|r| Refused::from(&r.1));
        let why = why.map(|r| Refused { reason: format!("no launch can run: {}", r.reason), ..r });
        let none = Refused { code: "no-candidate", reason: "there are no launches".to_owned() };
        Some(point(values, estimators.first()?.kernel, None, Err(why.unwrap_or(none))))
    }

    /// A point whose kernel cannot be read with these values.
    fn unread<T>(&self, values: &[Value], series: &Series, fault: &Fault) -> Point<T> {
        Point {
            values: values.to_vec(),
            variant: self.kernels.get(series.kernel).and_then(|k| k.variant.clone()),
            candidate: series.candidate.map(|c| self.launch_at(values, c)),
            domain: Vec::new(),
            params: Vec::new(),
            outcome: Err(Refused::from(fault)),
        }
    }

    /// The kernels of the document with these values.
    fn kernels_at(&self, values: &[Value]) -> Result<Vec<Kernel>, Fault> {
        let set = self.texts(values, Subject::Parameter);
        if set.is_empty() {
            return Ok(self.kernels.to_vec());
        }
        let set = self.options.set.iter().cloned().chain(set).collect();
        let loaded = load(self.name, self.text, &Options { set, limits: self.options.limits })?;
        // Only some of the variants may have been asked for.
        let meant = |k: &Kernel| self.kernels.iter().any(|of| of.variant == k.variant);
        Ok(loaded.kernels.into_iter().filter(|k| k.document == self.document && meant(k)).collect())
    }

    /// `NAME=VALUE` of all that varies and is of this kind.
    fn texts(&self, values: &[Value], subject: Subject) -> Vec<String> {
        let all = self.vary.iter().zip(values).filter(|(v, _)| v.subject == subject);
        all.map(|(v, value)| format!("{}={value}", v.name)).collect()
    }

    /// The launch with these values.
    fn launch_at(&self, values: &[Value], candidate: Candidate) -> Candidate {
        let (mut block, mut fold) = (candidate.block(), candidate.fold());
        for (vary, value) in self.vary.iter().zip(values) {
            match (vary.subject, value) {
                (Subject::Block, Value::Shape(shape)) => block = *shape,
                (Subject::Fold, Value::Shape(shape)) => fold = *shape,
                (Subject::BlockExtent(axis), Value::Integer(n)) => block[axis] = *n,
                (Subject::FoldExtent(axis), Value::Integer(n)) => fold[axis] = *n,
                _ => {}
            }
        }
        Candidate::known(block, fold)
    }
}

fn point<T>(
    values: &[Value],
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
