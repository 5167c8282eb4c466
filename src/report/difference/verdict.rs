//! The difference in words.

use super::document::{DifferenceDocument, TermDifference};
use crate::quantity::Ratio;

/// The least share of the difference that a sentence names.
const WORTH_NAMING: f64 = 0.05;

/// Which is faster, and what makes it so.
pub(super) fn verdict(document: &DifferenceDocument) -> String {
    let speedup = document.speedup.get();
    let named: Vec<String> =
        document.terms.iter().filter(|t| t.share.is_some_and(|s| s > WORTH_NAMING)).map(why).collect();
    let against: Vec<&str> = document
        .terms
        .iter()
        .filter(|t| t.share.is_some_and(|s| s < -WORTH_NAMING))
        .map(|t| title(&t.term))
        .collect();
    if named.is_empty() {
        return "A and B are equally fast.".to_owned();
    }
    let (faster, slower, times) =
        if speedup >= 1.0 { ("B", "A", speedup) } else { ("A", "B", 1.0 / speedup) };
    let against = if against.is_empty() {
        String::new()
    } else {
        format!(" Against it goes {}.", against.join(" and "))
    };
    format!(
        "{faster} is {times:.2} times as fast as {slower}. Of the difference {}.{against}",
        named.join("; ")
    )
}

/// The share that a term makes, and from what it follows.
fn why(t: &TermDifference) -> String {
    let share = t.share.unwrap_or(0.0) * 100.0;
    let reasons = reasons(t);
    let reasons = if reasons.is_empty() { String::new() } else { format!(" (B: {reasons})") };
    format!("{} makes {share:.0} %{reasons}", title(&t.term))
}

/// What a term is called in a sentence.
fn title(term: &str) -> &str {
    match term {
        "fp" => "arithmetic",
        "l1" => "the L1 pipe",
        "l2" => "the L2",
        "dram" => "memory",
        "latency" => "the latency of memory",
        "waits" => "waiting for loads",
        "issue" => "issuing instructions",
        "fetch" => "fetching instructions",
        "tlb" => "address translation",
        "dispatch" => "starting blocks",
        "tail" => "the tail",
        "launch" => "the launch itself",
        "combination" => "incomplete overlap of the others",
        other => other,
    }
}

/// How much more there is to do, and how much faster it is done.
pub(super) fn reasons(t: &TermDifference) -> String {
    let factor = |n: Option<Ratio>| n.map(Ratio::get).filter(|n| (n - 1.0).abs() >= 0.005);
    let work = if t.term == "l1" { "cycles" } else { "bytes" };
    let volume = factor(t.volume_factor).map(|n| format!("{n:.2} times the {work}"));
    let speed = factor(t.speed_factor).map(|n| format!("{n:.2} times the speed"));
    volume.into_iter().chain(speed).collect::<Vec<_>>().join(", ")
}
