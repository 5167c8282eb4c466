//! Runs of lines that miss and that hit, where a log has too little for more (S stages 2-1 and 2-2).

use super::super::clusters::Clusters;
use super::super::log::Run;
use super::super::marks::Marks;

use crate::sorting;

/// Lines of a run in a set, and sets.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pattern {
    pub(super) run: u32,
    pub(super) sets: u32,
    /// What it rests on.
    pub(super) why: String,
}

/// Stretches of lines that miss or hit, in an array that is a little too large.
struct Stretches {
    n: u64,
    stride: i64,
    /// Whether each misses and how long it is; the first and the last may go on beyond the log.
    all: Vec<(bool, u32)>,
}

/// What the smallest arrays that miss show, loaded a line at a time.
pub(super) fn pattern(runs: &[Run], clusters: &Clusters, bytes: u64) -> Option<Pattern> {
    let wanted = runs.iter().filter(|r| r.is_warm_stride() && r.step() == bytes);
    let mut found: Vec<Stretches> = wanted.filter_map(|r| stretches(r, clusters, bytes)).collect();
    sorting::sort_by_key(&mut found, |s| s.n);
    let first = found.first()?;
    let hits = inner(first, false)?;
    // Complete stretches of misses; or by how much those of hits shrink as another set joins.
    let shrunk = found.iter().skip(1).filter_map(|s| inner(s, false)).find(|h| *h < hits).map(|h| hits - h);
    let seen = first.all.iter().find(|s| s.0).map(|s| s.1);
    let run = inner(first, true).or(shrunk).or(seen)?;
    let period = hits + run;
    let why = format!(
        "n={} s={}: {run} misses, then {hits} hits: {period} lines until it begins again",
        first.n, first.stride
    );
    (run > 0 && period % run == 0).then(|| Pattern { run, sets: period / run, why })
}

/// The length of stretches that have both ends, if all have the same.
fn inner(stretches: &Stretches, missed: bool) -> Option<u32> {
    let all = &stretches.all;
    let mut lengths = all.iter().enumerate().filter(|(i, s)| *i > 0 && i + 1 < all.len() && s.0 == missed);
    let first = lengths.next()?.1.1;
    lengths.all(|s| s.1.1 == first).then_some(first)
}

fn stretches(run: &Run, clusters: &Clusters, bytes: u64) -> Option<Stretches> {
    let marks = Marks::new(run, clusters, bytes / u64::from(run.element).max(1));
    let mut all: Vec<(bool, u32)> = Vec::new();
    for place in marks.places.iter().skip_while(|p| p.0 == 0) {
        if place.0 == 0 {
            break;
        }
        let missed = place.1 * 2 > place.0;
        match all.last_mut() {
            Some(last) if last.0 == missed => last.1 += 1,
            _ => all.push((missed, 1)),
        }
    }
    let both = all.iter().any(|s| s.0) && all.iter().any(|s| !s.0);
    both.then_some(Stretches { n: run.n, stride: run.stride, all })
}
