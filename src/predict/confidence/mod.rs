//! How sure a prediction is: the reasons there are to doubt it, and the interval in which a measured time would lie.

mod interval;
mod judge;
mod reason;

pub use interval::Confidence;
pub use judge::Judge;
pub use reason::{Reason, ReasonKind};
