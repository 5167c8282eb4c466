//! Conditions that intervals alone cannot decide, decided on halves of the box of coordinates.
//!
//! Intervals know nothing of how parts of a condition hang together: that `x < 9 || x > 7` holds
//! everywhere shows only where the two sides of 8 are looked at apart.

use std::cell::RefCell;

use super::cond::Cond;
use super::form::{Coefficient, Coord};
use super::points::Box;
use crate::effort::spend_on;

/// Most boxes that are looked at.
const MOST: usize = 256;
/// Steps for a part of a condition in a box.
const STEPS_OF_PART: u64 = 4;

impl<C: Coefficient> Cond<C> {
    /// As [`decided`](Self::decided), looking at halves of the box, their halves and so on.
    pub(super) fn settled(&self, within: &dyn Fn(Coord) -> Option<(i64, i64)>) -> Option<bool> {
        let first = self.decided(within);
        if first.is_some() || spend_on(self.size(), STEPS_OF_PART).is_err() {
            return first;
        }
        let whole = self.whole(within);
        // Mostly it holds here and not there, and then there are points to show it.
        if spend_on(self.size() * whole.len(), STEPS_OF_PART).is_err() {
            return None;
        }
        if [true, false].iter().all(|&holds| self.point(holds, &whole).is_some()) {
            return None;
        }
        let mut held = None;
        let mut open = vec![whole];
        let mut looked_at = 0;
        while let Some(part) = open.pop() {
            looked_at += 1;
            if looked_at > MOST || spend_on(self.size(), STEPS_OF_PART).is_err() {
                return None;
            }
            let of = |c| part.iter().find(|r| r.0 == c).map(|r| (r.1, r.2)).or_else(|| within(c));
            match (self.decided(&of), held) {
                // It holds here and not there.
                (Some(here), Some(there)) if here != there => return None,
                (Some(here), _) => held = Some(here),
                (None, _) => open.extend(self.halves(&part, within)?),
            }
        }
        held
    }

    /// Whether it holds nowhere where coordinates lie in their intervals, as far as can be told.
    pub fn never(&self, within: &dyn Fn(Coord) -> Option<(i64, i64)>) -> bool {
        self.settled(within) == Some(false)
    }

    /// Both halves along the side that leaves fewest parts undecided, of several the longest; `None` for a single
    /// point.
    fn halves(&self, part: &Box, within: &dyn Fn(Coord) -> Option<(i64, i64)>) -> Option<[Box; 2]> {
        let length = |r: &(Coord, i64, i64)| r.2.abs_diff(r.1);
        let halves = |side: usize| {
            let (coord, from, to) = part[side];
            let middle = i64::midpoint(from, to).clamp(from, to - 1);
            let (mut lower, mut upper) = (part.clone(), part.clone());
            (lower[side], upper[side]) = ((coord, from, middle), (coord, middle + 1, to));
            [upper, lower]
        };
        let open = |half: &Box| {
            self.open(&|c| half.iter().find(|r| r.0 == c).map(|r| (r.1, r.2)).or_else(|| within(c)))
        };
        let sides = (0..part.len()).filter(|&side| length(&part[side]) > 0);
        let side = sides.min_by_key(|&side| {
            let left: usize = halves(side).iter().map(open).sum();
            (left, std::cmp::Reverse(length(&part[side])))
        })?;
        Some(halves(side))
    }

    /// How many parts are undecided of those that matter.
    fn open(&self, within: &dyn Fn(Coord) -> Option<(i64, i64)>) -> usize {
        match self {
            _ if self.decided(within).is_some() => 0,
            Self::All(parts) | Self::Any(parts) => parts.iter().map(|p| p.open(within)).sum(),
            _ => 1,
        }
    }

    /// The box of all coordinates that are mentioned and known.
    fn whole(&self, within: &dyn Fn(Coord) -> Option<(i64, i64)>) -> Box {
        let mentioned = RefCell::new(Vec::new());
        let see = |coord| {
            let mut all = mentioned.borrow_mut();
            if !all.contains(&coord) {
                all.push(coord);
            }
            false
        };
        self.mentions(&see);
        let known = |c: Coord| within(c).map(|(from, to)| (c, from, to));
        mentioned.into_inner().into_iter().filter_map(known).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Dim, Form};

    fn x() -> Form<i64> {
        Form::coord(Coord::Axis(Dim::X))
    }

    fn y() -> Form<i64> {
        Form::coord(Coord::Axis(Dim::Y))
    }

    fn at_least(a: &Form<i64>, b: &Form<i64>) -> Cond<i64> {
        Cond::non_negative(a.minus(b).unwrap())
    }

    fn settled(cond: &Cond<i64>) -> Option<bool> {
        cond.settled(&|c| match c {
            Coord::Axis(Dim::X) => Some((0, 999_999)),
            Coord::Axis(Dim::Y) => Some((0, 77)),
            Coord::ThreadIdx(_) => Some((0, 65_535)),
            _ => None,
        })
    }

    #[test]
    fn what_intervals_cannot_tell() {
        let either = Cond::any(vec![at_least(&Form::int(8), &x()), at_least(&x(), &Form::int(8))]);
        let sum = x().plus(&y()).unwrap();
        let smaller = at_least(&sum, &x().smaller(&y()).unwrap());
        let parts = x().floor_div(&7).unwrap().plus(&y().remainder(&5).unwrap()).unwrap();
        let never = Cond::all(vec![at_least(&Form::int(8), &x()), at_least(&x(), &Form::int(9))]);
        // One of six coordinates decides it.
        let odd = Cond::zero(x().remainder(&2).unwrap().minus(&Form::int(1)).unwrap());
        let far = at_least(&Form::coord(Coord::ThreadIdx(Dim::X)), &y());
        let hidden = Cond::all(vec![at_least(&Form::int(0), &x()), far, odd]);
        for (cond, held) in
            [(either, true), (smaller, true), (at_least(&sum, &parts), true), (never, false), (hidden, false)]
        {
            assert_eq!(settled(&cond), Some(held), "{cond:?}");
        }
    }

    #[test]
    fn what_holds_somewhere_only() {
        let one = Cond::zero(x().minus(&Form::int(123_456)).unwrap());
        let hole = Cond::any(vec![at_least(&Form::int(8), &x()), at_least(&x(), &Form::int(10))]);
        let unknown = at_least(&Form::coord(Coord::Thread(Dim::Z)), &x());
        let often = Cond::zero(x().remainder(&9).unwrap());
        for cond in [one, hole, unknown, often] {
            assert_eq!(settled(&cond), None, "{cond:?}");
        }
    }
}
