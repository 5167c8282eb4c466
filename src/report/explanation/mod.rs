//! Explanations: `wavecast/explanation/1`, the same in words, and as tables.

mod build;
mod document;
mod sentences;
mod text;

pub use build::explanation_document;
pub use document::{AccessDocument, ExplanationDocument, Sentence};
