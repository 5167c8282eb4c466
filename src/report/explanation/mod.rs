//! Explanations: `wavecast/explanation/1`, the same in words, and as tables.

mod document;
mod sentences;
mod text;

pub use document::{ExplanationDocument, explanation_document};
pub use text::{explanation_table, explanation_text};
