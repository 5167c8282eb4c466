//! Launches that differ little from the one that is explained, and what they would change.

use std::collections::HashSet;
use std::sync::atomic::AtomicUsize;

use crate::expr::{Coord, Form, LaunchSizes, Scale};
use crate::kernel::{Access, Kernel, Space, Statement};
use crate::launch::Candidate;
use crate::predict::estimate::Estimator;
use crate::predict::prediction::Summary;
use crate::predict::rank::rank;
use crate::predict::ranking::Choice;
use crate::space::{Block, Fold, Grid};

/// Other launches, best first.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Neighbours {
    /// Those one step away.
    pub near: Vec<Neighbour>,
    /// The best of all that were compared, the one that is explained left out.
    pub best: Option<Neighbour>,
    /// Launches that were compared.
    pub compared: usize,
    /// Those of them that cannot run or not be predicted.
    pub rejected: usize,
}

/// Another launch.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Neighbour {
    /// Kernel, block and fold.
    pub choice: Choice,
    /// Whether it is one of the launches that were asked for.
    pub listed: bool,
    /// What is predicted of it.
    pub prediction: Summary,
}

/// Compares a launch with its neighbours and with `others`.
pub(super) fn neighbours(
    estimators: &[Estimator<'_>],
    choice: Choice,
    others: &[Choice],
    done: &AtomicUsize,
) -> Neighbours {
    let listed: HashSet<Choice> = others.iter().copied().collect();
    let near = all_near(estimators, choice, &listed);
    let is_near: HashSet<Choice> = near.iter().copied().collect();
    let mut all = near;
    all.extend(others.iter().filter(|c| **c != choice && !is_near.contains(c)));
    let ranking = rank(estimators, &all, 0.0, usize::MAX, done);
    let rejected = ranking.rejected().len();
    let mut found = Neighbours { near: Vec::new(), best: None, compared: all.len(), rejected };
    for ranked in ranking.into_parts().0 {
        let choice = Choice { kernel: ranked.kernel, candidate: ranked.prediction.launch.candidate };
        let neighbour =
            Neighbour { choice, listed: listed.contains(&choice), prediction: *ranked.prediction };
        if found.best.is_none() {
            found.best = Some(neighbour.clone());
        }
        if is_near.contains(&choice) {
            found.near.push(neighbour);
        }
    }
    found
}

/// Launches one step away, of the same kernel or with the same block and fold of another.
fn all_near(estimators: &[Estimator<'_>], choice: Choice, listed: &HashSet<Choice>) -> Vec<Choice> {
    let Choice { kernel, candidate } = choice;
    let this = estimators[kernel].kernel;
    let steps = near(candidate, this.axes.len(), &this.launch.folds);
    let mut all: Vec<Choice> = steps.into_iter().map(|candidate| Choice { kernel, candidate }).collect();
    all.extend((0..estimators.len()).filter(|&k| k != kernel).map(|kernel| Choice { kernel, candidate }));
    let any: Vec<bool> = estimators.iter().map(|e| any_block_does(e.kernel)).collect();
    all.retain(|c| any[c.kernel] || listed.contains(c));
    all
}

/// Whether every block shape does the same work: all addresses follow from the work item. A kernel that
/// looks at its threads and blocks may be right for the launches of its document only.
fn any_block_does(kernel: &Kernel) -> bool {
    let of_launch = |c: Coord| !matches!(c, Coord::Axis(_) | Coord::Loop(_));
    let [one, other] = two_launches();
    let free = |form: &Form<Scale>| !form.mentions(&of_launch) && form.at(&one).ok() == form.at(&other).ok();
    kernel.launch.grid.is_none()
        && kernel.launch.units_per_thread.is_none()
        && kernel.fields.iter().all(|f| f.space != Space::Shared)
        && all_accesses(&kernel.body, &|a| free(&a.element))
}

/// Two launches: what is the same under both has no block or grid size in it.
fn two_launches() -> [LaunchSizes; 2] {
    let one = LaunchSizes { block: Block::known([2, 3, 5]), grid: Grid::known([7, 11, 13]) };
    [one, LaunchSizes { block: Block::known([17, 19, 23]), grid: Grid::known([29, 31, 37]) }]
}

fn all_accesses(body: &[Statement], test: &dyn Fn(&Access) -> bool) -> bool {
    body.iter().all(|s| match s {
        Statement::Access(access) => test(access),
        Statement::Loop(_, inner) => all_accesses(inner, test),
        Statement::Sync => true,
    })
}

/// Launches one step away: a factor of two moved from one axis to another, twice or half as many threads,
/// another of the kernel's folds.
fn near(candidate: Candidate, axes: usize, folds: &[Fold]) -> Vec<Candidate> {
    let (block, fold) = (candidate.block(), candidate.fold());
    let axes = axes.min(3);
    let mut found: Vec<Candidate> = Vec::new();
    let mut add = |block: Option<Block>, fold: Fold| {
        if let Some(block) = block {
            let other = Candidate::shaped(block, fold);
            if other != candidate && !found.contains(&other) {
                found.push(other);
            }
        }
    };
    for i in 0..axes {
        for j in (0..axes).filter(|&j| j != i) {
            add(halved(block, j).and_then(|b| doubled(b, i)), fold);
        }
    }
    for d in 0..axes {
        add(doubled(block, d), fold);
        add(halved(block, d), fold);
    }
    for &other in folds {
        add(Some(block), other);
    }
    found
}

fn doubled(block: Block, d: usize) -> Option<Block> {
    block.with(d, block[d].checked_mul(2)?).ok()
}

fn halved(block: Block, d: usize) -> Option<Block> {
    block.with(d, (block[d] % 2 == 0).then(|| block[d] / 2)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_step_away() {
        let candidate = Candidate::new([4, 1, 2], [1; 3]).unwrap();
        let near = near(candidate, 3, &[Fold::ONE, Fold::known([1, 2, 1])]);
        let blocks: Vec<Block> = near.iter().filter(|c| c.fold() == [1; 3]).map(Candidate::block).collect();
        // Y cannot be halved: two moves from x, two from z; three doubled, two halved.
        let expected = [
            [8, 1, 1],
            [2, 2, 2],
            [4, 2, 1],
            [2, 1, 4],
            [8, 1, 2],
            [2, 1, 2],
            [4, 2, 2],
            [4, 1, 4],
            [4, 1, 1],
        ];
        assert_eq!(blocks.len(), expected.len());
        assert!(expected.iter().all(|b| blocks.iter().any(|block| block == b)), "{blocks:?}");
        assert_eq!(
            near.iter().filter(|c| c.fold() == [1, 2, 1] && c.block() == candidate.block()).count(),
            1
        );
    }

    #[test]
    fn a_kernel_of_one_axis_stays_on_it() {
        let near = near(Candidate::new([64, 1, 1], [1; 3]).unwrap(), 1, &[Fold::ONE]);
        let blocks: Vec<_> = near.iter().map(Candidate::block).collect();
        assert_eq!(blocks, [[128, 1, 1], [32, 1, 1]]);
    }
}
