//! The keys of a device file that findings fill.

use std::fmt::Write;

use crate::device::{ByteCount, Change};
use crate::probe::{FindingConfidence, ProbeFindings, ReplacementFound};
use crate::sorting;

/// Which cache the chases went through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbedLevel {
    /// The first-level cache.
    L1,
    /// The second-level cache.
    L2,
    /// The first level of address translation.
    TlbL1,
    /// The last level of address translation.
    TlbL2,
}

fn key(path: &str, value: String, note: impl Into<String>) -> Change {
    Change { path: path.to_owned(), value, note: note.into() }
}

/// The keys that findings of at least medium confidence fill; what chases went through must be said.
pub fn device_keys(found: &ProbeFindings, place: Option<ProbedLevel>) -> Vec<Change> {
    let mut keys = Vec::new();
    if let Some(place) = place {
        of_structure(found, place, &mut keys);
    }
    of_levels(found, &mut keys);
    if let Some(mshrs) = &found.mshrs {
        for (path, finding) in [("l1.mshrs", &mshrs.total), ("l1.mshrs_per_warp", &mshrs.per_warp)] {
            if let Some(value) = finding.value.filter(|_| finding.confidence >= FindingConfidence::Medium) {
                keys.push(key(path, value.to_string(), finding.evidence.join("; ")));
            }
        }
    }
    of_figures(found, &mut keys);
    // What was found twice is said once: chases load by load come first.
    let mut seen = std::collections::HashSet::new();
    keys.retain(|k| seen.insert(k.path.clone()));
    keys
}

fn of_structure(found: &ProbeFindings, place: ProbedLevel, keys: &mut Vec<Change>) {
    let Some(s) = &found.structure else { return };
    let section = match place {
        ProbedLevel::L1 => "l1",
        ProbedLevel::L2 => "l2",
        ProbedLevel::TlbL1 | ProbedLevel::TlbL2 => "tlb",
    };
    let sure = |confidence: FindingConfidence| confidence >= FindingConfidence::Medium;
    let line = if section == "tlb" { "tlb.page".to_owned() } else { format!("{section}.line") };
    if let Some(bytes) = s.line.value.filter(|_| sure(s.line.confidence)) {
        keys.push(key(&line, ByteCount(bytes).to_string(), s.line.evidence.join("; ")));
    }
    // Of a TLB the part of a page that has an entry of its own is nothing that the device format knows.
    if let (ProbedLevel::L1 | ProbedLevel::L2, Some(bytes)) =
        (place, s.sector.value.filter(|_| sure(s.sector.confidence)))
    {
        let note = s.sector.evidence.join("; ");
        keys.push(key(&format!("{section}.sector"), ByteCount(bytes).to_string(), note));
    }
    let capacity = match place {
        ProbedLevel::L1 => "l1.capacity",
        ProbedLevel::L2 => "l2.capacity",
        ProbedLevel::TlbL1 => "tlb.l1_reach",
        ProbedLevel::TlbL2 => "tlb.l2_reach",
    };
    if let Some(bytes) = s.capacity.value.filter(|_| sure(s.capacity.confidence)) {
        keys.push(key(capacity, ByteCount(bytes).to_string(), s.capacity.evidence.join("; ")));
    }
    if place == ProbedLevel::L1
        && let Some([first, others @ ..]) = s.ways.value.as_deref().filter(|_| sure(s.ways.confidence))
        && others.iter().all(|w| w == first)
    {
        let note = format!(
            "{} sets; replacement {}",
            others.len() + 1,
            s.replacement.value.map_or("open", ReplacementFound::word)
        );
        keys.push(key("l1.ways", first.to_string(), note));
    }
    if let (ProbedLevel::L1 | ProbedLevel::L2, Some(hit)) = (place, found.latencies.all.first()) {
        let note = format!("median of {} hits", hit.loads);
        keys.push(key(&format!("{section}.latency"), format!("{:.0} cycles", hit.cycles), note));
    }
    if let (ProbedLevel::TlbL2, [hit, miss, ..]) = (place, found.latencies.all.as_slice()) {
        let note = format!("{:.0} cycles with a miss, {:.0} without", miss.cycles, hit.cycles);
        keys.push(key("tlb.miss_latency", format!("{:.0} cycles", miss.cycles - hit.cycles), note));
    }
}

/// Latencies of plateaus: the first is the L1, the second the L2, the last device memory. Sizes have only
/// brackets, which are no numbers for a file.
fn of_levels(found: &ProbeFindings, keys: &mut Vec<Change>) {
    let names: &[&str] = match found.levels.len() {
        3.. => &["l1", "l2"],
        2 => &["l1"],
        _ => &[],
    };
    let last = found.levels.last().filter(|_| found.levels.len() >= 2);
    let named = names.iter().copied().zip(&found.levels).chain(last.map(|l| ("dram", l)));
    for (name, level) in named {
        let [from, to] = level.plateau_kib;
        let mut note = format!("plateau from {from} to {to} KiB");
        if let Some(edge) = &level.edge {
            let [on, off] = edge.bracket_kib;
            let _ = write!(note, ", which ends between {on} and {off} KiB");
        }
        keys.push(key(&format!("{name}.latency"), format!("{:.0} cycles", level.cycles), note));
    }
}

/// Throughputs: the most of a column is what the device reaches.
fn of_figures(found: &ProbeFindings, keys: &mut Vec<Change>) {
    let kinds: [(&[&str], &str, &str); 2] = [
        (&["gb_per_s", "gbps"], "dram.bandwidth", "GB/s"),
        (&["bytes_per_cycle", "b_per_cycle"], "l1.bandwidth", "B/cycle"),
    ];
    for (names, path, unit) in kinds {
        let all = found.figures.iter().filter(|f| names.contains(&f.what.as_str()));
        if let Some(most) = all.max_by(|a, b| a.value.total_cmp(&b.value)) {
            let at: Vec<String> = most.at.iter().map(|(name, value)| format!("{name} {value}")).collect();
            keys.push(key(path, format!("{:.1} {unit}", most.value), format!("most, at {}", at.join(", "))));
        }
    }
    for figure in found.figures.iter().filter(|f| f.what.contains("cycles") || f.what == "latency") {
        // The patterns of S 5.2 are named by what they hit.
        let path = match figure.at.get("pattern").map(|p| p.to_lowercase()).as_deref() {
            Some("l1" | "l1 hit") => "l1.latency",
            Some("l2" | "l2 hit") => "l2.latency",
            Some("dram" | "memory") => "dram.latency",
            _ => continue,
        };
        keys.push(key(path, format!("{:.0} cycles", figure.value), "latency of an access pattern"));
    }
}

/// Part of a device file.
pub fn fragment(sources: &[String], keys: &[Change]) -> String {
    let mut out = String::new();
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let from = sources.join(", ");
    let _ = writeln!(
        out,
        "sources:\n  probe: {{kind: measured, text: {}}}",
        quoted(&format!("wavecast cache-probe, {from}"))
    );
    let mut section = "";
    let mut keys: Vec<&Change> = keys.iter().collect();
    sorting::sort_by_key(&mut keys, |k| k.path.split('.').next().unwrap_or_default().to_owned());
    for k in keys {
        let (head, name) = k.path.split_once('.').unwrap_or(("", &k.path));
        if head != section {
            let _ = writeln!(out, "{head}:");
            section = head;
        }
        let _ = writeln!(out, "  {name}: {{value: {}, source: probe, note: {}}}", k.value, quoted(&k.note));
    }
    out
}
