//! Lines that come without being asked for: loads that are new and hit (S 4.6).

use super::super::clusters::Clusters;
use super::super::confidence::{Finding, FindingConfidence};
use super::super::finding::PrefetchFound;
use super::super::log::{ChaseOrder, Run};
use crate::trace::numbering::number;

/// Arrays of the same number of lines that are needed.
const ARRAYS: usize = 3;

/// From cold chases in ascending order.
pub(super) fn prefetch(runs: &[Run], clusters: &Clusters, line: u64) -> Finding<PrefetchFound> {
    let cold: Vec<&Run> =
        runs.iter().filter(|r| r.cold && r.order == ChaseOrder::Stride && r.stride > 0).collect();
    let fine =
        cold.iter().filter(|r| r.step() <= line && line.is_multiple_of(r.step()) && lines(r, line) >= 8);
    let Some(run) = fine.max_by_key(|r| r.bytes()) else {
        return Finding::open("no chase was timed from its first load on")
            .next(format!("a cold chase of some KiB with s of at most {line} B, in ascending order"));
    };
    if let Some(found) = few_lines(&cold, clusters, line) {
        return found;
    }
    let missed = missed(run, clusters, line);
    let total: usize = missed.iter().map(|&m| usize::from(m)).sum();
    let at = |what: &str| format!("cold, n={} s={}: {what}", run.n, run.stride);
    // Where sets are small, what comes may be thrown out by what comes next, before it is used.
    let once = |value, what: String| {
        let mut found = Finding::new(value, FindingConfidence::Medium, what);
        found.because("unless sets are so small that a prefetch throws out its own lines");
        found.next(format!(
            "cold arrays of 1, 2, 3, … lines of {line} B of which the first and the last are loaded"
        ))
    };
    if total * 10 >= missed.len() * 8 {
        return once(PrefetchFound::None, at("every new line misses"));
    }
    if let Some(distance) = distance(&missed) {
        let what = at(&format!("one new line misses, the next {distance} hit"));
        return once(PrefetchFound::AtMiss { distance }, what);
    }
    if total * 5 > missed.len() {
        return Finding::open(at("new lines miss without a rule"))
            .next("the same run again: noise may hide it");
    }
    let (distance, why) = stream(&cold, clusters, line);
    let what = at("no cold miss after the first");
    // A few more are lines that were put out before their use, or noise; in one chase they cannot be told apart.
    let confidence =
        if total * 20 > missed.len() { FindingConfidence::Low } else { FindingConfidence::Medium };
    let mut found = Finding::new(PrefetchFound::Stream { distance }, confidence, what);
    match distance {
        Some(_) => found.because(why),
        None => {
            found.next.push(format!("cold chases with s of 2, 3, … lines of {line} B show how far ahead"));
        }
    }
    found
}

/// How many lines beyond the first come with it, if arrays of up to one line more were tried.
pub fn ahead<'r>(
    runs: &(impl Iterator<Item = &'r Run> + Clone),
    clusters: &Clusters,
    line: u64,
) -> Option<u32> {
    let mut distance = 0;
    while last_hits(runs.clone(), clusters, line, (u64::from(distance) + 1, 2))? {
        distance += 1;
    }
    Some(distance)
}

/// Whether the last of so many loads, each so many lines on, hits in an empty cache; none if too few tell.
fn last_hits<'r>(
    runs: impl Iterator<Item = &'r Run>,
    clusters: &Clusters,
    line: u64,
    (lines, loads): (u64, usize),
) -> Option<bool> {
    let most = (lines * (loads as u64 - 1) + 1) * line;
    let ends = |r: &&Run| {
        let up = r.cold && r.order == ChaseOrder::Stride && r.stride > 0;
        up && r.step() == lines * line && r.loads.len() == loads && r.bytes() <= most
    };
    let last = |r: &Run| r.loads.last().and_then(|l| clusters.missed(l.latency));
    let votes: Vec<bool> = runs.filter(ends).filter_map(last).collect();
    let hits = votes.iter().filter(|missed| !**missed).count();
    (votes.len() >= ARRAYS).then_some(hits * 2 > votes.len())
}

/// From arrays of a few lines of which only the first and the last are loaded, of several times each: the last
/// line that a prefetch brings is not thrown out by others of it, however small sets are.
fn few_lines(cold: &[&Run], clusters: &Clusters, line: u64) -> Option<Finding<PrefetchFound>> {
    let distance = ahead(&cold.iter().copied(), clusters, line)?;
    let why = |what: String| format!("cold, arrays of which the first and the last line are loaded: {what}");
    if distance == 0 {
        let what = why("two lines miss both".to_owned());
        return Some(Finding::new(PrefetchFound::None, FindingConfidence::High, what));
    }
    let first = why(format!("the last of up to {} lines hits", distance + 1));
    let (value, then) = if last_hits(cold.iter().copied(), clusters, line, (distance.into(), 3))? {
        (
            PrefetchFound::Stream { distance: Some(distance) },
            "use of a line that came so brings as many again",
        )
    } else {
        (PrefetchFound::AtMiss { distance }, "use of a line that came so brings no more")
    };
    let mut found = Finding::new(value, FindingConfidence::High, first);
    found.because(then);
    Some(found)
}

/// How far ahead: the largest stride in lines at which new lines still hit.
fn stream(cold: &[&Run], clusters: &Clusters, line: u64) -> (Option<u32>, String) {
    let mut all: Vec<(u64, bool)> = cold
        .iter()
        .filter(|r| r.step() % line == 0 && r.loads.len() >= 8)
        .map(|r| {
            let level = |l: &&super::super::log::Load| clusters.missed(l.latency) == Some(true);
            (r.step() / line, r.loads.iter().filter(level).count() * 2 > r.loads.len())
        })
        .collect();
    all.sort_unstable();
    let misses = all.iter().find(|a| a.1).map(|a| a.0);
    let hits = all.iter().filter(|a| !a.1 && misses.is_none_or(|m| a.0 < m)).map(|a| a.0).max().unwrap_or(1);
    let distance = misses.filter(|m| *m == hits + 1).and_then(|_| u32::try_from(hits).ok());
    (distance, format!("strides of up to {hits} lines hit, {} lines miss", hits + 1))
}

fn lines(run: &Run, line: u64) -> u64 {
    run.bytes().div_ceil(line)
}

/// Whether the first load of each line missed, in their order.
fn missed(run: &Run, clusters: &Clusters, line: u64) -> Vec<bool> {
    let of = |index: u32| u64::from(index) * u64::from(run.element) / line;
    let mut seen: Vec<bool> = Vec::new();
    let mut last = None;
    for load in &run.loads {
        let line = of(load.index);
        // A second round is warm.
        if last.is_some_and(|l| line < l) {
            break;
        }
        if last != Some(line) {
            // A latency that says nothing is taken for what is more likely to hide a rule least.
            seen.push(clusters.missed(load.latency).unwrap_or(false));
        }
        last = Some(line);
    }
    seen
}

/// Lines that hit between two that miss, if they are mostly as many. Where a prefetched line was put out
/// before its use, the rule begins anew.
fn distance(missed: &[bool]) -> Option<u32> {
    let places: Vec<usize> = missed.iter().enumerate().filter(|m| *m.1).map(|m| m.0).collect();
    let mut gaps: Vec<usize> = places.windows(2).map(|p| p[1] - p[0]).collect();
    gaps.sort_unstable();
    let middle = gaps.get(gaps.len() / 2).copied().filter(|&m| m > 1)?;
    let same = gaps.iter().filter(|&&g| g == middle).count();
    let enough = gaps.len() >= 6 && gaps.len() * middle * 2 >= missed.len();
    (same * 4 >= gaps.len() * 3 && enough).then(|| number(middle - 1))
}
