//! All candidates of a kernel, best first.

use std::sync::atomic::{AtomicBool, AtomicUsize};

use super::choices::Watch;
use super::estimate::Estimator;
use super::placing::{Placing, Plan};
use super::ranking::{Choice, Ranking};

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
    let plan = Plan { error_share: error, most, held: usize::MAX };
    Placing::new(estimators, &choices, plan, Watch { done, end: &AtomicBool::new(false) })
        .into_ranking(estimators, &choices)
}
