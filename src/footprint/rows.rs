//! Lines of a union of rectangles of rows, each touching an interval of its bytes.

use super::division::{gcd, quotient, remainder};
use crate::effort::{Spent, spend_on};

/// Rows `y` of the planes `z` (from, to excluded), each touching `bytes` (first, last) of itself.
/// Every line between the first and the last byte is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rectangle {
    pub(super) y: [i64; 2],
    pub(super) z: [i64; 2],
    pub(super) bytes: [i64; 2],
}

/// Steps for sorting, for each thing that is sorted.
const STEPS_TO_SORT: u64 = 4;

/// What is needed while counting, kept for the next count: many are small.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// What is to be counted.
    pub(super) rectangles: Vec<Rectangle>,
    levels: Vec<i64>,
    active: Vec<Rectangle>,
    segments: Vec<i64>,
    merged: Vec<[i64; 2]>,
}

/// Distinct lines of `line` bytes. Rows are `row` bytes apart and at least a line long, planes
/// `rows_per_plane` rows; without them there is one row, or one plane.
pub(super) fn count_rows(
    buffers: &mut Buffers,
    row: Option<i64>,
    rows_per_plane: Option<i64>,
    line: i64,
) -> Result<u128, Spent> {
    let Buffers { rectangles, levels, active, segments, merged } = buffers;
    spend_on(rectangles.len(), STEPS_TO_SORT)?;
    join(rectangles);
    if !rectangles.is_sorted_by_key(|r| r.z[0]) {
        rectangles.sort_unstable_by_key(|r| r.z[0]);
    }
    let plane = rows_per_plane.unwrap_or(0) * row.unwrap_or(0);
    let lattice = Lattice { row: row.unwrap_or(0), plane: remainder(plane, line), line };
    // A line is shared by rows only where their boundary lies inside one.
    let sharing = row.is_some_and(|r| remainder(r, line) != 0);
    let mut sweep = Sweep { lattice, sharing, height: rows_per_plane, segments, merged };
    levels.clear();
    levels.extend(rectangles.iter().flat_map(|r| r.z));
    levels.sort_unstable();
    levels.dedup();
    let mut total = 0;
    active.clear();
    let mut waiting = rectangles.iter().peekable();
    let mut below: Option<Edge> = None;
    for slab in levels.windows(2) {
        let z = [slab[0], slab[1]];
        active.retain(|r| r.z[1] > z[0]);
        while let Some(next) = waiting.next_if(|r| r.z[0] == z[0]) {
            let at = active.partition_point(|r| r.bytes < next.bytes);
            active.insert(at, *next);
        }
        let (lines, first, last) = sweep.slab(active, z)?;
        total += lines;
        // The last row of a plane and the first of the next one.
        if let (Some(below), Some(first)) = (below, first) {
            total -= u128::from(sweep.shares_between_planes(z[0] - 1, below, first)?);
        }
        below = last;
    }
    Ok(total)
}

/// Joins rectangles that differ along one direction only and touch there: a stencil's arms become
/// one rectangle each.
fn join(rectangles: &mut Vec<Rectangle>) {
    fn along(
        rectangles: &mut Vec<Rectangle>,
        others: impl Fn(&Rectangle) -> [i64; 4],
        this: impl Fn(&mut Rectangle) -> &mut [i64; 2],
        gap: i64,
    ) {
        rectangles.sort_unstable_by_key(|r| (others(r), *this(&mut { *r })));
        let mut kept = 0;
        for i in 1..rectangles.len() {
            let mut next = rectangles[i];
            let (before, _) = rectangles.split_at_mut(i);
            let last = &mut before[kept];
            if others(last) == others(&next) && this(&mut next)[0] <= this(last)[1] + gap {
                this(last)[1] = this(last)[1].max(this(&mut next)[1]);
            } else {
                kept += 1;
                rectangles[kept] = next;
            }
        }
        rectangles.truncate(kept + 1);
    }
    if rectangles.len() < 2 {
        return;
    }
    along(rectangles, |r| [r.y[0], r.y[1], r.z[0], r.z[1]], |r| &mut r.bytes, 1);
    along(rectangles, |r| [r.bytes[0], r.bytes[1], r.z[0], r.z[1]], |r| &mut r.y, 0);
    along(rectangles, |r| [r.bytes[0], r.bytes[1], r.y[0], r.y[1]], |r| &mut r.z, 0);
}

/// Where rows lie relative to lines.
#[derive(Debug, Clone, Copy)]
struct Lattice {
    row: i64,
    /// Bytes from a plane to the next, modulo a line.
    plane: i64,
    line: i64,
}

impl Lattice {
    /// Bytes from the start of a line to the start of a row.
    fn residue(&self, y: i64, z: i64) -> i64 {
        let of_row = remainder(y, self.line) * remainder(self.row, self.line);
        remainder(of_row + remainder(z, self.line) * self.plane, self.line)
    }

    /// Sums `f(residue)` over the rows of a rectangle: each residue once, times its rows. Each takes `steps`.
    fn sum(&self, y: [i64; 2], z: [i64; 2], steps: usize, f: impl Fn(i64) -> i64) -> Result<u128, Spent> {
        if y[0] >= y[1] || z[0] >= z[1] {
            return Ok(0);
        }
        let (of_z, of_y) = (Classes::new(z, self.plane, self.line), Classes::new(y, self.row, self.line));
        spend_on(steps, of_z.number().saturating_mul(of_y.number()))?;
        if remainder(self.row, self.line) == 0 && self.plane == 0 {
            let rows = (y[1] - y[0]).unsigned_abs();
            return Ok(u128::from(f(0).unsigned_abs()) * u128::from(rows) * u128::from(z[0].abs_diff(z[1])));
        }
        let mut total = 0;
        for (dz, planes) in of_z {
            for (dy, rows) in of_y.clone() {
                let lines = f(self.residue(y[0] + dy, z[0] + dz));
                total += u128::from(lines.unsigned_abs()) * u128::from(planes) * u128::from(rows);
            }
        }
        Ok(total)
    }
}

/// The classes of positions in a range that have equal residues: first member and size.
#[derive(Clone)]
struct Classes {
    next: i64,
    period: i64,
    count: i64,
}

impl Classes {
    fn new(range: [i64; 2], stride: i64, line: i64) -> Self {
        let step = remainder(stride, line);
        let period = if step == 0 { 1 } else { line / gcd(step, line) };
        Self { next: 0, period, count: range[1] - range[0] }
    }

    /// How many there are.
    fn number(&self) -> u64 {
        self.period.min(self.count).unsigned_abs()
    }
}

impl Iterator for Classes {
    type Item = (i64, u64);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.period.min(self.count) {
            return None;
        }
        let members = (self.count - self.next - 1) / self.period + 1;
        self.next += 1;
        Some((self.next - 1, members.unsigned_abs()))
    }
}

/// The outermost bytes of a row at the edge of a plane.
#[derive(Debug, Clone, Copy)]
struct Edge {
    first: i64,
    last: i64,
}

struct Sweep<'b> {
    lattice: Lattice,
    sharing: bool,
    height: Option<i64>,
    /// Boundaries of the cells of a slab.
    segments: &'b mut Vec<i64>,
    /// The intervals of a row, disjoint and ascending.
    merged: &'b mut Vec<[i64; 2]>,
}

impl Sweep<'_> {
    /// Lines of the planes `z`, in all of which the same rectangles are active, lines shared between
    /// their rows and planes counted once. With the edge of the first plane (if its first row is
    /// touched) and of the last (if its last row is).
    fn slab(
        &mut self,
        active: &[Rectangle],
        z: [i64; 2],
    ) -> Result<(u128, Option<Edge>, Option<Edge>), Spent> {
        spend_on(active.len(), STEPS_TO_SORT)?;
        let mut segments = std::mem::take(self.segments);
        segments.clear();
        segments.extend(active.iter().flat_map(|r| r.y));
        segments.sort_unstable();
        segments.dedup();
        let (mut lines, mut shared) = (0, 0);
        let (mut first, mut last) = (None, None);
        let mut before: Option<(i64, Edge)> = None;
        for cell in segments.windows(2) {
            let y = [cell[0], cell[1]];
            spend_on(1 + active.len() / 4, 1)?;
            self.merge(active, y);
            let Some(edge) = self.edge() else { continue };
            lines += self.lines(y, z)?;
            if self.sharing {
                shared += self.shared_between_rows([y[0], y[1] - 1], z, edge, edge)?;
                if let Some((_, lower)) = before.filter(|b| b.0 == y[0]) {
                    shared += self.shared_between_rows([y[0] - 1, y[0]], z, lower, edge)?;
                }
                if y[0] == 0 {
                    first = Some(edge);
                }
                if Some(y[1]) == self.height {
                    last = Some(edge);
                }
            }
            before = Some((y[1], edge));
        }
        if let (Some(first), Some(last), Some(height)) = (first, last, self.height) {
            shared += self.shared_between_rows([height - 1, height], [z[0], z[1] - 1], last, first)?;
        }
        *self.segments = segments;
        Ok((lines - shared, first, last))
    }

    /// The intervals of the rows of a cell; rectangles are sorted by their first byte.
    fn merge(&mut self, active: &[Rectangle], y: [i64; 2]) {
        self.merged.clear();
        for r in active.iter().filter(|r| r.y[0] <= y[0] && y[1] <= r.y[1]) {
            match self.merged.last_mut() {
                Some(last) if r.bytes[0] <= last[1] + 1 => last[1] = last[1].max(r.bytes[1]),
                _ => self.merged.push(r.bytes),
            }
        }
    }

    fn edge(&self) -> Option<Edge> {
        Some(Edge { first: self.merged.first()?[0], last: self.merged.last()?[1] })
    }

    fn lines(&self, y: [i64; 2], z: [i64; 2]) -> Result<u128, Spent> {
        let line = self.lattice.line;
        self.lattice.sum(y, z, self.merged.len(), |residue| {
            let mut lines = 0;
            let mut reached = i64::MIN;
            for &[from, to] in &*self.merged {
                let (from, to) = (quotient(residue + from, line), quotient(residue + to, line));
                lines += to - from.max(reached.saturating_add(1)) + 1;
                reached = to;
            }
            lines
        })
    }

    /// Of the rows `y`, how many share a line with the row after them.
    fn shared_between_rows(&self, y: [i64; 2], z: [i64; 2], lower: Edge, upper: Edge) -> Result<u128, Spent> {
        let Lattice { row, line, .. } = self.lattice;
        self.lattice.sum(y, z, 1, |residue| {
            i64::from(quotient(residue + lower.last, line) == quotient(residue + row + upper.first, line))
        })
    }

    fn shares_between_planes(&self, z: i64, lower: Edge, upper: Edge) -> Result<bool, Spent> {
        let Some(height) = self.height.filter(|_| self.sharing) else { return Ok(false) };
        Ok(self.shared_between_rows([height - 1, height], [z, z + 1], lower, upper)? > 0)
    }
}
