//! Why there is no result.

use std::io::{self, ErrorKind};
use std::path::Path;

use crate::text::{Diagnostic, Fault};

/// The code of bad usage or input.
const BAD_INPUT: u8 = 2;
/// The code of a result that could not be had.
const NO_RESULT: u8 = 1;

/// Why there is no result.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) faults: Vec<Fault>,
    pub(super) json: bool,
    pub(super) code: u8,
}

impl Failure {
    /// Input that cannot be used.
    pub(super) fn faults(faults: Vec<Fault>, json: bool) -> Self {
        Self { faults, json, code: BAD_INPUT }
    }

    /// A failure without a place.
    pub(super) fn message(code: &'static str, message: String, help: Option<&str>) -> Self {
        let diagnostic = Diagnostic::global(code, message).maybe_help(help.map(str::to_owned));
        Self::faults(vec![Fault::new(vec![diagnostic], std::sync::Arc::default())], false)
    }

    /// A file that cannot be read or written.
    pub(super) fn file(code: &'static str, path: &Path, verb: &str, error: &io::Error) -> Self {
        let help = match error.kind() {
            ErrorKind::NotFound if verb == "write" => Some("check the path: its folder has to be there"),
            ErrorKind::NotFound => Some("check the path; `-` reads standard input"),
            ErrorKind::IsADirectory => Some("name a file in it"),
            ErrorKind::InvalidData => Some("the file must be UTF-8 text"),
            _ => None,
        };
        Self::message(code, format!("cannot {verb} {}: {error}", path.display()), help)
    }

    /// A result that could not be written, as there was no room for it or nobody to take it.
    pub(super) fn unwritten(name: &str, error: &io::Error) -> Self {
        let help = match error.kind() {
            ErrorKind::StorageFull => Some("make room, or write to another place"),
            _ => None,
        };
        let failure = Self::message("cannot-write", format!("cannot write to {name}: {error}"), help);
        Self { code: NO_RESULT, ..failure }
    }

    /// Makes errors of a program's request readable for it.
    pub(super) fn for_json(mut self, json: bool) -> Self {
        self.json |= json;
        self
    }

    /// All in one text, for a place that has room for no more.
    pub(super) fn to_text(&self) -> String {
        let texts: Vec<String> = self.faults.iter().map(ToString::to_string).collect();
        texts.join("\n")
    }

    /// The faults, to be joined with others.
    pub(super) fn into_faults(self) -> Vec<Fault> {
        self.faults
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::faults(vec![fault], false)
    }
}
