//! All candidates of a kernel, best first.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::estimate::{Estimator, Unpredicted};
use super::prediction::Summary;
use super::shared::{Runnable, Shared};
use crate::effort::{heeding, stop, stopped};
use crate::launch::Candidate;
use crate::parallel;

/// A candidate of one of several kernels: variants of a document are ranked together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Choice {
    /// Position of the kernel.
    pub kernel: usize,
    /// Block and fold.
    pub candidate: Candidate,
}

/// Candidates in the order of the time that each takes for the whole job.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Those that can run, best first, as many as were to be kept.
    pub results: Vec<Ranked>,
    /// How many can run.
    pub feasible: usize,
    /// Whether registers had to be assumed for any of them.
    pub registers_assumed: bool,
    /// Those that cannot, in the order in which they came.
    pub rejected: Vec<(Choice, Unpredicted)>,
}

/// A candidate in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// From 1.
    pub rank: usize,
    /// From 1: candidates that the model cannot tell apart within its own error share one.
    pub tie_group: usize,
    /// The time of the best one over its own.
    pub relative: f64,
    /// Position of its kernel.
    pub kernel: usize,
    /// What is predicted of it.
    pub prediction: Box<Summary>,
}

/// Candidates that are predicted before those that are not kept are forgotten.
const AT_A_TIME: usize = 1 << 12;
/// How long a part of the candidates takes, about. Several rankings that share threads take turns with their
/// parts, so that none waits until another is done.
const PART: Duration = Duration::from_millis(50);

/// Ranks candidates by the time of the whole job. Candidates whose speed, one over the time, differs from
/// the best of their group by less than `error`, a share of it, are one group. The best `most` are kept. The result does not depend on the number of
/// threads. `done` counts the candidates that are finished.
pub fn rank(
    estimators: &[Estimator<'_>],
    choices: &[Choice],
    error: f64,
    most: usize,
    done: &AtomicUsize,
) -> Ranking {
    let mut shared: Vec<Shared<'_>> = estimators.iter().map(|&e| Shared::new(e)).collect();
    let (mut admitted, mut rejected) = (Vec::with_capacity(choices.len()), Vec::new());
    for (i, choice) in choices.iter().enumerate() {
        if stopped() {
            break;
        }
        match shared[choice.kernel].admit(choice.candidate) {
            Ok(runnable) => admitted.push((i, runnable)),
            Err(why) => rejected.push((i, why)),
        }
    }
    done.fetch_add(rejected.len(), Ordering::Relaxed);
    let mut best = Best { most, found: Vec::new(), feasible: 0, registers_assumed: false };
    let stop = stop();
    let mut parts = Parts::of(&admitted);
    while let Some(part) = parts.next()
        && !stopped()
    {
        let started = Instant::now();
        let predicted: Vec<Result<Box<Summary>, Unpredicted>> = parallel::map(part, |(i, runnable)| {
            let kernel = choices[*i].kernel;
            let outcome = heeding(stop.as_ref(), || one(&estimators[kernel], &shared[kernel], runnable));
            done.fetch_add(1, Ordering::Relaxed);
            outcome.map(Box::new)
        });
        for ((i, _), outcome) in part.iter().zip(predicted) {
            match outcome {
                Ok(prediction) => best.add(choices[*i].kernel, prediction),
                Err(why) => rejected.push((*i, why)),
            }
        }
        best.cut_if_long();
        parts.adapt(started.elapsed());
    }
    best.cut();
    rejected.sort_by_key(|r| r.0);
    Ranking {
        feasible: best.feasible,
        registers_assumed: best.registers_assumed,
        results: placed(best.found, error),
        rejected: rejected.into_iter().map(|(i, why)| (choices[i], why)).collect(),
    }
}

/// Candidates in parts, each of which takes about as long.
struct Parts<'c, C> {
    rest: &'c [C],
    size: usize,
}

impl<'c, C> Parts<'c, C> {
    fn of(all: &'c [C]) -> Self {
        Self { rest: all, size: 2 * rayon::current_num_threads() }
    }

    fn next(&mut self) -> Option<&'c [C]> {
        let (part, rest) = self.rest.split_at(self.size.min(self.rest.len()));
        self.rest = rest;
        (!part.is_empty()).then_some(part)
    }

    /// How large the next one is, after what the last one took.
    fn adapt(&mut self, took: Duration) {
        let least = rayon::current_num_threads();
        let larger = if took < PART / 2 { self.size * 2 } else { self.size };
        self.size = if took > PART * 2 { self.size / 2 } else { larger }.clamp(least, AT_A_TIME.max(least));
    }
}

/// The best so far.
struct Best {
    most: usize,
    /// Kernel and prediction.
    found: Vec<(usize, Box<Summary>)>,
    feasible: usize,
    registers_assumed: bool,
}

impl Best {
    fn add(&mut self, kernel: usize, prediction: Box<Summary>) {
        self.feasible += 1;
        self.registers_assumed |= prediction.launch.registers_assumed;
        self.found.push((kernel, prediction));
    }

    /// Forgets all but the best, now and then.
    fn cut_if_long(&mut self) {
        if self.found.len() >= self.most.saturating_add(AT_A_TIME) {
            self.cut();
        }
    }

    /// Sorts, and forgets all but the best.
    fn cut(&mut self) {
        // A stable sort: equal times stay in the order in which they came.
        self.found.sort_by(|a, b| a.1.time.seconds.total_cmp(&b.1.time.seconds));
        self.found.truncate(self.most);
    }
}

fn one(estimator: &Estimator<'_>, shared: &Shared<'_>, runnable: &Runnable) -> Result<Summary, Unpredicted> {
    let program = shared.program(&runnable.launch)?;
    let footprints = shared.footprints(runnable, &program)?;
    let Runnable { launch, occupancy } = runnable;
    // Of many candidates only what a ranking shows is kept.
    Ok(estimator.of_counted(launch.clone(), *occupancy, &program, footprints)?.summary)
}

fn placed(found: Vec<(usize, Box<Summary>)>, error: f64) -> Vec<Ranked> {
    let best = found.first().map_or(0.0, |f| f.1.time.seconds);
    let (mut tie_group, mut group_best) = (0, 0.0);
    let mut results = Vec::with_capacity(found.len());
    for (i, (kernel, prediction)) in found.into_iter().enumerate() {
        let seconds = prediction.time.seconds;
        if tie_group == 0 || group_best < seconds * (1.0 - error) {
            tie_group += 1;
            group_best = seconds;
        }
        let relative = if seconds > 0.0 { best / seconds } else { 1.0 };
        results.push(Ranked { rank: i + 1, tie_group, relative, kernel, prediction });
    }
    results
}
