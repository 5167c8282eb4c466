//! Launches in their order, as a ranking hands them over.

use super::estimate::Unpredicted;
use super::prediction::Summary;
use crate::launch::Candidate;
use crate::quantity::Ratio;

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
    pub(super) results: Vec<Ranked>,
    pub(super) feasible: usize,
    pub(super) registers_assumed: bool,
    pub(super) rejected: Vec<(Choice, Unpredicted)>,
}

impl Ranking {
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
