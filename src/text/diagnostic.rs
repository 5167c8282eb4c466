//! What is wrong, where, and what to do about it.

use std::fmt;
use std::sync::Arc;

use super::{Sources, Span};

use crate::sorting;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input is usable; something in it deserves a look.
    Warning,
    /// The input cannot be used.
    Error,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A stable name of the kind of finding, for programs.
    pub code: &'static str,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where it stands, if it stands anywhere.
    pub span: Option<Span>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, code, message: message.into(), span: Some(span), help: None }
    }

    /// An error without a place in any text.
    pub fn global(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, code, message: message.into(), span: None, help: None }
    }

    /// A warning at a place.
    pub fn warning(code: &'static str, span: Option<Span>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, code, message: message.into(), span, help: None }
    }

    /// Adds what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds what to do, if there is something.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        if help.is_some() {
            self.help = help;
        }
        self
    }
}

/// A place as a person reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Name of the text.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Sources {
    /// The place where a span starts.
    pub fn locate(&self, span: Span) -> Option<Location> {
        let text = self.get(span.file)?;
        let (line, column) = text.position(span.start as usize);
        Some(Location { file: text.name().to_owned(), line, column })
    }
}

/// Input that cannot be used: all errors that were found, with the texts they point into.
#[derive(Debug, Clone)]
pub struct Fault {
    /// The findings, in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts.
    pub sources: Arc<Sources>,
}

impl Fault {
    /// Most errors that one run reports; beyond it the input is hardly the intended one.
    pub const MOST: usize = 100;

    /// Sorts the findings by place, drops repetitions and cuts a flood.
    pub fn new(mut diagnostics: Vec<Diagnostic>, sources: Arc<Sources>) -> Self {
        sorting::sort_by(&mut diagnostics, |a, b| {
            (a.span.map(|s| (s.file, s.start)), a.code).cmp(&(b.span.map(|s| (s.file, s.start)), b.code))
        });
        diagnostics.dedup();
        if diagnostics.len() > Self::MOST {
            let more = diagnostics.len() - Self::MOST;
            diagnostics.truncate(Self::MOST);
            diagnostics.push(Diagnostic::global("too-many-errors", format!("{more} more errors not shown")));
        }
        Self { diagnostics, sources }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.diagnostics.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            if let Some(place) = d.span.and_then(|s| self.sources.locate(s)) {
                write!(f, "{place}: ")?;
            }
            f.write_str(&d.message)?;
            if let Some(help) = &d.help {
                write!(f, " ({help})")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}
