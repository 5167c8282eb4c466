//! What lanes cover: adjacent bytes, sectors or lines as one span each.

use super::lanes::{Lanes, MOST_LANES};
use crate::footprint::quotient;

/// Adjacent units of memory, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnitRun {
    /// The first.
    pub first: i64,
    /// The last.
    pub last: i64,
}

impl UnitRun {
    /// All of them elsewhere.
    pub fn moved(self, by: i64) -> Self {
        Self { first: self.first.wrapping_add(by), last: self.last.wrapping_add(by) }
    }
}

/// Spans of one warp, in place: they are looked at often and seldom kept.
pub struct LaneSpans {
    all: [UnitRun; MOST_LANES],
    number: usize,
}

impl LaneSpans {
    /// The spans, ascending.
    pub fn iter(&self) -> impl Iterator<Item = UnitRun> + '_ {
        self.as_slice().iter().copied()
    }

    /// The same as a slice.
    pub fn as_slice(&self) -> &[UnitRun] {
        &self.all[..self.number]
    }

    /// The bytes of each active lane.
    fn unjoined(lanes: Lanes, width: i64) -> Self {
        let mut spans = Self { all: [UnitRun { first: 0, last: 0 }; MOST_LANES], number: 0 };
        for (lane, &first) in lanes.addresses.iter().take(MOST_LANES).enumerate() {
            if lanes.active >> lane & 1 == 1 {
                spans.all[spans.number] = UnitRun { first, last: first.saturating_add(width - 1) };
                spans.number += 1;
            }
        }
        spans
    }
}

/// The bytes of active lanes, `width` each, ascending. Gaps in which no `unit` has room are part of a
/// span, so that the spans touch the same units as the lanes do, and units that are larger.
pub fn of_lanes(lanes: Lanes, width: i64, unit: i64) -> LaneSpans {
    let mut spans = LaneSpans::unjoined(lanes, width);
    let all = &mut spans.all[..spans.number];
    if !all.is_sorted() {
        all.sort_unstable();
    }
    let mut last = 0;
    for next in 1..all.len() {
        let (next, span) = (all[next], &mut all[last]);
        // The next one begins where a whole unit does not fit before it.
        if next.first.saturating_sub(span.last) <= unit {
            span.last = span.last.max(next.last);
        } else {
            last += 1;
            all[last] = next;
        }
    }
    spans.number = spans.number.min(last + 1);
    spans
}

/// How many units of `unit` bytes spans of bytes touch, and in how many runs of adjacent ones. Calls `each`
/// with all of them, ascending.
pub fn units(bytes: impl Iterator<Item = UnitRun>, unit: i64, mut each: impl FnMut(i64)) -> (u32, u32) {
    let (mut units, mut runs) = (0, 0);
    let mut end = i64::MIN;
    for span in bytes {
        let (first, last) = (quotient(span.first, unit), quotient(span.last, unit));
        runs += u32::from(first > end.saturating_add(1));
        let from = if first > end { first } else { end + 1 };
        for number in from..=last {
            units += 1;
            each(number);
        }
        end = end.max(last);
    }
    (units, runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_touch_what_lanes_touch() {
        // Rows of all kinds of length, ascending and not, overlapping, with gaps around a unit.
        for (width, unit) in [(1, 32), (4, 32), (8, 32), (16, 32), (40, 32), (8, 128), (3, 7)] {
            for stride in [-136, -16, -8, 0, 1, 5, 8, 24, 31, 32, 33, 39, 40, 41, 64, 100, 128, 1000] {
                for row in [1, 3, 7, 32] {
                    for first in [0, 1, 8, 20, 120, -5] {
                        let at = |i: i64| i % row * stride + i / row * 1304 + first;
                        let addresses: Vec<i64> = (0..32).map(at).collect();
                        for active in [u64::MAX, 0, 1 << 31, 0x00ff_0ff1] {
                            let lanes = Lanes { addresses: &addresses, active };
                            let spans = of_lanes(lanes, width, unit);
                            let mut found = Vec::new();
                            let (number, runs) = units(spans.iter(), unit, |u| found.push(u));
                            let expected = lanes.touched(width, unit);
                            assert_eq!(found, expected, "{width} {unit} {stride} {row} {first}");
                            assert_eq!(number as usize, expected.len());
                            let starts = expected.iter().filter(|u| !expected.contains(&(*u - 1))).count();
                            assert_eq!(runs as usize, starts);
                        }
                    }
                }
            }
        }
    }
}
