//! What came of a fit: `wavecast/fit/1`, its tables, and the curve file.

mod document;
mod file;
mod text;

pub(super) use document::{CurveDocument, curve};
pub use document::{FitDocument, fit_document};
pub use file::curve_file;
pub(super) use text::{between, curves, short};
