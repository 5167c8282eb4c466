//! What other pieces touch anyway: the threads of a block that load its halo once more touch, but for
//! those of the last block, what the next block loads. Without them the strides of arrays nest again.

use super::cuts::factor;
use super::query::{CoordRange, Piece};
use super::split::joined;
use crate::effort::spend_on;
use crate::expr::Form;

/// Most pieces that are compared with each other.
const MOST: usize = 1 << 10;

/// The bytes of a piece: runs without gaps, some steps apart.
struct Runs {
    base: i64,
    run: i64,
    /// Strides and counts of what does not belong to the run.
    steps: Vec<(i64, i64)>,
    /// How many variables do.
    inside: usize,
}

/// The same bytes from affine pieces without conditions, without points along the smallest gap of a piece
/// that lie in runs of others.
pub(super) fn uncovered(pieces: Vec<Piece>) -> Vec<Piece> {
    // What cannot be compared is counted as it is, if that can still be afforded.
    if pieces.len() > MOST || spend_on(pieces.len(), 1 + pieces.len() as u64 / 2).is_err() {
        return pieces;
    }
    let Some(pieces) = pieces.iter().map(joined).collect::<Option<Vec<_>>>() else { return pieces };
    let runs: Vec<Runs> = pieces.iter().map(Runs::new).collect();
    let mut kept = Vec::with_capacity(pieces.len());
    for (piece, own) in pieces.iter().zip(&runs) {
        let others = pieces.iter().zip(&runs).filter(|(other, _)| other.array == piece.array);
        let covered = others.filter_map(|(_, other)| other.covers(own)).max().unwrap_or(0);
        kept.extend(if covered > 0 { without_first(piece, own, covered) } else { Some(piece.clone()) });
    }
    kept
}

impl Runs {
    /// Of an affine piece whose variables ascend by stride from 0.
    fn new(piece: &Piece) -> Self {
        let mut runs =
            Self { base: *piece.address.constant(), run: piece.width, steps: Vec::new(), inside: 0 };
        for &(coord, _, to) in piece.ranges.iter() {
            let stride = factor(&piece.address, coord);
            if runs.steps.is_empty() && stride <= runs.run {
                runs.run = runs.run.saturating_add(stride.saturating_mul(to));
                runs.inside += 1;
            } else {
                runs.steps.push((stride, to + 1));
            }
        }
        runs
    }

    /// How many of the first values of the smallest step of another piece lie in these runs; `None` if
    /// it has no step more than this one, or nothing in common with it.
    fn covers(&self, other: &Self) -> Option<i64> {
        let ((stride, count), rest) = other.steps.split_first().map(|(s, rest)| (*s, rest))?;
        if rest != self.steps.as_slice() || other.base < self.base {
            return None;
        }
        let room = self.base.checked_add(self.run)?.checked_sub(other.run)?.checked_sub(other.base)?;
        (room >= 0).then(|| (room / stride + 1).min(count))
    }
}

/// A piece without the first values of its smallest step; `None` if nothing is left.
fn without_first(piece: &Piece, own: &Runs, covered: i64) -> Option<Piece> {
    let mut ranges: Vec<CoordRange> = piece.ranges.to_vec();
    let (coord, _, to) = ranges.get_mut(own.inside)?;
    if covered > *to {
        return None;
    }
    *to -= covered;
    let moved = factor(&piece.address, *coord).checked_mul(covered);
    let address = moved.and_then(|bytes| piece.address.plus(&Form::int(bytes)).ok())?;
    Some(Piece { ranges: ranges.into(), address: address.into(), ..piece.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Coord, Dim};
    use crate::footprint::{Engine, Query, count_with};
    use crate::space::Extents;

    /// Rows of 64 threads by blocks of 16, and 4 more threads of each block beyond its end.
    fn halo(row: i64, beyond: i64) -> Vec<Piece> {
        let coords = [Coord::ThreadIdx(Dim::X), Coord::BlockIdx(Dim::X), Coord::ThreadIdx(Dim::Y)];
        let piece = |counts: Extents, first: i64| {
            let mut address = Form::int(first);
            for (coord, stride) in coords.into_iter().zip([4, 64, row]) {
                address = address.plus(&Form::coord(coord).times(&stride).unwrap()).unwrap();
            }
            let ranges: Vec<CoordRange> = coords.iter().zip(counts).map(|(c, n)| (*c, 0, n - 1)).collect();
            Piece { array: 0, ranges: ranges.into(), when: None, address: address.into(), width: 4 }
        };
        vec![piece([16, 4, 5].into(), 0), piece([4, 4, 5].into(), beyond)]
    }

    #[test]
    fn halos_inside_the_row_are_left_out() {
        for (row, beyond, pieces) in
            [(1000, 64, 2), (1000, 0, 1), (1000, -64, 2), (1000, 192, 2), (264, 64, 2)]
        {
            let before = halo(row, beyond);
            let after = uncovered(before.clone());
            assert_eq!(after.len(), pieces, "{row} {beyond}");
            for line in [32, 128] {
                let lines = |pieces: &[Piece]| {
                    let query = Query { pieces: pieces.to_vec(), line };
                    count_with(&query, Engine::Enumeration).unwrap()
                };
                assert_eq!(lines(&before), lines(&after), "{row} {beyond} {line}");
            }
        }
        let last = &uncovered(halo(1000, 64))[1];
        assert_eq!(last.points(), 4 * 5, "only the last block is left: {last:?}");
    }
}
