//! Whole sets of measurements beside their predictions: `wavecast/set-validation/1`, its tables and its page.

mod document;
mod fit;
mod page;
mod tables;
mod text;
mod worst;

pub use document::{SetReport, SetValidationDocument, set_validation_document};
pub use fit::{SetFitDocument, set_fit_document};
pub use page::set_page;
