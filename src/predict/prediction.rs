//! What is predicted of one launch.

use std::ops::Deref;

use super::time::Time;
use crate::footprint::Engine;
use crate::launch::{Launch, Occupancy};
use crate::traffic::l1::L1Counts;
use crate::traffic::{Footprints, Volumes};

/// The result for one launch: what a ranking shows of it. It has nothing left of what was counted, so that
/// only a [`Prediction`] can be given other coefficients:
///
/// ```compile_fail
/// # use wavecast::predict::{Estimator, Ranked};
/// fn again(estimator: &Estimator<'_>, ranked: &mut Ranked) {
///     estimator.refit(&mut ranked.prediction, estimator.curves.fit); // a `Summary`, not a `Prediction`
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// Block, fold, grid, registers.
    pub launch: Launch,
    /// Resident blocks and waves.
    pub occupancy: Occupancy,
    /// Bytes at each boundary.
    pub volumes: Volumes,
    /// Seconds and their parts.
    pub time: Time,
    /// Work items of the domain.
    pub items: f64,
    /// Blocks that have work: others end at once.
    pub working_blocks: i64,
    /// How volumes were counted.
    pub counting: Counted,
}

impl Summary {
    /// Work items per second.
    pub fn rate(&self) -> f64 {
        self.items / self.time.seconds
    }
}

/// How volumes were counted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Counted {
    /// Engines that counted lines, each once.
    pub engines: Vec<Engine>,
    /// Whether a count of lines is an estimate.
    pub lines_sampled: bool,
    /// How many counts of lines were made.
    pub counts: usize,
    /// How many of them a second engine confirmed.
    pub verified: usize,
    /// Whether some warps, blocks or iterations stood for all of them.
    pub warps_sampled: bool,
}

impl Counted {
    pub(super) fn new(footprints: &Footprints, l1: &L1Counts) -> Self {
        Self {
            engines: footprints.engines.clone(),
            lines_sampled: footprints.sampled,
            counts: footprints.counts,
            verified: footprints.verified,
            warps_sampled: l1.sampled,
        }
    }
}

/// A summary with all that was counted for it, so that other coefficients can be applied
/// ([`Estimator::refit`](super::Estimator::refit)) and single accesses looked at.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// The result.
    pub summary: Summary,
    /// What was counted in L1.
    pub l1: L1Counts,
    /// What was counted of blocks and waves.
    pub footprints: Footprints,
}

/// A prediction can be read as its summary.
impl Deref for Prediction {
    type Target = Summary;

    fn deref(&self) -> &Summary {
        &self.summary
    }
}
