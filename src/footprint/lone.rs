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
    let mut total = 0;
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
        total += size(rows);
    }
    // Rows and planes do not run into the next ones.
    if hull[0][1] - hull[0][0] > quotient(row, line) || hull[1][1] - hull[1][0] > height {
        return None;
    }
    let all = &all[..boxes.len()];
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
