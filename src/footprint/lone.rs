//! Arms that share no line with each other, under few boxes, whose rows share none either: each box is so many lines of so
//! many rows, and what two boxes share is taken away. That is sooner done than looked up.

use super::arms::{Arm, Box3, Level};
use super::cells::Residues;
use super::division::{quotient, remainder};
use super::query::Refusal;
use super::spread::{STEPS_OF_RECTANGLE, Spread};
use crate::effort::spend_on;

/// Most boxes.
const MOST_BOXES: usize = 6;
/// Most ways in which arms lie relative to lines.
const MOST_ARMS: usize = 3;
/// Most pairs of boxes that share lines: three boxes share none where not all three pairs of them do.
const MOST_PAIRS: usize = 2;

/// Most rows that begin differently relative to lines.
const MOST_RESIDUES: usize = 16;

/// Where a box begins and ends: its bytes of a row, or its lines where all rows begin with one; its rows; its planes. Ends
/// are not part of it.
type Rows = [[i64; 2]; 3];

/// Distinct lines of a spread; `None` where that is not so simple.
pub(super) fn count_lone(spread: &Spread<'_>, boxes: &[Box3], line: i64) -> Result<Option<u64>, Refusal> {
    let boxes = &boxes[spread.boxes.clone()];
    let only = [(0, 1)];
    let alike = if spread.list.all.len() == 1 { Some(&only[..]) } else { spread.apart(line) };
    let Some(alike) = alike.filter(|alike| alike.len() <= MOST_ARMS && boxes.len() <= MOST_BOXES) else {
        return Ok(None);
    };
    // What lies between the first and the last of them is no further away.
    if [spread.list.all.first(), spread.list.all.last()]
        .into_iter()
        .flatten()
        .any(|arm| spread.ends_of(arm).is_none())
    {
        return Ok(None);
    }
    let mut total = 0;
    for &(arm, number) in alike {
        let Some(lines) = lines_of(spread, &spread.list.all[arm], boxes, line) else { return Ok(None) };
        total += number * lines;
    }
    spend_on(alike.len() * boxes.len(), STEPS_OF_RECTANGLE)?;
    Ok(Some(total))
}

/// Rows of equal distance, in planes of so many.
struct Lattice {
    row: i64,
    height: Option<i64>,
    /// How rows begin relative to lines, where not all of them begin with one.
    residues: Option<Residues>,
}

impl Lattice {
    fn new(outside: &[Level], line: i64) -> Option<Self> {
        let (row, height) = match outside {
            [] => (i64::MAX, None),
            [row] => (row.stride, None),
            [row, plane] if plane.stride % row.stride == 0 => (row.stride, Some(plane.stride / row.stride)),
            _ => return None,
        };
        if outside.iter().all(|level| remainder(level.stride, line) == 0) {
            return Some(Self { row, height, residues: None });
        }
        let residues = Residues::new(row, height, Some(i64::MAX), line)?;
        (residues.number() <= MOST_RESIDUES).then_some(Self { row, height, residues: Some(residues) })
    }

    /// Whether rows and planes of boxes that lie within a hull do not run into the next ones, so that they share no line.
    fn holds(&self, hull: &Rows, line: i64) -> bool {
        let row = if self.residues.is_some() { self.row - line } else { quotient(self.row, line) };
        hull[0][1] - hull[0][0] <= row && self.height.is_none_or(|height| hull[1][1] - hull[1][0] <= height)
    }

    /// Lines of a box.
    fn lines(&mut self, rows: &Rows) -> u64 {
        match &mut self.residues {
            Some(residues) => {
                residues.fill(rows[1], rows[2]);
                residues.lines([rows[0][0], rows[0][1] - 1])
            }
            None => size(rows),
        }
    }

    /// Lines that two boxes share; `None` where that depends on the row.
    fn shared(&self, one: &Rows, other: &Rows, line: i64) -> Option<u64> {
        let near = if self.residues.is_some() { line } else { 0 };
        let common: Rows = [0, 1, 2].map(|d| [one[d][0].max(other[d][0]), one[d][1].min(other[d][1])]);
        let meet = common[0][0] < common[0][1] + near && common[1..].iter().all(|range| range[0] < range[1]);
        match (meet, near) {
            (false, _) => Some(0),
            (true, 0) => Some(size(&common)),
            (true, _) => None,
        }
    }
}

fn lines_of(spread: &Spread<'_>, arm: &Arm, boxes: &[Box3], line: i64) -> Option<u64> {
    let levels = &spread.arms.levels;
    let inside = spread.swallowed(arm, line);
    let mut lattice = Lattice::new(&levels[inside..], line)?;
    let mut all: [Rows; MOST_BOXES] = [[[0, 1]; 3]; MOST_BOXES];
    let mut hull: Rows = [[i64::MAX, i64::MIN]; 3];
    for (rows, one) in all.iter_mut().zip(boxes) {
        let (mut first, mut last) = (arm.rest, arm.rest + spread.width - 1);
        for (l, level) in levels[..inside].iter().enumerate() {
            let begin = level.stride * (one.first[l] + arm.at[l]);
            first += begin;
            last += begin + level.stride * (one.count[l] - 1 + arm.more[l]);
        }
        rows[0] = match lattice.residues {
            Some(_) => [first, last + 1],
            None => [quotient(first, line), quotient(last, line) + 1],
        };
        for (range, l) in rows[1..].iter_mut().zip(inside..levels.len()) {
            let begin = one.first[l] + arm.at[l];
            *range = [begin, begin + one.count[l] + arm.more[l]];
        }
        for (hull, range) in hull.iter_mut().zip(&*rows) {
            *hull = [hull[0].min(range[0]), hull[1].max(range[1])];
        }
    }
    if !lattice.holds(&hull, line) {
        return None;
    }
    let all = &all[..boxes.len()];
    let mut total: u64 = all.iter().map(|rows| lattice.lines(rows)).sum();
    let mut pairs = 0;
    for (i, one) in all.iter().enumerate() {
        for other in &all[..i] {
            let shared = lattice.shared(one, other, line)?;
            pairs += usize::from(shared > 0);
            if pairs > MOST_PAIRS {
                return None;
            }
            total -= shared;
        }
    }
    Some(total)
}

fn size(rows: &Rows) -> u64 {
    rows.iter().map(|range| range[0].abs_diff(range[1])).product()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::effort::within;
    use crate::footprint::arms::Arms;
    use crate::random::Random;

    /// One access, or some far apart, under random boxes, which may meet; and all of their lines one by one.
    #[test]
    fn boxes_count_as_their_lines_do() {
        let mut draw = Random::new(5);
        let mut below = |n: i64| i64::try_from(draw.remainder(n.unsigned_abs().into())).unwrap();
        let (mut aligned, mut others) = (0, 0);
        for round in 0..4000 {
            let size = 1 << below(5);
            let line = 32 << below(3);
            let to_line = if below(2) == 0 { line } else { size };
            let row = to_line * (8 + below(30));
            let plane = row * (8 + below(5));
            let strides =
                [[size, row, plane], [size, row, 0], [size, 0, plane], [row, size, plane], [0, row, plane]];
            let strides = strides[usize::try_from(below(5)).unwrap()];
            let far = plane * 64 + to_line * below(3);
            let first = below(200) - 100;
            let bases: Vec<i64> = (0..=below(3)).map(|k| first + k * far).collect();
            let arms = Arms::new(strides.into(), &bases, [1; 3]).unwrap();
            let mut lines = BTreeSet::new();
            let mut boxes = Vec::new();
            for _ in 0..=below(3) {
                let threads = [(); 3].map(|()| (below(7), 1 + below(6)));
                boxes.push(Box3::new(threads, &arms.levels));
                let [xs, ys, zs] = threads.map(|(from, count)| from..from + count);
                for (base, z) in bases.iter().flat_map(|b| zs.clone().map(move |z| (b, z))) {
                    for (y, x) in ys.clone().flat_map(|y| xs.clone().map(move |x| (y, x))) {
                        let byte = base + x * strides[0] + y * strides[1] + z * strides[2];
                        lines.extend(byte.div_euclid(line)..=(byte + size - 1).div_euclid(line));
                    }
                }
            }
            let spread = Spread::new(&arms, &boxes, 0..boxes.len(), size).unwrap();
            let counted = within(1 << 30, || count_lone(&spread, &boxes, line).unwrap());
            if let Some(counted) = counted {
                let number = if row % line == 0 { &mut aligned } else { &mut others };
                *number += 1;
                assert_eq!(counted, lines.len() as u64, "{round}: {strides:?} {line} {bases:?} {boxes:?}");
            }
        }
        assert!(aligned > 1000 && others > 400, "{aligned} {others}");
    }
}
