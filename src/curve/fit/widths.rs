//! Widths of intervals around predictions: how far measured times lie from predicted ones, by the reasons there are to
//! doubt the prediction. They come out so that a share of times lies in the intervals, also of sets that the fit has not
//! seen.

use std::collections::BTreeSet;

use super::side::{LEAST_BASE, Observation, Side};
use crate::curve::{LEAST_ROWS, Width};
use crate::sorting;

/// What widths are fitted for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WidthFit {
    /// How many reasons there are, at most 64.
    pub(crate) reasons: usize,
    /// The one that holds where no other set is of the same architecture.
    pub(crate) new_architecture: Option<usize>,
    /// The part of times that is to lie in the intervals.
    pub(crate) level: f64,
}

/// Widths of reasons.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FittedWidths {
    pub(crate) base: Width,
    pub(crate) reasons: Vec<Width>,
}

/// How many times of a set lie in intervals.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Covered {
    pub(crate) rows: usize,
    /// The part in intervals that were fitted without the set.
    pub(crate) left_out: f64,
    /// The part in those that were fitted without all sets that share a kernel with it.
    pub(crate) family_left_out: f64,
    /// The part in those that were fitted to all sets.
    pub(crate) fitted: f64,
    /// The median of upper over lower ends of the intervals that were fitted without the set.
    pub(crate) ends_ratio: f64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Calibrated {
    pub(crate) widths: FittedWidths,
    /// What the widths were multiplied with.
    pub(crate) spread: f64,
    /// Rows and sets that have a reason.
    pub(crate) seen: Vec<(usize, usize)>,
    /// By set.
    pub(crate) sets: Vec<Covered>,
}

/// A reason that no measurement has is as wide as this part of those that some have.
const UNSEEN: f64 = 0.8;
impl WidthFit {
    /// Fits to all sets, each of which counts alike, and multiplies the widths so that the share of times of a set in
    /// intervals that were fitted without it is the level on average over sets.
    pub(crate) fn calibrated(self, rows: &[Observation]) -> Calibrated {
        let sets: BTreeSet<usize> = rows.iter().map(|r| r.set).collect();
        let count = sets.last().map_or(0, |last| last + 1);
        let whole = self.fitted(rows);
        // For each row how many times wider the interval that was fitted without its set must be, and the interval.
        let mut needed: Vec<Vec<(f64, Width)>> = vec![Vec::new(); count];
        let mut of_families = needed.clone();
        for &set in &sets {
            needed[set] = self.needed(rows, set, |r| r.set != set);
            let family = rows.iter().find(|r| r.set == set).map(|r| r.family);
            of_families[set] = self.needed(rows, set, |r| Some(r.family) != family);
        }
        let spread = |without: Option<usize>| {
            let some = needed.iter().enumerate().filter(|(set, _)| Some(*set) != without);
            self.spread(some.map(|(_, rows)| rows.as_slice()))
        };
        let factor = spread(None);
        let widths = whole.times(factor);
        let covered = |set: usize| {
            let own: Vec<&Observation> = rows.iter().filter(|r| r.set == set).collect();
            let inside = |r: &&&Observation| times_wider(r.log_ratio, widths.together(r.reasons)) <= 1.0;
            let rows = own.len().max(1) as f64;
            // The factor does not know the set either.
            let other = spread(Some(set));
            let mut ends: Vec<f64> =
                needed[set].iter().map(|(_, w)| (other * (w.shorter + w.longer)).exp()).collect();
            ends.sort_by(f64::total_cmp);
            Covered {
                rows: own.len(),
                left_out: needed[set].iter().filter(|n| n.0 <= other).count() as f64 / rows,
                family_left_out: of_families[set].iter().filter(|n| n.0 <= other).count() as f64 / rows,
                fitted: own.iter().filter(inside).count() as f64 / rows,
                ends_ratio: ends.get(ends.len() / 2).copied().unwrap_or(1.0),
            }
        };
        let sets = (0..count).map(covered).collect();
        Calibrated { spread: factor, seen: self.seen(rows), sets, widths }
    }

    /// For each row of a set how many times wider the interval must be that was fitted to some others, and this interval.
    fn needed(
        self,
        rows: &[Observation],
        set: usize,
        is_other: impl Fn(&Observation) -> bool,
    ) -> Vec<(f64, Width)> {
        let others: Vec<Observation> = rows.iter().copied().filter(is_other).collect();
        if others.is_empty() {
            return Vec::new();
        }
        let widths = self.fitted(&others);
        let known: BTreeSet<usize> = others.iter().map(|r| r.architecture).collect();
        let one = |row: &Observation| {
            let new = if known.contains(&row.architecture) { None } else { self.new_architecture };
            let width = widths.together(row.reasons | new.map_or(0, |bit| 1 << bit));
            (times_wider(row.log_ratio, width), width)
        };
        rows.iter().filter(|r| r.set == set).map(one).collect()
    }

    /// The factor with which the level is reached, where each set counts alike; 1 where nothing was left out.
    fn spread<'n>(self, sets: impl Iterator<Item = &'n [(f64, Width)]>) -> f64 {
        let mut all: Vec<(f64, f64)> = Vec::new();
        for rows in sets.filter(|rows| !rows.is_empty()) {
            all.extend(rows.iter().map(|(needed, _)| (*needed, 1.0 / rows.len() as f64)));
        }
        sorting::sort_by(&mut all, |a, b| a.0.total_cmp(&b.0));
        let whole: f64 = all.iter().map(|a| a.1).sum();
        let mut sum = 0.0;
        for (needed, weight) in all {
            sum += weight;
            if sum >= self.level * whole * (1.0 - 1e-9) {
                return needed;
            }
        }
        1.0
    }

    /// Rows and sets that have each reason.
    fn seen(self, rows: &[Observation]) -> Vec<(usize, usize)> {
        let of = |bit: usize| {
            let with: Vec<usize> = rows.iter().filter(|r| r.reasons >> bit & 1 == 1).map(|r| r.set).collect();
            (with.len(), with.iter().collect::<BTreeSet<_>>().len())
        };
        (0..self.reasons).map(of).collect()
    }

    /// The widths with the least loss. It is lowest where as many times as they should lie above the upper end and below
    /// the lower one.
    fn fitted(self, rows: &[Observation]) -> FittedWidths {
        let tail = (1.0 - self.level) / 2.0;
        let seen: Vec<bool> = self.seen(rows).iter().map(|&(rows, _)| rows >= LEAST_ROWS as usize).collect();
        let longer = Side::new(rows, 1.0, tail).fitted(&seen);
        let shorter = Side::new(rows, -1.0, tail).fitted(&seen);
        let mut all: Vec<Width> =
            shorter.into_iter().zip(longer).map(|(shorter, longer)| Width { shorter, longer }).collect();
        let base = all.remove(0);
        let known: Vec<Width> = all.iter().zip(&seen).filter(|(_, seen)| **seen).map(|(w, _)| *w).collect();
        let high = |of: &dyn Fn(&Width) -> f64| {
            let mut all: Vec<f64> = known.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all.get(rank(all.len())).copied().unwrap_or(LEAST_BASE)
        };
        let unseen = Width { shorter: high(&|w| w.shorter), longer: high(&|w| w.longer) };
        for (width, _) in all.iter_mut().zip(&seen).filter(|(_, seen)| !**seen) {
            *width = unseen;
        }
        FittedWidths { base, reasons: all }
    }
}

/// The position of the width that stands for reasons without measurements.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a small number")]
fn rank(count: usize) -> usize {
    (UNSEEN * count.saturating_sub(1) as f64).round() as usize
}

/// How many times as wide an interval must be to hold a ratio.
fn times_wider(log_ratio: f64, width: Width) -> f64 {
    let side = if log_ratio < 0.0 { width.shorter } else { width.longer };
    log_ratio.abs() / side.max(f64::MIN_POSITIVE)
}

impl FittedWidths {
    /// The width for some reasons.
    pub(crate) fn together(&self, reasons: u64) -> Width {
        let mut sum = (self.base.shorter.powi(2), self.base.longer.powi(2));
        for (bit, width) in self.reasons.iter().enumerate() {
            if reasons >> bit & 1 == 1 {
                sum = (sum.0 + width.shorter.powi(2), sum.1 + width.longer.powi(2));
            }
        }
        Width { shorter: sum.0.sqrt(), longer: sum.1.sqrt() }
    }

    fn times(&self, factor: f64) -> Self {
        let one = |w: &Width| Width { shorter: w.shorter * factor, longer: w.longer * factor };
        Self { base: one(&self.base), reasons: self.reasons.iter().map(one).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const FIT: WidthFit = WidthFit { reasons: 3, new_architecture: Some(2), level: 0.8 };
    /// A normal distribution has four fifths of its values within so many standard deviations.
    const FOUR_FIFTHS: f64 = 1.2816;

    /// Sets with known spreads: 0.1 always, 0.3 more for the first reason, and for the second longer times only.
    fn synthetic(sets: usize, rows: usize, seed: u64) -> Vec<Observation> {
        let mut random = Random::new(seed);
        let mut all = Vec::new();
        for set in 0..sets {
            for _ in 0..rows {
                let reasons = random.next() & 3;
                let sign = if random.next() & 1 == 0 { 1.0 } else { -1.0 };
                let mut square = 0.01;
                if reasons & 1 == 1 {
                    square += 0.09;
                }
                if reasons & 2 == 2 && sign > 0.0 {
                    square += 0.25;
                }
                let log_ratio = sign * f64::sqrt(square) * random.half_normal();
                all.push(Observation { set, family: set, reasons, architecture: 0, log_ratio });
            }
        }
        all
    }

    #[test]
    fn known_widths_are_found_and_hold_elsewhere() {
        let found = FIT.calibrated(&synthetic(8, 400, 1));
        let near = |width: f64, deviation: f64| {
            let expected = FOUR_FIFTHS * deviation;
            assert!((width / expected - 1.0).abs() < 0.2, "{width} is not {expected}");
        };
        near(found.widths.base.shorter, 0.1);
        near(found.widths.base.longer, 0.1);
        near(found.widths.reasons[0].shorter, 0.3);
        near(found.widths.reasons[1].longer, 0.5);
        assert!(found.widths.reasons[1].shorter < 0.06, "{:?}", found.widths.reasons[1]);
        assert!((found.spread - 1.0).abs() < 0.1, "{}", found.spread);
        for set in &found.sets {
            assert!((set.left_out - 0.8).abs() < 0.06 && (set.fitted - 0.8).abs() < 0.06, "{set:?}");
        }
        // Rows that no fit has seen.
        let fresh = synthetic(1, 4000, 2);
        let inside = |r: &&Observation| times_wider(r.log_ratio, found.widths.together(r.reasons)) <= 1.0;
        let share = fresh.iter().filter(inside).count() as f64 / fresh.len() as f64;
        assert!((share - 0.8).abs() < 0.03, "{share}");
    }

    #[test]
    fn sets_that_differ_widen_all() {
        // Each set has an error of its own, which the others do not show: 0.3 on either side, beside 0.02 within the set.
        let mut random = Random::new(3);
        let mut rows = Vec::new();
        for set in 0..40 {
            let sign = if random.next() & 1 == 0 { 1.0 } else { -1.0 };
            let own = sign * 0.3 * random.half_normal();
            for _ in 0..50 {
                let log_ratio = own + 0.02 * random.half_normal();
                rows.push(Observation { set, family: set, reasons: 0, architecture: 0, log_ratio });
            }
        }
        let found = FIT.calibrated(&rows);
        let mean = found.sets.iter().map(|s| s.left_out).sum::<f64>() / found.sets.len() as f64;
        assert!((mean - 0.8).abs() < 0.04, "{mean}");
        assert!(found.widths.base.longer > 0.3, "{:?}", found.widths.base);
    }

    #[test]
    fn what_nobody_measured_is_wide_and_new_architectures_are_told() {
        let mut rows = synthetic(6, 200, 4);
        let found = FIT.calibrated(&rows);
        assert_eq!(found.seen[2], (0, 0));
        assert!(found.widths.reasons[2].longer >= found.widths.reasons[0].longer.min(0.3), "{found:?}");
        // The last set is alone on its architecture: left out, its intervals are wider.
        for row in rows.iter_mut().filter(|r| r.set == 5) {
            row.architecture = 1;
        }
        let alone = FIT.calibrated(&rows);
        assert!(
            alone.sets[5].ends_ratio > 1.2 * found.sets[5].ends_ratio,
            "{:?} {:?}",
            alone.sets,
            found.sets
        );
    }

    #[test]
    fn little_data_are_no_trouble() {
        assert_eq!(FIT.calibrated(&[]).sets, Vec::new());
        let one = FIT.calibrated(&synthetic(1, 20, 5));
        assert!((one.spread - 1.0).abs() < 1e-12 && one.sets[0].left_out == 0.0);
    }
}
