//! Series: as documents for programs, and for people.

mod document;
mod lines;
mod text;

pub use document::{
    Oversubscription, PointDocument, PointError, PointKept, SweepDocument, SweepSummary, ValueDocument,
    VaryDocument, sweep_document, sweep_point,
};
pub(super) use lines::{Line, lines};
pub use text::{sweep_table, sweep_text};
