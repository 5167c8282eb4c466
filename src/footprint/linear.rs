//! The closed form for affine addresses: exact, at a cost that does not depend on the number of
//! threads.
//!
//! Memory is cut into rows at multiples of the smallest stride that leaves whole lines untouched.
//! In each row a piece touches an interval; rows that look alike form rectangles in (row, plane)
//! space. Overlapping rectangles are cut into cells in which every row has the same intervals, and a
//! cell counts as its rows times the lines of one row, for each alignment that a row can have.
//! Neighbouring rows that share a line are counted once. `docs/counting.md` works an example by hand.

use super::query::{Piece, Query, Refusal};
use super::rows::{Rectangle, count_rows};
use super::split::affine_pieces;
use crate::expr::Term;

type Counted<T> = Result<T, Refusal>;

/// Distinct lines of all pieces of a query. Quotients by small numbers are taken apart first, which
/// mostly leaves affine pieces.
pub(super) fn count(query: &Query) -> Counted<u128> {
    if query.pieces.iter().all(|p| p.address.is_affine()) {
        return count_affine(&query.pieces, query.line);
    }
    let pieces: Option<Vec<_>> = query.pieces.iter().map(affine_pieces).collect();
    count_affine(&pieces.ok_or(Refusal::NotAffine)?.concat(), query.line)
}

fn count_affine(pieces: &[Piece], line: i64) -> Counted<u128> {
    let mut pieces: Vec<&Piece> = pieces.iter().collect();
    if !pieces.is_sorted_by_key(|p| p.array) {
        pieces.sort_by_key(|p| p.array);
    }
    let mut total = 0;
    for of_array in pieces.chunk_by(|a, b| a.array == b.array) {
        total += count_array(of_array, line)?;
    }
    Ok(total)
}

/// Addresses base + sum of stride * (0..count), each touching `run` bytes, for any base. The accesses of
/// a stencil over one box differ in nothing but that.
#[derive(Debug)]
struct Progression<'p> {
    /// A piece of this shape.
    piece: &'p Piece,
    /// What the first values of the variables add to the constant of an address.
    start: i128,
    /// From the first byte to the last.
    span: i128,
    /// Ascending strides, all positive, counts at least 2.
    steps: Steps,
    run: i64,
}

/// Most variables with a stride of their own.
const MAX_STEPS: usize = 12;

/// Strides and counts, without an allocation.
#[derive(Debug, Clone, Copy)]
struct Steps {
    length: usize,
    list: [(i64, i64); MAX_STEPS],
}

impl Steps {
    fn as_slice(&self) -> &[(i64, i64)] {
        &self.list[..self.length]
    }

    fn count_of(&self, stride: i64) -> i64 {
        self.as_slice().iter().find(|s| s.0 == stride).map_or(1, |s| s.1)
    }
}

impl<'p> Progression<'p> {
    fn of(piece: &'p Piece) -> Counted<Self> {
        if piece.when.is_some() {
            return Err(Refusal::Conditional);
        }
        let (mut start, mut span) = (0, i128::from(piece.width) - 1);
        let mut steps = Steps { length: 0, list: [(0, 1); MAX_STEPS] };
        for (term, coefficient) in piece.address.terms() {
            let Term::Coord(coord) = term else { return Err(Refusal::NotAffine) };
            let Some(&(_, from, to)) = piece.ranges.iter().find(|r| r.0 == *coord) else {
                return Err(Refusal::NotAffine);
            };
            // A negative stride runs backwards from the other end.
            let first = if *coefficient < 0 { to } else { from };
            start += i128::from(first) * i128::from(*coefficient);
            let count = to.checked_sub(from).and_then(|n| n.checked_add(1)).ok_or(Refusal::Overflow)?;
            if count > 1 {
                let slot = steps.list.get_mut(steps.length).ok_or(Refusal::Strides)?;
                *slot = (coefficient.checked_abs().ok_or(Refusal::Overflow)?, count);
                steps.length += 1;
                span += i128::from(slot.0) * i128::from(count - 1);
            }
        }
        merge(&mut steps)?;
        Ok(Self { piece, start, span, steps, run: piece.width })
    }

    /// Whether a piece differs in the constant of its address only.
    fn fits(&self, piece: &Piece) -> bool {
        let this = self.piece;
        this.width == piece.width
            && this.ranges == piece.ranges
            && this.address.terms() == piece.address.terms()
            && piece.when.is_none()
    }

    /// The first byte of a piece; all of its bytes lie within 61 bits.
    fn base(&self, piece: &Piece) -> Counted<i64> {
        let base = i128::from(*piece.address.constant()) + self.start;
        let most = 1_i128 << 61;
        let inside = base.abs() < most && (base + self.span).abs() < most;
        if inside { i64::try_from(base).map_err(|_| Refusal::Overflow) } else { Err(Refusal::Overflow) }
    }
}

/// Sorts steps and joins those that continue each other: s*(0..n) + ks*(0..m) is s*(0..n+k(m-1)) if
/// k <= n leaves no gap.
fn merge(steps: &mut Steps) -> Counted<()> {
    let Steps { length, list } = steps;
    list[..*length].sort_unstable();
    let mut kept = 0;
    for i in 0..*length {
        let (stride, count) = list[i];
        if kept > 0 {
            let (smaller, n) = list[kept - 1];
            let k = stride / smaller;
            if stride % smaller == 0 && k <= n {
                let more = k.checked_mul(count - 1).and_then(|m| m.checked_add(n));
                list[kept - 1].1 = more.ok_or(Refusal::Overflow)?;
                continue;
            }
        }
        list[kept] = (stride, count);
        kept += 1;
    }
    *length = kept;
    Ok(())
}

fn count_array(pieces: &[&Piece], line: i64) -> Counted<u128> {
    let (mut progressions, placed) = progressions(pieces)?;
    let strides = row_strides(&mut progressions, line);
    let (row, rows_per_plane) = match strides.as_slice() {
        [] => (None, None),
        [row] => (Some(*row), None),
        [row, plane] if plane % row == 0 => (Some(*row), Some(plane / row)),
        _ => return Err(Refusal::Strides),
    };
    let mut rectangles = Vec::with_capacity(placed.len() * 2);
    for Placed { shape, base } in placed {
        let p = &progressions[shape];
        let Some(row) = row else {
            rectangles.push(Rectangle { y: [0, 1], z: [0, 1], bytes: [base, base + p.run - 1] });
            continue;
        };
        let ys = p.steps.count_of(row);
        let zs = rows_per_plane.map_or(1, |n| p.steps.count_of(n * row));
        cut_into_rows(base, p.run, Rows { row, per_plane: rows_per_plane, ys, zs }, &mut rectangles);
    }
    Ok(count_rows(rectangles, row, rows_per_plane, line))
}

/// The first byte of a piece, and the place of its progression in a list.
#[derive(Debug, Clone, Copy)]
struct Placed {
    shape: usize,
    base: i64,
}

/// The different progressions of some pieces, and each piece in terms of them.
fn progressions<'p>(pieces: &[&'p Piece]) -> Counted<(Vec<Progression<'p>>, Vec<Placed>)> {
    let mut progressions: Vec<Progression> = Vec::with_capacity(8);
    let mut placed = Vec::with_capacity(pieces.len());
    let mut shape = 0;
    for piece in pieces {
        // Mostly the boxes follow each other in the same order under each access.
        let next = (shape + 1) % progressions.len().max(1);
        let fits = |i: &usize| progressions.get(*i).is_some_and(|p| p.fits(piece));
        if let Some(found) = Some(next).filter(fits).or_else(|| (0..progressions.len()).find(fits)) {
            shape = found;
        } else {
            shape = progressions.len();
            progressions.push(Progression::of(piece)?);
        }
        placed.push(Placed { shape, base: progressions[shape].base(piece)? });
    }
    Ok((progressions, placed))
}

/// Lets each progression swallow the strides that leave no line out, as long as all can; the strides
/// that remain are those between rows and planes.
fn row_strides(progressions: &mut [Progression], line: i64) -> Vec<i64> {
    let mut strides: Vec<i64> = Vec::with_capacity(4);
    for p in progressions.iter() {
        for &(stride, _) in p.steps.as_slice() {
            if let Err(at) = strides.binary_search(&stride) {
                strides.insert(at, stride);
            }
        }
    }
    let mut swallowed = 0;
    for &stride in &strides {
        // A gap of fewer bytes than a line cannot hold a line that is not touched from either side.
        let dense = |p: &Progression| p.steps.count_of(stride) == 1 || stride - p.run < line;
        if !progressions.iter().all(dense) {
            break;
        }
        for p in progressions.iter_mut() {
            p.run += stride * (p.steps.count_of(stride) - 1);
        }
        swallowed += 1;
    }
    strides.drain(..swallowed);
    strides
}

/// The rows that a progression's runs lie in.
#[derive(Debug, Clone, Copy)]
struct Rows {
    row: i64,
    per_plane: Option<i64>,
    /// How often a run is repeated from row to row, and from plane to plane.
    ys: i64,
    zs: i64,
}

/// Cuts runs at row boundaries, and their rows at plane boundaries.
fn cut_into_rows(base: i64, run: i64, rows: Rows, out: &mut Vec<Rectangle>) {
    let Rows { row, per_plane, ys, zs } = rows;
    let (first_row, start) = (base.div_euclid(row), base.rem_euclid(row));
    let end = start + run - 1;
    let mut add = |from_row: i64, rows: i64, bytes: [i64; 2]| {
        cut_into_planes(from_row, rows, per_plane, zs, bytes, out);
    };
    if end < row {
        return add(first_row, ys, [start, end]);
    }
    let last = end / row;
    // The run of each of the ys rows covers the rest of its row, whole rows, and part of a last one.
    add(first_row, ys, [start, row - 1]);
    if last > 1 {
        add(first_row + 1, ys + last - 2, [0, row - 1]);
    }
    add(first_row + last, ys, [0, end % row]);
}

fn cut_into_planes(
    from_row: i64,
    rows: i64,
    rows_per_plane: Option<i64>,
    zs: i64,
    bytes: [i64; 2],
    out: &mut Vec<Rectangle>,
) {
    let Some(height) = rows_per_plane else {
        return out.push(Rectangle { y: [from_row, from_row + rows], z: [0, 1], bytes });
    };
    let (z, y) = (from_row.div_euclid(height), from_row.rem_euclid(height));
    if y + rows <= height {
        return out.push(Rectangle { y: [y, y + rows], z: [z, z + zs], bytes });
    }
    let last = (y + rows - 1) / height;
    out.push(Rectangle { y: [y, height], z: [z, z + zs], bytes });
    if last > 1 {
        out.push(Rectangle { y: [0, height], z: [z + 1, z + zs + last - 1], bytes });
    }
    out.push(Rectangle { y: [0, (y + rows - 1) % height + 1], z: [z + last, z + last + zs], bytes });
}
