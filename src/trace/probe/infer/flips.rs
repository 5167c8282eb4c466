//! Which lines begin to miss together as the array grows (S stage 2): they are a set.

use std::collections::BTreeMap;

use super::super::clusters::Clusters;
use super::super::log::Run;
use super::super::marks::Marks;

/// Lines that began to miss with the same array.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Class {
    /// Lines that were there before and fitted.
    pub(super) old: Vec<u64>,
    /// Lines of the array that are new with it.
    pub(super) fresh: std::ops::Range<u64>,
}

/// All sets that overflowed.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Flips {
    /// In the order in which they did.
    pub(super) classes: Vec<Class>,
    /// Lines of the largest array that fits, if there is one right before the first that does not.
    pub(super) fitting: Option<u64>,
    /// Lines that fit in the largest array.
    pub(super) steady: Vec<u64>,
    /// Lines of the largest array.
    pub(super) lines: u64,
    /// Whether every array has one line more than the one before.
    pub(super) single_steps: bool,
    /// By how much the least certain line is certain: a natural logarithm of likelihoods.
    pub(super) margin: f64,
    /// Share of loads that miss, of lines in sets that overflowed.
    pub(super) missing: f64,
    /// Rounds of the shortest run.
    pub(super) rounds: u32,
    /// Whether all lines of all arrays were looked at.
    pub(super) whole: bool,
    /// Arrays after the one with which the last set overflowed.
    pub(super) tail: usize,
}

impl Flips {
    /// Most lines side by side that began to miss together.
    pub(super) fn longest(&self) -> usize {
        let sets = self.classes.iter().flat_map(|c| c.old.chunk_by(|a, b| a + 1 == *b));
        sets.map(<[u64]>::len).max().unwrap_or(0)
    }
}

/// Rounds and misses of each line in an array of so many lines.
struct Step {
    lines: u64,
    places: Vec<(f64, f64)>,
}

/// Follows the lines of `bytes` each through growing arrays.
pub(super) fn flips(runs: &[Run], clusters: &Clusters, noise: f64, bytes: u64, fits: Option<u64>) -> Flips {
    let steps = steps(runs, clusters, bytes, fits);
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else { return Flips::default() };
    let fitting = fits.map(|f| f.div_ceil(bytes)).filter(|&f| f < first.lines);
    let starts: Vec<u64> = fitting
        .or(first.lines.checked_sub(1))
        .into_iter()
        .chain(steps.iter().map(|s| s.lines))
        .collect();
    let mut found = Flips {
        fitting,
        lines: last.lines,
        single_steps: fitting.is_some() && starts.windows(2).all(|s| s[0] + 1 == s[1]),
        margin: f64::INFINITY,
        rounds: u32::MAX,
        whole: true,
        ..Flips::default()
    };
    let mut by_step: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    let (mut loads, mut misses) = (0.0, 0.0);
    for line in 0..last.lines {
        let seen: Vec<(usize, f64, f64)> = steps
            .iter()
            .enumerate()
            .filter_map(|(k, s)| {
                let &(v, m) = s.places.get(usize::try_from(line).ok()?)?;
                (v > 0.0).then_some((k, v, m))
            })
            .collect();
        found.whole &= !seen.is_empty();
        let Some(change) = change(&seen, noise) else { continue };
        found.margin = found.margin.min(change.margin);
        match change.at {
            Some(at) => {
                by_step.entry(seen[at].0).or_default().push(line);
                loads += seen[at..].iter().map(|s| s.1).sum::<f64>();
                misses += seen[at..].iter().map(|s| s.2).sum::<f64>();
            }
            None => found.steady.push(line),
        }
    }
    for step in &steps {
        let rounds = step.places.iter().map(|p| p.0).fold(0.0, f64::max);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of rounds")]
        let rounds = rounds as u32;
        found.rounds = found.rounds.min(rounds);
    }
    found.missing = if loads > 0.0 { misses / loads } else { 0.0 };
    for (step, lines) in by_step {
        let before = lines.iter().any(|&l| l < starts[step]);
        if before {
            found.tail = steps.len() - 1 - step;
        }
        let fresh = starts[step]..starts[step + 1];
        let old: Vec<u64> = lines.into_iter().filter(|l| *l < fresh.start).collect();
        if !old.is_empty() {
            found.classes.push(Class { old, fresh });
        }
    }
    found
}

/// Warm chases that do not step over lines, by lines of the array; of arrays of the same size, all.
fn steps(runs: &[Run], clusters: &Clusters, bytes: u64, fits: Option<u64>) -> Vec<Step> {
    let mut by_lines: BTreeMap<u64, Step> = BTreeMap::new();
    let wanted = runs.iter().filter(|r| {
        r.is_warm_stride() && r.step() <= bytes && bytes % r.step() == 0 && fits.is_none_or(|f| r.bytes() > f)
    });
    for run in wanted {
        let lines = run.bytes().div_ceil(bytes);
        let marks = Marks::of(run, clusters, bytes / u64::from(run.element));
        // Only the first load of a line in a round can miss.
        let share = run.step() as f64 / bytes as f64;
        let step = by_lines.entry(lines).or_insert_with(|| Step { lines, places: Vec::new() });
        step.places.resize(step.places.len().max(marks.places.len()), (0.0, 0.0));
        for (place, counts) in step.places.iter_mut().zip(&marks.places) {
            place.0 += f64::from(counts.0) * share;
            place.1 += f64::from(counts.1);
        }
    }
    by_lines.into_values().collect()
}

/// Where a line begins to miss.
struct Change {
    at: Option<usize>,
    margin: f64,
}

/// The most likely step from which on a line misses with some probability, before it only by noise; none
/// if it never does.
fn change(seen: &[(usize, f64, f64)], noise: f64) -> Option<Change> {
    if seen.is_empty() {
        return None;
    }
    let likelihood = |v: f64, m: f64, p: f64| {
        let m = m.min(v);
        m * p.ln() + (v - m) * (1.0 - p).ln()
    };
    // Sums over the end of the series, from each step on.
    let mut after = vec![(0.0, 0.0); seen.len() + 1];
    for (i, s) in seen.iter().enumerate().rev() {
        after[i] = (after[i + 1].0 + s.1, after[i + 1].1 + s.2);
    }
    let (all_v, all_m) = after[0];
    let mut scores: Vec<f64> = Vec::with_capacity(seen.len() + 1);
    for &(v, m) in &after {
        let p = if v > 0.0 { (m / v).clamp((5.0 * noise).max(0.01), 0.98) } else { 0.5 };
        scores.push(likelihood(all_v - v, all_m - m, noise) + likelihood(v, m, p));
    }
    let best = (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b]))?;
    let others = scores.iter().enumerate().filter(|s| s.0 != best).map(|s| *s.1);
    let margin = scores[best] - others.fold(f64::NEG_INFINITY, f64::max);
    Some(Change { at: (best < seen.len()).then_some(best), margin })
}
