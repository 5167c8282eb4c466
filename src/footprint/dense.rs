//! Arms under boxes that leave out no line between their first and their last byte: intervals of lines.

use super::arms::{Arms, Box3};
use super::division::quotient;
use super::query::Refusal;
use super::spread::{FAR, STEPS_OF_RECTANGLE, Spread};
use crate::effort::spend_on;

/// Most arms under boxes of [`Few`].
const MOST_OF_FEW: usize = 8;

/// A few arms under boxes, each of which leaves out no line between its first and its last byte: what most counts of
/// streams are, and those of pages.
pub(super) struct Few {
    line: i64,
    /// First lines and last ones.
    lines: [[i64; 2]; MOST_OF_FEW],
    number: usize,
}

impl Few {
    pub(super) fn new(line: i64) -> Self {
        Self { line, lines: [[0; 2]; MOST_OF_FEW], number: 0 }
    }

    /// Adds arms under a box; `None` if they leave out lines, are many, or so far away that they need care.
    #[inline]
    pub(super) fn add(&mut self, arms: &Arms, places: &[(i64, i64); 3], width: i64) -> Option<()> {
        let of_levels = || arms.levels.iter().map(|level| (level.stride, places[level.dim]));
        let mut least = i64::MAX;
        let (mut begin, mut run) = (0_i64, width);
        for (stride, (first, count)) in of_levels() {
            // A gap of fewer bytes than a line cannot hold a line that is not touched from either side.
            if stride.checked_sub(run)? >= self.line && count > 1 {
                return None;
            }
            begin = begin.checked_add(stride.checked_mul(first)?)?;
            run = run.checked_add(stride.checked_mul(count - 1)?)?;
            least = least.min(count);
        }
        let list = &arms.for_threads(least).all;
        let free = self.lines.get_mut(self.number..self.number + list.len())?;
        for (lines, arm) in free.iter_mut().zip(list) {
            let (mut below, mut bytes) = (width, run);
            for ((stride, (_, count)), more) in of_levels().zip(arm.more) {
                if more > 0 {
                    if stride - below >= self.line {
                        return None;
                    }
                    bytes = bytes.checked_add(stride.checked_mul(more)?)?;
                }
                below = below.checked_add(stride.checked_mul(count - 1)?)?;
            }
            let first = arm.base.checked_add(begin)?;
            let last = first.checked_add(bytes - 1)?;
            if first <= -FAR || last >= FAR {
                return None;
            }
            *lines = [quotient(first, self.line), quotient(last, self.line)];
        }
        self.number += list.len();
        Some(())
    }

    /// Distinct lines of all of them.
    pub(super) fn count(mut self) -> Result<u64, Refusal> {
        spend_on(self.number, STEPS_OF_RECTANGLE)?;
        let all = &mut self.lines[..self.number];
        all.sort_unstable_by_key(|lines| lines[0]);
        Ok(distinct(all.iter().copied()))
    }
}

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
    Ok(Some(distinct(dense.iter().map(|ends| ends.map(|end| quotient(end, line))))))
}

/// How many lines there are from first ones to last ones, which ascend by the first.
fn distinct(lines: impl Iterator<Item = [i64; 2]>) -> u64 {
    let (mut total, mut reached) = (0, i64::MIN);
    for [first, last] in lines {
        let (first, end) = (first.max(reached), last + 1);
        if end > first {
            total += (end - first).unsigned_abs();
            reached = end;
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::footprint::arms::add_lines;
    use crate::random::Random;

    /// Random accesses under random boxes, and all of their lines one by one.
    #[test]
    fn few_arms_count_as_enumeration_does() {
        let mut draw = Random::new(5);
        let mut below = |n: i64| i64::try_from(draw.remainder(n.unsigned_abs().into())).unwrap();
        let mut counted = 0;
        for round in 0..4000 {
            let (size, line) = (1 << below(5), [32, 48, 128, 4096][usize::try_from(below(4)).unwrap()]);
            let x = size * (1 + below(2) * below(4));
            let row = x * (1 + below(6));
            let strides = [[x, 0, 0], [x, row, 0], [row, x, 0], [x, row, row * (1 + below(4))]];
            let strides = strides[usize::try_from(below(4)).unwrap()];
            let mut bases: Vec<i64> =
                (0..=below(3)).map(|_| [x, row, 3].map(|unit| unit * (below(5) - 2)).iter().sum()).collect();
            bases.sort_unstable();
            bases.dedup();
            let arms = Arms::new(strides.into(), &bases, [1; 3]).unwrap();
            let (mut few, mut lines) = (Few::new(line), BTreeSet::new());
            let boxes = 1 + below(3);
            let added = (0..boxes).try_for_each(|_| {
                let threads = [(); 3].map(|()| (below(7) - 1, 1 + below(6)));
                add_lines(&mut lines, &bases, strides, threads, [size, line]);
                few.add(&arms, &threads, size)
            });
            if added.is_some() {
                counted += 1;
                let expected = lines.len() as u64;
                assert_eq!(few.count(), Ok(expected), "{round}: {strides:?} {bases:?} {size} {line}");
            }
        }
        assert!(counted > 1500, "{counted}");
    }

    #[test]
    fn what_is_far_away_is_left_to_others() {
        let arms = |base: i64| Arms::new([8, 0, 0].into(), &[base], [1; 3]).unwrap();
        let added = |base: i64, first: i64| Few::new(32).add(&arms(base), &[(first, 4), (0, 1), (0, 1)], 8);
        assert_eq!(added(0, 100), Some(()));
        for (base, first) in [(i64::MAX - 8, 0), (-FAR, 0), (0, i64::MAX), (0, i64::MAX / 8), (FAR, 1)] {
            assert_eq!(added(base, first), None, "{base} {first}");
        }
    }
}
