//! Which lines begin to miss together as the array grows (S stage 2): they are a set.

use std::collections::BTreeMap;

use super::super::clusters::Clusters;
use super::super::log::Run;
use super::super::marks::Marks;

use crate::sorting;

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
    /// Share of loads that miss, of lines in sets that have just overflowed.
    pub(super) missing: f64,
    /// Rounds of the shortest run.
    pub(super) rounds: u32,
    /// Whether all lines of all arrays were looked at.
    pub(super) whole: bool,
    /// Arrays after the one with which the last set overflowed.
    pub(super) tail: usize,
    /// What was seen of each line.
    pub(super) seen: Vec<Vec<Sight>>,
    /// Lines before the first array, and of each.
    pub(super) starts: Vec<u64>,
}

impl Flips {
    /// Most lines side by side that began to miss together.
    pub(super) fn longest(&self) -> usize {
        let sets = self.classes.iter().flat_map(|c| c.old.chunk_by(|a, b| a + 1 == *b));
        sets.map(<[u64]>::len).max().unwrap_or(0)
    }
}

impl Flips {
    /// Loads of the line that is alone in its set and was loaded least, from where it misses on.
    pub(super) fn least_alone(&self) -> f64 {
        let loads = |class: &Class| {
            let [line] = class.old.as_slice() else { return f64::INFINITY };
            let step = self.starts.partition_point(|s| *s <= class.fresh.start).saturating_sub(1);
            let seen = usize::try_from(*line).ok().and_then(|l| self.seen.get(l));
            seen.into_iter().flatten().filter(|s| s.step >= step).map(|s| s.loads).sum()
        };
        self.classes.iter().map(loads).fold(f64::INFINITY, f64::min)
    }
}

/// Rounds and misses of each line in an array of so many lines.
struct Step {
    lines: u64,
    places: Vec<(f64, f64)>,
}

/// Follows the lines of so many bytes, of which a miss brings a sector, through growing arrays.
pub(super) fn flips(
    runs: &[Run],
    clusters: &Clusters,
    noise: f64,
    (bytes, sector): (u64, u64),
    fits: Option<u64>,
) -> Flips {
    let steps = steps(runs, clusters, (bytes, sector), fits);
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else { return Flips::default() };
    let fitting = fits.map(|f| f.div_ceil(bytes)).filter(|&f| f < first.lines);
    let starts: Vec<u64> =
        fitting.or(first.lines.checked_sub(1)).into_iter().chain(steps.iter().map(|s| s.lines)).collect();
    let mut found = Flips {
        fitting,
        lines: last.lines,
        single_steps: fitting.is_some() && starts.windows(2).all(|s| s[0] + 1 == s[1]),
        margin: f64::INFINITY,
        rounds: u32::MAX,
        whole: true,
        ..Flips::default()
    };
    let seen = by_line(&steps, last.lines);
    found.whole = seen.iter().all(|s| !s.is_empty());
    let changes = changes(&seen, noise, steps.len());
    let mut by_step: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for ((line, _), change) in (0..).zip(&seen).zip(&changes) {
        let Some(change) = change else { continue };
        found.margin = found.margin.min(change.margin);
        let Some(at) = change.at else {
            found.steady.push(line);
            continue;
        };
        by_step.entry(at).or_default().push(line);
    }
    for step in &steps {
        let rounds = step.places.iter().map(|p| p.0).fold(0.0, f64::max);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of rounds")]
        let rounds = rounds as u32;
        found.rounds = found.rounds.min(rounds);
    }
    found.missing = missing(&seen, &by_step, &starts);
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
    (found.seen, found.starts) = (seen, starts);
    found
}

/// How often lines miss in the array with which their set overflowed: later, sets have so many lines that any
/// policy misses. Sets of one line have no choice, and count only if there are no others.
fn missing(seen: &[Vec<Sight>], by_step: &BTreeMap<usize, Vec<u64>>, starts: &[u64]) -> f64 {
    let share = |least: usize| {
        let mut sum = (0.0, 0.0);
        for (&step, lines) in by_step {
            let old: Vec<u64> = lines.iter().copied().filter(|l| *l < starts[step]).collect();
            let lines = old.iter().filter(|_| old.len() >= least).filter_map(|&l| usize::try_from(l).ok());
            let sights = lines.filter_map(|l| seen.get(l)).flatten().filter(|s| s.step == step);
            sum = sights.fold(sum, |sum, s| (sum.0 + s.loads, sum.1 + s.misses));
        }
        (sum.0 > 0.0).then(|| sum.1 / sum.0)
    };
    share(2).or_else(|| share(1)).unwrap_or(0.0)
}

/// Warm chases that do not step over lines, by lines of the array; of arrays of the same size, all.
fn steps(runs: &[Run], clusters: &Clusters, (bytes, sector): (u64, u64), fits: Option<u64>) -> Vec<Step> {
    let mut by_lines: BTreeMap<u64, Step> = BTreeMap::new();
    let wanted = runs.iter().filter(|r| {
        r.is_warm_stride()
            && r.step() <= bytes
            && bytes.is_multiple_of(r.step())
            && fits.is_none_or(|f| r.bytes() > f)
    });
    for run in wanted {
        let lines = run.bytes().div_ceil(bytes);
        let marks = Marks::new(run, clusters, bytes / u64::from(run.element));
        // Only the first load of a sector in a round can miss, and all sectors of a line do together.
        let share = run.step() as f64 / bytes as f64;
        let missing = run.step().max(sector) as f64 / bytes as f64;
        let step = by_lines.entry(lines).or_insert_with(|| Step { lines, places: Vec::new() });
        step.places.resize(step.places.len().max(marks.places.len()), (0.0, 0.0));
        for (place, counts) in step.places.iter_mut().zip(&marks.places) {
            place.0 += f64::from(counts.0) * share;
            place.1 += f64::from(counts.1) * missing;
        }
    }
    by_lines.into_values().collect()
}

/// A line in an array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sight {
    /// The number of the array.
    pub(super) step: usize,
    pub(super) loads: f64,
    pub(super) misses: f64,
}

/// What was seen of each line.
fn by_line(steps: &[Step], lines: u64) -> Vec<Vec<Sight>> {
    let sight = |line: usize, (step, s): (usize, &Step)| {
        let &(loads, misses) = s.places.get(line)?;
        (loads > 0.0).then_some(Sight { step, loads, misses: misses.min(loads) })
    };
    let lines = usize::try_from(lines).unwrap_or(0);
    (0..lines).map(|l| steps.iter().enumerate().filter_map(|s| sight(l, s)).collect()).collect()
}

/// Where a line begins to miss.
#[derive(Debug, Clone, Copy)]
struct Change {
    at: Option<usize>,
    margin: f64,
}

/// How often lines are moved to the set that they fit best.
const ROUNDS: usize = 4;
/// Loads that the share of all sets weighs against those of one.
const WEIGHT: f64 = 2.0;
/// By how much lines must be likelier to have begun earlier: a natural logarithm.
const CLEARLY: f64 = 4.0;
/// Arrays beyond those with which any of them begins that are looked at.
const BEYOND: usize = 48;
/// Sets that began before a line came, of which those that it may have joined are tried.
const MOST_BEFORE: usize = 24;
/// Neighbouring sets among which a line is moved.
const NEAR: usize = 8;

/// The logarithm of the likelihood of so many misses.
pub(super) fn likelihood(seen: &Sight, share: f64) -> f64 {
    seen.misses * share.ln() + (seen.loads - seen.misses) * (1.0 - share).ln()
}

/// Finds for each line with which array it began to miss: first each line by itself, then all lines that
/// began together share how often they miss in each array, as lines of a set do.
fn changes(seen: &[Vec<Sight>], noise: f64, steps: usize) -> Vec<Option<Change>> {
    let least = (5.0 * noise).max(0.01);
    let mut changes: Vec<Option<Change>> = seen.iter().map(|s| alone(s, noise, least)).collect();
    for _ in 0..ROUNDS {
        together(seen, &mut changes, noise, least);
        let sets = Sets::counted(seen, &changes, steps);
        let starts: Vec<usize> = sets.sums.keys().copied().collect();
        for (seen, change) in seen.iter().zip(&mut changes) {
            let (Some(known), Some(first)) = (change.as_mut(), seen.first()) else { continue };
            let place = known.at.map_or(starts.len(), |at| starts.partition_point(|&s| s < at));
            let from = place.saturating_sub(NEAR).min(starts.len().saturating_sub(2 * NEAR + 1));
            let near = starts.iter().skip(from).take(2 * NEAR + 1);
            // Long after all of these have begun, no array tells them apart.
            let last = near.clone().next_back().copied().unwrap_or(0).max(first.step) + BEYOND;
            let seen = &seen[..seen.partition_point(|s| s.step <= last)];
            let never: f64 = seen.iter().map(|s| likelihood(s, noise)).sum();
            let score = |start: usize| sets.score(start, seen, known.at, noise, least);
            let mut scores: Vec<(f64, Option<usize>)> = vec![(never, None)];
            scores.extend(near.filter(|n| **n > first.step).map(|&n| (score(n), Some(n))));
            // A line that was not there before joined the set that began with it, or any before.
            let before = starts.partition_point(|n| *n < first.step);
            let before = starts.iter().take(before).skip(before.saturating_sub(MOST_BEFORE)).copied();
            let joined = before.chain([first.step]).map(score).fold(f64::NEG_INFINITY, f64::max);
            scores.push((joined, Some(first.step)));
            sorting::sort_by(&mut scores, |a, b| b.0.total_cmp(&a.0));
            if let [best, second, ..] = scores.as_slice() {
                *known = Change { at: best.1, margin: best.0 - second.0 };
            }
        }
    }
    changes
}

/// Lets all lines that began together begin earlier, if together they miss before: each by itself may miss too
/// seldom to tell.
fn together(seen: &[Vec<Sight>], changes: &mut [Option<Change>], noise: f64, least: f64) {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (line, change) in changes.iter().enumerate() {
        if let Some(at) = change.and_then(|c| c.at)
            && seen[line].first().is_some_and(|s| s.step < at)
        {
            groups.entry(at).or_default().push(line);
        }
    }
    let mut before = 0;
    for (&start, lines) in &groups {
        if let Some(earlier) = earlier(seen, lines, before..start, noise, least) {
            for &line in lines {
                let known = seen[line].first().is_some_and(|s| s.step < earlier.max(1));
                if let Some(change) = changes[line].as_mut().filter(|_| known) {
                    change.at = Some(earlier);
                }
            }
        }
        before = start + 1;
    }
}

/// The array of a range with which lines that are thought to begin after it most likely began.
fn earlier(
    seen: &[Vec<Sight>],
    lines: &[usize],
    range: std::ops::Range<usize>,
    noise: f64,
    least: f64,
) -> Option<usize> {
    let (mut gain, mut best) = (0.0, (CLEARLY, None));
    // Misses of each line from the step on.
    let mut misses = vec![0.0_f64; lines.len()];
    for step in range.rev() {
        let mut sum = Sight { step, loads: 0.0, misses: 0.0 };
        for (&line, misses) in lines.iter().zip(&mut misses) {
            let sights = &seen[line];
            if let Ok(at) = sights.binary_search_by_key(&step, |s| s.step) {
                let s = &sights[at];
                (sum.loads, sum.misses) = (sum.loads + s.loads, sum.misses + s.misses);
                *misses += s.misses;
            }
        }
        if sum.loads > 0.0 {
            let share = (sum.misses / sum.loads).clamp(least.min(2.0 * noise), 0.98);
            gain += likelihood(&sum, share) - likelihood(&sum, noise);
        }
        // A single line that began earlier belongs to other lines.
        let total: f64 = misses.iter().sum();
        let most = misses.iter().copied().fold(0.0, f64::max);
        if gain > best.0 && (most * 2.0 <= total || lines.len() == 1) {
            best = (gain, Some(step));
        }
    }
    best.1
}

/// Loads and misses of lines that began together, in the array with which they did and in each after it.
struct Sets {
    sums: BTreeMap<usize, Vec<(f64, f64)>>,
    /// The share of misses of all of them.
    share: f64,
}

impl Sets {
    fn counted(seen: &[Vec<Sight>], changes: &[Option<Change>], steps: usize) -> Self {
        let mut sums: BTreeMap<usize, Vec<(f64, f64)>> = BTreeMap::new();
        let mut total = (1.0, 0.5);
        for (seen, change) in seen.iter().zip(changes) {
            let Some(at) = change.and_then(|c| c.at) else { continue };
            let sums = sums.entry(at).or_insert_with(|| vec![(0.0, 0.0); steps - at]);
            for s in seen.iter().filter(|s| s.step >= at) {
                let sum = &mut sums[s.step - at];
                *sum = (sum.0 + s.loads, sum.1 + s.misses);
                total = (total.0 + s.loads, total.1 + s.misses);
            }
        }
        Self { sums, share: total.1 / total.0 }
    }

    /// The likelihood that a line misses from `start` on, as the others do that began then. `own` is where it
    /// is counted now: a line says nothing for itself.
    fn score(&self, start: usize, seen: &[Sight], own: Option<usize>, noise: f64, least: f64) -> f64 {
        let sums = self.sums.get(&start);
        let share = |s: &Sight| {
            let Some(at) = s.step.checked_sub(start) else { return noise };
            let sum = sums.map_or((0.0, 0.0), |sums| sums[at]);
            let mine = if own == Some(start) { (s.loads, s.misses) } else { (0.0, 0.0) };
            let (loads, misses) = (sum.0 - mine.0 + WEIGHT, sum.1 - mine.1 + WEIGHT * self.share);
            (misses / loads).clamp(least, 0.98)
        };
        seen.iter().map(|s| likelihood(s, share(s))).sum()
    }
}

/// The most likely array from which on a line misses with some share, before it only by noise; none if it
/// never does.
fn alone(seen: &[Sight], noise: f64, least: f64) -> Option<Change> {
    if seen.is_empty() {
        return None;
    }
    let all = seen.iter().fold((0.0, 0.0), |sum, s| (sum.0 + s.loads, sum.1 + s.misses));
    let whole =
        |(loads, misses): (f64, f64), share: f64| likelihood(&Sight { step: 0, loads, misses }, share);
    let mut best = Change { at: None, margin: 0.0 };
    let mut most = whole(all, noise);
    let mut after = (0.0, 0.0);
    for s in seen.iter().rev() {
        after = (after.0 + s.loads, after.1 + s.misses);
        let share = (after.1 / after.0).clamp(least, 0.98);
        let score = whole((all.0 - after.0, all.1 - after.1), noise) + whole(after, share);
        if score > most {
            best.margin = score - most;
            (most, best.at) = (score, Some(s.step));
        }
    }
    Some(best)
}
