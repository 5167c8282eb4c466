//! Two predictions beside each other: what differs, and which part of it makes one faster. `wavecast/diff/1`.

mod build;
mod document;
mod shares;
mod side;
mod text;
mod verdict;

pub use build::difference_document;
pub use document::DifferenceDocument;
pub use side::{Side, SideChoice};
