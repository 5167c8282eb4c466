//! Where models and measurements meet: reading what was measured, holding predictions beside it, and
//! fitting curves to it.

pub mod measurements;
mod records;

pub use records::{Record, Records};
