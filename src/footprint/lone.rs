//! Arms that share no line with each other, under few boxes, where all rows begin with a line: each box is so many lines of
//! so many rows, and what two boxes share is taken away. That is sooner done than looked up.

use super::arms::{Arm, Box3};
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

/// Where a box begins and ends: its lines of a row, its rows, its planes. Ends are not part of it.
type Rows = [[i64; 2]; 3];

/// Distinct lines of a spread; `None` where that is not so simple.
pub(super) fn count_lone(spread: &Spread<'_>, boxes: &[Box3], line: i64) -> Result<Option<u64>, Refusal> {
    let boxes = &boxes[spread.boxes.clone()];
    let only = [(0, 1)];
    let alike = if spread.list.all.len() == 1 { Some(&only[..]) } else { spread.apart(line) };
    let Some(alike) = alike.filter(|alike| alike.len() <= MOST_ARMS && boxes.len() <= MOST_BOXES) else {
        return Ok(None);
    };
    if !spread.is_near() {
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

fn lines_of(spread: &Spread<'_>, arm: &Arm, boxes: &[Box3], line: i64) -> Option<u64> {
    let levels = &spread.arms.levels;
    let inside = spread.swallowed(arm, line);
    let outside = &levels[inside..];
    if outside.iter().any(|level| remainder(level.stride, line) != 0) {
        return None;
    }
    let (row, height) = match outside {
        [] => (i64::MAX, 1),
        [row] => (row.stride, i64::MAX),
        [row, plane] if plane.stride % row.stride == 0 => (row.stride, plane.stride / row.stride),
        _ => return None,
    };
    let mut all: [Rows; MOST_BOXES] = [[[0, 1]; 3]; MOST_BOXES];
    let mut hull: Rows = [[i64::MAX, i64::MIN]; 3];
    for (rows, one) in all.iter_mut().zip(boxes) {
        let (mut first, mut last) = (arm.rest, arm.rest + spread.width - 1);
        for (l, level) in levels[..inside].iter().enumerate() {
            let begin = level.stride * (one.first[l] + arm.at[l]);
            first += begin;
            last += begin + level.stride * (one.count[l] - 1 + arm.more[l]);
        }
        rows[0] = [quotient(first, line), quotient(last, line) + 1];
        for (range, l) in rows[1..].iter_mut().zip(inside..levels.len()) {
            let begin = one.first[l] + arm.at[l];
            *range = [begin, begin + one.count[l] + arm.more[l]];
        }
        for (hull, range) in hull.iter_mut().zip(&*rows) {
            *hull = [hull[0].min(range[0]), hull[1].max(range[1])];
        }
    }
    // Rows and planes do not run into the next ones.
    if hull[0][1] - hull[0][0] > quotient(row, line) || hull[1][1] - hull[1][0] > height {
        return None;
    }
    let all = &all[..boxes.len()];
    let mut total: u64 = all.iter().map(size).sum();
    let mut pairs = 0;
    for (i, one) in all.iter().enumerate() {
        for other in &all[..i] {
            let shared: Rows = [0, 1, 2].map(|d| [one[d][0].max(other[d][0]), one[d][1].min(other[d][1])]);
            if shared.iter().all(|range| range[0] < range[1]) {
                pairs += 1;
                if pairs > MOST_PAIRS {
                    return None;
                }
                total -= size(&shared);
            }
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
    use crate::footprint::arms::{Arms, add_lines};
    use crate::random::Random;

    /// One access, or some far apart, under random boxes, which may meet; and all of their lines one by one.
    #[test]
    fn boxes_count_as_their_lines_do() {
        let mut draw = Random::new(5);
        let mut below = |n: i64| i64::try_from(draw.remainder(n.unsigned_abs().into())).unwrap();
        let mut known = 0;
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
                add_lines(&mut lines, &bases, strides, threads, [size, line]);
            }
            let spread = Spread::new(&arms, &boxes, 0..boxes.len(), size).unwrap();
            let counted = within(1 << 30, || count_lone(&spread, &boxes, line).unwrap());
            if let Some(counted) = counted {
                known += 1;
                assert_eq!(counted, lines.len() as u64, "{round}: {strides:?} {line} {bases:?} {boxes:?}");
            }
        }
        assert!(known > 1000, "{known}");
    }
}
