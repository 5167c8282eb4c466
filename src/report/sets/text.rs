//! Sets for people, as Markdown, and as rows of a table.

use std::fmt::Write;

use super::super::ranking::warnings;
use super::super::table::{Table, fit};
use super::document::{SetReport, SetValidationDocument};
use super::tables::{about, choices, configurations, noise, volumes, worst};
use crate::report::answer::{Answer, View};

impl Answer for SetValidationDocument {
    fn text(&self, view: View) -> String {
        let mut out = String::new();
        for set in &self.sets {
            let _ = writeln!(out, "{}", fit(&about(set), view.width));
        }
        for (title, table) in tables(self) {
            let _ = write!(out, "\n{title}\n{}", table.text(1, view.width));
        }
        for line in self.sets.iter().flat_map(rejected) {
            let _ = writeln!(out, "{line}");
        }
        warnings(&mut out, self.warnings.iter().collect());
        out
    }

    fn table(answers: &[&Self]) -> Table {
        configurations(answers)
    }

    fn markdown(answers: &[&Self]) -> String {
        answers.iter().map(|d| markdown(d)).collect()
    }

    #[cfg(feature = "cli")]
    fn picture(&self) -> Option<String> {
        Some(crate::report::svg::sets_picture(self))
    }
}

/// What the tables are called, and those of them that say something.
pub(super) fn tables(document: &SetValidationDocument) -> Vec<(&'static str, Table)> {
    let all = [
        ("choices and times, of the best measured", choices(document)),
        ("errors of volumes", volumes(document)),
        ("repeated measurements: no prediction can be expected to do better", noise(document)),
        ("largest errors of the time", worst(document)),
    ];
    all.into_iter().filter(|(_, table)| !table.is_empty()).collect()
}

fn markdown(document: &SetValidationDocument) -> String {
    let mut out = String::new();
    for set in &document.sets {
        let _ = writeln!(out, "- {}", about(set));
    }
    for (title, table) in tables(document) {
        let (first, rest) = title.split_at(1);
        let _ = write!(out, "\n## {}{rest}\n\n{}", first.to_uppercase(), table.markdown());
    }
    for line in document.sets.iter().flat_map(rejected) {
        let _ = writeln!(out, "\n{}", line.trim());
    }
    for warning in &document.warnings {
        let _ = writeln!(out, "\nWarning: {}", warning.message);
    }
    out
}

/// The first reasons why configurations are missing, each reason once.
pub(super) fn rejected(set: &SetReport) -> Vec<String> {
    const SHOWN: usize = 3;
    if set.rejected.is_empty() {
        return Vec::new();
    }
    let mut lines =
        vec![format!("\n{}: {} configurations cannot be predicted:", set.facts.id, set.rejected.len())];
    let mut codes = Vec::new();
    for r in &set.rejected {
        if codes.len() < SHOWN && !codes.contains(&r.code) {
            codes.push(r.code);
            let line = r.lines.first().map(|line| format!("line {line}: ")).unwrap_or_default();
            lines.push(format!("  {line}{}: {}", r.configuration, r.reason));
        }
    }
    if set.rejected.len() > codes.len() {
        lines.push("  ... --format json lists all".to_owned());
    }
    lines
}
