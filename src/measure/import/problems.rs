//! What is wrong with a file, by cell.

use std::sync::Arc;

use super::launches::{Imported, WITHOUT_METRIC};
use crate::measure::measurements::Bad;
use crate::measure::records::Record;
use crate::text::{Diagnostic, Fault, Sources, Span};

/// What is wrong with a cell.
#[derive(Debug)]
pub(super) enum Problem<'a> {
    /// No number.
    Number(&'a str),
    /// No unit that is known.
    Unit(&'a str),
    /// No measurement.
    Bad(Bad),
}

/// Metrics that a message names.
const MOST_NAMED: usize = 8;

/// What is wrong with a file.
#[derive(Debug)]
pub(super) struct Problems {
    name: String,
    sources: Sources,
    errors: Vec<Diagnostic>,
    more: usize,
}

impl Problems {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), sources: Sources::new(), errors: Vec::new(), more: 0 }
    }

    /// Reports a cell.
    pub(super) fn add(&mut self, record: &Record, cell: usize, problem: Problem<'_>) {
        if self.errors.len() >= Fault::MOST {
            self.more += 1;
            return;
        }
        let file = self.sources.add_excerpt(&self.name, record.text(), record.line);
        let span = Span::new(file, record.range(cell));
        self.errors.push(match problem {
            Problem::Number(text) => {
                Diagnostic::error("number", span, format!("`{text}` is no number")).help("see --decimal")
            }
            Problem::Unit(text) => {
                Diagnostic::error("unknown-unit", span, format!("`{text}` is no known unit"))
            }
            Problem::Bad(bad) => Diagnostic::error(bad.code, span, bad.message).maybe_help(bad.help),
        });
    }

    pub(super) fn global(&mut self, code: &'static str, message: &str, help: &str) {
        let message = format!("{}: {message}", self.name);
        self.errors.push(Diagnostic::global(code, message).help(help));
    }

    pub(super) fn finish(mut self, imported: Imported) -> Result<Imported, Fault> {
        if self.errors.is_empty() && imported.measurements.rows.is_empty() {
            let all: Vec<String> = imported.left_out.iter().map(|(what, n)| format!("{n} {what}")).collect();
            let unread = imported.metrics.unread(MOST_NAMED);
            let other = imported.left_out.keys().any(|what| what != WITHOUT_METRIC);
            let (why, help) = if unread.is_empty() || other {
                let why = if all.is_empty() { "it has no launches".to_owned() } else { all.join("; ") };
                (
                    why,
                    "it needs launches with a time or metrics; `wavecast import --help` lists the formats that are read",
                )
            } else {
                let why = format!("of its metrics none is known: {unread}");
                (why, "`wavecast import --list-metrics` lists those that are")
            };
            self.global("empty", &format!("nothing to import: {why}"), help);
        }
        if self.errors.is_empty() {
            return Ok(imported);
        }
        if self.more > 0 {
            let message = format!("{} more errors not shown", self.more);
            self.errors.push(Diagnostic::global("too-many-errors", message));
        }
        Err(Fault::new(self.errors, Arc::new(self.sources)))
    }
}
