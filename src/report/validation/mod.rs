//! Predictions beside measurements: `wavecast/validation/1` and its tables.

mod document;
mod text;

pub use document::{ModelDocument, ValidationDocument, validation_document};
