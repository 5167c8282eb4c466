//! Arms under boxes that leave out no line between their first and their last byte: intervals of lines.

use super::arms::Box3;
use super::division::quotient;
use super::query::Refusal;
use super::spread::{STEPS_OF_RECTANGLE, Spread};
use crate::effort::spend_on;

/// Distinct lines of all spreads where no box leaves out a line between its first and its last byte, as pages are touched; `None` if one may.
pub(super) fn count_dense(
    dense: &mut Vec<[i64; 2]>,
    spreads: &[Spread<'_>],
    boxes: &[Box3],
    line: i64,
) -> Result<Option<u64>, Refusal> {
    if !spreads.iter().all(|of| of.is_dense(line)) {
        return Ok(None);
    }
    dense.clear();
    for of in spreads {
        let (list, levels) = (&of.list.all, &of.arms.levels);
        spend_on(list.len() * of.boxes.len(), STEPS_OF_RECTANGLE)?;
        if list.iter().any(|arm| of.ends_of(arm).is_none()) {
            return Ok(None);
        }
        let spans = dense.len()..dense.len() + of.boxes.len();
        for one in &boxes[of.boxes.clone()] {
            let (mut first, mut last) = (0, of.width - 1);
            for (l, level) in levels.iter().enumerate() {
                first += level.stride * one.first[l];
                last += level.stride * (one.first[l] + one.count[l] - 1);
            }
            dense.push([first, last]);
        }
        // Arm after arm they mostly ascend. What boxes span makes way for the first of them in the end.
        let begin = dense.len();
        for arm in list {
            let more: i64 = levels.iter().zip(arm.more).map(|(level, more)| level.stride * more).sum();
            for i in spans.clone() {
                let [first, last] = dense[i];
                dense.push([arm.base + first, arm.base + last + more]);
            }
        }
        dense.copy_within(begin.., spans.start);
        dense.truncate(dense.len() - spans.len());
    }
    if !dense.is_sorted_by_key(|ends| ends[0]) {
        dense.sort_unstable_by_key(|ends| ends[0]);
    }
    let (mut total, mut reached) = (0, i64::MIN);
    for [first, last] in dense.iter() {
        let (first, last) = (quotient(*first, line).max(reached), quotient(*last, line) + 1);
        if last > first {
            total += (last - first).unsigned_abs();
            reached = last;
        }
    }
    Ok(Some(total))
}
