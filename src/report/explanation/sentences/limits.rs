//! Sentences on rate, time and limiters.

use std::fmt::Write;

use super::{Facts, called, percent};
use crate::quantity::{Seconds, Share};
use crate::report::units::{RateScale, seconds, shape};

/// A part of the time below this share is not mentioned.
const SMALL: f64 = 0.05;

/// How fast it is.
#[allow(clippy::unnecessary_wraps)] // A rule like the others.
pub(super) fn rate(facts: &Facts<'_>) -> Option<String> {
    let (result, head) = (&facts.document.result, &facts.document.head);
    let fold = if result.config.candidate.fold() == [1; 3] {
        String::new()
    } else {
        format!(" and {} {} per thread", shape(result.config.candidate.fold()), facts.unit())
    };
    let variant = result.config.variant.as_ref().map(|v| format!(" (variant {v})")).unwrap_or_default();
    Some(format!(
        "Blocks of {} threads{fold} run {}{variant} on {} at {}, {} per launch.",
        shape(result.config.candidate.block()),
        head.kernel.name,
        head.device.id,
        RateScale::fitting([result.rate_per_s]).with_unit(result.rate_per_s, facts.unit()),
        seconds(result.time_s)
    ))
}

/// What limits, and by how much more than the next.
pub(super) fn limiter(facts: &Facts<'_>) -> Option<String> {
    let terms = facts.terms();
    let (first, second) = (terms.first()?, terms.get(1)?);
    let mut text = format!("It is limited by {}, which alone takes {}", called(first.0), seconds(first.1));
    if second.1 > Seconds::ZERO {
        let next = format!("{}, takes {}", called(second.0), seconds(second.1));
        let times = first.1 / second.1;
        let _ = if times < 1.005 {
            write!(text, "; the next, {next}, as long")
        } else if times < 10.0 {
            let (name, time) = (called(second.0), seconds(second.1));
            write!(text, ", {times:.2} times as long as the next, {name}, with {time}")
        } else {
            write!(text, "; the next, {next}")
        };
    }
    Some(text + ".")
}

/// What comes on top of the longest part.
pub(super) fn rest(facts: &Facts<'_>) -> Option<String> {
    let (t, total) = (&facts.document.result.time_terms_s, facts.document.result.time_s);
    let parts = [
        ("because the others overlap with it only in part", t.combination - t.blocks),
        ("because each block takes its own work and its way to memory one after the other", t.blocks),
        ("until the first wave of blocks has loaded, or while the last one computes", t.first_wave),
        ("in the tail of the launch", t.tail - t.first_wave),
        ("to start the launch", if facts.limits("launch") { Seconds::ZERO } else { t.launch }),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|p| p.1 >= total * SMALL)
        .map(|(what, time)| format!("{} {what}", seconds(time)))
        .collect();
    (!parts.is_empty()).then(|| format!("On top come {}.", super::listed(&parts)))
}

/// That few warps are there to hide latency.
pub(super) fn occupancy(facts: &Facts<'_>) -> Option<String> {
    let o = &facts.document.result.occupancy;
    if !facts.matters("latency") && o.fraction.get() >= 0.5 {
        return None;
    }
    let (warps, of_all, limit) = (o.warps_per_sm, percent(o.fraction), o.limited_by.word());
    Some(if o.waves.get() < 1.0 {
        let filled = percent(Share::new(o.waves.get()));
        format!(
            "An SM has room for {warps} warps, {of_all} of what is possible, limited by {limit}, but the blocks of the grid fill \
             {filled} of that."
        )
    } else {
        format!("{warps} warps are resident per SM, {of_all} of what is possible, limited by {limit}.")
    })
}
