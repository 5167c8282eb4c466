//! How often a thread does something, found by halving ranges of threads and iterations until all in a range do the same.

use std::cell::Cell;

use super::groups::{Group, Variable};
use crate::ptx::value::{Algebra, Interval, Ranges};

/// The threads of a grid that do anything, along each dimension, and those of its blocks.
#[derive(Clone, Copy)]
pub(super) struct Places<'r> {
    pub(super) algebra: &'r Algebra,
    pub(super) threads: [i128; 3],
    pub(super) block: [i128; 3],
}

/// Counting what a group lets be done, by halving ranges.
pub(super) struct Halving<'h, 'g, 'e> {
    places: Places<'h>,
    group: &'h Group<'g, 'e>,
    /// Of each condition, how many of the loops have to be entered before it can be looked at.
    behind: Vec<usize>,
    over: Ranges,
    /// How much of the ranges is done: halves of them count as half.
    done: f64,
    /// What is left of the steps when it is looked whether the others will do.
    look: u64,
}

impl<'h, 'g, 'e> Halving<'h, 'g, 'e> {
    /// Takes no more than these steps.
    pub(super) fn new(places: Places<'h>, group: &'h Group<'g, 'e>, steps: u64) -> Self {
        let behind = |of: &[Variable]| {
            let last = group.loops.iter().rposition(|l| of.contains(&Variable::Counter(l.counter)));
            last.map_or(0, |at| at + 1)
        };
        Self {
            places,
            group,
            behind: group.conds.iter().map(|(_, of)| behind(of)).collect(),
            over: Ranges {
                tid: [(0, 0); 3],
                ctaid: [(0, 0); 3],
                counters: vec![(0, 0); places.algebra.counters()],
                left: Cell::new(steps),
            },
            done: 0.0,
            look: steps - steps / 4,
        }
    }

    /// How often a thread does something on average; none where the steps do not suffice.
    pub(super) fn count(&mut self) -> Option<f64> {
        let dimensions: Vec<usize> = (0..3).filter(|d| self.group.has_dimension(*d)).collect();
        let all: f64 = dimensions.iter().map(|d| self.places.threads[*d] as f64).product();
        let open: Vec<usize> = (0..self.group.conds.len()).collect();
        Some(self.along(&dimensions, &open, 1.0)? / all)
    }

    /// The sum over all threads along these dimensions: those of full blocks, and those of the last one.
    fn along(&mut self, dimensions: &[usize], open: &[usize], share: f64) -> Option<f64> {
        let Some((&d, others)) = dimensions.split_first() else { return self.sum(open, 0, share) };
        let (full, rest) =
            (self.places.threads[d] / self.places.block[d], self.places.threads[d] % self.places.block[d]);
        let share = if full > 0 && rest > 0 { share / 2.0 } else { share };
        let mut sum = 0.0;
        if full > 0 {
            (self.over.ctaid[d], self.over.tid[d]) = ((0, full - 1), (0, self.places.block[d] - 1));
            sum += self.along(others, open, share)?;
        }
        if rest > 0 {
            (self.over.ctaid[d], self.over.tid[d]) = ((full, full), (0, rest - 1));
            sum += self.along(others, open, share)?;
        }
        Some(sum)
    }

    /// The sum over the ranges, of loops from the `entered`th on inwards; the `open` conditions are not known to hold in
    /// all of them. The ranges are this share of all.
    fn sum(&mut self, open: &[usize], entered: usize, share: f64) -> Option<f64> {
        let left = self.over.left.get().checked_sub(1 + open.len() as u64)?;
        self.over.left.set(left);
        if left < self.look {
            self.look = 0;
            // With four times as many steps it would not come to its end.
            if self.done < 1.0 / 16.0 {
                return None;
            }
        }
        let group = self.group;
        let mut undecided = Vec::new();
        for &at in open {
            let looked_at = self.behind[at] <= entered;
            match looked_at.then(|| self.places.algebra.settled(group.conds[at].0, &self.over)).flatten() {
                Some(true) => {}
                Some(false) => return Some(self.ended(0.0, share)),
                None => undecided.push(at),
            }
        }
        if self.over.left.get() == 0 {
            return None;
        }
        if let Some(&at) = undecided.iter().find(|at| self.behind[**at] <= entered) {
            return self.halved(&group.conds[at].1, &undecided, entered, share);
        }
        let Some(around) = group.loops.get(entered) else { return Some(self.ended(self.volume(), share)) };
        let (least, most) = self.places.algebra.range_in(around.last, &self.over);
        if most < 0 {
            return Some(self.ended(0.0, share));
        }
        if least < most {
            return self.halved(&around.of, &undecided, entered, share);
        }
        self.over.counters[around.counter] = (0, most);
        self.sum(&undecided, entered + 1, share)
    }

    /// The sum over ranges of which it is known.
    fn ended(&mut self, sum: f64, share: f64) -> f64 {
        self.done += share;
        sum
    }

    /// The sum over both halves of the widest range of these variables.
    fn halved(&mut self, variables: &[Variable], open: &[usize], entered: usize, share: f64) -> Option<f64> {
        let width = |(low, high): Interval| high - low;
        let widest = variables.iter().copied().max_by_key(|v| width(*self.range(*v)))?;
        let (low, high) = *self.range(widest);
        if low == high {
            return None;
        }
        let middle = low + (high - low) / 2;
        *self.range(widest) = (low, middle);
        let below = self.sum(open, entered, share / 2.0)?;
        *self.range(widest) = (middle + 1, high);
        let above = self.sum(open, entered, share / 2.0)?;
        *self.range(widest) = (low, high);
        Some(below + above)
    }

    fn range(&mut self, variable: Variable) -> &mut Interval {
        match variable {
            Variable::Tid(d) => &mut self.over.tid[d],
            Variable::Ctaid(d) => &mut self.over.ctaid[d],
            Variable::Counter(n) => &mut self.over.counters[n],
        }
    }

    /// How many steps are left.
    pub(super) fn left(&self) -> u64 {
        self.over.left.get()
    }

    /// How many threads and iterations the ranges have.
    fn volume(&self) -> f64 {
        let over = &self.over;
        let width = |(low, high): Interval| (high - low + 1) as f64;
        let dimensions = (0..3).filter(|d| self.group.has_dimension(*d));
        let threads: f64 = dimensions.map(|d| width(over.tid[d]) * width(over.ctaid[d])).product();
        threads * self.group.loops.iter().map(|l| width(over.counters[l.counter])).product::<f64>()
    }
}
