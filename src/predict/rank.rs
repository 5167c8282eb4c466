//! All candidates of a kernel, best first.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::estimate::{Estimator, Prediction, Unpredicted};
use crate::expr::{Excess, Scale};
use crate::launch::{Candidate, Infeasible, Launch, Program, occupancy};

/// Candidates in the order of their predicted rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Those that can run, best first.
    pub results: Vec<Ranked>,
    /// Those that cannot, in the order in which they came.
    pub rejected: Vec<(Candidate, Unpredicted)>,
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
    /// What is predicted of it.
    pub prediction: Prediction,
}

/// Ranks candidates. Candidates whose rate differs from the best of their group by less than `error`,
/// a share of it, are one group. The result does not depend on the number of threads.
pub fn rank(estimator: &Estimator<'_>, candidates: &[Candidate], error: f64) -> Ranking {
    let programs = programs(estimator, candidates);
    let all: Vec<Result<Prediction, Unpredicted>> =
        candidates.par_iter().map(|&candidate| one(estimator, candidate, &programs)).collect();
    let (mut found, mut rejected) = (Vec::with_capacity(all.len()), Vec::new());
    for (&candidate, outcome) in candidates.iter().zip(all) {
        match outcome {
            Ok(prediction) => found.push(prediction),
            Err(why) => rejected.push((candidate, why)),
        }
    }
    // A stable sort: equal rates stay in the order in which they came.
    found.sort_by(|a, b| b.rate().total_cmp(&a.rate()));
    Ranking { results: placed(found, error), rejected }
}

/// The folded program of each fold: candidates share them.
type Programs = BTreeMap<[i64; 3], Result<Program<Scale>, Excess>>;

fn programs(estimator: &Estimator<'_>, candidates: &[Candidate]) -> Programs {
    let mut programs = Programs::new();
    for candidate in candidates {
        programs.entry(candidate.fold).or_insert_with(|| Program::folded(estimator.kernel, candidate.fold));
    }
    programs
}

fn one(
    estimator: &Estimator<'_>,
    candidate: Candidate,
    programs: &Programs,
) -> Result<Prediction, Unpredicted> {
    let launch = Launch::new(estimator.kernel, candidate)?;
    let occupancy = occupancy(estimator.device, &launch)?;
    match programs.get(&candidate.fold) {
        Some(Ok(program)) => estimator.of_program(launch, occupancy, program),
        Some(Err(excess)) => Err(Infeasible::Address(*excess).into()),
        None => estimator.predict(candidate),
    }
}

fn placed(found: Vec<Prediction>, error: f64) -> Vec<Ranked> {
    let best = found.first().map_or(0.0, Prediction::rate);
    let (mut tie_group, mut group_best) = (0, f64::INFINITY);
    let mut results = Vec::with_capacity(found.len());
    for (i, prediction) in found.into_iter().enumerate() {
        let rate = prediction.rate();
        if tie_group == 0 || rate < group_best * (1.0 - error) {
            tie_group += 1;
            group_best = rate;
        }
        let relative = if best > 0.0 { rate / best } else { 1.0 };
        results.push(Ranked { rank: i + 1, tie_group, relative, prediction });
    }
    results
}
