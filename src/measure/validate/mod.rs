//! How good predictions are: errors of each quantity, and the order of launches.

mod errors;
mod order;
mod score;

pub use errors::Errors;
pub(super) use errors::median;
pub(super) use order::spearman;
pub use order::{OrderScore, order};
pub use score::{Score, Validation, WorstLaunch, validate};
