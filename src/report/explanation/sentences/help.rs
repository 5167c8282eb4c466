//! Sentences on what other launches would change.

use std::fmt::Write;

use super::{Facts, called, listed, percent};
use crate::quantity::Ratio;
use crate::report::explanation::document::NeighbourDocument;
use crate::report::units::{grouped, shape, two};

/// Gains below this are no help: the model is no better than a few percent.
const WORTH: Ratio = Ratio::new(1.02);
/// What explains so much of a gain, of its logarithm, is the reason for it.
const MOST: f64 = 0.5;
/// Better neighbours that are named.
const NAMED: usize = 3;

fn better<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = &'f NeighbourDocument> {
    facts.document.neighbours.near.iter().filter(|n| n.relative >= WORTH).take(NAMED)
}

/// A launch as it differs from the one that is explained.
fn launch(facts: &Facts<'_>, other: &NeighbourDocument) -> String {
    let config = &facts.document.result.config;
    let launch = match (
        other.config.block() == config.candidate.block(),
        other.config.fold() == config.candidate.fold(),
    ) {
        (true, true) => None,
        (false, true) => Some(format!("block {}", shape(other.config.block()))),
        (true, false) => Some(format!("fold {}", shape(other.config.fold()))),
        _ => Some(format!("block {} with fold {}", shape(other.config.block()), shape(other.config.fold()))),
    };
    match (other.config.variant.as_ref().filter(|v| Some(*v) != config.variant.as_ref()), launch) {
        (Some(variant), Some(launch)) => format!("{launch} of variant {variant}"),
        (Some(variant), None) => format!("variant {variant}"),
        (None, launch) => launch.unwrap_or_else(|| "the same launch".to_owned()),
    }
}

/// What the limiting resource has to do here and there, or how much faster it does that, whichever is most of what is gained.
fn change(facts: &Facts<'_>, other: &NeighbourDocument) -> Option<String> {
    let (v, unit) = (&facts.document.result.volumes, facts.unit());
    let c = &other.change;
    let (here, there) = (&facts.document.result.time_terms_s, &other.time_terms_s);
    let bytes = format!("B/{unit}");
    let (what, unit, [before, more], [here, there]) = match facts.document.result.limiter {
        "l1" => (
            "the L1 pipe's work",
            format!("cycles/{unit}"),
            [v.l1.wavefront_cycles.get(), c.l1_cycles.get()],
            [here.l1, there.l1],
        ),
        "l2" => (
            "L2 traffic",
            bytes,
            [v.l2.total().get(), (c.l2_load_bytes + c.l2_store_bytes).get()],
            [here.l2, there.l2],
        ),
        "dram" => (
            "DRAM traffic",
            bytes,
            [v.dram.total().get(), (c.dram_load_bytes + c.dram_store_bytes).get()],
            [here.dram, there.dram],
        ),
        "dispatch" => return fewer_blocks(facts, other),
        _ => return None,
    };
    let gained = here / there;
    let less = before / (before + more);
    if gained < WORTH.get() || !less.is_finite() {
        return None;
    }
    if less.ln() >= gained.ln() * MOST {
        return Some(format!("as {what} goes from {} to {} {unit}", two(before), two(before + more)));
    }
    let faster = gained / less;
    (what == "DRAM traffic").then(|| format!("as DRAM moves its bytes {} times as fast", two(faster)))
}

fn fewer_blocks(facts: &Facts<'_>, other: &NeighbourDocument) -> Option<String> {
    let (here, there) = (facts.document.result.config.launch.blocks(), other.blocks);
    (there < here).then(|| format!("in {} blocks instead of {}", grouped(there), grouped(here)))
}

/// The best of the neighbours.
pub(super) fn neighbours(facts: &Facts<'_>) -> Option<String> {
    let near = &facts.document.neighbours.near;
    if near.is_empty() {
        return None;
    }
    let Some(first) = better(facts).next() else {
        // The best of all says more if none is faster anywhere.
        let more_to_come = facts.document.neighbours.best.as_ref().is_some_and(|b| b.relative >= WORTH);
        return more_to_come.then(|| none_of(near.len(), " one step away", " 2 %"));
    };
    let mut text =
        format!("What would help: {} is {} times as fast", launch(facts, first), two(first.relative));
    let occupancy = facts.document.result.occupancy.fraction;
    if let Some(change) = change(facts, first) {
        let _ = write!(text, ", {change}");
    } else if first.occupancy > occupancy {
        let _ = write!(
            text,
            ", with {} instead of {} of the warps resident",
            percent(first.occupancy),
            percent(occupancy)
        );
    }
    if first.limiter != facts.document.result.limiter {
        let _ = write!(text, "; then {} limits", called(first.limiter));
    }
    Some(text + ".")
}

/// The next ones.
pub(super) fn more(facts: &Facts<'_>) -> Option<String> {
    let others: Vec<String> =
        better(facts).skip(1).map(|n| format!("{} ({} times)", launch(facts, n), two(n.relative))).collect();
    (!others.is_empty()).then(|| format!("So would {}.", listed(&others)))
}

/// That no other launch is faster, or hardly.
fn none_of(others: usize, which: &str, by: &str) -> String {
    match others {
        1 => format!("The only other launch{which} is not{by} faster."),
        2 => format!("Neither of the 2 others{which} is{by} faster."),
        _ => format!("None of the {others} others{which} is{by} faster."),
    }
}

/// The best of all.
pub(super) fn best(facts: &Facts<'_>) -> Option<String> {
    let neighbours = &facts.document.neighbours;
    let best = neighbours.best.as_ref()?;
    let compared = neighbours.compared - neighbours.rejected;
    // Where no candidate was compared, that is said: a ranking beside it knows of many more.
    let only_near = neighbours.near.len() == compared && !neighbours.near.iter().any(|n| n.listed);
    let which = if only_near { " one step away" } else { "" };
    Some(if best.relative.get() <= 1.0 && only_near {
        none_of(compared, " one step away", "")
    } else if best.relative.get() <= 1.0 {
        format!("It is the fastest of {} launches.", compared + 1)
    } else if best.relative < WORTH {
        none_of(compared, which, " 2 %")
    } else {
        format!(
            "The fastest of {compared} others{which} is {}, {} times as fast and limited by {}.",
            launch(facts, best),
            two(best.relative),
            called(best.limiter)
        )
    })
}
