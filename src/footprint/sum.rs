//! Sums of multiples of a few variables as plain numbers: what a form is without quotients, and without an allocation.

use super::query::CoordRange;
use crate::expr::{Coord, Form, Term};

/// Most variables that a sum may have.
pub(super) const MOST_VARIABLES: usize = 16;

/// First and last value of each variable.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranges {
    length: usize,
    list: [(i64, i64); MOST_VARIABLES],
}

impl Ranges {
    /// Of variables of a piece; `None` if they are too many.
    pub(super) fn new(ranges: &[CoordRange]) -> Option<Self> {
        let mut list = [(0, 0); MOST_VARIABLES];
        for (own, &(_, from, to)) in list.get_mut(..ranges.len())?.iter_mut().zip(ranges) {
            *own = (from, to);
        }
        Some(Self { length: ranges.len(), list })
    }

    pub(super) fn as_slice(&self) -> &[(i64, i64)] {
        &self.list[..self.length]
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [(i64, i64)] {
        &mut self.list[..self.length]
    }

    /// The same with one variable in another range.
    pub(super) fn with(mut self, variable: usize, range: (i64, i64)) -> Self {
        self.as_mut_slice()[variable] = range;
        self
    }

    /// The same with a variable more, and its number; `None` if they are too many.
    pub(super) fn and(mut self, range: (i64, i64)) -> Option<(Self, usize)> {
        let added = self.length;
        *self.list.get_mut(added)? = range;
        self.length += 1;
        Some((self, added))
    }

    /// The same without a variable: those behind it move up.
    pub(super) fn without(mut self, variable: usize) -> Self {
        self.as_mut_slice()[variable..].rotate_left(1);
        self.length -= 1;
        self
    }

    /// Whether a variable has more than one value.
    pub(super) fn varies(&self, variable: usize) -> bool {
        let (from, to) = self.as_slice()[variable];
        from < to
    }

    pub(super) fn is_empty(&self) -> bool {
        self.as_slice().iter().any(|(from, to)| from > to)
    }
}

/// A constant and a multiple of each variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) constant: i64,
    pub(super) factors: [i64; MOST_VARIABLES],
}

impl Sum {
    /// The coordinates and the constant of a form over variables of a piece, and how many other terms it has; `None` if
    /// it names others.
    pub(super) fn of_coordinates(form: &Form<i64>, ranges: &[CoordRange]) -> Option<(Self, usize)> {
        let mut sum = Self { constant: *form.constant(), factors: [0; MOST_VARIABLES] };
        let mut others = 0;
        for (term, factor) in form.terms() {
            if let Term::Coord(coord) = term {
                *sum.factors.get_mut(position(*coord, ranges)?)? = *factor;
            } else {
                others += 1;
            }
        }
        Some((sum, others))
    }

    /// A form without quotients and the like.
    pub(super) fn affine(form: &Form<i64>, ranges: &[CoordRange]) -> Option<Self> {
        Self::of_coordinates(form, ranges).filter(|found| found.1 == 0).map(|found| found.0)
    }

    /// The interval of its values but for what one variable contributes.
    pub(super) fn interval_without(&self, without: Option<usize>, ranges: &Ranges) -> Option<(i64, i64)> {
        let (mut low, mut high) = (self.constant, self.constant);
        for (variable, (&factor, &(from, to))) in self.factors.iter().zip(ranges.as_slice()).enumerate() {
            if factor == 0 || without == Some(variable) {
                continue;
            }
            let (a, b) = (from.checked_mul(factor)?, to.checked_mul(factor)?);
            low = low.checked_add(a.min(b))?;
            high = high.checked_add(a.max(b))?;
        }
        Some((low, high))
    }

    /// The interval of its values.
    pub(super) fn interval(&self, ranges: &Ranges) -> Option<(i64, i64)> {
        self.interval_without(None, ranges)
    }

    /// Leaves out a variable: those behind it move up.
    pub(super) fn forget(&mut self, variable: usize) {
        self.factors.copy_within(variable + 1.., variable);
        self.factors[MOST_VARIABLES - 1] = 0;
    }

    /// The same where `step * variable + more + first` stands in the place of a variable.
    pub(super) fn put(mut self, variable: usize, step: i64, first: i64, more: Option<usize>) -> Option<Self> {
        let factor = self.factors[variable];
        self.constant = self.constant.checked_add(factor.checked_mul(first)?)?;
        self.factors[variable] = factor.checked_mul(step)?;
        if let Some(more) = more {
            self.factors[more] = factor;
        }
        Some(self)
    }
}

/// A condition on a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    NonNegative(Sum),
    Zero(Sum),
}

impl Bound {
    pub(super) fn sum(&self) -> &Sum {
        match self {
            Bound::NonNegative(sum) | Bound::Zero(sum) => sum,
        }
    }

    pub(super) fn sum_mut(&mut self) -> &mut Sum {
        match self {
            Bound::NonNegative(sum) | Bound::Zero(sum) => sum,
        }
    }

    pub(super) fn with(self, change: impl Fn(Sum) -> Option<Sum>) -> Option<Self> {
        Some(match self {
            Bound::NonNegative(sum) => Bound::NonNegative(change(sum)?),
            Bound::Zero(sum) => Bound::Zero(change(sum)?),
        })
    }
}

/// A box of points, where each of them begins to touch bytes, and what all of them have to satisfy.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) ranges: Ranges,
    pub(super) address: Sum,
    pub(super) bounds: Vec<Bound>,
}

fn position(coord: Coord, ranges: &[CoordRange]) -> Option<usize> {
    ranges.iter().position(|r| r.0 == coord)
}
