//! How a person or a program is told why there is no result.

use std::io::Write;
use std::process::ExitCode;

use super::captured::{self, Captured};
use super::failure::Failure;
use super::files::print;
use crate::report::{ErrorDocument, render_fault};

impl Failure {
    /// Writes the failure: JSON to standard output, text to standard error.
    pub(super) fn report(self) -> ExitCode {
        let text = || -> String {
            let texts: Vec<String> = self.faults.iter().map(render_fault).collect();
            texts.join("\n")
        };
        let document = || {
            let document = ErrorDocument::new(&self.faults);
            serde_json::to_string_pretty(&document).expect("errors are texts and numbers")
        };
        let kept = |captured: &mut Captured| {
            captured.errors = Some(document());
            captured.said += &anstream::adapter::strip_str(&text()).to_string();
        };
        if captured::with(kept) {
            return ExitCode::from(self.code);
        }
        // A program that cannot be told gets the text for people, as does whoever started it.
        if !self.json || print(&(document() + "\n")).is_err() {
            let _ = write!(anstream::stderr().lock(), "{}", text());
        }
        ExitCode::from(self.code)
    }
}
