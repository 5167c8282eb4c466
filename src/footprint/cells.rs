//! The union of few rectangles of rows, as `rows` counts it, with a bit for each rectangle: cells in which
//! the same ones lie are counted together.

use super::division::{gcd, quotient, remainder};
use super::rows::Rectangle;
use crate::effort::{Spent, spend_on};

/// Most rectangles: each has a bit.
pub(super) const MOST: usize = 64;
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

/// Ends of rectangles along a direction, ascending, and the rectangles between each and the next.
#[derive(Debug, Default)]
struct Cuts {
    ends: Vec<i64>,
    masks: Vec<u64>,
}

impl Cuts {
    fn fill(&mut self, rectangles: &[Rectangle], along: impl Fn(&Rectangle) -> [i64; 2]) {
        self.ends.clear();
        for rectangle in rectangles {
            for end in along(rectangle) {
                let mut at = 0;
                while at < self.ends.len() && self.ends[at] < end {
                    at += 1;
                }
                if at == self.ends.len() || self.ends[at] != end {
                    self.ends.insert(at, end);
                }
            }
        }
        self.masks.clear();
        self.masks.resize(self.ends.len(), 0);
        for (number, rectangle) in rectangles.iter().enumerate() {
            let [from, to] = along(rectangle);
            // Both are among the ends.
            let mut at = 0;
            while self.ends[at] < from {
                at += 1;
            }
            while self.ends[at] < to {
                self.masks[at] |= 1 << number;
                at += 1;
            }
        }
    }

    /// What lies between two ends, and the rectangles there; neighbours with the same ones are one.
    fn each(&self, of: u64, mut with: impl FnMut([i64; 2], u64) -> Result<(), Spent>) -> Result<(), Spent> {
        let mut at = 0;
        while at + 1 < self.ends.len() {
            let (from, mask) = (self.ends[at], self.masks[at] & of);
            at += 1;
            while at + 1 < self.ends.len() && self.masks[at] & of == mask {
                at += 1;
            }
            if mask != 0 {
                with([from, self.ends[at]], mask)?;
            }
        }
        Ok(())
    }
}

/// Distinct lines of at most [`MOST`] rectangles; see [`super::rows::count_rows`], which counts the same.
/// `None` if rows lie in too many ways relative to lines.
pub(super) fn count_few(
    cells: &mut Cells,
    rectangles: &mut [Rectangle],
    row: Option<i64>,
    height: Option<i64>,
    line: i64,
) -> Result<Option<u64>, Spent> {
    let Cells { ys, zs, merged, known } = cells;
    sort(rectangles);
    let Some(row) = row else {
        merge(rectangles, all(rectangles), line, merged);
        return Ok(Some(lines_at(merged, 0, line)));
    };
    ys.fill(rectangles, |r| r.y);
    zs.fill(rectangles, |r| r.z);
    spend_on(ys.ends.len() * zs.ends.len(), STEPS_OF_CELL)?;
    let mut total = 0;
    if remainder(row, line) == 0 && rectangles.iter().all(|r| r.bytes[1] < row) {
        // All rows begin with a line and share none: lines take the place of bytes.
        for rectangle in rectangles.iter_mut() {
            rectangle.bytes = [quotient(rectangle.bytes[0], line), quotient(rectangle.bytes[1], line)];
        }
        known.clear();
        zs.each(u64::MAX, |z, slab| {
            let planes = z[0].abs_diff(z[1]);
            if let Some((_, lines)) = known.iter().find(|k| k.0 == slab) {
                total += lines * planes;
                return Ok(());
            }
            let mut of_plane = 0;
            ys.each(slab, |y, mask| {
                of_plane += union(rectangles, mask) * y[0].abs_diff(y[1]);
                Ok(())
            })?;
            known.push((slab, of_plane));
            total += of_plane * planes;
            Ok(())
        })?;
        return Ok(Some(total));
    }
    let Some(mut residues) = Residues::new(row, height, ys.ends.last().copied(), line) else {
        return Ok(None);
    };
    let mut below: Option<(i64, [i64; 2])> = None;
    zs.each(u64::MAX, |z, slab| {
        let (mut first, mut last) = (None, None);
        let mut before: Option<(i64, [i64; 2])> = None;
        ys.each(slab, |y, mask| {
            spend_on(residues.number(), STEPS_OF_CELL)?;
            merge(rectangles, mask, line, merged);
            let (Some(start), Some(end)) = (merged.first(), merged.last()) else { return Ok(()) };
            let edge = [start[0], end[1]];
            residues.fill(y, z);
            total += merged.iter().map(|&interval| residues.lines(interval)).sum::<u64>();
            total -= residues.shared([y[0], y[1] - 1], z, edge[1], edge[0]);
            if let Some((_, lower)) = before.filter(|b| b.0 == y[0]) {
                total -= residues.shared([y[0] - 1, y[0]], z, lower[1], edge[0]);
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
            let edges = [height - 1, height];
            if let (Some(first), Some(last)) = (first, last) {
                total -= residues.shared(edges, [z[0], z[1] - 1], last[1], first[0]);
            }
            // The last row of a plane and the first of the next one.
            if let (Some((_, below)), Some(first)) = (below.filter(|b| b.0 == z[0]), first) {
                total -= residues.shared(edges, [z[0] - 1, z[0]], below[1], first[0]);
            }
        }
        below = last.map(|edge| (z[1], edge));
        Ok(())
    })?;
    Ok(Some(total))
}

/// The bits of all of them; at most [`MOST`].
fn all(rectangles: &[Rectangle]) -> u64 {
    (0..rectangles.len()).fold(0, |mask, number| mask | 1 << number)
}

/// Sorts by first byte; few, and mostly in order.
fn sort(rectangles: &mut [Rectangle]) {
    for i in 1..rectangles.len() {
        let mut at = i;
        let one = rectangles[i];
        while at > 0 && is_before(one.bytes, rectangles[at - 1].bytes) {
            rectangles[at] = rectangles[at - 1];
            at -= 1;
        }
        rectangles[at] = one;
    }
}

fn is_before(a: [i64; 2], b: [i64; 2]) -> bool {
    a[0] < b[0] || (a[0] == b[0] && a[1] < b[1])
}

/// Length of the union of the intervals of some rectangles, which are sorted.
fn union(rectangles: &[Rectangle], mut mask: u64) -> u64 {
    let (mut total, mut reached) = (0, i64::MIN);
    while mask != 0 {
        let [from, to] = rectangles[mask.trailing_zeros() as usize].bytes;
        mask &= mask - 1;
        if to > reached {
            total += (to - from.max(reached.saturating_add(1)) + 1).unsigned_abs();
            reached = to;
        }
    }
    total
}

/// The intervals of some rectangles, disjoint and ascending. No line lies in a gap that is shorter than one:
/// what it separates is one interval.
fn merge(rectangles: &[Rectangle], mut mask: u64, line: i64, out: &mut Vec<[i64; 2]>) {
    out.clear();
    while mask != 0 {
        let [from, to] = rectangles[mask.trailing_zeros() as usize].bytes;
        mask &= mask - 1;
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
        let mut start =
            remainder(remainder(y[0], self.period) + remainder(z[0], self.period) * self.height, self.period);
        // Planes whose rows begin at the same numbers come round again, at the latest after a period.
        for plane in 0..self.period.min(planes) {
            let alike = quotient(planes - plane - 1, self.period) + 1;
            let mut at = start;
            for _ in 0..left {
                self.rows[usize::try_from(at).expect("a remainder is not negative")] += alike.unsigned_abs();
                at = if at + 1 == self.period { 0 } else { at + 1 };
            }
            start = remainder(start + self.height, self.period);
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

    /// Of the rows `y` of the planes `z`, how many share the line of their byte `last` with the line of the
    /// byte `first` of the row after them.
    fn shared(&mut self, y: [i64; 2], z: [i64; 2], last: i64, first: i64) -> u64 {
        let next = self.row + first;
        if next - last >= self.line || y[0] >= y[1] || z[0] >= z[1] {
            return 0;
        }
        self.fill(y, z);
        let mut total = 0;
        for k in 0..self.number() {
            let residue = self.places[k];
            if quotient(residue + last, self.line) == quotient(residue + next, self.line) {
                total += self.rows[k];
            }
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::footprint::rows::{Buffers, count_rows};
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
            let few = count_few(&mut cells, &mut rectangles.clone(), Some(row), height, line).unwrap();
            if let Some(few) = few {
                counted += 1;
                assert_eq!(u128::from(few), lines, "{rectangles:?} {row} {height:?} {line}");
            }
        }
        assert!(counted > 3900, "{counted}");
    }
}
