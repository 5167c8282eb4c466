//! What came of launches, and the times of the best of them, where no more than some are wanted.

use std::cmp::Ordering as Order;
use std::collections::BinaryHeap;

use super::estimate::Unpredicted;
use super::prediction::Summary;
use crate::quantity::Seconds;

/// What came of a launch.
pub(super) enum Outcome {
    /// It was predicted.
    Predicted(Box<Summary>),
    /// It can run, but is not among the best.
    LeftOut {
        /// Whether its registers had to be assumed.
        registers_assumed: bool,
    },
    /// It cannot run, or not be predicted.
    Refused(Box<Unpredicted>),
}

impl From<Result<Summary, Unpredicted>> for Outcome {
    fn from(result: Result<Summary, Unpredicted>) -> Self {
        match result {
            Ok(summary) => Outcome::Predicted(Box::new(summary)),
            Err(why) => Outcome::Refused(Box::new(why)),
        }
    }
}

/// A time, so that times can be put in order.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Score(pub(super) Seconds);

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Order {
        self.0.total_cmp(&other.0)
    }
}

/// The best of the launches that were predicted.
pub(super) struct Best {
    wanted: usize,
    /// The longest on top.
    times: BinaryHeap<Score>,
}

impl Best {
    /// None so far, of so many.
    pub(super) fn new(wanted: usize) -> Self {
        Self { wanted, times: BinaryHeap::new() }
    }

    /// Whether there are as many as are wanted.
    pub(super) fn are_enough(&self) -> bool {
        self.times.len() >= self.wanted
    }

    /// Whether a launch that takes so long, or longer, may be one of them.
    pub(super) fn may_hold(&self, least: Seconds) -> bool {
        !self.are_enough() || self.times.peek().is_some_and(|worst| Score(least) <= *worst)
    }

    /// Whether more than so many launches are still wanted beside those that take less than `time`.
    pub(super) fn lacks_more_than(&self, some: usize, time: Score) -> bool {
        // Where there are not enough, it is soon told.
        !self.are_enough() && {
            let sooner = || self.times.iter().filter(|known| **known < time).count();
            self.times.len() + some < self.wanted || sooner() + some < self.wanted
        }
    }

    /// Takes in a launch if it was predicted.
    pub(super) fn note(&mut self, outcome: &Outcome) {
        if let Outcome::Predicted(summary) = outcome {
            self.times.push(Score(summary.time.seconds));
            if self.times.len() > self.wanted {
                self.times.pop();
            }
        }
    }
}
