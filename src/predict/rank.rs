//! All candidates of a kernel, best first.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::estimate::{Estimator, Prediction, Unpredicted};
use crate::expr::{Excess, Scale};
use crate::launch::{Candidate, Infeasible, Launch, Program, occupancy};

/// A candidate of one of several kernels: variants of a document are ranked together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Position of the kernel.
    pub kernel: usize,
    /// Block and fold.
    pub candidate: Candidate,
}

/// Candidates in the order of their predicted rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Those that can run, best first.
    pub results: Vec<Ranked>,
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
    /// Its rate over the best one.
    pub relative: f64,
    /// Position of its kernel.
    pub kernel: usize,
    /// What is predicted of it, without what was counted of single instructions.
    pub prediction: Prediction,
}

/// Ranks candidates. Candidates whose rate differs from the best of their group by less than `error`,
/// a share of it, are one group. The result does not depend on the number of threads. `done` counts
/// the candidates that are finished.
pub fn rank(estimators: &[Estimator<'_>], choices: &[Choice], error: f64, done: &AtomicUsize) -> Ranking {
    let programs = programs(estimators, choices);
    let all: Vec<Result<Prediction, Unpredicted>> = choices
        .par_iter()
        .map(|choice| {
            let outcome = one(estimators, choice, &programs);
            done.fetch_add(1, Ordering::Relaxed);
            outcome
        })
        .collect();
    let (mut found, mut rejected) = (Vec::with_capacity(all.len()), Vec::new());
    for (&choice, outcome) in choices.iter().zip(all) {
        match outcome {
            Ok(prediction) => found.push((choice.kernel, prediction)),
            Err(why) => rejected.push((choice, why)),
        }
    }
    // A stable sort: equal rates stay in the order in which they came.
    found.sort_by(|a, b| b.1.rate().total_cmp(&a.1.rate()));
    Ranking { results: placed(found, error), rejected }
}

/// The folded program of each kernel and fold: candidates share them.
type Programs = BTreeMap<(usize, [i64; 3]), Result<Program<Scale>, Excess>>;

fn programs(estimators: &[Estimator<'_>], choices: &[Choice]) -> Programs {
    let mut programs = Programs::new();
    for Choice { kernel, candidate } in choices {
        let Some(estimator) = estimators.get(*kernel) else { continue };
        programs
            .entry((*kernel, candidate.fold))
            .or_insert_with(|| Program::folded(estimator.kernel, candidate.fold));
    }
    programs
}

fn one(
    estimators: &[Estimator<'_>],
    choice: &Choice,
    programs: &Programs,
) -> Result<Prediction, Unpredicted> {
    let estimator = &estimators[choice.kernel];
    let launch = Launch::new(estimator.kernel, choice.candidate)?;
    let occupancy = occupancy(estimator.device, &launch)?;
    let mut prediction = match programs.get(&(choice.kernel, choice.candidate.fold)) {
        Some(Ok(program)) => estimator.of_program(launch, occupancy, program)?,
        Some(Err(excess)) => return Err(Infeasible::Address(*excess).into()),
        None => estimator.predict(choice.candidate)?,
    };
    // Of many candidates only what a ranking shows is kept.
    prediction.l1.instructions = Vec::new();
    prediction.l1.blocks = Vec::new();
    prediction.footprints.fields = Vec::new();
    Ok(prediction)
}

fn placed(found: Vec<(usize, Prediction)>, error: f64) -> Vec<Ranked> {
    let best = found.first().map_or(0.0, |f| f.1.rate());
    let (mut tie_group, mut group_best) = (0, f64::INFINITY);
    let mut results = Vec::with_capacity(found.len());
    for (i, (kernel, prediction)) in found.into_iter().enumerate() {
        let rate = prediction.rate();
        if tie_group == 0 || rate < group_best * (1.0 - error) {
            tie_group += 1;
            group_best = rate;
        }
        let relative = if best > 0.0 { rate / best } else { 1.0 };
        results.push(Ranked { rank: i + 1, tie_group, relative, kernel, prediction });
    }
    results
}
