//! Errors and warnings: for a person with the line and a caret, for a program as JSON.
//!
//! The line is drawn by hand: of a line of a megabyte only the part around the place is looked at, control characters
//! are blanks, and a library without features needs no tables of Unicode for it, as `annotate-snippets` would.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::kernel::Kernel;
use crate::launch::Candidate;
use crate::predict::Unpredicted;
use crate::text::{Diagnostic, Fault, Severity, Sources, Span};

/// Longest part of a source line that is shown.
const MAX_LINE: usize = 120;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const PLACE: Style = AnsiColor::Blue.on_default().bold();
const HELP: Style = AnsiColor::Cyan.on_default().bold();
const BOLD: Style = Style::new().bold();

/// All errors of a fault with their places, with colours; a stream that wants none strips them.
pub fn render_fault(fault: &Fault) -> String {
    let parts: Vec<String> = fault.diagnostics.iter().map(|d| render(d, &fault.sources)).collect();
    parts.join("\n")
}

/// Warnings in the same way.
pub fn render_warnings(warnings: &[Diagnostic], sources: &Sources) -> String {
    let parts: Vec<String> = warnings.iter().map(|d| render(d, sources)).collect();
    parts.join("\n")
}

fn render(d: &Diagnostic, sources: &Sources) -> String {
    let (style, word) = match d.severity {
        Severity::Error => (ERROR, "error"),
        Severity::Warning => (WARNING, "warning"),
    };
    let mut out = format!("{style}{word}{style:#}{BOLD}: {}{BOLD:#}\n", d.message);
    let gutter = d.span.map_or(1, |span| quote(&mut out, span, sources, style));
    if let Some(help) = &d.help {
        let _ = writeln!(out, "{:gutter$} {PLACE}={PLACE:#} {HELP}help{HELP:#}: {help}", "");
    }
    out
}

/// The line of a span with a caret under the place; returns the width of the line number.
fn quote(out: &mut String, span: Span, sources: &Sources, style: Style) -> usize {
    let (Some(text), Some(place)) = (sources.get(span.file), sources.locate(span)) else { return 1 };
    let line = text.line(place.line);
    let gutter = place.line.to_string().len();
    let end = text.position(span.end as usize);
    let carets = if end.0 == place.line {
        end.1.saturating_sub(place.column)
    } else {
        line.chars().count() + 1 - place.column
    };
    let (shown, column, carets) = window(line, place.column, carets.max(1));
    let _ = writeln!(out, "{:gutter$}{PLACE}-->{PLACE:#} {place}", "");
    let _ = writeln!(out, "{:gutter$} {PLACE}|{PLACE:#}", "");
    let _ = writeln!(out, "{PLACE}{} |{PLACE:#} {shown}", place.line);
    let _ = writeln!(
        out,
        "{:gutter$} {PLACE}|{PLACE:#} {:skip$}{style}{}{style:#}",
        "",
        "",
        "^".repeat(carets),
        skip = column - 1
    );
    gutter
}

/// The part of a long line around a column, with the column and carets that fit into it. Tabs become
/// single spaces so that the caret stands where it should.
fn window(line: &str, column: usize, carets: usize) -> (String, usize, usize) {
    let characters: Vec<char> = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if characters.len() <= MAX_LINE {
        let room = (characters.len() + 2).saturating_sub(column).max(1);
        return (characters.iter().collect(), column, carets.min(room));
    }
    let start = (column - 1).saturating_sub(MAX_LINE / 3).min(characters.len() - 1);
    let end = (start + MAX_LINE).min(characters.len());
    let before = if start > 0 { "..." } else { "" };
    let after = if end < characters.len() { "..." } else { "" };
    let shown: String = characters[start..end].iter().collect();
    let column = column - start + before.len();
    (
        format!("{before}{shown}{after}"),
        column,
        carets.min((end - start + before.len() + 1).saturating_sub(column).max(1)),
    )
}

/// Errors as a program reads them: `wavecast/error/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ErrorDocument {
    /// `wavecast/error/1`.
    pub schema: &'static str,
    /// All errors that were found.
    pub errors: Vec<ErrorEntry>,
}

impl From<Fault> for ErrorDocument {
    fn from(fault: Fault) -> Self {
        Self::new([&fault])
    }
}

/// One error or warning.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ErrorEntry {
    /// A stable name of the kind of finding.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// In which text; null if in none.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<usize>,
    /// Column in characters, from 1.
    pub column: Option<usize>,
    /// What to do.
    pub help: Option<String>,
}

impl ErrorEntry {
    fn new(d: &Diagnostic, sources: &Sources) -> Self {
        let place = d.span.and_then(|s| sources.locate(s));
        Self {
            code: d.code,
            message: d.message.clone(),
            line: place.as_ref().map(|p| p.line),
            column: place.as_ref().map(|p| p.column),
            file: place.map(|p| p.file),
            help: d.help.clone(),
        }
    }
}

impl ErrorDocument {
    /// An error that no text is to blame for.
    pub fn single(code: &'static str, message: String, help: Option<String>) -> Self {
        let entry = ErrorEntry { code, message, file: None, line: None, column: None, help };
        Self { schema: "wavecast/error/1", errors: vec![entry] }
    }

    /// Why a launch has no prediction.
    pub fn unpredicted(kernel: &Kernel, candidate: Candidate, why: &Unpredicted) -> Self {
        let (block, fold) = (candidate.block(), candidate.fold());
        let message = format!("{}: block {block}, fold {fold} cannot be predicted: {why}", kernel.name);
        Self::single(why.code(), message, why.help().map(str::to_owned))
    }

    /// The errors of one or several faults.
    pub fn new<'f>(faults: impl IntoIterator<Item = &'f Fault>) -> Self {
        let entries =
            |f: &'f Fault| f.diagnostics.iter().map(|d| ErrorEntry::new(d, &f.sources)).collect::<Vec<_>>();
        Self { schema: "wavecast/error/1", errors: faults.into_iter().flat_map(entries).collect() }
    }
}
