//! Which latencies belong together: hits of the levels, and what is none of them.

use serde::Serialize;

use super::bins::{BINS, Counts, MOST, bin, cycles};
use super::clock;
use super::confidence::FindingConfidence;
use super::log::Run;
use super::serial::percent;

/// Bins over which counts are smoothed to either side: 3 %.
const REACH: usize = 6;
/// Least share of the loads of a run that makes a cluster; fewer are outliers.
const SHARE: f64 = 0.006;
/// Natural logarithm of the widest deviation from a cluster's median that is looked at.
const WIDEST: f64 = 0.4;
/// Loads of a run from which on its share of outliers says something.
const LONG: usize = 500;
/// Clusters are apart if counts between them fall to this share of the smaller peak.
const VALLEY: f64 = 0.4;

/// Latencies that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cluster {
    /// Median, in cycles.
    pub cycles: f64,
    /// Relative standard deviation, from the median deviation; written in percent.
    #[serde(rename = "spread_percent", serialize_with = "percent")]
    #[cfg_attr(test, schemars(with = "f64"))]
    pub spread_share: f64,
    /// Loads.
    pub loads: u64,
    /// The first and the last bin of latencies that belong to it.
    #[serde(skip)]
    low: usize,
    #[serde(skip)]
    high: usize,
}

impl Cluster {
    /// Loads of it among those that were counted.
    fn count(&self, counts: &Counts) -> u64 {
        let inside = counts.all.iter().filter(|c| (self.low..=self.high).contains(&usize::from(c.0)));
        inside.map(|c| u64::from(c.1)).sum()
    }
}

/// All clusters, the fastest first.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Clusters {
    /// Clusters of latencies, the fastest first.
    #[serde(rename = "clusters")]
    pub all: Vec<Cluster>,
    /// Loads in no cluster.
    pub outliers: u64,
    /// For each bin, one more than the number of its cluster; 0 for none.
    #[serde(skip)]
    levels: Levels,
}

/// A number for each bin.
#[derive(Clone, PartialEq, Default)]
struct Levels(Vec<u8>);

impl std::fmt::Debug for Levels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bins", self.0.len())
    }
}

/// More clusters than are ever found.
const MOST_LEVELS: usize = 250;

/// Deviations of two clusters, added, between their medians: up to where they are one blur, and from where on
/// they are clearly apart.
const BLURRED: f64 = 3.0;
const CLEAR: f64 = 4.0;
/// Steps of the clock over which what is apart may yet be the same latency.
const STEPS: f64 = 1.5;

impl Clusters {
    /// Of runs.
    pub fn new(runs: &[Run]) -> Self {
        let step = clock::step(runs);
        let counts: Vec<Counts> = runs.iter().map(Counts::new).collect();
        let everything = Self::pooled(counts.iter(), step);
        // Runs that only hit add outliers, in which the misses of few others would drown.
        let shares: Vec<f64> = counts.iter().map(|c| everything.strange(c)).collect();
        let long = shares.iter().zip(&counts).filter(|r| r.1.loads >= LONG).map(|s| *s.0);
        let least = long.fold(f64::INFINITY, f64::min).min(0.02);
        let telling = counts.iter().zip(&shares).filter(|r| *r.1 > 1.6 * least || r.0.loads < LONG);
        let mut found = Self::pooled(telling.map(|r| r.0), step);
        if found.all.len() < everything.all.len() || found.all.is_empty() {
            found = everything;
        }
        found.keep_frequent(&counts);
        found.levels = Levels(vec![0; MOST]);
        for (number, cluster) in (1..).zip(&found.all) {
            let bins = &mut found.levels.0[cluster.low..=cluster.high];
            bins.iter_mut().filter(|b| **b == 0).for_each(|b| *b = number);
        }
        found
    }

    /// Of all loads of runs, timed by a clock with such steps.
    fn pooled<'c>(runs: impl Iterator<Item = &'c Counts>, step: f64) -> Self {
        let mut counts = vec![0; MOST];
        for (bin, many) in runs.flat_map(|r| &r.all) {
            counts[usize::from(*bin)] += u64::from(*many);
        }
        let smooth = smoothed(&counts, step);
        let peaks = peaks(&smooth);
        let mut edges = vec![0];
        edges.extend(peaks.windows(2).map(|p| lowest(&smooth, p[0], p[1])));
        edges.push(counts.len());
        let ranges = peaks.iter().zip(edges.windows(2));
        let all = ranges.filter_map(|(&p, e)| cluster(&counts, p, (e[0], e[1]), step));
        Self { all: all.take(MOST_LEVELS).collect(), ..Self::default() }
    }

    /// The share of a run's loads that are not of the largest cluster.
    fn strange(&self, counts: &Counts) -> f64 {
        let Some(main) = self.all.iter().max_by_key(|c| c.loads) else { return 1.0 };
        1.0 - main.count(counts) as f64 / counts.loads.max(1) as f64
    }

    /// Drops what makes no notable share of any run, and counts all loads.
    fn keep_frequent(&mut self, runs: &[Counts]) {
        self.all.retain_mut(|cluster| {
            let loads = runs.iter().map(|r| (cluster.count(r), r.loads.max(16) as f64));
            let most = loads.clone().map(|(own, all)| own as f64 / all).fold(0.0, f64::max);
            cluster.loads = loads.map(|l| l.0).sum();
            most >= SHARE && cluster.loads > 1
        });
        let loads: u64 = runs.iter().map(|r| r.loads as u64).sum();
        self.outliers = loads - self.all.iter().map(|c| c.loads).sum::<u64>();
    }

    /// The number of the cluster of a latency.
    #[inline]
    pub fn level(&self, latency: f32) -> Option<usize> {
        let number = self.levels.0.get(bin(latency)).copied().unwrap_or(0);
        usize::from(number).checked_sub(1)
    }

    /// How sure anything can be that rests on which loads missed: latencies of hits and misses that overlap are
    /// taken for each other.
    pub fn clarity(&self) -> FindingConfidence {
        let [hit, miss, ..] = self.all.as_slice() else { return FindingConfidence::Low };
        let apart = (miss.cycles / hit.cycles).ln() / (hit.spread_share + miss.spread_share);
        if apart < BLURRED {
            FindingConfidence::Low
        } else if apart < CLEAR {
            FindingConfidence::Medium
        } else {
            FindingConfidence::High
        }
    }

    /// Whether a load missed the first level; nothing of an outlier.
    #[inline]
    pub fn missed(&self, latency: f32) -> Option<bool> {
        self.level(latency).map(|level| level > 0)
    }
}

/// Triangular weights over neighbours; those of a step of the clock are hardly apart.
fn smoothed(counts: &[u64], step: f64) -> Vec<f64> {
    let mut smooth = vec![0.0; counts.len()];
    for (i, &count) in counts.iter().enumerate().filter(|c| *c.1 > 0) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most all bins")]
        let steps = ((STEPS * step / cycles(i as f64)).ln_1p() * BINS) as usize;
        let reach = REACH.max(steps);
        let from = i.saturating_sub(reach);
        let to = (i + reach + 1).min(smooth.len());
        for (j, sum) in (from..).zip(&mut smooth[from..to]) {
            *sum += count as f64 * (1.0 - i.abs_diff(j) as f64 / (reach as f64 + 1.0));
        }
    }
    smooth
}

/// Peaks between which there are valleys.
fn peaks(smooth: &[f64]) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    // The lowest value since the last peak.
    let mut valley = 0.0_f64;
    for (i, &height) in smooth.iter().enumerate() {
        let last = found.last().map_or(0.0, |&l| smooth[l]);
        valley = valley.min(height);
        if height > 0.0 && valley <= VALLEY * last.min(height) {
            found.push(i);
            valley = height;
        } else if height > last {
            found.pop();
            found.push(i);
            valley = height;
        }
    }
    found
}

fn lowest(smooth: &[f64], from: usize, to: usize) -> usize {
    let least = (from..to).map(|i| smooth[i]).fold(f64::INFINITY, f64::min);
    // The middle of the lowest stretch.
    let low: Vec<usize> = (from..to).filter(|&i| smooth[i] <= least).collect();
    low.get(low.len() / 2).copied().unwrap_or(to)
}

/// The cluster around a peak, of what lies between two valleys.
fn cluster(counts: &[u64], peak: usize, (from, to): (usize, usize), step: f64) -> Option<Cluster> {
    // What lies within two steps of the clock belongs to it.
    let least = ((2.0 * step / cycles(peak as f64)).ln_1p() + 1.0 / BINS).clamp(0.03, WIDEST);
    let mut median = peak;
    let mut window = WIDEST;
    let mut spread = 0.0;
    // Outliers lie beside the peak: the window that is looked at shrinks to what belongs to it.
    for _ in 0..3 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "less than a natural logarithm"
        )]
        let reach = (window * BINS).ceil() as usize;
        let range = median.saturating_sub(reach).max(from)..(median + reach + 1).min(to);
        let inside: u64 = counts[range.clone()].iter().sum();
        median = quantile(range.clone().map(|i| (i, counts[i])), inside)?;
        let mut deviations = vec![0_u64; counts.len()];
        range.for_each(|i| deviations[i.abs_diff(median)] += counts[i]);
        let deviation = quantile(deviations.iter().copied().enumerate(), inside)?;
        // 1.4826 medians of absolute deviations make a standard deviation of a normal distribution.
        spread = (1.4826 * deviation as f64 / BINS).max(0.005);
        window = (4.5 * spread).clamp(least, WIDEST);
    }
    let centre = (median as f64 + 0.5) / BINS;
    let within = |i: &usize| (centre - window..=centre + window).contains(&((*i as f64 + 0.5) / BINS));
    let (low, high) = ((from..to).find(within)?, (from..to).rev().find(within)?);
    let loads = counts[low..=high].iter().sum();
    let cluster = Cluster { cycles: cycles(median as f64), spread_share: spread, loads, low, high };
    // What is as wide as the window is no peak but a stretch of outliers.
    (spread < WIDEST / 3.0).then_some(cluster)
}

/// Where half of the counts are reached.
fn quantile(counts: impl Iterator<Item = (usize, u64)>, total: u64) -> Option<usize> {
    let mut seen = 0;
    for (i, n) in counts {
        seen += n;
        if total > 0 && seen * 2 >= total {
            return Some(i);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::{ChaseOrder, Load};

    fn run(latencies: impl IntoIterator<Item = f32>) -> Run {
        let loads = latencies.into_iter().map(|latency| Load { index: 0, latency }).collect();
        let (n, stride, element, order) = (1, 1, 4, ChaseOrder::Stride);
        Run { name: String::new(), n, stride, element, order, cold: false, loads }
    }

    #[test]
    fn the_supplements_latencies_make_two_clusters() {
        let hits = [246.0, 250.0, 244.0].into_iter().cycle().take(38);
        let misses = [488.0, 472.0, 478.0, 476.0, 486.0, 472.0].into_iter().cycle().take(13);
        let found = Clusters::new(&[run(hits.chain(misses))]);
        assert_eq!(found.all.len(), 2, "{found:?}");
        assert_eq!(
            (found.missed(250.0), found.missed(488.0), found.missed(350.0)),
            (Some(false), Some(true), None)
        );
    }

    #[test]
    fn the_steps_of_a_clock_make_no_clusters() {
        // Hits take 29 cycles, misses 57, by a clock that shows every second cycle: at even or odd times, with
        // one of both much more often than the other, and with something beside them.
        for (odd, seldom) in [(0.0, 2), (1.0, 2), (0.0, 7), (1.0, 30)] {
            let at = |i: u16, cycles: f32| cycles + odd + if i.is_multiple_of(seldom) { 2.0 } else { 0.0 };
            let hits = (0..4000_u16).map(|i| at(i, 28.0));
            let misses = (0..1000_u16).map(|i| at(i, 56.0));
            let strange = (0..30_u16).map(|i| 60.0 + odd + 2.0 * f32::from(i));
            let found = Clusters::new(&[run(hits.chain(misses).chain(strange))]);
            assert_eq!(found.all.len(), 2, "{odd} {seldom}: {found:?}");
            for (latency, missed) in [(28.0, false), (30.0, false), (56.0, true), (58.0, true)] {
                assert_eq!(found.missed(latency + odd), Some(missed), "{odd} {seldom}: {found:?}");
            }
        }
        // The same times by a clock that shows every cycle are two latencies.
        let times = [(20.0, 900_u16), (21.0, 60), (28.0, 900), (29.0, 60)];
        let found = Clusters::new(&[run(times.iter().flat_map(|&(t, n)| (0..n).map(move |_| t)))]);
        assert_eq!(found.all.len(), 2, "{found:?}");
    }

    #[test]
    fn outliers_make_no_cluster() {
        let hits = (0..5000_u16).map(|i| 200.0 + f32::from(i % 21) - 10.0);
        let misses = (0..200_u16).map(|i| 300.0 + f32::from(i % 31) - 15.0);
        let strange = (0..50_u16).map(|i| 240.0 + 15.0 * f32::from(i));
        let found = Clusters::new(&[run(hits.chain(misses).chain(strange))]);
        assert_eq!(found.all.len(), 2, "{found:?}");
        assert!((found.all[0].cycles / 200.0 - 1.0).abs() < 0.01);
        assert!((found.all[1].cycles / 300.0 - 1.0).abs() < 0.02);
    }
}
