//! Variables that continue each other wherever they occur: a thread counted over several rows of a block and iterations of a
//! loop, `32*threadIdx.y + threadIdx.x + 256*i`, which is then divided by the width of a tile. They are one variable.

use std::sync::Arc;

use super::cuts::{factor, leaves};
use super::query::{CoordRange, Piece};
use crate::effort::spend_on;
use crate::expr::{Cond, Coord, Excess, Form};

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
    let mut found: Option<Piece> = None;
    while let Some(fewer) = with_two_as_one(found.as_ref().unwrap_or(piece)) {
        found = Some(fewer);
    }
    found
}

fn with_two_as_one(piece: &Piece) -> Option<Piece> {
    let ranges = &piece.ranges;
    ranges.iter().find_map(|one| {
        let mut others = ranges.iter().filter(|other| other.0 != one.0);
        others.find_map(|other| as_one(piece, *one, *other))
    })
}

/// A piece in which `one` goes on where `other` begins again.
fn as_one(piece: &Piece, one: CoordRange, other: CoordRange) -> Option<Piece> {
    let mut times = None;
    let mut forms = vec![&*piece.address];
    forms.extend(piece.when.iter().flat_map(leaves));
    for form in forms {
        continues(form, one.0, other.0, &mut times)?;
    }
    let times = times?;
    let count = one.2.checked_sub(one.1)?.checked_add(1)?;
    // Further apart they would leave out values.
    if times > count {
        return None;
    }
    let end = |of_one: i64, of_other: i64| of_other.checked_mul(times)?.checked_add(of_one);
    let range = (one.0, end(one.1, other.1)?, end(one.2, other.2)?);
    let left = piece.ranges.iter().filter(|r| r.0 != other.0);
    let ranges = left.map(|r| if r.0 == one.0 { range } else { *r }).collect();
    let without = |form: &Form<i64>| -> Result<Form<i64>, Excess> {
        form.substitute(&|c| (c == other.0).then(|| Form::int(0)))
    };
    let address = Arc::new(without(&piece.address).ok()?);
    let when = piece.when.as_ref().map(|when| when.changed(&without)).transpose().ok()?;
    Some(Piece { ranges, when, address, ..piece.clone() })
}

/// Finds by how much of `one` a step of `other` goes on; `None` where that is not the same everywhere.
fn continues(form: &Form<i64>, one: Coord, other: Coord, times: &mut Option<i64>) -> Option<()> {
    let factors = [factor(form, one), factor(form, other)];
    if factors != [0, 0] {
        let [of_one, of_other] = factors;
        let goes_on = if of_one == 0 { None } else { of_other.checked_div(of_one) }?;
        if goes_on < 1 || of_one.checked_mul(goes_on) != Some(of_other) || times.is_some_and(|t| t != goes_on)
        {
            return None;
        }
        *times = Some(goes_on);
    }
    let mut parts = form.terms().iter().flat_map(|(term, _)| term.parts());
    parts.try_for_each(|part| continues(part, one, other, times))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Dim, LoopId};

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
