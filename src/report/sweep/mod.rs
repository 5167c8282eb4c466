//! Series: as documents for programs, and for people.

mod document;
mod lines;
mod text;

pub(super) use document::VaryDocument;
pub use document::{SweepDocument, SweptDevice, sweep_document, sweep_point, swept_device};
pub(super) use lines::{SeriesLine, launch_text, lines};
