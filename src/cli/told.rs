//! How a person or a program is told why there is no result.

use std::io::Write;
use std::process::ExitCode;

use super::failure::Failure;
use super::files::print;
use crate::report::{ErrorDocument, render_fault};

impl Failure {
    /// Writes the failure: JSON to standard output, text to standard error.
    pub(super) fn report(self) -> ExitCode {
        let document = || {
            let document = ErrorDocument::new(&self.faults);
            serde_json::to_string_pretty(&document).expect("errors are texts and numbers")
        };
        // A program that cannot be told gets the text for people, as does whoever started it.
        if !self.json || print(&(document() + "\n")).is_err() {
            let texts: Vec<String> = self.faults.iter().map(render_fault).collect();
            let _ = write!(anstream::stderr().lock(), "{}", texts.join("\n"));
        }
        ExitCode::from(self.code)
    }
}
