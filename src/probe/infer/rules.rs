//! Rules from lines to sets that explain most of what was seen, where no rule explains all: some lines of a set
//! may begin to miss later than others, if a prefetch brings them back, or if they seldom give way.

use super::super::finding::MappingFound;
use super::super::gf2::Basis;
use super::flips::{Flips, Sight, likelihood};

use crate::sorting;

/// Lines side by side in a set that are tried.
const RUNS: [u32; 9] = [2, 3, 4, 6, 8, 12, 16, 24, 32];
/// Most sets that are tried.
const MOST_SETS: u32 = 256;
/// Share of the lines of a group that must have the parity of the others.
const AGREE: f64 = 0.9;
/// Lines up to which all parities are tried.
const FEW: u64 = 64;
/// Line bits of hashes that are looked for.
const BITS: u32 = 11;

/// Lines beyond which rules are not tried.
const MOST_LINES: u64 = 4096;
/// Share of what the lines tell that a rule may leave unexplained, and what in any case: a natural logarithm.
const UNEXPLAINED: (f64, f64) = (0.002, 25.0);
/// The same where a prefetch hides misses.
const HIDDEN: (f64, f64) = (0.004, 40.0);
/// A rule, and how well it does.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ruled {
    pub(super) rule: MappingFound,
    /// Lines of each set.
    pub(super) ways: Vec<u32>,
    /// By how much less likely it is than that each line has an array of its own with which it begins; natural
    /// logarithm.
    pub(super) loss: f64,
}

/// What it costs to say with which array a line begins to miss.
struct Line {
    /// For each array, and for none at all.
    scores: Vec<f64>,
    best: f64,
}

impl Line {
    fn followed(seen: &[Sight], steps: usize, noise: f64, least: f64) -> Self {
        let mut scores = vec![0.0; steps + 1];
        let mut before: f64 = seen.iter().map(|s| likelihood(s, noise)).sum();
        let mut after = Sight { step: 0, loads: 0.0, misses: 0.0 };
        let mut sights = seen.iter().rev().peekable();
        for (step, score) in scores.iter_mut().enumerate().rev() {
            while let Some(s) = sights.next_if(|s| s.step >= step) {
                before -= likelihood(s, noise);
                (after.loads, after.misses) = (after.loads + s.loads, after.misses + s.misses);
            }
            let share = if after.loads > 0.0 { (after.misses / after.loads).clamp(least, 0.98) } else { 0.5 };
            *score = before + likelihood(&after, share);
        }
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { scores, best }
    }

    fn at(&self, step: usize) -> f64 {
        self.scores[step]
    }
}

/// The likeliest rule (`plain` without a prefetch) under which every set begins to miss with a line of its own, and by how much it is likelier
/// than the next; none if there is none that explains nearly all.
pub(super) fn likeliest(flips: &Flips, noise: f64, plain: bool) -> Option<(Ruled, f64)> {
    let steps = flips.starts.len().checked_sub(1).filter(|&s| s > 0)?;
    if !flips.whole || !flips.single_steps || flips.lines > MOST_LINES {
        return None;
    }
    let least = (5.0 * noise).max(0.01);
    let lines: Vec<Line> = flips.seen.iter().map(|s| Line::followed(s, steps, noise, least)).collect();
    let explained: f64 = lines.iter().map(|l| l.best - l.at(steps)).sum();
    let (share, least) = if plain { UNEXPLAINED } else { HIDDEN };
    let limit = (explained * share).max(least);
    let most = u32::try_from(flips.lines / 2).unwrap_or(u32::MAX).min(MOST_SETS);
    let bits = (2..=most).map(|sets| MappingFound::Bits { sets });
    let runs = RUNS.iter().flat_map(|&run| (2..=most).map(move |sets| MappingFound::Spatial { run, sets }));
    let all = std::iter::once(MappingFound::Single).chain(bits).chain(runs).chain(hashes(flips));
    let mut found: Vec<Ruled> = all.filter_map(|rule| ruled(rule, flips, &lines, limit)).collect();
    // The simplest of rules that are the same.
    sorting::sort_by(&mut found, |a, b| a.loss.total_cmp(&b.loss));
    let mut found = found.into_iter();
    let mut best = found.next()?;
    let other = found.find(|f| (0..flips.lines).any(|l| f.rule.set(l) != best.rule.set(l)));
    let margin = other.map_or(limit, |o| o.loss) - best.loss;
    let margin = margin.min(settle(&mut best, flips, noise));
    Some((best, margin))
}

/// Lines of each set of a rule.
fn members(rule: &MappingFound, lines: u64) -> Option<Vec<Vec<u64>>> {
    let mut sets: Vec<Vec<u64>> = Vec::new();
    for line in 0..lines {
        let set = rule.set(line)? as usize;
        sets.resize(sets.len().max(set + 1), Vec::new());
        sets[set].push(line);
    }
    Some(sets)
}

/// A rule with the arrays that its sets most likely began to miss with, if no more than `limit` is lost by it.
fn ruled(rule: MappingFound, flips: &Flips, lines: &[Line], limit: f64) -> Option<Ruled> {
    let line = |l: &u64| usize::try_from(*l).ok().and_then(|l| lines.get(l));
    let mut loss = 0.0;
    let mut ways = Vec::new();
    for all in &members(&rule, flips.lines)? {
        let best: f64 = all.iter().filter_map(line).map(|l| l.best).sum();
        let score = |begin: &(usize, usize)| all.iter().filter_map(line).map(|l| l.at(begin.0)).sum::<f64>();
        let begins = begins(all, flips).into_iter().map(|b| (score(&b), b.1));
        let (score, old) = begins.max_by(|a, b| a.0.total_cmp(&b.0))?;
        loss += best - score;
        if loss > limit {
            return None;
        }
        ways.push(u32::try_from(old).ok()?);
    }
    Some(Ruled { rule, ways, loss })
}

/// Arrays with which a set can overflow, because only a line of its own makes it, and its lines before.
fn begins(all: &[u64], flips: &Flips) -> Vec<(usize, usize)> {
    let begin = |(old, fresh): (usize, &u64)| {
        let step = flips.starts.partition_point(|s| s <= fresh).checked_sub(1)?;
        (old > 0).then_some((step, old))
    };
    all.iter().enumerate().filter_map(begin).collect()
}

/// Lets each set begin with the array from which on all its lines together most likely miss: in the first arrays
/// that are too large each of them misses seldom. By how much the least certain is likelier than any other.
fn settle(found: &mut Ruled, flips: &Flips, noise: f64) -> f64 {
    let mut least = f64::INFINITY;
    let Some(sets) = members(&found.rule, flips.lines) else { return 0.0 };
    for (ways, all) in found.ways.iter_mut().zip(&sets) {
        let places: Vec<usize> = all.iter().filter_map(|&l| usize::try_from(l).ok()).collect();
        let begins = begins(all, flips);
        let (Some(first), Some(last)) = (begins.first(), begins.last()) else { continue };
        let sums = sums(&flips.seen, &places, first.0..last.0);
        // What an array tells if the set is too full in it.
        let tells = |s: &Sight| {
            // Noise is not known so well that a little more of it in many loads says anything.
            let share = (s.misses / s.loads.max(1.0)).clamp(3.0 * noise, 0.98);
            likelihood(s, share) - likelihood(s, noise)
        };
        let from = |step: usize| sums.iter().filter(|s| s.step >= step).map(tells).sum::<f64>();
        let mut scores: Vec<(f64, usize)> = begins.iter().map(|b| (from(b.0), b.1)).collect();
        sorting::sort_by(&mut scores, |a, b| b.0.total_cmp(&a.0));
        if let Some(old) = scores.first().and_then(|s| u32::try_from(s.1).ok()) {
            *ways = old;
        }
        if let [one, other, ..] = scores.as_slice() {
            least = least.min(one.0 - other.0);
        }
    }
    least
}

/// Loads and misses of lines together in each array of a range.
fn sums(seen: &[Vec<Sight>], lines: &[usize], range: std::ops::Range<usize>) -> Vec<Sight> {
    let from = range.start;
    let mut sums: Vec<Sight> = range.map(|step| Sight { step, loads: 0.0, misses: 0.0 }).collect();
    for sight in lines.iter().filter_map(|&l| seen.get(l)).flatten() {
        if let Some(sum) = sight.step.checked_sub(from).and_then(|at| sums.get_mut(at)) {
            (sum.loads, sum.misses) = (sum.loads + sight.loads, sum.misses + sight.misses);
        }
    }
    sums
}

/// Parities that most lines of each group share with the others.
fn hashes(flips: &Flips) -> Vec<MappingFound> {
    let bits = (64 - flips.lines.leading_zeros()).min(BITS);
    let groups: Vec<&[u64]> =
        flips.classes.iter().map(|c| c.old.as_slice()).filter(|o| o.len() > 1).collect();
    let total: usize = groups.iter().map(|g| g.len()).sum();
    let agree = |mask: u64| {
        let odd = |g: &&[u64]| g.iter().filter(|l| (*l & mask).count_ones() & 1 == 1).count();
        let same: usize = groups.iter().map(|g| odd(g).max(g.len() - odd(g))).sum();
        same as f64 / total.max(1) as f64
    };
    let mut masks: Vec<(f64, u64)> =
        (1..1_u64 << bits).map(|m| (agree(m), m)).filter(|m| m.0 >= AGREE).collect();
    sorting::sort_by(&mut masks, |a, b| b.0.total_cmp(&a.0));
    let mut basis = Basis::default();
    // With sets of one or two lines groups say nothing.
    let mut found: Vec<MappingFound> = if flips.lines <= FEW {
        (1..1_u64 << bits).map(|mask| MappingFound::Xor { masks: vec![mask], bits }).collect()
    } else {
        Vec::new()
    };
    for (_, mask) in masks {
        let rank = basis.rows().len();
        basis.add(mask);
        if basis.rows().len() > rank && rank < 8 {
            found.push(MappingFound::Xor { masks: basis.rows().to_vec(), bits });
        }
    }
    found
}
