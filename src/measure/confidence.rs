//! Whether measured times lie in the intervals around predicted ones, and widths with which they do.

use std::collections::BTreeSet;

use crate::curve::fit::{Observation, WidthFit};
use crate::curve::{ReasonWidth, SetCoverage, Width, Widths, rounded, widths};
use crate::device::Architecture;
use crate::measure::sets::{PredictedCase, PredictedSet};
use crate::predict::ReasonKind;
use crate::quantity::{Ratio, Share};

/// How many measured times of a set lie in the intervals of their predictions.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Coverage {
    /// Times that have an interval.
    pub times: usize,
    /// The part of them that lies in it.
    pub inside: Share,
    /// The median of upper over lower ends.
    pub ends: Ratio,
}

/// How many measured times of some configurations lie in the intervals of their predictions, by the widths that ship;
/// `None` if no times were measured.
pub fn coverage<'p>(cases: impl IntoIterator<Item = &'p PredictedCase>) -> Option<Coverage> {
    let (mut times, mut inside, mut ends) = (0, 0, Vec::new());
    for case in cases {
        let (Some(pair), Some([low, high])) = (case.seconds, case.confidence.ends()) else { continue };
        let ratio = pair.measured() / pair.predicted();
        times += 1;
        inside += usize::from((low.get()..=high.get()).contains(&ratio));
        ends.push(high.get() / low.get());
    }
    ends.sort_by(f64::total_cmp);
    let median = *ends.get(ends.len() / 2)?;
    Some(Coverage { times, inside: Share::new(inside as f64 / times as f64), ends: Ratio::new(median) })
}

/// The kinds of reasons that have a width, in the order of their bits.
fn kinds() -> impl Iterator<Item = (usize, ReasonKind)> {
    let all = ReasonKind::NAMED.into_iter().map(|(_, kind)| kind);
    all.filter(|&kind| kind != ReasonKind::Roofline).enumerate()
}

/// Widths with which four fifths of the times of these sets lie in the intervals of their predictions, each set judged by
/// widths that were fitted without it. `about` says what the predictions rest on.
pub fn calibrated(sets: &[PredictedSet], about: &str) -> Widths {
    let rows = observations(sets);
    let level = widths().level().get();
    let new_architecture = kinds().find(|k| k.1 == ReasonKind::Architecture).map(|k| k.0);
    let found = WidthFit { reasons: kinds().count(), new_architecture, level }.calibrated(&rows);
    let reason = |(bit, kind): (usize, ReasonKind)| {
        let (width, (rows, sets)) = (shown(found.widths.reasons[bit]), found.seen[bit]);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let Width { shorter, longer } = width;
        (kind.word().to_owned(), ReasonWidth { shorter, longer, rows: count(rows), sets: count(sets) })
    };
    let percent = |share: f64| rounded((1000.0 * share).round() / 10.0);
    let covered = sets.iter().zip(&found.sets).map(|(set, covered)| SetCoverage {
        set: set.set.facts.id.clone(),
        rows: u32::try_from(covered.rows).unwrap_or(u32::MAX),
        left_out_percent: percent(covered.left_out),
        family_left_out_percent: percent(covered.family_left_out),
        fitted_percent: percent(covered.fitted),
        left_out_ends_ratio: short(covered.ends_ratio),
    });
    let mut architectures: Vec<String> =
        timed(sets).map(|(_, case)| case.architecture.word().to_owned()).collect();
    architectures.sort();
    architectures.dedup();
    Widths {
        version: 1,
        about: about.to_owned(),
        level,
        spread: short(found.spread),
        base: shown(found.widths.base),
        architectures,
        reasons: kinds().map(reason).collect(),
        coverage: covered.filter(|c| c.rows > 0).collect(),
    }
}

/// Three digits: the next would claim what no measurement tells.
fn short(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

fn shown(width: Width) -> Width {
    Width { shorter: short(width.shorter), longer: short(width.longer) }
}

/// The configurations with measured times, with the number of their set.
fn timed(sets: &[PredictedSet]) -> impl Iterator<Item = (usize, &PredictedCase)> {
    sets.iter().enumerate().flat_map(|(number, set)| {
        set.cases.iter().filter(|c| c.seconds.is_some()).map(move |case| (number, case))
    })
}

/// For each set the number of the first that shares a kernel with it, or with one that does.
fn families(sets: &[PredictedSet]) -> Vec<usize> {
    let kernels: Vec<BTreeSet<&str>> =
        sets.iter().map(|set| set.cases.iter().map(|c| c.kernel.as_str()).collect()).collect();
    let mut families: Vec<usize> = (0..sets.len()).collect();
    for i in 0..sets.len() {
        for j in 0..i {
            if !kernels[i].is_disjoint(&kernels[j]) {
                let (one, other) = (families[i], families[j]);
                families.iter_mut().filter(|f| **f == one).for_each(|f| *f = other);
            }
        }
    }
    families
}

fn observations(sets: &[PredictedSet]) -> Vec<Observation> {
    let families = families(sets);
    let bits: Vec<(usize, ReasonKind)> = kinds().filter(|k| k.1 != ReasonKind::Architecture).collect();
    let mut known: Vec<Architecture> = Vec::new();
    let mut all = Vec::new();
    for (set, case) in timed(sets) {
        let Some(pair) = case.seconds else { continue };
        let architecture = known.iter().position(|&a| a == case.architecture).unwrap_or_else(|| {
            known.push(case.architecture);
            known.len() - 1
        });
        let has = |kind: ReasonKind| case.confidence.reasons().iter().any(|r| r.kind() == kind);
        let reasons = bits.iter().filter(|(_, kind)| has(*kind)).map(|(bit, _)| 1_u64 << bit).sum();
        let log_ratio = (pair.measured() / pair.predicted()).ln();
        all.push(Observation { set, family: families[set], reasons, architecture, log_ratio });
    }
    all
}
