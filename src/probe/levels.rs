//! Levels of caches and TLBs from latency against size: plateaus, and where they end.
//!
//! An edge is a bracket: the last size that is surely on the plateau and the first that is surely off it.
//! How far off is sure follows from how much the plateau itself scatters, so that a noisy one gives a wider
//! bracket. Nothing is known here of nominal sizes.

use serde::Serialize;

use super::confidence::FindingConfidence;
use super::read::SizePoint;
use super::serial::percent;

use crate::sorting;

/// Least number of sizes that make a plateau.
const LEAST: usize = 3;
/// Steepest a plateau may rise: the exponent of latency over size.
const FLAT: f64 = 0.13;
/// A slope is taken over one or two times so many steps.
const REACH: usize = 2;
/// Scatter that is assumed at least.
const FLOOR: f64 = 0.005;
/// Scatters beyond which a latency is off its plateau, and up to which it is on it.
const OFF: f64 = 6.0;
const ON: f64 = 3.0;
/// Least rise from one plateau to the next.
const RISE: f64 = 1.1;

/// A level: a plateau, and where it ends.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LatencyLevel {
    /// Median latency, in cycles.
    pub cycles: f64,
    /// First and last size of the plateau, in KiB.
    pub plateau_kib: [f64; 2],
    /// Relative scatter on it; written in percent.
    #[serde(rename = "scatter_percent", serialize_with = "percent")]
    #[cfg_attr(test, schemars(with = "f64"))]
    pub scatter_share: f64,
    /// Where it ends; null for the last.
    pub edge: Option<Edge>,
}

/// Where a plateau ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "EdgeDocument"))]
pub struct Edge {
    /// Last size on the plateau and first size off it, in KiB: the edge lies between.
    pub bracket_kib: [f64; 2],
    /// The middle of the bracket on a logarithmic scale, in KiB: no better than the bracket.
    pub estimate_kib: f64,
    /// Latency of the next plateau over that at the end of this one.
    #[serde(rename = "rise")]
    pub rise_ratio: f64,
    /// How sure it is that there is an edge.
    pub confidence: FindingConfidence,
}

/// The levels that latencies against size show.
pub fn levels(points: &[SizePoint]) -> Vec<LatencyLevel> {
    let points = cleaned(points);
    let mut plateaus = plateaus(&points);
    join(&points, &mut plateaus);
    let mut found = Vec::new();
    for (i, &(from, to)) in plateaus.iter().enumerate() {
        let line = Line::through(&points[from..=to]);
        let next = plateaus.get(i + 1).map(|&(f, t)| median(&points[f..=t]));
        let end = plateaus.get(i + 1).map_or(points.len(), |n| n.1 + 1);
        let edge = next.and_then(|next| edge(&points, (from, to), end, &line, next));
        found.push(LatencyLevel {
            cycles: median(&points[from..=to]),
            plateau_kib: [points[from].kib, points[to].kib],
            scatter_share: line.scatter,
            edge,
        });
    }
    found
}

/// By size, the mean of equal sizes, without what is no measurement.
fn cleaned(points: &[SizePoint]) -> Vec<SizePoint> {
    let mut all: Vec<SizePoint> = points.iter().copied().filter(|p| p.kib > 0.0 && p.cycles > 0.0).collect();
    sorting::sort_by(&mut all, |a, b| a.kib.total_cmp(&b.kib));
    let same = all.chunk_by(|a, b| a.kib.total_cmp(&b.kib).is_eq());
    same.map(|s| SizePoint {
        kib: s[0].kib,
        cycles: s.iter().map(|p| p.cycles).sum::<f64>() / s.len() as f64,
    })
    .collect()
}

fn median(points: &[SizePoint]) -> f64 {
    let mut all: Vec<f64> = points.iter().map(|p| p.cycles).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

/// A straight line through logarithms.
struct Line {
    slope: f64,
    middle: (f64, f64),
    scatter: f64,
}

impl Line {
    fn through(points: &[SizePoint]) -> Self {
        let logs: Vec<(f64, f64)> = points.iter().map(|p| (p.kib.ln(), p.cycles.ln())).collect();
        let n = logs.len().max(1) as f64;
        let middle = (logs.iter().map(|l| l.0).sum::<f64>() / n, logs.iter().map(|l| l.1).sum::<f64>() / n);
        let (xx, xy) = logs.iter().fold((0.0, 0.0), |sum, l| {
            let (x, y) = (l.0 - middle.0, l.1 - middle.1);
            (sum.0 + x * x, sum.1 + x * y)
        });
        let slope = if xx > 0.0 { xy / xx } else { 0.0 };
        let mut line = Self { slope, middle, scatter: FLOOR };
        let mut off: Vec<f64> = points.iter().map(|p| line.above(*p).abs()).collect();
        off.sort_by(f64::total_cmp);
        let deviation = off.get(off.len() / 2).copied().unwrap_or(0.0);
        line.scatter = (1.4826 * deviation).max(FLOOR);
        line
    }

    /// By how much a point lies above, as a logarithm.
    fn above(&self, point: SizePoint) -> f64 {
        point.cycles.ln() - self.middle.1 - self.slope * (point.kib.ln() - self.middle.0)
    }
}

/// Stretches of sizes over which latency hardly rises.
fn plateaus(points: &[SizePoint]) -> Vec<(usize, usize)> {
    let mut flat = vec![false; points.len()];
    for window in [REACH + 1, 2 * REACH + 1] {
        for (at, stretch) in points.windows(window).enumerate() {
            if Line::through(stretch).slope < FLAT && steady(stretch) {
                flat[at..at + window].fill(true);
            }
        }
    }
    let mut found: Vec<(usize, usize)> = Vec::new();
    for i in (0..points.len()).filter(|&i| flat[i]) {
        match found.last_mut() {
            // What follows without a jump belongs to it.
            Some(last) if last.1 + 1 == i && points[i].cycles < points[last.1].cycles * 1.08 => last.1 = i,
            _ => found.push((i, i)),
        }
    }
    found.retain(|f| f.1 + 1 >= f.0 + LEAST);
    found
}

/// Whether no step in a stretch is a jump.
fn steady(points: &[SizePoint]) -> bool {
    points.windows(2).all(|p| (p[1].cycles / p[0].cycles).ln().abs() < 0.07)
}

/// Joins plateaus between which latency hardly rises: noise had cut them.
fn join(points: &[SizePoint], plateaus: &mut Vec<(usize, usize)>) {
    let mut joined: Vec<(usize, usize)> = Vec::new();
    for &(from, to) in plateaus.iter() {
        let rises = joined.last().is_none_or(|last| {
            let tail = median(&points[last.1.saturating_sub(4).max(last.0)..=last.1]);
            median(&points[from..=(from + 4).min(to)]) > tail * RISE
        });
        match joined.last_mut() {
            Some(last) if !rises => last.1 = to,
            _ => joined.push((from, to)),
        }
    }
    *plateaus = joined;
}

/// The bracket around the end of a plateau; `end` is where the next one ends.
fn edge(
    points: &[SizePoint],
    (from, to): (usize, usize),
    end: usize,
    line: &Line,
    next: f64,
) -> Option<Edge> {
    // The end of the plateau tells best how it would go on.
    let tail = Line::through(&points[to.saturating_sub(9).max(from)..=to]);
    let line = if to - from >= 5 && tail.slope.abs() < FLAT { &tail } else { line };
    let above = |i: usize| line.above(points[i]) / line.scatter;
    let off = (from..end).find(|&i| (i..end).all(|j| above(j) > OFF))?;
    let on = (from..off).rev().find(|&i| above(i) <= ON)?;
    let rise = next / points[on].cycles;
    let (on, off) = (points[on].kib, points[off].kib);
    let confidence = if rise >= 1.25 && to + 1 >= from + LEAST {
        FindingConfidence::High
    } else {
        FindingConfidence::Medium
    };
    Some(Edge { bracket_kib: [on, off], estimate_kib: (on * off).sqrt(), rise_ratio: rise, confidence })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three levels of 64 KiB and 4096 KiB: beyond a size, a share of loads that grows misses.
    fn curve(noise: impl Fn(usize) -> f64) -> Vec<SizePoint> {
        let size = |i: usize| 1.1_f64.powi(i32::try_from(i).unwrap()) * 2.0;
        let beyond = |kib: f64, edge: f64| (1.0 - edge / kib).max(0.0).powf(0.3);
        let cycles = |kib: f64| 40.0 + 160.0 * beyond(kib, 64.0) + 250.0 * beyond(kib, 4096.0);
        (0..110).map(|i| SizePoint { kib: size(i), cycles: cycles(size(i)) * (1.0 + noise(i)) }).collect()
    }

    #[test]
    fn edges_are_brackets_around_the_size() {
        for noise in [|_| 0.0, |i: usize| 0.003 * ((i * 7919) % 13) as f64 / 6.0 - 0.003] {
            let found = levels(&curve(noise));
            assert_eq!(found.len(), 3, "{found:#?}");
            for (level, size) in found.iter().zip([64.0, 4096.0]) {
                let edge = level.edge.unwrap();
                let [on, off] = edge.bracket_kib;
                assert!(on <= size * 1.001 && size <= off && off / on < 1.3, "{edge:?}");
                assert_eq!(edge.confidence, FindingConfidence::High);
            }
            assert_eq!(found[2].edge, None);
        }
        assert!(levels(&[]).is_empty());
    }
}
