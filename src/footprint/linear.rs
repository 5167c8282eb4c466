//! The closed form for affine addresses: exact, at a cost that does not depend on the number of
//! threads.
//!
//! Memory is cut into rows at multiples of the smallest stride that leaves whole lines untouched.
//! In each row a piece touches an interval; rows that look alike form rectangles in (row, plane)
//! space. Overlapping rectangles are cut into cells in which every row has the same intervals, and a
//! cell counts as its rows times the lines of one row, for each alignment that a row can have.
//! Neighbouring rows that share a line are counted once. `docs/counting.md` works an example by hand.

use std::ops::Range;

use super::apart::{joined, steps_of_rows, taken_apart};
use super::cover::uncovered;
use super::cuts::Taking;
use super::division::{quotient, remainder};
use super::progression::Progression;
use super::query::{Piece, Query, Refusal};
use super::rows::{Buffers, Rectangle, count_rows};
use super::split::progressions;
use crate::effort::{left, spend_on, within};

type Counted<T> = Result<T, Refusal>;

/// Steps that taking strides apart may always take.
const FEW_STEPS: u64 = 1 << 17;

/// Steps for making a piece ready.
const STEPS_OF_PIECE: u64 = 16;

/// Distinct lines of all pieces of a query. Quotients by small numbers and conditions are taken apart
/// first, which mostly leaves affine pieces.
pub(super) fn count(query: &Query) -> Counted<u128> {
    if query.pieces.iter().all(|p| p.address.is_affine() && p.when.is_none()) {
        return count_affine(&query.pieces, query.line);
    }
    let mut why = Refusal::NotAffine;
    // Few pieces are counted sooner, but the strides of many may nest where those of few do not.
    let ways = [Taking::Fewest, Taking::Values];
    let conditional = query.pieces.iter().any(|p| p.when.is_some());
    for &taking in &ways[..=usize::from(conditional)] {
        let mut all = Vec::with_capacity(query.pieces.len());
        let taken = taken(&query.pieces, taking, &mut all);
        match taken.and_then(|()| count_by_array(uncovered(all), query.line)) {
            Err(refusal) if refusal != Refusal::Spent => why = refusal,
            counted => return counted,
        }
    }
    Err(why)
}

/// Pieces taken apart, each into some progressions.
fn taken(pieces: &[Piece], taking: Taking, out: &mut Vec<Progression>) -> Counted<()> {
    let mut before: Option<(&Piece, Range<usize>)> = None;
    for piece in pieces {
        let first = out.len();
        match before {
            Some((last, ref of_last)) if piece.is_moved(last) => {
                spend_on(of_last.len(), STEPS_OF_PIECE)?;
                let by = i128::from(*piece.address.constant()) - i128::from(*last.address.constant());
                for at in Range::clone(of_last) {
                    out.push(out[at].moved(by)?);
                }
            }
            _ => progressions(piece, taking, out)?,
        }
        before = Some((piece, first..out.len()));
    }
    Ok(())
}

fn count_affine(pieces: &[Piece], line: i64) -> Counted<u128> {
    spend_on(pieces.len(), STEPS_OF_PIECE)?;
    count_by_array(pieces.iter().map(Progression::from_piece).collect::<Counted<Vec<_>>>()?, line)
}

fn count_by_array(mut progressions: Vec<Progression>, line: i64) -> Counted<u128> {
    progressions.sort_by_key(|p| p.array);
    let mut total = 0;
    for of_array in progressions.chunk_by_mut(|a, b| a.array == b.array) {
        total += count_progressions(of_array, line)?;
    }
    Ok(total)
}

/// Distinct lines of progressions in one array. What lies apart, as the directions of a lattice
/// Boltzmann kernel do, is counted apart, and once if it looks alike.
pub(super) fn count_progressions(progressions: &mut [Progression], line: i64) -> Counted<u128> {
    spend_on(progressions.len(), STEPS_OF_PIECE)?;
    progressions.sort_unstable_by_key(|p| p.base);
    let mut clusters =
        Clusters { line, counted: Vec::with_capacity(8), total: 0, buffers: Buffers::default() };
    let (mut from, mut end) = (0, i64::MIN);
    for (i, p) in progressions.iter().enumerate() {
        if i > from && quotient(p.base, line) > end {
            clusters.add(&progressions[from..i])?;
            from = i;
        }
        end = end.max(quotient(p.last, line));
    }
    if from < progressions.len() {
        clusters.add(&progressions[from..])?;
    }
    Ok(clusters.total)
}

/// Clusters that share no line, and how many lines each has.
struct Clusters<'p> {
    line: i64,
    counted: Vec<(&'p [Progression], u128)>,
    total: u128,
    buffers: Buffers,
}

impl<'p> Clusters<'p> {
    fn add(&mut self, cluster: &'p [Progression]) -> Counted<()> {
        spend_on(1 + (self.counted.len() + cluster.len()) / 4, 1)?;
        let known = self.counted.iter().find(|(other, _)| alike(cluster, other, self.line));
        let lines = if let Some((_, lines)) = known {
            *lines
        } else {
            let lines = count_together(cluster, self.line, &mut self.buffers)?;
            self.counted.push((cluster, lines));
            lines
        };
        self.total += lines;
        Ok(())
    }
}

/// Whether one is the other, moved by whole lines.
fn alike(a: &[Progression], b: &[Progression], line: i64) -> bool {
    let (Some(first), Some(other)) = (a.first(), b.first()) else { return false };
    let distance = other.base - first.base;
    let same = |(p, q): (&Progression, &Progression)| {
        q.base - p.base == distance && p.run == q.run && p.steps() == q.steps()
    };
    a.len() == b.len() && remainder(distance, line) == 0 && a.iter().zip(b).all(same)
}

fn count_together(progressions: &[Progression], line: i64, buffers: &mut Buffers) -> Counted<u128> {
    let (runs, strides) = row_strides(progressions, line)?;
    if let [_, _, .., longest] = strides.as_slice()
        && let Some((one, times)) = one_of_copies(progressions, *longest, line)
    {
        return Ok(count_together(&one, line, buffers)? * times);
    }
    let (row, rows_per_plane) = match strides.as_slice() {
        [] => (None, None),
        [row] => (Some(*row), None),
        [row, plane] if plane % row == 0 => (Some(*row), Some(plane / row)),
        _ => return count_apart(progressions, &strides, line),
    };
    let rectangles = &mut buffers.rectangles;
    rectangles.clear();
    for (p, run) in progressions.iter().zip(runs) {
        let Some(row) = row else {
            rectangles.push(Rectangle { y: [0, 1], z: [0, 1], bytes: [p.base, p.base + run - 1] });
            continue;
        };
        let ys = p.count_of(row);
        let zs = rows_per_plane.map_or(1, |n| p.count_of(n * row));
        cut_into_rows([p.base, run], row, rows_per_plane, ys, zs, rectangles);
    }
    Ok(count_rows(buffers, row, rows_per_plane, line)?)
}

/// The lines of progressions whose strides do not nest, unless that takes longer than to go through all of their rows.
fn count_apart(progressions: &[Progression], strides: &[i64], line: i64) -> Counted<u128> {
    let steps = steps_of_rows(progressions).max(FEW_STEPS);
    let count = || match joined(progressions)? {
        Some(mut fewer) => count_progressions(&mut fewer, line),
        None => count_progressions(&mut taken_apart(progressions, strides)?, line),
    };
    match within(steps, count) {
        Err(Refusal::Spent) if left() > 0 => Err(Refusal::Strides),
        counted => counted,
    }
}

/// One of the copies that the longest stride makes of all progressions alike, and their number, if they lie apart and
/// each lies in lines as the others do.
fn one_of_copies(all: &[Progression], longest: i64, line: i64) -> Option<(Vec<Progression>, u128)> {
    let count = all.first()?.count_of(longest);
    if remainder(longest, line) != 0 || all.iter().any(|p| p.count_of(longest) != count) {
        return None;
    }
    let copy = |p: &Progression| {
        let steps = p.steps().iter().filter(|step| step.0 != longest);
        let steps: Vec<(i64, i64)> = steps.copied().collect();
        Progression::new(p.base, &steps, p.run).ok()
    };
    let one = all.iter().map(copy).collect::<Option<Vec<_>>>()?;
    let first = one.iter().map(|p| p.base).min()?;
    let last = one.iter().map(|p| p.last).max()?;
    let apart = quotient(last, line) < quotient(first.checked_add(longest)?, line);
    apart.then_some((one, count.unsigned_abs().into()))
}

/// Lets each progression swallow the strides that leave no line out, as long as all can; the strides
/// that remain are those between rows and planes. Returns the bytes that each then touches in a row.
fn row_strides(progressions: &[Progression], line: i64) -> Counted<(Vec<i64>, Vec<i64>)> {
    let mut strides: Vec<i64> = Vec::with_capacity(4);
    for p in progressions {
        for &(stride, _) in p.steps() {
            if let Err(at) = strides.binary_search(&stride) {
                spend_on(1 + strides.len() / 16, 1)?;
                strides.insert(at, stride);
            }
        }
    }
    let mut runs: Vec<i64> = progressions.iter().map(|p| p.run).collect();
    let mut swallowed = 0;
    for &stride in &strides {
        spend_on(progressions.len(), 1)?;
        // A gap of fewer bytes than a line cannot hold a line that is not touched from either side.
        let dense = |(p, run): (&Progression, &i64)| p.count_of(stride) == 1 || stride - run < line;
        if !progressions.iter().zip(&runs).all(dense) {
            break;
        }
        for (p, run) in progressions.iter().zip(&mut runs) {
            *run += stride * (p.count_of(stride) - 1);
        }
        swallowed += 1;
    }
    strides.drain(..swallowed);
    Ok((runs, strides))
}

/// Cuts the runs of a progression at row boundaries, and its rows at plane boundaries.
fn cut_into_rows(
    [base, run]: [i64; 2],
    row: i64,
    rows_per_plane: Option<i64>,
    ys: i64,
    zs: i64,
    out: &mut Vec<Rectangle>,
) {
    let first_row = base.div_euclid(row);
    let (start, end) = (base.rem_euclid(row), base.rem_euclid(row) + run - 1);
    let mut add = |from_row: i64, rows: i64, bytes: [i64; 2]| {
        cut_into_planes(from_row, rows, rows_per_plane, zs, bytes, out);
    };
    let last = end / row;
    if last == 0 {
        return add(first_row, ys, [start, end]);
    }
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
    let last = (y + rows - 1) / height;
    if last == 0 {
        return out.push(Rectangle { y: [y, y + rows], z: [z, z + zs], bytes });
    }
    out.push(Rectangle { y: [y, height], z: [z, z + zs], bytes });
    if last > 1 {
        out.push(Rectangle { y: [0, height], z: [z + 1, z + zs + last - 1], bytes });
    }
    out.push(Rectangle { y: [0, (y + rows - 1) % height + 1], z: [z + last, z + last + zs], bytes });
}
