//! What was found, for a person.

use std::fmt::Write;

use super::device::fragment;
use super::document::ProbeDocument;
use crate::probe::{Finding, MappedLines, MappingFound, PrefetchFound, Structure};
use crate::report::answer::{Answer, View};
use crate::report::units::{bytes, counted, grouped};
use crate::report::{Align, Table};

impl Answer for ProbeDocument {
    fn text(&self, view: View) -> String {
        probe_text(self, view.width)
    }

    fn table(answers: &[&Self]) -> Table {
        Table::join(answers.iter().map(|d| probe_table(d)))
    }
}

fn size(n: u64) -> String {
    bytes(i64::try_from(n).unwrap_or(i64::MAX))
}

/// All findings, a row each.
fn probe_table(document: &ProbeDocument) -> Table {
    let mut table = Table::new(
        ["finding", "value", "confidence", "evidence", "next run"].map(|name| (name, Align::Left)),
    );
    if let Some(s) = &document.findings.structure {
        structure_rows(&mut table, s);
    }
    for (i, level) in document.findings.levels.iter().enumerate() {
        let [from, to] = level.plateau_kib;
        let plateau = format!("flat from {from} to {to} KiB, scatter {:.1} %", 100.0 * level.scatter_share);
        let (value, confidence) = match &level.edge {
            Some(e) => {
                let [on, off] = e.bracket_kib;
                let value = format!(
                    "{:.0} cycles up to {on} KiB, not at {off} KiB (about {:.0})",
                    level.cycles, e.estimate_kib
                );
                (value, e.confidence.word())
            }
            None => (format!("{:.0} cycles to the end", level.cycles), "high"),
        };
        table.row([format!("level {}", i + 1), value, confidence.to_owned(), plateau, String::new()]);
    }
    if let Some(hash) = &document.findings.set_hash {
        let value = hash.address_bits.iter().map(|b| bits(b)).collect::<Vec<_>>().join(", ");
        let confidence = if hash.linear { "high" } else { "low" };
        let evidence = format!(
            "{} of {} lines beside the array put others out; address bits up to {} tried; {}",
            hash.tried - hash.silent,
            hash.tried,
            hash.highest_bit,
            if hash.linear { "all lie as the bits say" } else { "not all lie as linear bits say" }
        );
        table.row(["set bits".to_owned(), value, confidence.to_owned(), evidence, String::new()]);
    }
    if let Some(mshrs) = &document.findings.mshrs {
        row(&mut table, "MSHRs", &mshrs.total, u32::to_string);
        row(&mut table, "MSHRs of a warp", &mshrs.per_warp, u32::to_string);
    }
    for f in &document.findings.figures {
        let at: Vec<String> = f.at.iter().map(|(name, value)| format!("{name} {value}")).collect();
        table.row([f.what.clone(), f.value.to_string(), String::new(), at.join(", "), String::new()]);
    }
    table
}

fn row<T>(table: &mut Table, name: &str, finding: &Finding<T>, show: impl FnOnce(&T) -> String) {
    table.row([
        name.to_owned(),
        finding.value.as_ref().map_or_else(|| "open".to_owned(), show),
        finding.confidence.word().to_owned(),
        finding.evidence.join("; "),
        finding.next.join("; "),
    ]);
}

fn structure_rows(table: &mut Table, s: &Structure) {
    row(table, "line", &s.line, |&l| size(l));
    row(table, "sector", &s.sector, |&b| sector(b, s.line.value));
    row(table, "capacity", &s.capacity, |&c| size(c));
    row(table, "ways", &s.ways, |w| ways(w));
    row(table, "mapping", &s.mapping, mapping);
    row(table, "replacement", &s.replacement, |r| r.word().to_owned());
    row(table, "prefetch", &s.prefetch, |p| prefetch(*p));
}

fn sector(bytes: u64, line: Option<u64>) -> String {
    match line {
        Some(line) if line > bytes => format!("{}, {} to a line", size(bytes), line / bytes),
        _ => size(bytes),
    }
}

fn ways(all: &[u32]) -> String {
    let mut counts: std::collections::BTreeMap<u32, usize> = std::collections::BTreeMap::new();
    for &w in all {
        *counts.entry(w).or_default() += 1;
    }
    let parts: Vec<String> =
        counts.iter().rev().map(|(ways, &n)| format!("{} of {ways}", counted(n, "set"))).collect();
    parts.join(", ")
}

fn bits(all: &[u32]) -> String {
    all.iter().map(u32::to_string).collect::<Vec<_>>().join("^")
}

fn mapping(m: &MappedLines) -> String {
    match m.rule() {
        MappingFound::Single => "one set".to_owned(),
        MappingFound::Spatial { run, sets } => format!("{run} consecutive lines in a set, {sets} sets"),
        MappingFound::Xor { .. } => {
            let all: Vec<String> = m.address_bits().iter().flatten().map(|b| bits(b)).collect();
            format!("address bits {}", all.join(", "))
        }
        MappingFound::Bits { sets } => format!("line modulo {sets}"),
        MappingFound::Table { .. } => format!("a table of {} sets", m.sets()),
    }
}

fn prefetch(found: PrefetchFound) -> String {
    let counted = |lines: u32| counted(lines as usize, "line");
    match found {
        PrefetchFound::None => "none".to_owned(),
        PrefetchFound::AtMiss { distance } => format!("{} more at a miss", counted(distance)),
        PrefetchFound::Stream { distance: Some(lines) } => format!("{} ahead, on and on", counted(lines)),
        PrefetchFound::Stream { distance: None } => "on and on, distance open".to_owned(),
    }
}

/// For a terminal.
fn probe_text(document: &ProbeDocument, width: Option<usize>) -> String {
    let loads = grouped(document.findings.loads);
    let mut out = format!(
        "{}: {}, {loads} loads\n",
        document.sources.join(", "),
        counted(document.findings.runs, "run")
    );
    if !document.findings.latencies.all.is_empty() {
        let all: Vec<String> = document
            .findings
            .latencies
            .all
            .iter()
            .map(|c| format!("{:.0} cycles ±{:.1} % ({} loads)", c.cycles, 100.0 * c.spread_share, c.loads))
            .collect();
        let _ =
            writeln!(out, "latencies: {}; {} outliers", all.join(", "), document.findings.latencies.outliers);
    }
    for warning in &document.findings.warnings {
        let _ = writeln!(out, "warning: {warning}");
    }
    out.push('\n');
    let full = probe_table(document);
    out += &findings(document).text(1, width);
    let (evidence, next) = notes(&full);
    if !evidence.is_empty() {
        let _ = write!(out, "\nevidence\n{evidence}");
    }
    if !next.is_empty() {
        let _ = write!(out, "\nwhat would settle the rest\n{next}");
    }
    let mapping = document.findings.structure.as_ref().and_then(|s| s.mapping.value.as_ref());
    if let Some(MappingFound::Table { sets: table }) = mapping.map(MappedLines::rule) {
        let _ = write!(out, "\nset of each line, 16 in a row\n");
        for row in table.chunks(16) {
            let cells: Vec<String> =
                row.iter().map(|s| s.map_or_else(|| "  ?".to_owned(), |s| format!("{s:>3}"))).collect();
            let _ = writeln!(out, " {}", cells.join(" "));
        }
    }
    if !document.device_keys.is_empty() {
        let _ = write!(out, "\nfor a device file\n{}", fragment(&document.sources, &document.device_keys));
    }
    out
}

/// Findings without what they rest on.
fn findings(document: &ProbeDocument) -> Table {
    let mut short = Table::new(["finding", "value", "confidence"].map(|name| (name, Align::Left)));
    for cells in probe_table(document).cells() {
        short.row(cells.iter().take(3).cloned());
    }
    short
}

/// Evidence and further runs, a line each.
fn notes(table: &Table) -> (String, String) {
    let (mut evidence, mut next) = (String::new(), String::new());
    for cells in table.cells() {
        let [name, _, _, why, run] = cells else { continue };
        if !why.is_empty() {
            let _ = writeln!(evidence, " {name}: {why}");
        }
        if !run.is_empty() {
            let _ = writeln!(next, " {name}: {run}");
        }
    }
    (evidence, next)
}
