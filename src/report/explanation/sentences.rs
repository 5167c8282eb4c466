//! Explanations in words. Each rule looks at the numbers of a document and either has nothing to say or
//! makes one sentence of them.

mod help;
mod limits;
mod volumes;

use super::document::{ExplanationDocument, Sentence};
use crate::predict::MemoryLevel;
use crate::quantity::{Seconds, Share};
use crate::sorting;

/// A rule: what it is about, and what it makes of the numbers.
type Rule = (&'static str, fn(&Facts<'_>) -> Option<String>);

/// All rules in the order of the paragraph.
const RULES: [Rule; 16] = [
    ("rate", limits::rate),
    ("limiter", limits::limiter),
    ("rest", limits::rest),
    ("occupancy", limits::occupancy),
    ("l1-cycles", volumes::l1_cycles),
    ("l1-sectors", volumes::l1_sectors),
    ("banks", volumes::banks),
    ("l2-load", volumes::l2_load),
    ("dram-load", volumes::dram_load),
    ("layer", volumes::layer),
    ("halo", volumes::halo),
    ("partial-stores", volumes::partial_stores),
    ("alone", volumes::alone),
    ("help", help::neighbours),
    ("help-more", help::more),
    ("best", help::best),
];

/// What the rules say of a document.
pub(super) fn sentences(document: &ExplanationDocument) -> Vec<Sentence> {
    let facts = Facts { document };
    RULES.iter().filter_map(|(code, rule)| Some(Sentence { code, text: rule(&facts)? })).collect()
}

/// A document as the rules ask it.
struct Facts<'a> {
    document: &'a ExplanationDocument,
}

/// A level is worth a sentence if it alone takes this share of the time of the limiter.
const CLOSE: f64 = 0.5;

impl Facts<'_> {
    fn unit(&self) -> &str {
        &self.document.head.kernel.unit
    }

    fn level(&self, name: &str) -> Option<&MemoryLevel> {
        self.document.levels.iter().find(|l| l.level == name)
    }

    /// What would each take a time by itself, the longest first.
    fn terms(&self) -> Vec<(&'static str, Seconds)> {
        let t = &self.document.result.time_terms_s;
        let mut terms = vec![
            ("fp", t.fp),
            ("l1", t.l1),
            ("l2", t.l2),
            ("dram", t.dram),
            // Of memory, or of one load after the other.
            ("latency", t.latency.max(t.waits)),
            ("issue", t.issue),
            ("fetch", t.fetch),
            ("tlb", t.tlb),
            ("dispatch", t.dispatch),
            ("launch", t.launch),
        ];
        let limiter = self.document.result.limiter;
        // What the result names comes first among equals.
        sorting::sort_by(&mut terms, |a, b| {
            b.1.total_cmp(&a.1).then((b.0 == limiter).cmp(&(a.0 == limiter)))
        });
        terms
    }

    /// Whether a resource limits, or nearly.
    fn matters(&self, name: &str) -> bool {
        let terms = self.terms();
        let longest = terms.first().map_or(Seconds::ZERO, |t| t.1);
        terms.iter().any(|t| t.0 == name && t.1 > Seconds::ZERO && t.1 >= longest * CLOSE)
    }

    fn limits(&self, name: &str) -> bool {
        self.document.result.limiter == name
    }
}

/// What a limiter is called in a sentence.
fn called(limiter: &str) -> &'static str {
    match limiter {
        "fp" => "arithmetic",
        "l1" => "the L1 pipe",
        "l2" => "L2 bandwidth",
        "dram" => "DRAM bandwidth",
        "tlb" => "address translation",
        "latency" => "latency",
        "issue" => "issuing instructions",
        "fetch" => "fetching instructions that no cache of the SM holds",
        "dispatch" => "starting blocks",
        _ => "starting the kernel",
    }
}

fn percent(share: Share) -> String {
    format!("{:.0} %", share.get() * 100.0)
}

/// `a`, `a and b`, `a, b and c`.
fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
