//! How fast a launch is and why: limiters, how they combine, ranking.

mod estimate;
mod explain;
mod prediction;
mod rank;
mod shared;
mod time;

pub use estimate::{Estimator, Model, Unpredicted};
pub use explain::{
    AccessShare, Alone, Explanation, Halo, Layer, Level, Levels, Lost, Neighbour, Neighbours, explain,
};
pub use prediction::{Counted, Prediction, Summary};
pub use rank::{Choice, Ranked, Ranking, rank};
pub use time::{Limiter, Limits, Terms, Time};
