//! How good predictions are: errors of each quantity, and the order of launches.

mod order;
mod score;

pub(super) use order::spearman;
pub use order::{OrderScore, order};
pub use score::{Score, Validation, WorstLaunch, validate};
