//! One end of intervals around predictions: the widths of reasons with which a part of the times lies before it.

use std::collections::BTreeMap;

use crate::sorting;

/// A measured time beside the predicted one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Observation {
    /// Number of the set that it is of.
    pub(crate) set: usize,
    /// Number of the sets that share a kernel.
    pub(crate) family: usize,
    /// The reasons for doubt, a bit for each.
    pub(crate) reasons: u64,
    /// Number of the architecture.
    pub(crate) architecture: usize,
    /// Logarithm of the measured over the predicted time.
    pub(crate) log_ratio: f64,
}

/// No launch is predicted or measured better than this, as a logarithm.
pub(super) const LEAST_BASE: f64 = 0.02;
/// The smallest width other than none, and how many larger ones are tried, each longer by the same factor.
const STEPS: (f64, f64, i32) = (0.02, 1.12, 48);
/// Loss for each unit of width, so that a reason which explains nothing has none.
const PENALTY: f64 = 2e-4;
/// Times that all widths are gone through at most.
const ROUNDS: usize = 40;

/// Times with the same reasons, in ascending order on one side, with sums of their weights up to each.
struct Cell {
    reasons: u64,
    /// Logarithm, weight up to and with it, and weight times logarithm up to and with it.
    rows: Vec<(f64, f64, f64)>,
}

impl Cell {
    /// The loss of an end: what lies beyond costs `1 - tail` of its distance, what lies before `tail` of it.
    fn loss(&self, end: f64, tail: f64) -> f64 {
        let Some(&(_, all, all_by)) = self.rows.last() else { return 0.0 };
        let inside = self.rows.partition_point(|r| r.0 <= end);
        let (weight, by) =
            if inside == 0 { (0.0, 0.0) } else { (self.rows[inside - 1].1, self.rows[inside - 1].2) };
        let beyond = (all_by - by) - end * (all - weight);
        (1.0 - tail) * beyond + tail * (end * weight - by)
    }
}

/// One end of the intervals: squares of widths add up.
pub(super) struct Side {
    cells: Vec<Cell>,
    tail: f64,
}

impl Side {
    pub(super) fn new(rows: &[Observation], sign: f64, tail: f64) -> Self {
        let mut counts: BTreeMap<usize, f64> = BTreeMap::new();
        for row in rows {
            *counts.entry(row.set).or_default() += 1.0;
        }
        let mut cells: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
        let sets = counts.len().max(1) as f64;
        for row in rows {
            let weight = 1.0 / (sets * counts[&row.set]);
            cells.entry(row.reasons).or_default().push((sign * row.log_ratio, weight));
        }
        let cell = |(reasons, mut rows): (u64, Vec<(f64, f64)>)| {
            sorting::sort_by(&mut rows, |a, b| a.0.total_cmp(&b.0));
            let mut sums = (0.0, 0.0);
            let one = |(log, weight): (f64, f64)| {
                sums = (sums.0 + weight, sums.1 + weight * log);
                (log, sums.0, sums.1)
            };
            Cell { reasons, rows: rows.into_iter().map(one).collect() }
        };
        Self { cells: cells.into_iter().map(cell).collect(), tail }
    }

    /// The width of the base, then those of the reasons. One after the other is changed to the best of many, until
    /// none changes. Reasons that are hardly seen keep none.
    pub(super) fn fitted(&self, seen: &[bool]) -> Vec<f64> {
        let choices: Vec<f64> = (0..STEPS.2).map(|i| STEPS.0 * STEPS.1.powi(i)).collect();
        let mut widths = vec![0.0; seen.len() + 1];
        widths[0] = LEAST_BASE;
        let mut squares: Vec<f64> = self.cells.iter().map(|_| LEAST_BASE * LEAST_BASE).collect();
        for _ in 0..ROUNDS {
            let mut changed = false;
            for i in 0..widths.len() {
                let has = |cell: &Cell| i == 0 || cell.reasons >> (i - 1) & 1 == 1;
                let some: Vec<usize> = (0..self.cells.len()).filter(|&c| has(&self.cells[c])).collect();
                if some.is_empty() || i > 0 && !seen[i - 1] {
                    continue;
                }
                let now = widths[i];
                // What the other reasons of each cell add up to.
                let others: Vec<f64> = some.iter().map(|&c| (squares[c] - now * now).max(0.0)).collect();
                let loss = |width: f64| {
                    let of = |(&c, other): (&usize, &f64)| {
                        self.cells[c].loss((other + width * width).sqrt(), self.tail)
                    };
                    some.iter().zip(&others).map(of).sum::<f64>() + PENALTY * width
                };
                let least = if i == 0 { LEAST_BASE } else { 0.0 };
                let mut best = (least, loss(least));
                for &width in choices.iter().filter(|&&w| w > least) {
                    let this = loss(width);
                    if this < best.1 - 1e-12 {
                        best = (width, this);
                    }
                }
                if (best.0 - now).abs() > 1e-12 {
                    for (&c, other) in some.iter().zip(&others) {
                        squares[c] = other + best.0 * best.0;
                    }
                    (widths[i], changed) = (best.0, true);
                }
            }
            if !changed {
                break;
            }
        }
        widths
    }
}
