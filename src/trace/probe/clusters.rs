//! Which latencies belong together: hits of the levels, and what is none of them.

use super::log::Run;

/// Bins of the histogram for each natural logarithm: 0.5 % each.
const BINS: f64 = 200.0;
/// Latencies up to e^16 cycles.
const MOST: usize = 3200;
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cluster {
    /// Their median in cycles.
    pub cycles: f64,
    /// Relative standard deviation, from the median deviation.
    pub spread: f64,
    /// Loads in it.
    pub loads: u64,
    /// From where on, up to where a latency belongs to it.
    low: f64,
    high: f64,
}

/// All clusters, the fastest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Clusters {
    /// The clusters.
    pub all: Vec<Cluster>,
    /// Loads in no cluster.
    pub outliers: u64,
}

/// Counts of latencies on a logarithmic scale.
#[derive(Debug, Clone)]
pub(super) struct Histogram(Vec<u64>);

impl Histogram {
    pub(super) fn new() -> Self {
        Self(vec![0; MOST])
    }

    pub(super) fn add(&mut self, run: &Run) {
        for load in &run.loads {
            if let Some(count) = self.0.get_mut(bin(f64::from(load.latency))) {
                *count += 1;
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn bin(latency: f64) -> usize {
    (latency.max(1.0).ln() * BINS).clamp(0.0, MOST as f64 - 1.0) as usize
}

fn cycles(bin: f64) -> f64 {
    ((bin + 0.5) / BINS).exp()
}

impl Clusters {
    /// Of runs.
    pub fn of(runs: &[Run]) -> Self {
        let everything = Self::pooled(runs.iter());
        // Runs that only hit add outliers, in which the misses of few others would drown.
        let shares: Vec<f64> = runs.iter().map(|r| everything.strange(r)).collect();
        let long = shares.iter().zip(runs).filter(|r| r.1.loads.len() >= LONG).map(|s| *s.0);
        let least = long.fold(f64::INFINITY, f64::min).min(0.02);
        let telling = runs.iter().zip(&shares).filter(|r| *r.1 > 1.6 * least || r.0.loads.len() < LONG);
        let mut found = Self::pooled(telling.map(|r| r.0));
        if found.all.len() < everything.all.len() || found.all.is_empty() {
            found = everything;
        }
        found.keep_frequent(runs);
        found
    }

    /// Of all loads of runs.
    fn pooled<'r>(runs: impl Iterator<Item = &'r Run>) -> Self {
        let mut histogram = Histogram::new();
        runs.for_each(|r| histogram.add(r));
        let counts = &histogram.0;
        let smooth = smoothed(counts);
        let peaks = peaks(&smooth);
        let mut edges = vec![0];
        edges.extend(peaks.windows(2).map(|p| lowest(&smooth, p[0], p[1])));
        edges.push(counts.len());
        let ranges = peaks.iter().zip(edges.windows(2));
        Self { all: ranges.filter_map(|(&p, e)| cluster(counts, p, e[0], e[1])).collect(), outliers: 0 }
    }

    /// The share of a run's loads that are not of the largest cluster.
    fn strange(&self, run: &Run) -> f64 {
        let Some(main) = self.all.iter().max_by_key(|c| c.loads) else { return 1.0 };
        let inside = |l: &&super::log::Load| (main.low..=main.high).contains(&f64::from(l.latency));
        1.0 - run.loads.iter().filter(inside).count() as f64 / run.loads.len().max(1) as f64
    }

    /// Drops what makes no notable share of any run, and counts all loads.
    fn keep_frequent(&mut self, runs: &[Run]) {
        let mut most = vec![0.0_f64; self.all.len()];
        let mut sums = vec![0_u64; self.all.len()];
        for run in runs {
            let mut counts = vec![0_u64; self.all.len()];
            for load in &run.loads {
                if let Some(level) = self.level(load.latency) {
                    counts[level] += 1;
                }
            }
            let length = run.loads.len().max(16) as f64;
            most.iter_mut().zip(&counts).for_each(|(m, &c)| *m = m.max(c as f64 / length));
            sums.iter_mut().zip(counts).for_each(|(s, c)| *s += c);
        }
        self.all.iter_mut().zip(&sums).for_each(|(cluster, &sum)| cluster.loads = sum);
        let mut most = most.iter();
        self.all.retain(|c| most.next().is_some_and(|&m| m >= SHARE && c.loads > 1));
        let loads: u64 = runs.iter().map(|r| r.loads.len() as u64).sum();
        self.outliers = loads - self.all.iter().map(|c| c.loads).sum::<u64>();
    }

    /// The number of the cluster of a latency.
    pub fn level(&self, latency: f32) -> Option<usize> {
        let latency = f64::from(latency);
        self.all.iter().position(|c| c.low <= latency && latency <= c.high)
    }

    /// Whether a load missed the first level; nothing of an outlier.
    #[inline]
    pub fn missed(&self, latency: f32) -> Option<bool> {
        self.level(latency).map(|level| level > 0)
    }
}

/// Triangular weights over neighbours.
fn smoothed(counts: &[u64]) -> Vec<f64> {
    let at = |i: usize| -> f64 {
        let weight = |j: usize| 1.0 - i.abs_diff(j) as f64 / (REACH as f64 + 1.0);
        let range = i.saturating_sub(REACH)..(i + REACH + 1).min(counts.len());
        range.map(|j| counts[j] as f64 * weight(j)).sum()
    };
    (0..counts.len()).map(at).collect()
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
fn cluster(counts: &[u64], peak: usize, from: usize, to: usize) -> Option<Cluster> {
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
        window = (4.5 * spread).clamp(0.03, WIDEST);
    }
    let centre = (median as f64 + 0.5) / BINS;
    let low = (centre - window).max(from as f64 / BINS);
    let high = (centre + window).min(to as f64 / BINS);
    let within = |i: &usize| (low * BINS..=high * BINS).contains(&(*i as f64 + 0.5));
    let loads = (from..to).filter(within).map(|i| counts[i]).sum();
    let cluster = Cluster { cycles: cycles(median as f64), spread, loads, low: low.exp(), high: high.exp() };
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
    use crate::trace::probe::{Load, Order};

    fn run(latencies: impl IntoIterator<Item = f32>) -> Run {
        let loads = latencies.into_iter().map(|latency| Load { index: 0, latency }).collect();
        let (n, stride, element, order) = (1, 1, 4, Order::Stride);
        Run { name: String::new(), n, stride, element, order, cold: false, loads }
    }

    #[test]
    fn the_supplements_latencies_make_two_clusters() {
        let hits = [246.0, 250.0, 244.0].into_iter().cycle().take(38);
        let misses = [488.0, 472.0, 478.0, 476.0, 486.0, 472.0].into_iter().cycle().take(13);
        let found = Clusters::of(&[run(hits.chain(misses))]);
        assert_eq!(found.all.len(), 2, "{found:?}");
        assert_eq!(
            (found.missed(250.0), found.missed(488.0), found.missed(350.0)),
            (Some(false), Some(true), None)
        );
    }

    #[test]
    fn outliers_make_no_cluster() {
        let hits = (0..5000_u16).map(|i| 200.0 + f32::from(i % 21) - 10.0);
        let misses = (0..200_u16).map(|i| 300.0 + f32::from(i % 31) - 15.0);
        let strange = (0..50_u16).map(|i| 240.0 + 15.0 * f32::from(i));
        let found = Clusters::of(&[run(hits.chain(misses).chain(strange))]);
        assert_eq!(found.all.len(), 2, "{found:?}");
        assert!((found.all[0].cycles / 200.0 - 1.0).abs() < 0.01);
        assert!((found.all[1].cycles / 300.0 - 1.0).abs() < 0.02);
    }
}
