//! Launches in their places, of as many as there are: what is held of each is a time, where all that is known of it
//! would not fit into memory. Its result is found out again when it is handed over.

use std::cmp::Ordering as Order;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustc_hash::FxHashMap;

use super::best::Outcome;
use super::choices::{Choices, Watch};
use super::contest::predict;
use super::estimate::{Estimator, Unpredicted};
use super::prediction::Summary;
use super::ranking::{Choice, Ranked, Ranking};
use super::shared::Shared;
use super::slots::Admitted;
use crate::effort::stopped;
use crate::parallel;
use crate::quantity::{Ratio, Seconds};

/// Candidates that are looked at, and results that are found out again, at a time; and candidates that are predicted
/// before those that are not kept are forgotten.
const AT_A_TIME: usize = 1 << 12;

/// What is made of a ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Launches whose speed differs from the best of their group by less than this share of it are one group.
    pub error_share: f64,
    /// The best so many are kept.
    pub most: usize,
    /// The results of up to so many are held in memory; of more, only their times.
    pub held: usize,
}

/// Which launches are the best, in their order.
#[derive(Debug, Clone)]
pub struct Placing {
    found: Vec<Found>,
    /// Those that cannot run or not be predicted, by number; why is found out again where it takes no counting and
    /// there are many.
    refused: Vec<(usize, Option<Box<Unpredicted>>)>,
    feasible: usize,
    registers_assumed: bool,
    all: usize,
    error: f64,
}

/// A launch that can run.
#[derive(Debug, Clone)]
struct Found {
    seconds: Seconds,
    choice: usize,
    /// If results are held.
    summary: Option<Box<Summary>>,
}

impl Found {
    /// The best first; equal times stay in the order of the choices.
    fn order(&self, other: &Self) -> Order {
        self.seconds.total_cmp(&other.seconds).then(self.choice.cmp(&other.choice))
    }
}

impl Placing {
    /// Predicts all of them. The result does not depend on the number of threads.
    pub fn new(estimators: &[Estimator<'_>], choices: &dyn Choices, plan: Plan, watch: Watch<'_>) -> Self {
        let mut shared: Vec<Shared<'_>> = estimators.iter().map(|&e| Shared::new(e)).collect();
        let ended = || watch.end.load(Ordering::Relaxed);
        let mut placing = Self {
            found: Vec::new(),
            refused: Vec::new(),
            feasible: 0,
            registers_assumed: false,
            all: choices.count(),
            error: plan.error_share,
        };
        let mut admitted = Vec::new();
        let mut from = 0;
        while from < placing.all && !stopped() && !ended() {
            let numbers: Vec<usize> = (from..placing.all.min(from + AT_A_TIME)).collect();
            let keys = parallel::map(&numbers, |&number| {
                let Choice { kernel, candidate } = choices.choice(number);
                shared[kernel].key(candidate)
            });
            from += numbers.len();
            for (number, key) in numbers.into_iter().zip(keys) {
                if stopped() || ended() {
                    break;
                }
                let Choice { kernel, candidate } = choices.choice(number);
                let key = key.map_err(Unpredicted::from);
                match key.and_then(|key| shared[kernel].admit_with(candidate, key)) {
                    Ok(key) => admitted.push(Admitted { key, choice: number }),
                    Err(why) => {
                        placing.refused.push((number, (placing.all <= plan.held).then(|| Box::new(why))));
                    }
                }
            }
        }
        watch.done.fetch_add(placing.refused.len(), Ordering::Relaxed);
        let holds = admitted.len().min(plan.most) <= plan.held;
        predict(
            estimators,
            &shared,
            choices,
            &mut admitted,
            plan.most,
            watch,
            |choice, outcome| match outcome {
                Outcome::Predicted(summary) => {
                    placing.feasible += 1;
                    placing.registers_assumed |= summary.launch.registers_assumed;
                    let seconds = summary.time.seconds;
                    placing.found.push(Found { seconds, choice, summary: holds.then_some(summary) });
                    if placing.found.len() >= plan.most.saturating_add(AT_A_TIME) {
                        placing.cut(plan.most);
                    }
                }
                Outcome::LeftOut { registers_assumed } => {
                    placing.feasible += 1;
                    placing.registers_assumed |= registers_assumed;
                }
                Outcome::Refused(why) => placing.refused.push((choice, Some(why))),
            },
        );
        placing.cut(plan.most);
        placing.refused.sort_unstable_by_key(|r| r.0);
        placing
    }

    /// One in which nothing can run, for tests of what is said then.
    #[cfg(test)]
    pub(crate) fn only_refused(refused: Vec<Unpredicted>) -> Self {
        let refused: Vec<_> = refused.into_iter().map(|why| Some(Box::new(why))).enumerate().collect();
        let all = refused.len();
        Self { found: Vec::new(), refused, feasible: 0, registers_assumed: false, all, error: 0.0 }
    }

    /// Sorts, and forgets all but the best.
    fn cut(&mut self, most: usize) {
        self.found.sort_unstable_by(Found::order);
        self.found.truncate(most);
    }

    /// How many were looked at.
    pub fn candidates(&self) -> usize {
        self.feasible + self.refused.len()
    }

    /// Of how many, if somebody ended it before all were looked at.
    pub fn ended_before(&self) -> Option<usize> {
        (self.candidates() < self.all).then_some(self.all)
    }

    /// How many can run.
    pub fn feasible(&self) -> usize {
        self.feasible
    }

    /// How many are kept.
    pub fn results(&self) -> usize {
        self.found.len()
    }

    /// Whether all that is said of these launches is held, so that handing it over takes no work.
    pub fn holds_all(&self) -> bool {
        self.found.iter().all(|f| f.summary.is_some()) && self.refused.iter().all(|r| r.1.is_some())
    }

    /// Whether registers had to be assumed for any of these.
    pub fn registers_assumed(&self) -> bool {
        self.registers_assumed
    }

    /// Hands over those that can run, best first. Those that are not held are predicted again, some at a time.
    pub fn each<E>(
        &self,
        estimators: &[Estimator<'_>],
        choices: &dyn Choices,
        mut to: impl FnMut(Ranked) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut shared: Vec<Shared<'_>> = Vec::new();
        let mut places = Places::new(self.found.first(), self.error);
        for part in self.found.chunks(AT_A_TIME) {
            let mut again: FxHashMap<usize, Box<Summary>> = FxHashMap::default();
            if part.iter().any(|f| f.summary.is_none()) {
                if shared.is_empty() {
                    shared.extend(estimators.iter().map(|&e| Shared::new(e)));
                }
                let mut admitted = Vec::with_capacity(part.len());
                for Found { choice, .. } in part.iter().filter(|f| f.summary.is_none()) {
                    let Choice { kernel, candidate } = choices.choice(*choice);
                    // It ran before.
                    let key = shared[kernel].admit(candidate);
                    admitted.extend(key.ok().map(|key| Admitted { key, choice: *choice }));
                }
                let watch = Watch { done: &AtomicUsize::new(0), end: &AtomicBool::new(false) };
                let all = admitted.len();
                predict(estimators, &shared, choices, &mut admitted, all, watch, |choice, outcome| {
                    if let Outcome::Predicted(summary) = outcome {
                        again.insert(choice, summary);
                    }
                });
            }
            for found in part {
                let summary = found.summary.clone().or_else(|| again.remove(&found.choice));
                // None only where the work was stopped meanwhile, whose answer nobody sees.
                if let Some(summary) = summary {
                    to(places.next(choices.choice(found.choice).kernel, summary))?;
                }
            }
        }
        Ok(())
    }

    /// Hands over those that cannot run, in the order of the choices, with the reason.
    pub fn each_refused<E>(
        &self,
        estimators: &[Estimator<'_>],
        choices: &dyn Choices,
        mut to: impl FnMut(Choice, Unpredicted) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut shared: Vec<Shared<'_>> = Vec::new();
        for (number, why) in &self.refused {
            let choice = choices.choice(*number);
            if let Some(why) = why {
                to(choice, Unpredicted::clone(why))?;
                continue;
            }
            if shared.is_empty() {
                shared.extend(estimators.iter().map(|&e| Shared::new(e)));
            }
            if let Err(why) = shared[choice.kernel].admit(choice.candidate) {
                to(choice, why)?;
            }
        }
        Ok(())
    }

    /// Why launches that should be countable are not: engines that were counted with disagree.
    pub fn disagreements(&self) -> impl Iterator<Item = &Unpredicted> {
        self.refused.iter().filter_map(|r| r.1.as_deref()).filter(|why| why.code() == "engines-disagree")
    }

    /// All of it at once.
    pub fn into_ranking(mut self, estimators: &[Estimator<'_>], choices: &dyn Choices) -> Ranking {
        let mut results = Vec::with_capacity(self.found.len());
        let mut rejected = Vec::with_capacity(self.refused.len());
        if self.holds_all() {
            let mut places = Places::new(self.found.first(), self.error);
            for Found { choice, summary, .. } in std::mem::take(&mut self.found) {
                results.extend(summary.map(|s| places.next(choices.choice(choice).kernel, s)));
            }
            for (number, why) in std::mem::take(&mut self.refused) {
                rejected.extend(why.map(|why| (choices.choice(number), *why)));
            }
        } else {
            let Ok(()) = self.each(estimators, choices, |ranked| {
                results.push(ranked);
                Ok::<(), std::convert::Infallible>(())
            });
            let Ok(()) = self.each_refused(estimators, choices, |choice, why| {
                rejected.push((choice, why));
                Ok::<(), std::convert::Infallible>(())
            });
        }
        let Self { feasible, registers_assumed, .. } = self;
        Ranking { results, feasible, registers_assumed, rejected }
    }
}

/// Gives places to results, best first.
struct Places {
    best: Seconds,
    error: f64,
    rank: usize,
    tie_group: usize,
    group_best: Seconds,
}

impl Places {
    fn new(best: Option<&Found>, error: f64) -> Self {
        let best = best.map_or(Seconds::ZERO, |f| f.seconds);
        Self { best, error, rank: 0, tie_group: 0, group_best: Seconds::ZERO }
    }

    fn next(&mut self, kernel: usize, prediction: Box<Summary>) -> Ranked {
        let seconds = prediction.time.seconds;
        if self.tie_group == 0 || self.group_best < seconds * (1.0 - self.error) {
            self.tie_group += 1;
            self.group_best = seconds;
        }
        self.rank += 1;
        let relative = Ratio::new(if seconds > Seconds::ZERO { self.best / seconds } else { 1.0 });
        Ranked { rank: self.rank, tie_group: self.tie_group, relative, kernel, prediction }
    }
}
