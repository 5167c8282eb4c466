//! Variables that continue each other wherever they occur: a thread counted over several rows of a block and iterations of a
//! loop, `32*threadIdx.y + threadIdx.x + 256*i`, which is then divided by the width of a tile. They are one variable.

use std::sync::Arc;

use super::cuts::leaves;
use super::query::{CoordRange, Piece};
use super::sum::{Ranges, Sum};
use crate::effort::spend_on;
use crate::expr::{Cond, Form, Term};

/// Steps for looking at a pair of variables in a part of a form.
const STEPS_OF_PART: u64 = 4;

/// The same points with as few variables as that allows; `None` if no two of them are one.
pub(super) fn continued(piece: &Piece) -> Option<Piece> {
    // What has neither quotients nor conditions is joined elsewhere.
    if piece.address.is_affine() && piece.when.is_none() {
        return None;
    }
    let parts = piece.address.size() + piece.when.as_ref().map_or(0, Cond::size);
    spend_on(parts, STEPS_OF_PART * (piece.ranges.len() * piece.ranges.len()) as u64).ok()?;
    let mut kept: Vec<CoordRange> = piece.ranges.to_vec();
    let mut sums = Sums::new(piece);
    let ends = |kept: &[CoordRange]| kept.iter().map(|&(_, from, to)| (from, to)).collect::<Vec<_>>();
    while let Some(two) = two_as_one(&ends(&kept), |one, other| sums.factors_of(one, other)) {
        (kept[two.one].1, kept[two.one].2) = two.range;
        kept.remove(two.other);
        sums.without(two.other);
    }
    if kept.len() == piece.ranges.len() {
        return None;
    }
    // The ones that are left count for the others, which stand still.
    let is_left = |coord| kept.iter().any(|range| range.0 == coord);
    let stands = |coord| !is_left(coord) && piece.ranges.iter().any(|range| range.0 == coord);
    let without = |form: &Form<i64>| form.rename(&|coord| (!stands(coord)).then_some(coord));
    let address = Arc::new(without(&piece.address).ok()?);
    let when = piece.when.as_ref().map(|when| when.changed(&without)).transpose().ok()?;
    Some(Piece { ranges: kept.into(), when, address, ..piece.clone() })
}

/// How far each sum in the address and the condition of a piece moves with each variable.
struct Sums {
    variables: usize,
    /// One sum after the other.
    factors: Vec<i64>,
}

impl Sums {
    fn new(piece: &Piece) -> Self {
        let mut sums = Self { variables: piece.ranges.len(), factors: Vec::with_capacity(64) };
        sums.add(&piece.address, &piece.ranges);
        for form in piece.when.iter().flat_map(leaves) {
            sums.add(form, &piece.ranges);
        }
        sums
    }

    /// Adds a form and those within it, where they move.
    fn add(&mut self, form: &Form<i64>, ranges: &[CoordRange]) {
        let begin = self.factors.len();
        for (term, factor) in form.terms() {
            if let Term::Coord(coord) = term
                && let Some(at) = ranges.iter().position(|range| range.0 == *coord)
            {
                self.factors.resize(begin + self.variables, 0);
                self.factors[begin + at] = *factor;
            }
        }
        for part in form.terms().iter().flat_map(|(term, _)| term.parts()) {
            self.add(part, ranges);
        }
    }

    /// How often the sums have each of two variables.
    fn factors_of(&self, one: usize, other: usize) -> impl Iterator<Item = [i64; 2]> {
        self.factors.chunks_exact(self.variables).map(move |sum| [sum[one], sum[other]])
    }

    /// Leaves out a variable that others count for.
    fn without(&mut self, variable: usize) {
        let mut at = 0;
        let variables = self.variables;
        self.factors.retain(|_| {
            at += 1;
            (at - 1) % variables != variable
        });
        self.variables -= 1;
    }
}

/// The same for sums of plain numbers, all that there are.
pub(super) fn join(ranges: &mut Ranges, sums: &mut [&mut Sum]) {
    while let Some(two) = two_as_one(ranges.as_slice(), |one, other| {
        sums.iter().map(move |sum| [sum.factors[one], sum.factors[other]])
    }) {
        *ranges = ranges.with(two.one, two.range).without(two.other);
        for sum in &mut *sums {
            sum.forget(two.other);
        }
    }
}

/// A variable that goes on where another begins again, the other one, and the range of both.
struct Two {
    one: usize,
    other: usize,
    range: (i64, i64),
}

/// Two variables that are one, by their factors in all sums.
fn two_as_one<F: Iterator<Item = [i64; 2]>>(
    ranges: &[(i64, i64)],
    factors_of: impl Fn(usize, usize) -> F,
) -> Option<Two> {
    let pairs = (0..ranges.len()).flat_map(|one| (0..ranges.len()).map(move |other| (one, other)));
    pairs.filter(|(one, other)| one != other).find_map(|(one, other)| {
        let times = goes_on(factors_of(one, other))?;
        let (first, last) = ranges[one];
        let count = last.checked_sub(first)?.checked_add(1)?;
        // Further apart they would leave out values.
        if times > count {
            return None;
        }
        let end = |of_one: i64, of_other: i64| of_other.checked_mul(times)?.checked_add(of_one);
        Some(Two { one, other, range: (end(first, ranges[other].0)?, end(last, ranges[other].1)?) })
    })
}

/// By how much of one variable a step of another goes on; `None` where that is not the same everywhere.
fn goes_on(factors: impl Iterator<Item = [i64; 2]>) -> Option<i64> {
    let mut times = None;
    for [of_one, of_other] in factors {
        if [of_one, of_other] == [0, 0] {
            continue;
        }
        let goes_on = match times {
            Some(times) => times,
            None if of_one == 0 => return None,
            None => of_other.checked_div(of_one).filter(|&goes_on| goes_on > 0)?,
        };
        if of_one.checked_mul(goes_on) != Some(of_other) {
            return None;
        }
        times = Some(goes_on);
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Coord, Dim, LoopId};

    const X: Coord = Coord::ThreadIdx(Dim::X);
    const Y: Coord = Coord::ThreadIdx(Dim::Y);
    const I: Coord = Coord::Loop(LoopId(0));

    fn sum(terms: &[(Coord, i64)]) -> Form<i64> {
        terms.iter().fold(Form::int(0), |sum, &(coord, factor)| {
            sum.plus(&Form::coord(coord).times(&factor).unwrap()).unwrap()
        })
    }

    fn piece(address: Form<i64>, when: Option<Cond<i64>>) -> Piece {
        let ranges: Vec<CoordRange> = vec![(I, 0, 1), (X, 0, 31), (Y, 0, 7)];
        Piece { array: 0, ranges: ranges.into(), when, address: Arc::new(address), width: 4 }
    }

    fn tile(over: &Form<i64>) -> Form<i64> {
        over.plus(&over.floor_div(&36).unwrap().times(&4060).unwrap()).unwrap()
    }

    #[test]
    fn threads_counted_over_rows_and_iterations_are_one_variable() {
        let linear = sum(&[(X, 1), (Y, 32), (I, 256)]);
        let in_tile = Cond::non_negative(Form::int(431).minus(&linear).unwrap());
        let found = continued(&piece(tile(&linear), Some(in_tile))).unwrap();
        assert_eq!(&*found.ranges, &[(X, 0, 511)]);
        assert_eq!(*found.address, tile(&Form::coord(X)));
        assert_eq!(found.when, Some(Cond::non_negative(Form::int(431).minus(&Form::coord(X)).unwrap())));
    }

    #[test]
    fn what_occurs_otherwise_somewhere_stays() {
        let linear = sum(&[(X, 1), (Y, 32), (I, 256)]);
        // By itself, with another factor, with a gap, and nowhere in a quotient.
        let row = Cond::non_negative(Form::int(5).minus(&Form::coord(Y)).unwrap());
        let only_x_and_i = continued(&piece(tile(&sum(&[(X, 1), (I, 32)])), Some(row)));
        assert_eq!(only_x_and_i.unwrap().ranges.len(), 2);
        let other = linear.plus(&sum(&[(Y, 32), (X, 3)]).floor_div(&5).unwrap()).unwrap();
        assert_eq!(continued(&piece(other, None)), None);
        assert_eq!(continued(&piece(tile(&sum(&[(X, 1), (Y, 33), (I, 300)])), None)), None);
        assert_eq!(continued(&piece(linear, None)), None);
    }
}
