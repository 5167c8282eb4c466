//! Two predictions beside each other: what differs, and which part of it makes one faster. `wavecast/diff/1`.

mod document;
mod shares;
mod side;
mod text;
mod verdict;

pub use document::{DifferenceDocument, difference_document};
pub use side::{Side, SideChoice};
