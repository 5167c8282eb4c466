//! All candidates of a kernel, best first.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::estimate::{Estimator, Unpredicted};
use super::prediction::Summary;
use super::shared::{Runnable, Shared, Slot};
use crate::effort::{Instant, heeding, stop, stopped};
use crate::launch::Candidate;
use crate::parallel::{self, Parts};
use crate::quantity::{Ratio, Seconds};

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
    results: Vec<Ranked>,
    feasible: usize,
    registers_assumed: bool,
    rejected: Vec<(Choice, Unpredicted)>,
}

impl Ranking {
    /// One in which nothing can run, for tests of what is said then.
    #[cfg(test)]
    pub(crate) fn only_rejected(rejected: Vec<(Choice, Unpredicted)>) -> Self {
        Self { results: Vec::new(), feasible: 0, registers_assumed: false, rejected }
    }

    /// Those that can run, best first, as many as were to be kept.
    pub fn results(&self) -> &[Ranked] {
        &self.results
    }

    /// Those that cannot, in the order in which they came.
    pub fn rejected(&self) -> &[(Choice, Unpredicted)] {
        &self.rejected
    }

    /// Both, to take them apart.
    pub fn into_parts(self) -> (Vec<Ranked>, Vec<(Choice, Unpredicted)>) {
        (self.results, self.rejected)
    }

    /// How many were looked at.
    pub fn candidates(&self) -> usize {
        self.feasible + self.rejected.len()
    }

    /// How many of them can run.
    pub fn feasible(&self) -> usize {
        self.feasible
    }

    /// Whether registers had to be assumed for any of these.
    pub fn registers_assumed(&self) -> bool {
        self.registers_assumed
    }
}

/// A candidate in its place.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Ranked {
    /// From 1.
    pub rank: usize,
    /// From 1: candidates that the model cannot tell apart within its own error share one.
    pub tie_group: usize,
    /// The time of the best one over its own.
    pub relative: Ratio,
    /// Position of its kernel.
    pub kernel: usize,
    /// What is predicted of it.
    pub prediction: Box<Summary>,
}

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
            Ok(key) => admitted.push(Admitted { key, choice: i }),
            Err(why) => rejected.push((i, why)),
        }
    }
    done.fetch_add(rejected.len(), Ordering::Relaxed);
    let mut best = Best { most, found: Vec::new(), feasible: 0, registers_assumed: false };
    let stop = stop();
    // Those that share what is counted follow each other, so that it need not be kept for long.
    admitted.sort_unstable();
    let mut parts = Parts::new(&admitted);
    let mut slots = Slots::default();
    while let Some(part) = parts.take()
        && !stopped()
    {
        let started = Instant::now();
        slots = slots.of_next(part, parts.upcoming());
        let of_part: Vec<(&Admitted, Option<usize>)> = part.iter().zip(slots.of.iter().copied()).collect();
        let predicted: Vec<Result<Box<Summary>, Unpredicted>> =
            parallel::map(&of_part, |(admitted, slot)| {
                let Choice { kernel, candidate } = choices[admitted.choice];
                let slot = slot.map(|i| &slots.all[i]);
                let outcome =
                    heeding(stop.as_ref(), || one(&estimators[kernel], &shared[kernel], candidate, slot));
                done.fetch_add(1, Ordering::Relaxed);
                outcome.map(Box::new)
            });
        for (admitted, outcome) in part.iter().zip(predicted) {
            match outcome {
                Ok(prediction) => best.add(admitted.choice, choices[admitted.choice].kernel, prediction),
                Err(why) => rejected.push((admitted.choice, why)),
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

/// Candidates that are predicted before those that are not kept are forgotten.
const FORGOTTEN: usize = 1 << 12;

/// A candidate that can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Admitted {
    /// Candidates that share what is counted have the same.
    key: u64,
    /// Its position among the choices.
    choice: usize,
}

/// Places for what candidates of a part share.
#[derive(Default)]
struct Slots {
    all: Vec<Slot>,
    /// The place of each candidate; `None` for one that shares nothing.
    of: Vec<Option<usize>>,
    /// The key of the last place.
    last: u64,
}

impl Slots {
    /// Those of the next part, of which `next` is the candidate after it. What its first candidates share with
    /// the last ones of the part before is there already.
    fn of_next(self, part: &[Admitted], next: Option<&Admitted>) -> Self {
        let key = |one: Option<&Admitted>| one.map_or(0, |a| a.key);
        let mut slots = Self { of: Vec::with_capacity(part.len()), last: key(part.last()), all: Vec::new() };
        let begun = if self.last == key(part.first()) { self.all.into_iter().next_back() } else { None };
        let is_begun = begun.is_some();
        slots.all.extend(begun);
        for (number, alike) in part.chunk_by(|a, b| a.key == b.key).enumerate() {
            let goes_on = number == 0 && is_begun;
            let is_shared = alike.len() > 1 || goes_on || key(next) == alike[0].key;
            // Without a key nothing is shared.
            if is_shared && alike[0].key != 0 && !goes_on {
                slots.all.push(Slot::default());
            }
            let place = (is_shared && alike[0].key != 0).then(|| slots.all.len() - 1);
            slots.of.extend(alike.iter().map(|_| place));
        }
        slots
    }
}

/// The best so far.
struct Best {
    most: usize,
    /// Position among the choices, kernel and prediction.
    found: Vec<(usize, usize, Box<Summary>)>,
    feasible: usize,
    registers_assumed: bool,
}

impl Best {
    fn add(&mut self, choice: usize, kernel: usize, prediction: Box<Summary>) {
        self.feasible += 1;
        self.registers_assumed |= prediction.launch.registers_assumed;
        self.found.push((choice, kernel, prediction));
    }

    /// Forgets all but the best, now and then.
    fn cut_if_long(&mut self) {
        if self.found.len() >= self.most.saturating_add(FORGOTTEN) {
            self.cut();
        }
    }

    /// Sorts, and forgets all but the best.
    fn cut(&mut self) {
        // Equal times stay in the order of the choices.
        self.found.sort_unstable_by(|a, b| a.2.time.seconds.total_cmp(&b.2.time.seconds).then(a.0.cmp(&b.0)));
        self.found.truncate(self.most);
    }
}

fn one(
    estimator: &Estimator<'_>,
    shared: &Shared<'_>,
    candidate: Candidate,
    slot: Option<&Slot>,
) -> Result<Summary, Unpredicted> {
    let runnable = shared.runnable(candidate)?;
    let program = shared.program(&runnable.launch)?;
    let footprints = shared.footprints(&runnable, &program, slot)?;
    let Runnable { launch, occupancy } = runnable;
    // Of many candidates only what a ranking shows is kept.
    let counted = estimator.counted(&launch, &program, footprints)?;
    Ok(estimator.summary(launch, occupancy, &counted))
}

fn placed(found: Vec<(usize, usize, Box<Summary>)>, error: f64) -> Vec<Ranked> {
    let best = found.first().map_or(Seconds::ZERO, |f| f.2.time.seconds);
    let (mut tie_group, mut group_best) = (0, Seconds::ZERO);
    let mut results = Vec::with_capacity(found.len());
    for (i, (_, kernel, prediction)) in found.into_iter().enumerate() {
        let seconds = prediction.time.seconds;
        if tie_group == 0 || group_best < seconds * (1.0 - error) {
            tie_group += 1;
            group_best = seconds;
        }
        let relative = Ratio::new(if seconds > Seconds::ZERO { best / seconds } else { 1.0 });
        results.push(Ranked { rank: i + 1, tie_group, relative, kernel, prediction });
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Candidates with the same key have the same place, in whatever parts they come; others have none.
    #[test]
    fn what_is_shared_stays_across_parts() {
        let keys = [0, 0, 0, 3, 5, 5, 5, 6, 7, 7, 8, 9, 9];
        let all: Vec<Admitted> =
            keys.iter().enumerate().map(|(choice, &key)| Admitted { key, choice }).collect();
        for size in 1..=all.len() {
            let (mut slots, mut rest) = (Slots::default(), all.as_slice());
            let mut places: Vec<bool> = Vec::new();
            while !rest.is_empty() {
                let (part, next) = rest.split_at(size.min(rest.len()));
                slots = slots.of_next(part, next.first());
                assert!(slots.of.iter().flatten().all(|&place| place < slots.all.len()));
                places.extend(slots.of.iter().map(Option::is_some));
                rest = next;
            }
            for (i, key) in keys.iter().enumerate() {
                let alone = *key == 0 || keys.iter().filter(|k| *k == key).count() == 1;
                assert_eq!(!places[i], alone, "{size}: {i}");
            }
        }
    }
}
