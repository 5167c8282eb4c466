//! The measurement format: what was measured of launches, as comma-separated values or as JSON lines.
//! `docs/measurements.md` describes it.

mod builder;
mod columns;
mod quantity;
mod read;
mod row;
mod unit;
mod write;

pub use quantity::MeasuredQuantity;
pub use read::read;
pub use row::{MeasuredRow, MeasuredSubject, MeasuredValue, Measurements, Per};
pub use write::{write_csv, write_json_lines};

pub(crate) use builder::Builder;
pub(crate) use columns::{Bad, Column};
pub(crate) use unit::Unit;

/// Reads a block such as `(256, 1, 1)`.
pub(crate) fn parse_shape(text: &str) -> Option<crate::space::Block> {
    builder::shape(text).ok()
}
