//! What C 6.2 counts.

use serde::Serialize;

use crate::quantity::{PerLaunch, Times};
use crate::trace::intern::Interner;
use crate::trace::reuse::LineStack;

/// Counts of one cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Statistics {
    /// Reads.
    pub reads: u64,
    /// Reads that miss.
    pub read_misses: u64,
    /// Writes.
    pub writes: u64,
    /// Writes that miss.
    pub write_misses: u64,
    /// Lines written back.
    pub write_backs: u64,
    /// Read misses of lines never seen before.
    pub cold: u64,
    /// Read misses of lines that a fully associative cache would have lost too.
    pub capacity: u64,
    /// The other read misses.
    pub conflict: u64,
}

impl Statistics {
    /// Read misses of all reads, in percent (C 7.3); 0 of none.
    pub fn miss_rate(&self) -> f64 {
        if self.reads == 0 { 0.0 } else { 100.0 * self.read_misses as f64 / self.reads as f64 }
    }
}

/// A run with one choice of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SeedRun {
    /// Seed of the choice.
    pub seed: u64,
    /// What was counted.
    #[serde(flatten)]
    pub statistics: Statistics,
    /// Read misses of all reads, in percent.
    pub miss_rate_percent: f64,
}

/// Runs with several choices of blocks: their medians and deviations (C section 7.3).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SeedRuns {
    /// Median of the miss rates of all runs, in percent of reads.
    pub miss_rate_percent: f64,
    /// Median of the reads.
    #[serde(rename = "reads")]
    pub median_reads: Times<PerLaunch>,
    /// Median of the read misses.
    #[serde(rename = "read_misses")]
    pub median_read_misses: Times<PerLaunch>,
    /// Standard deviation of the reads over their median, in percent.
    pub reads_deviation_percent: f64,
    /// Standard deviation of the read misses over their median, in percent.
    pub misses_deviation_percent: f64,
    /// Each run.
    pub runs: Vec<SeedRun>,
}

impl SeedRuns {
    /// From what each seed gave.
    pub fn new(all: impl IntoIterator<Item = (u64, Statistics)>) -> Self {
        let one = |(seed, statistics): (u64, Statistics)| SeedRun {
            seed,
            statistics,
            miss_rate_percent: statistics.miss_rate(),
        };
        let runs: Vec<SeedRun> = all.into_iter().map(one).collect();
        let each = |value: fn(&SeedRun) -> f64| runs.iter().map(value).collect::<Vec<f64>>();
        let reads = each(|r| r.statistics.reads as f64);
        let misses = each(|r| r.statistics.read_misses as f64);
        Self {
            miss_rate_percent: median(&each(|r| r.miss_rate_percent)),
            median_reads: Times::new(median(&reads)),
            median_read_misses: Times::new(median(&misses)),
            reads_deviation_percent: relative_deviation(&reads),
            misses_deviation_percent: relative_deviation(&misses),
            runs,
        }
    }
}

/// The middle of some values, or the mean of the two in the middle; 0 of none.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

fn relative_deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len().max(1) as f64;
    let middle = median(values);
    if middle == 0.0 { 0.0 } else { 100.0 * variance.sqrt() / middle }
}

/// Tells cold, capacity and conflict misses apart (C 6.2): by the stack distance among all lines. C takes a
/// distance of exactly the number of lines for a conflict; a cache of n lines holds distances below n.
#[derive(Debug)]
pub struct Classifier {
    lines: u64,
    interner: Interner,
    stack: LineStack,
}

/// Why a read missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Miss {
    /// The line was never seen before.
    Cold,
    /// Too many other lines since.
    Capacity,
    /// Only the set was full.
    Conflict,
}

impl Classifier {
    /// For a cache of so many lines.
    pub fn new(lines: u64) -> Self {
        Self { lines, interner: Interner::default(), stack: LineStack::default() }
    }

    /// About the bytes that the lines seen so far take.
    pub fn bytes(&self) -> u64 {
        // Their places in the stack.
        const PLACE: u64 = 32;
        self.interner.bytes() + self.interner.lines().len() as u64 * PLACE
    }

    /// Notes that a line is used; why it would miss, if it does.
    pub fn used(&mut self, line: u64) -> Miss {
        match self.stack.access(self.interner.number(line)) {
            None => Miss::Cold,
            Some(distance) if distance >= self.lines => Miss::Capacity,
            Some(_) => Miss::Conflict,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "exact numbers")]
    fn medians_and_deviations() {
        assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0]), median(&[])), (2.0, 2.5, 0.0));
        assert_eq!(relative_deviation(&[2.0, 2.0]), 0.0);
        assert_eq!(relative_deviation(&[1.0, 3.0]), 50.0);
    }
}
