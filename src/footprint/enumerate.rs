//! Enumeration: every point of every piece. Exact for everything, at a cost per point; the oracle
//! for the other engines.

use super::intervals::Intervals;
use super::query::{Piece, Query, Refusal};
use super::split::size;
use crate::effort::spend;
use crate::expr::{Coord, Form, Term};

/// Steps for a part of an address at a point.
const STEPS_OF_PART: u64 = 2;

/// Distinct lines, visiting at most `budget` points.
pub(super) fn count(query: &Query, budget: u128) -> Result<u128, Refusal> {
    let points = query.pieces.iter().fold(0_u128, |n, p| n.saturating_add(p.points()));
    if points > budget {
        return Err(Refusal::Budget);
    }
    let steps = query.pieces.iter().fold(0_u64, |n, p| n.saturating_add(steps(p)));
    spend(steps)?;
    let mut pieces: Vec<Piece> = query.pieces.clone();
    pieces.sort_by_key(|p| p.array);
    let mut total = 0;
    for of_array in pieces.chunk_by(|a, b| a.array == b.array) {
        let mut lines = Intervals::covering(of_array, query.line)?;
        for piece in of_array {
            Points::new(piece)?.visit(query.line, &mut lines)?;
        }
        total += lines.count();
    }
    Ok(total)
}

/// Steps for all points of a piece.
fn steps(piece: &Piece) -> u64 {
    // More than 2^64 points are as much beyond any number of steps as 2^64 are.
    let points = u64::try_from(piece.points()).unwrap_or(u64::MAX);
    let affine = piece.when.is_none() && piece.address.is_affine();
    let parts = if affine { 1 } else { size(piece) as u64 };
    points.saturating_mul(parts.saturating_mul(STEPS_OF_PART))
}

/// The points of a piece, and the affine part of its address by the position of each variable: looking
/// variables up at every point would take most of the time.
struct Points<'p> {
    piece: &'p Piece,
    constant: i64,
    factors: Vec<(usize, i64)>,
    /// What is not affine.
    other: Option<Form<i64>>,
}

impl<'p> Points<'p> {
    fn new(piece: &'p Piece) -> Result<Self, Refusal> {
        let mut points =
            Self { piece, constant: *piece.address.constant(), factors: Vec::new(), other: None };
        for (term, factor) in piece.address.terms() {
            if let Term::Coord(coord) = term {
                let at = piece.ranges.iter().position(|r| r.0 == *coord).ok_or(Refusal::NotAffine)?;
                points.factors.push((at, *factor));
            } else {
                let term = Form::term(term.clone()).times(factor)?;
                points.other = Some(match points.other {
                    Some(others) => others.plus(&term)?,
                    None => term,
                });
            }
        }
        Ok(points)
    }

    fn visit(&self, line: i64, lines: &mut Intervals) -> Result<(), Refusal> {
        let mut at: Vec<i64> = self.piece.ranges.iter().map(|r| r.1).collect();
        loop {
            self.touch(&at, line, lines)?;
            if !advance(self.piece, &mut at) {
                return Ok(());
            }
        }
    }

    fn touch(&self, at: &[i64], line: i64, lines: &mut Intervals) -> Result<(), Refusal> {
        let value = |coord: Coord| self.piece.ranges.iter().position(|r| r.0 == coord).map(|i| at[i]);
        if let Some(when) = &self.piece.when
            && !when.evaluate(&value).ok_or(Refusal::Overflow)?
        {
            return Ok(());
        }
        let mut byte = i128::from(self.constant);
        for &(position, factor) in &self.factors {
            byte += i128::from(at[position]) * i128::from(factor);
        }
        if let Some(other) = &self.other {
            byte += i128::from(other.evaluate(&value).ok_or(Refusal::Overflow)?);
        }
        let first = i64::try_from(byte).map_err(|_| Refusal::Overflow)?;
        let last = first.checked_add(self.piece.width - 1).ok_or(Refusal::Overflow)?;
        lines.add(first.div_euclid(line), last.div_euclid(line));
        Ok(())
    }
}

/// The next point, first variable fastest; `false` after the last.
fn advance(piece: &Piece, at: &mut [i64]) -> bool {
    for (value, &(_, from, to)) in at.iter_mut().zip(piece.ranges.iter()) {
        if *value < to {
            *value += 1;
            return true;
        }
        *value = from;
    }
    false
}
