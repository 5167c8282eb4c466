//! A box of points and the conditions on them.

use std::borrow::Cow;
use std::sync::Arc;

use super::query::{CoordRange, CoordRanges, Piece};
use crate::expr::{Cond, Coord, Form, Term};

/// Points of a box for which conditions hold.
#[derive(Debug, Clone)]
pub(super) struct Points {
    pub(super) ranges: CoordRanges,
    pub(super) when: Vec<Cond<i64>>,
}

impl Points {
    pub(super) fn interval(&self, form: &Form<i64>) -> Option<(i64, i64)> {
        form.interval(&|c| self.ranges.iter().find(|r| r.0 == c).map(|r| (r.1, r.2)))
    }

    /// The points of a box for which conditions hold, with simple ones turned into bounds; `None` if nothing is left.
    pub(super) fn restricted(ranges: &CoordRanges, when: &[Cond<i64>]) -> Option<Self> {
        if when.is_empty() {
            return Some(Self { ranges: Arc::clone(ranges), when: Vec::new() });
        }
        let mut cut = Cut { ranges: Cow::Borrowed(ranges), when: Vec::new() };
        for cond in when {
            cut.restrict(cond)?;
        }
        let some_left = cut.ranges.iter().all(|r| r.1 <= r.2);
        let ranges = match cut.ranges {
            Cow::Borrowed(_) => Arc::clone(ranges),
            Cow::Owned(cut) => cut.into(),
        };
        some_left.then_some(Self { ranges, when: cut.when })
    }

    /// What they touch at an address.
    pub(super) fn piece(self, array: usize, address: Arc<Form<i64>>, width: i64) -> Piece {
        let when = if self.when.is_empty() { None } else { Some(Cond::all(self.when)) };
        Piece { array, ranges: self.ranges, when, address, width }
    }
}

/// Ranges that conditions have cut, and the conditions that are left.
struct Cut<'r> {
    ranges: Cow<'r, [CoordRange]>,
    when: Vec<Cond<i64>>,
}

impl Cut<'_> {
    fn restrict(&mut self, cond: &Cond<i64>) -> Option<()> {
        match cond {
            Cond::Const(true) => {}
            Cond::Const(false) => return None,
            Cond::All(parts) => {
                for part in parts {
                    self.restrict(part)?;
                }
            }
            Cond::NonNegative(form) => match self.interval(form) {
                Some((low, _)) if low >= 0 => {}
                Some((_, high)) if high < 0 => return None,
                _ => match form.terms() {
                    [(Term::Coord(coord), factor)] => self.bound(*coord, *factor, *form.constant())?,
                    _ => self.when.push(cond.clone()),
                },
            },
            Cond::Zero(form) => match form.terms() {
                [(Term::Coord(coord), factor)] => {
                    if form.constant() % factor != 0 {
                        return None;
                    }
                    let value = -(form.constant() / factor);
                    self.bound(*coord, 1, -value)?;
                    self.bound(*coord, -1, value)?;
                }
                _ => self.when.push(cond.clone()),
            },
            Cond::Any(_) => self.when.push(cond.clone()),
        }
        Some(())
    }

    fn interval(&self, form: &Form<i64>) -> Option<(i64, i64)> {
        form.interval(&|c| self.ranges.iter().find(|r| r.0 == c).map(|r| (r.1, r.2)))
    }

    /// Keeps the values of a coordinate for which factor * value + constant >= 0.
    fn bound(&mut self, coord: Coord, factor: i64, constant: i64) -> Option<()> {
        let at = self.ranges.iter().position(|r| r.0 == coord)?;
        let range = &mut self.ranges.to_mut()[at];
        if factor > 0 {
            // value >= -constant / factor, rounded up.
            range.1 = range.1.max(-constant.div_euclid(factor));
        } else {
            range.2 = range.2.min(constant.div_euclid(-factor));
        }
        (range.1 <= range.2).then_some(())
    }
}
