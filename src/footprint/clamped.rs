//! Addresses that are kept inside an array: `min(max(x + 1, 0), N - 1)`. Along a box of points such a part of an address
//! takes the values that it would take along a shorter box without bounds, so that counting can do without them.

use std::sync::Arc;

use super::query::{CoordRange, CoordRanges, Piece};
use crate::expr::{Clamped, Cond, Coord, Excess, Form, SharedTerms, Term};

/// All values of the sum over some ranges, from the first to the last; `None` if some between them are left out.
fn values_of(sum: &Form<i64>, ranges: &[CoordRange]) -> Option<(i64, i64)> {
    let mut steps: Vec<(i64, i64)> = Vec::with_capacity(sum.terms().len());
    for (term, factor) in sum.terms() {
        let range = ranges.iter().find(|range| Term::Coord(range.0) == *term)?;
        steps.push((factor.checked_abs()?, range.2.checked_sub(range.1)?));
    }
    steps.sort_unstable();
    let mut reach = 0_i64;
    for (step, further) in steps {
        if further > 0 && step > reach.checked_add(1)? {
            return None;
        }
        reach = reach.checked_add(step.checked_mul(further)?)?;
    }
    sum.interval(&|coord| ranges.iter().find(|range| range.0 == coord).map(|range| (range.1, range.2)))
}

/// The same bytes by an address with fewer bounds, where the coordinates of a bounded part stand nowhere else.
pub(super) fn unclamped(mut piece: Piece) -> Piece {
    while let Some(free) = with_fewer_bounds(&piece) {
        piece = free;
    }
    piece
}

fn with_fewer_bounds(piece: &Piece) -> Option<Piece> {
    if piece.address.is_affine() {
        return None;
    }
    piece.address.terms().iter().find_map(|(term, factor)| {
        let (bounded, address) = Bounded::new(&piece.address, term, *factor)?;
        let ranges = bounded.ranges(&piece.ranges, piece.when.as_ref())?;
        Some(Piece { ranges, address: Arc::new(address), ..piece.clone() })
    })
}

/// An address without any of its bounds, which does not depend on where it is looked at: only ranges do.
#[derive(Debug)]
pub(super) struct Free {
    address: Arc<Form<i64>>,
    /// In the order in which they were left out.
    bounded: Vec<Bounded>,
}

impl Free {
    /// `None` where there are no bounds, or some stay. The address without them shares its terms with others.
    pub(super) fn new(address: &Form<i64>, shared: &SharedTerms<i64>) -> Option<Self> {
        if address.is_affine() {
            return None;
        }
        let mut free = address.clone();
        let mut bounded = Vec::new();
        while !free.is_affine() {
            let without = |(term, factor): &(Term<i64>, i64)| Bounded::new(&free, term, *factor);
            let (one, fewer) = free.terms().iter().find_map(without)?;
            bounded.push(one);
            free = fewer;
        }
        Some(Self { address: Arc::new(shared.share(free)), bounded })
    }

    /// The same bytes as a piece with bounds touches, if that is as simple there.
    pub(super) fn piece(&self, piece: &Piece) -> Option<Piece> {
        let mut ranges = Arc::clone(&piece.ranges);
        for one in &self.bounded {
            ranges = one.ranges(&ranges, piece.when.as_ref())?;
        }
        let (when, address) = (piece.when.clone(), Arc::clone(&self.address));
        Some(Piece { ranges, when, address, ..*piece })
    }
}

/// A bounded sum of which one coordinate can take the place.
#[derive(Debug)]
struct Bounded {
    clamped: Clamped,
    coord: Coord,
    sign: i64,
}

impl Bounded {
    /// Of a term of an address whose coordinates stand nowhere else in it, and the address with a coordinate there.
    fn new(address: &Form<i64>, term: &Term<i64>, factor: i64) -> Option<(Self, Form<i64>)> {
        let clamped = Clamped::of_term(term)?;
        let of_sum = |coord: Coord| clamped.sum.mentions(&|c| c == coord);
        if address.terms().iter().any(|(other, _)| other != term && other.mentions(&of_sum)) {
            return None;
        }
        // One coordinate takes the place of the sum, with the constant that it has without bounds: what is not bounded is
        // then written in the same way.
        let (Term::Coord(coord), factor_of_sum) = &clamped.sum.terms().first()? else { return None };
        let (coord, sign) = (*coord, factor_of_sum.signum());
        let free = free_of(address, (term, factor), coord, [sign, *clamped.sum.constant()]).ok()?;
        Some((Self { clamped, coord, sign }, free))
    }

    /// Ranges in which the coordinate has the values of the bounded sum; `None` where these have gaps, or a condition
    /// depends on them.
    fn ranges(&self, ranges: &CoordRanges, when: Option<&Cond<i64>>) -> Option<CoordRanges> {
        let sum = &self.clamped.sum;
        let of_sum = |coord: Coord| sum.mentions(&|c| c == coord);
        if when.is_some_and(|when| when.mentions(&of_sum)) {
            return None;
        }
        let is_one = matches!(sum.terms(), [(_, 1 | -1)]);
        if is_one && ranges.iter().any(|range| range.0 == self.coord && self.holds_all(range)) {
            return Some(Arc::clone(ranges));
        }
        let (first, last) = values_of(sum, ranges)?;
        let there =
            |value: i64| self.clamped.kept(value).checked_sub(*sum.constant())?.checked_mul(self.sign);
        let ends = [there(first)?, there(last)?];
        let whole = (self.coord, ends[0].min(ends[1]), ends[0].max(ends[1]));
        let kept = ranges.iter().filter(|range| range.0 == self.coord || !of_sum(range.0));
        Some(kept.map(|range| if range.0 == self.coord { whole } else { *range }).collect())
    }

    /// Whether the bounds of a sum of one coordinate leave all of a range as it is.
    fn holds_all(&self, &(_, from, to): &CoordRange) -> bool {
        let Clamped { sum, low, high } = &self.clamped;
        let within = |value: i64| {
            let value = value.checked_mul(self.sign).and_then(|value| value.checked_add(*sum.constant()));
            value.is_some_and(|value| *low <= value && value <= *high)
        };
        within(from) && within(to)
    }
}

/// An address with one of its terms as a coordinate and an offset.
fn free_of(
    address: &Form<i64>,
    (term, factor): (&Term<i64>, i64),
    coord: Coord,
    [sign, offset]: [i64; 2],
) -> Result<Form<i64>, Excess> {
    let free = Form::coord(coord).times(&sign)?.plus(&Form::int(offset))?;
    let bounded = Form::term(term.clone());
    address.minus(&bounded.times(&factor)?)?.plus(&free.times(&factor)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Dim;
    use std::collections::BTreeSet;

    const X: Coord = Coord::Thread(Dim::X);
    const Y: Coord = Coord::Thread(Dim::Y);

    fn bounded(slope: i64, offset: i64, coord: Coord, [low, high]: [i64; 2]) -> Form<i64> {
        let inner = Form::coord(coord).times(&slope).unwrap().plus(&Form::int(offset)).unwrap();
        let above = Form::term(Term::Max(Box::new(inner), Box::new(Form::int(low))));
        Form::term(Term::Min(Box::new(above), Box::new(Form::int(high))))
    }

    fn bytes(piece: &Piece) -> BTreeSet<i64> {
        let mut found = BTreeSet::new();
        let range = |coord| piece.ranges.iter().find(|r| r.0 == coord).map_or((0, 0), |r| (r.1, r.2));
        let ((from_x, to_x), (from_y, to_y)) = (range(X), range(Y));
        for (x, y) in (from_x..=to_x).flat_map(|x| (from_y..=to_y).map(move |y| (x, y))) {
            let value = |c| Some(if c == X { x } else { y });
            let first = piece.address.evaluate(&value).unwrap();
            found.extend(first..first + piece.width);
        }
        found
    }

    #[test]
    fn without_bounds_the_same_bytes_are_touched() {
        let mut without = 0;
        for (slope, offset) in [1, -1, 2, -3].into_iter().flat_map(|s| (-6..=6).map(move |o| (s, o))) {
            for bounds in [[0, 4], [-2, 1], [3, 3], [0, 20]] {
                for x in [[0, 9], [2, 3], [5, 5]] {
                    let row = bounded(slope, offset, X, bounds).times(&4).unwrap();
                    let column = bounded(1, offset - 2, Y, [0, 5]).times(&-40).unwrap();
                    let piece = Piece {
                        array: 0,
                        ranges: [(X, x[0], x[1]), (Y, 0, 6)].into(),
                        when: None,
                        address: Arc::new(row.plus(&column).unwrap()),
                        width: 4,
                    };
                    let free = unclamped(piece.clone());
                    assert_eq!(bytes(&free), bytes(&piece), "{piece:?}\n{free:?}");
                    without += usize::from(free.address.is_affine());
                    let at_once = Free::new(&piece.address, &SharedTerms::new());
                    let at_once = at_once.and_then(|at_once| at_once.piece(&piece));
                    assert_eq!(at_once, free.address.is_affine().then_some(free));
                }
            }
        }
        assert_eq!(without, 13 * 4 * (2 * 3 + 2), "all with steps of one, and single places");
    }

    #[test]
    fn loops_within_bounds_are_no_loops() {
        for (step, bounds, affine) in
            [(1, [0, 9], true), (3, [0, 30], true), (-2, [-3, 12], true), (12, [0, 40], false)]
        {
            let sum = Form::coord(X).plus(&Form::coord(Y).times(&step).unwrap()).unwrap();
            let inner = sum.plus(&Form::int(-4)).unwrap();
            let above = Form::term(Term::Max(Box::new(inner), Box::new(Form::int(bounds[0]))));
            let address = Form::term(Term::Min(Box::new(above), Box::new(Form::int(bounds[1]))));
            let ranges = [(X, 0, 9), (Y, 0, 6)].into();
            let address = Arc::new(address.times(&4).unwrap());
            let piece = Piece { array: 0, ranges, when: None, address, width: 4 };
            let free = unclamped(piece.clone());
            assert_eq!(free.address.is_affine(), affine, "{step}");
            assert_eq!(bytes(&free), bytes(&piece), "{step}: {free:?}");
        }
    }

    #[test]
    fn bounds_stay_where_more_depends_on_the_coordinate() {
        let piece = |address: Form<i64>, when| Piece {
            array: 0,
            ranges: [(X, 0, 9), (Y, 0, 9)].into(),
            when,
            address: Arc::new(address),
            width: 4,
        };
        let row = bounded(1, -2, X, [0, 5]);
        let twice = row.plus(&Form::coord(X).times(&100).unwrap()).unwrap();
        assert!(!unclamped(piece(twice, None)).address.is_affine());
        let when = Some(Cond::NonNegative(Form::coord(X).minus(&Form::coord(Y)).unwrap()));
        assert!(!unclamped(piece(row.clone(), when)).address.is_affine());
        assert!(unclamped(piece(row, None)).address.is_affine());
    }
}
