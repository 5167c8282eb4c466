//! One answer for each kernel asked about: a document, or why there is none.

use serde::Serialize;

use super::failure::Failure;
use super::progress;
use crate::kernel::Kernel;
use crate::launch::Candidate;
use crate::predict::Unpredicted;
use crate::report::ErrorDocument;

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Answer<D> {
    Found(Box<D>),
    /// Why there is none.
    Error(ErrorDocument),
}

impl<D> Answer<D> {
    pub(super) fn found(&self) -> Option<&D> {
        match self {
            Answer::Found(document) => Some(document),
            Answer::Error(_) => None,
        }
    }
}

/// Says why there is no prediction.
pub(super) fn no_prediction<D>(kernel: &Kernel, candidate: Candidate, why: &Unpredicted) -> Answer<D> {
    Answer::Error(ErrorDocument::unpredicted(kernel, candidate, why))
}

/// Tells a person what is missing.
pub(super) fn say_errors<D>(answers: &[Answer<D>]) {
    for answer in answers {
        let Answer::Error(document) = answer else { continue };
        for error in &document.errors {
            progress::say(&format!("error: {}", error.message));
            if let Some(help) = &error.help {
                progress::say(&format!("  = help: {help}"));
            }
        }
    }
}

/// A document a line.
pub(super) fn json_lines<D: Serialize>(answers: &[Answer<D>]) -> Result<String, Failure> {
    let lines = answers.iter().map(|d| serde_json::to_string(d).map(|t| t + "\n"));
    lines.collect::<Result<String, _>>().map_err(|e| Failure::json(&e))
}
