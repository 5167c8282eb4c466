//! Line size: how far apart misses are (S stage 1).

use std::collections::BTreeMap;

use super::super::clusters::Clusters;
use super::super::confidence::{Finding, FindingConfidence};
use super::super::finding::FittingArrays;
use super::super::log::{ChaseOrder, Run};
use super::super::marks::{Marks, significant};

/// What one run says.
struct Hint<'r> {
    run: &'r Run,
    /// Bytes between misses.
    gap: u64,
    /// Places that miss.
    places: usize,
}

/// Bytes of a line.
pub(super) fn line(runs: &[Run], clusters: &Clusters, noise: f64, arrays: FittingArrays) -> Finding<u64> {
    if let Some(found) = from_tops(runs, clusters) {
        return found;
    }
    let mut hints: Vec<Hint> = runs.iter().filter_map(|r| hint(r, clusters, noise)).collect();
    // Upwards, a prefetch hides misses, and may put out the line that is being loaded.
    if hints.iter().any(|h| h.run.cold && h.run.stride < 0) {
        hints.retain(|h| !(h.run.cold && h.run.stride > 0));
    }
    let Some(gap) = hints.iter().map(|h| h.gap).min() else {
        let next = match arrays.overflows_bytes {
            Some(over) => format!("n={} elements of 4 bytes, s=1", over / 4),
            None => "an array larger than the cache with s=1".to_owned(),
        };
        return Finding::open("no run has misses at several places").next(next);
    };
    let fine = hints
        .iter()
        .filter(|h| h.gap == gap && h.run.step() < gap)
        .max_by_key(|h| (h.run.cold, h.run.bytes()));
    let Some(fine) = fine else {
        let mut found =
            Finding::new(gap, FindingConfidence::Low, format!("misses are {gap} B apart, as far as loads"));
        found.next.push(format!("the same array with a smaller stride than {gap} B: lines may be shorter"));
        return found;
    };
    let why = format!(
        "n={} s={}: {} places miss, {gap} B apart; the loads between them hit",
        fine.run.n, fine.run.stride, fine.places
    );
    // With one line too many, only one set misses: what is found then is the distance of its lines. With
    // `gap` bytes more another set would miss too, if lines were shorter.
    let edge = arrays.fits_bytes.or(arrays.overflows_bytes);
    let deep = edge.is_some_and(|e| fine.run.bytes() >= e.saturating_add(gap));
    // From an empty cache every line misses once, or nearly: misses here and there are noise.
    let everywhere = fine.places as u64 * gap * 5 >= fine.run.bytes() * 4;
    let backwards = fine.run.cold && fine.run.stride < 0 && everywhere;
    let crossed = hints.iter().any(|h| h.run.step() == gap && adjacent(h.run, clusters, noise));
    let confidence = if fine.run.cold && !everywhere {
        FindingConfidence::Low
    } else if deep || backwards {
        FindingConfidence::High
    } else if crossed {
        FindingConfidence::Medium
    } else {
        FindingConfidence::Low
    };
    let mut found = Finding::new(gap, confidence, why);
    if crossed {
        found.because(format!("loads {gap} B apart miss one after the other"));
    }
    if confidence != FindingConfidence::High {
        let n = (fine.run.bytes() + 2 * gap) / u64::from(fine.run.element);
        found
            .next
            .push(format!("n={n} s={}: lines further apart than they are long would show", fine.run.stride));
    }
    found
}

/// Arrays whose last lines must agree, at least.
const TOPS: usize = 5;

/// The last line of arrays that are loaded backwards from an empty cache: nothing is behind it, so that no
/// prefetch can throw it out again, and its loads hit up to the one that reaches the line before.
fn from_tops(runs: &[Run], clusters: &Clusters) -> Option<Finding<u64>> {
    let cold = runs.iter().filter(|r| r.cold && r.order == ChaseOrder::Stride && r.stride < 0);
    let mut votes: BTreeMap<u64, usize> = BTreeMap::new();
    let mut steps = 0;
    for run in cold {
        if let Some(bytes) = top(run, clusters) {
            *votes.entry(bytes).or_default() += 1;
            steps = steps.max(run.step());
        }
    }
    let all: usize = votes.values().sum();
    let (&bytes, &most) = votes.iter().max_by_key(|v| v.1)?;
    if most < TOPS || most * 3 < all * 2 || bytes <= steps {
        return None;
    }
    let why = format!("cold, backwards: in {most} of {all} arrays the last {bytes} B are loaded by one miss");
    Some(Finding::new(bytes, FindingConfidence::High, why))
}

/// Bytes between the first two misses, if the first load is the first of them.
fn top(run: &Run, clusters: &Clusters) -> Option<u64> {
    let missed = |l: &super::super::log::Load| clusters.missed(l.latency) == Some(true);
    let (first, others) = run.loads.split_first()?;
    let next = others.iter().find(|l| missed(l))?;
    let elements = u64::from(first.index.checked_sub(next.index)?);
    (missed(first)).then_some(elements * u64::from(run.element))
}

/// Places that miss, as numbers of strides, each with its misses.
fn missing(run: &Run, clusters: &Clusters, noise: f64) -> Vec<(u64, u64)> {
    let marks = Marks::new(run, clusters, run.stride.unsigned_abs());
    let all = (0_u64..).zip(&marks.places);
    let rarely = marks.rounds() <= 3;
    // Noise is not known so well that many rounds make a little more of it significant.
    let often = |p: &(u32, u32)| {
        significant(u64::from(p.0), u64::from(p.1), noise) && f64::from(p.1) > 4.0 * noise * f64::from(p.0)
    };
    let missing = all.filter(|(_, p)| if rarely { p.1 * 2 > p.0 } else { often(p) });
    missing.map(|(i, p)| (i, u64::from(p.1))).collect()
}

fn hint<'r>(run: &'r Run, clusters: &Clusters, noise: f64) -> Option<Hint<'r>> {
    if run.order != ChaseOrder::Stride || run.loads.len() < 8 {
        return None;
    }
    let places = missing(run, clusters, noise);
    let first = places.first()?.0;
    let span = places.last()?.0 - first;
    let total = places.iter().map(|p| p.1).sum::<u64>() as f64;
    // Of loads that are timed once, some look like misses: they lie in all classes.
    let by_noise = if run.cold { run.loads.len() as f64 * noise } else { 0.0 };
    if total < 3.0 * by_noise || run.cold && places.len() < 16 {
        return None;
    }
    // What of the misses lies in one class of remainders.
    let share = |strides: u64| {
        let mut classes: std::collections::HashMap<u64, u64> = std::collections::HashMap::new();
        for p in &places {
            *classes.entry(p.0 % strides).or_default() += p.1;
        }
        (classes.values().max().copied().unwrap_or(0) as f64 - by_noise / strides as f64) / (total - by_noise)
    };
    let least = if places.len() < 12 { 0.9 } else { 0.75 };
    let mut strides = 1;
    while strides * 2 <= span && share(strides * 2) >= least {
        strides *= 2;
    }
    (places.len() > 1 && (strides > 1 || span > 0)).then(|| Hint {
        run,
        gap: strides * run.step(),
        places: places.len(),
    })
}

/// Whether places side by side miss.
fn adjacent(run: &Run, clusters: &Clusters, noise: f64) -> bool {
    let places = missing(run, clusters, noise);
    places.windows(2).filter(|p| p[0].0 + 1 == p[1].0).count() * 4 >= places.len()
}
