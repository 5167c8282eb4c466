//! Enumeration: every point of every piece. Exact for everything, at a cost per point; the oracle
//! for the other engines.

use std::collections::HashSet;

use super::query::{Piece, Query, Refusal};
use crate::expr::Coord;

/// Distinct lines, visiting at most `budget` points.
pub(super) fn count(query: &Query, budget: u128) -> Result<u128, Refusal> {
    let points = query.pieces.iter().fold(0_u128, |n, p| n.saturating_add(p.points()));
    if points > budget {
        return Err(Refusal::Budget);
    }
    let mut lines = HashSet::new();
    for piece in &query.pieces {
        let mut at: Vec<i64> = piece.ranges.iter().map(|r| r.1).collect();
        loop {
            touch(piece, &at, query.line, &mut lines)?;
            if !advance(piece, &mut at) {
                break;
            }
        }
    }
    Ok(lines.len() as u128)
}

fn touch(piece: &Piece, at: &[i64], line: i64, lines: &mut HashSet<(usize, i64)>) -> Result<(), Refusal> {
    let value = |coord: Coord| piece.ranges.iter().position(|r| r.0 == coord).map(|i| at[i]);
    if let Some(when) = &piece.when
        && !when.evaluate(&value).ok_or(Refusal::Overflow)?
    {
        return Ok(());
    }
    let first = piece.address.evaluate(&value).ok_or(Refusal::Overflow)?;
    let last = first.checked_add(piece.width - 1).ok_or(Refusal::Overflow)?;
    lines.extend((first.div_euclid(line)..=last.div_euclid(line)).map(|l| (piece.array, l)));
    Ok(())
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
