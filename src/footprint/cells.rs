//! The union of few rectangles of rows, as `rows` counts it, with a bit for each rectangle: cells in which
//! the same ones lie are counted together.

use super::division::{gcd, quotient, remainder};
use super::ranges::{Cuts, Ranges, Rectangles};
use crate::effort::{Spent, spend_on};

/// Most residues of rows that are told apart.
const MOST_RESIDUES: usize = 64;
/// Steps for a cell.
const STEPS_OF_CELL: u64 = 2;

/// What is needed while counting, kept for the next count.
#[derive(Debug, Default)]
pub(super) struct Cells {
    ys: Cuts,
    zs: Cuts,
    /// Intervals of a row in lines, or in bytes.
    merged: Vec<[i64; 2]>,
    /// Slabs by their rectangles, and the lines of one of their planes.
    known: Vec<(u64, u64)>,
}

/// Distinct lines of few rectangles; see [`super::rows::count_rows`], which counts the same. `None` if rows lie in too
/// many ways relative to lines.
pub(super) fn count_few(
    cells: &mut Cells,
    Rectangles { y: of_y, z: of_z, bytes, .. }: &mut Rectangles,
    row: Option<i64>,
    height: Option<i64>,
    line: i64,
) -> Result<Option<u64>, Spent> {
    let Cells { ys, zs, merged, known } = cells;
    bytes.sort();
    let Some(row) = row else {
        merge(bytes, u64::MAX, line, merged);
        return Ok(Some(lines_at(merged, 0, line)));
    };
    ys.fill(of_y);
    zs.fill(of_z);
    spend_on(ys.len() * zs.len(), STEPS_OF_CELL)?;
    let mut total = 0;
    if remainder(row, line) == 0 && bytes.ends()[1] < row {
        // All rows begin with a line and share none: lines take the place of bytes.
        bytes.change(|byte| quotient(byte, line));
        known.clear();
        zs.each(u64::MAX, |z, slab| {
            let planes = z[0].abs_diff(z[1]);
            if let Some((_, lines)) = known.iter().find(|k| k.0 == slab) {
                total += lines * planes;
                return Ok(());
            }
            let mut of_plane = 0;
            ys.each(slab, |y, mask| {
                of_plane += union(bytes, mask) * y[0].abs_diff(y[1]);
                Ok(())
            })?;
            known.push((slab, of_plane));
            total += of_plane * planes;
            Ok(())
        })?;
        return Ok(Some(total));
    }
    let Some(mut residues) = Residues::new(row, height, ys.last(), line) else {
        return Ok(None);
    };
    let mut below: Option<(i64, [i64; 2])> = None;
    zs.each(u64::MAX, |z, slab| {
        let (mut first, mut last) = (None, None);
        let mut before: Option<(i64, [i64; 2])> = None;
        ys.each(slab, |y, mask| {
            spend_on(residues.number(), STEPS_OF_CELL)?;
            merge(bytes, mask, line, merged);
            let (Some(start), Some(end)) = (merged.first(), merged.last()) else { return Ok(()) };
            let edge = [start[0], end[1]];
            residues.fill(y, z);
            total += merged.iter().map(|&interval| residues.lines(interval)).sum::<u64>();
            total -= residues.shared_within(y, z, edge[1], edge[0]);
            if let Some((_, lower)) = before.filter(|b| b.0 == y[0]) {
                total -= residues.shared_after(y[0] - 1, z, lower[1], edge[0]);
            }
            if y[0] == 0 {
                first = Some(edge);
            }
            if Some(y[1]) == height {
                last = Some(edge);
            }
            before = Some((y[1], edge));
            Ok(())
        })?;
        if let Some(height) = height {
            if let (Some(first), Some(last)) = (first, last) {
                total -= residues.shared_after(height - 1, [z[0], z[1] - 1], last[1], first[0]);
            }
            // The last row of a plane and the first of the next one.
            if let (Some((_, below)), Some(first)) = (below.filter(|b| b.0 == z[0]), first) {
                total -= residues.shared_after(height - 1, [z[0] - 1, z[0]], below[1], first[0]);
            }
        }
        below = last.map(|edge| (z[1], edge));
        Ok(())
    })?;
    Ok(Some(total))
}

/// Length of the union of the sorted intervals of some rectangles.
fn union(intervals: &Ranges, rectangles: u64) -> u64 {
    let (mut total, mut reached) = (0, i64::MIN);
    for [from, to] in intervals.of_rectangles(rectangles) {
        if to > reached {
            total += (to - from.max(reached.saturating_add(1)) + 1).unsigned_abs();
            reached = to;
        }
    }
    total
}

/// The sorted intervals of some rectangles, disjoint and ascending. No line lies in a gap that is shorter than one:
/// what it separates is one interval.
fn merge(intervals: &Ranges, rectangles: u64, line: i64, out: &mut Vec<[i64; 2]>) {
    out.clear();
    for [from, to] in intervals.of_rectangles(rectangles) {
        match out.last_mut() {
            Some(last) if from - last[1] <= line => last[1] = last[1].max(to),
            _ => out.push([from, to]),
        }
    }
}

/// Lines of a row that begins so many bytes behind the beginning of a line.
fn lines_at(merged: &[[i64; 2]], residue: i64, line: i64) -> u64 {
    let lines = |i: &[i64; 2]| quotient(residue + i[1], line) - quotient(residue + i[0], line) + 1;
    merged.iter().map(lines).sum::<i64>().unsigned_abs()
}

/// How often rows of a cell begin at each residue modulo a line. Rows are numbered through all planes: the
/// residue of a row follows from its number modulo a period.
struct Residues {
    row: i64,
    line: i64,
    /// Rows from a plane to the next, modulo the period.
    height: i64,
    period: i64,
    /// By number of row, modulo the period.
    places: [i64; MOST_RESIDUES],
    rows: [u64; MOST_RESIDUES],
    all: u64,
}

impl Residues {
    /// For rows before the row `end`, which must not be negative.
    fn new(row: i64, height: Option<i64>, end: Option<i64>, line: i64) -> Option<Self> {
        let step = remainder(row, line);
        let period = line / gcd(step, line);
        // In a single plane, numbers of rows that never come do not matter.
        let period = if height.is_none() { period.min(end?.max(1)) } else { period };
        if usize::try_from(period).ok()? > MOST_RESIDUES {
            return None;
        }
        let mut places = [0; MOST_RESIDUES];
        let mut residue = 0;
        for place in places.iter_mut().take(usize::try_from(period).ok()?) {
            *place = residue;
            residue = remainder(residue + step, line);
        }
        // In a single plane, where the next one begins does not matter.
        let height = height.map_or(0, |rows| remainder(rows, period));
        Some(Self { row, line, height, period, places, rows: [0; MOST_RESIDUES], all: 0 })
    }

    fn number(&self) -> usize {
        usize::try_from(self.period).expect("it is at most MOST_RESIDUES")
    }

    /// For the rows `y` of the planes `z`.
    fn fill(&mut self, y: [i64; 2], z: [i64; 2]) {
        let (rows, planes) = ((y[1] - y[0]).max(0), (z[1] - z[0]).max(0));
        let (whole, left) = (quotient(rows, self.period), remainder(rows, self.period));
        self.all = rows.unsigned_abs() * planes.unsigned_abs();
        let number = self.number();
        self.rows[..number].fill(whole.unsigned_abs() * planes.unsigned_abs());
        if left == 0 {
            return;
        }
        let mut start = self.first(y[0], z[0]);
        for plane in 0..self.different(planes) {
            let alike = self.alike(plane, planes);
            let mut at = start;
            for _ in 0..left {
                self.rows[usize::try_from(at).expect("a remainder is not negative")] += alike;
                at = if at + 1 == self.period { 0 } else { at + 1 };
            }
            start = self.above(start);
        }
    }

    /// Lines of an interval of the rows that were filled in.
    fn lines(&self, [from, to]: [i64; 2]) -> u64 {
        let line = self.line;
        let (first, last) = (remainder(from, line), remainder(to, line));
        let least = (quotient(to, line) - quotient(from, line) + 1).unsigned_abs();
        let mut total = least * self.all;
        // A row that begins far behind the beginning of a line moves its ends into further ones.
        for k in 0..self.number() {
            let (residue, rows) = (self.places[k], self.rows[k]);
            if residue + last >= line {
                total += rows;
            }
            if residue + first >= line {
                total -= rows;
            }
        }
        total
    }

    /// A bit for each residue of a row that shares the line of its byte `last` with the line of the byte `first` of the
    /// row after it.
    fn sharing(&self, last: i64, first: i64) -> u64 {
        let next = self.row + first;
        if next - last >= self.line {
            return 0;
        }
        let shares =
            |residue: i64| quotient(residue + last, self.line) == quotient(residue + next, self.line);
        let places = self.places[..self.number()].iter().enumerate();
        places.fold(0, |bits, (k, &residue)| bits | u64::from(shares(residue)) << k)
    }

    /// Of the rows that were filled in, `y` of the planes `z`, how many share a line with the row after them, the last of
    /// each plane left out.
    fn shared_within(&self, y: [i64; 2], z: [i64; 2], last: i64, first: i64) -> u64 {
        let sharing = if y[1] - y[0] > 1 { self.sharing(last, first) } else { 0 };
        if sharing == 0 {
            return 0;
        }
        let rows = self.rows[..self.number()].iter().enumerate();
        let all: u64 = rows.map(|(k, &rows)| (sharing >> k & 1) * rows).sum();
        all - self.of_row(y[1] - 1, z, sharing)
    }

    /// In how many of the planes `z` the row `y` shares a line with the row after it.
    fn shared_after(&self, y: i64, z: [i64; 2], last: i64, first: i64) -> u64 {
        let sharing = if z[0] < z[1] { self.sharing(last, first) } else { 0 };
        if sharing == 0 { 0 } else { self.of_row(y, z, sharing) }
    }

    /// In how many of the planes `z` the row `y` begins at one of some residues.
    fn of_row(&self, y: i64, z: [i64; 2], residues: u64) -> u64 {
        let planes = z[1] - z[0];
        let mut at = self.first(y, z[0]);
        let mut total = 0;
        for plane in 0..self.different(planes) {
            total += (residues >> at & 1) * self.alike(plane, planes);
            at = self.above(at);
        }
        total
    }

    /// The number of the first row of a cell, modulo the period.
    fn first(&self, y: i64, z: i64) -> i64 {
        remainder(remainder(y, self.period) + remainder(z, self.period) * self.height, self.period)
    }

    /// The number of a row, in the plane above.
    fn above(&self, at: i64) -> i64 {
        let above = at + self.height;
        if above >= self.period { above - self.period } else { above }
    }

    /// How many planes lie differently: those whose rows begin at the same numbers come round again, at the latest after
    /// a period.
    fn different(&self, planes: i64) -> i64 {
        if self.height == 0 { planes.min(1) } else { planes.min(self.period) }
    }

    /// How many of so many planes lie as one of the first.
    fn alike(&self, plane: i64, planes: i64) -> u64 {
        let again = if self.height == 0 { 1 } else { self.period };
        (quotient(planes - plane - 1, again) + 1).unsigned_abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::footprint::rows::{Buffers, Rectangle, count_rows};
    use crate::random::Random;

    /// Random rectangles, counted with bits and by the sweep of `rows`.
    #[test]
    fn bits_count_as_the_sweep_does() {
        let mut draw = Random::new(7);
        let mut below = |n: i64| i64::try_from(draw.remainder(n.unsigned_abs().into())).unwrap();
        let (mut cells, mut counted) = (Cells::default(), 0);
        for round in 0..4000 {
            let line = [32, 64, 128, 48][usize::try_from(round % 4).unwrap()];
            let row = if below(2) == 0 { line * (2 + below(9)) } else { line + 4 * (1 + below(60)) };
            let height = (below(3) > 0).then(|| 2 + below(9));
            let rectangles: Vec<Rectangle> = (0..=below(9))
                .map(|_| {
                    let start = below(row);
                    let y = below(height.unwrap_or(12));
                    let rows = 1 + below(height.unwrap_or(12) - y);
                    let z = if height.is_some() { below(6) } else { 0 };
                    let planes = if height.is_some() { 1 + below(7) } else { 1 };
                    Rectangle {
                        y: [y, y + rows],
                        z: [z, z + planes],
                        bytes: [start, start + below(row - start)],
                    }
                })
                .collect();
            let mut buffers = Buffers::default();
            buffers.rectangles.clone_from(&rectangles);
            let lines = count_rows(&mut buffers, Some(row), height, line).unwrap();
            let mut all = Rectangles::default();
            for &rectangle in &rectangles {
                all.push(rectangle);
            }
            let few = count_few(&mut cells, &mut all, Some(row), height, line).unwrap();
            if let Some(few) = few {
                counted += 1;
                assert_eq!(u128::from(few), lines, "{rectangles:?} {row} {height:?} {line}");
            }
        }
        assert!(counted > 3900, "{counted}");
    }
}
