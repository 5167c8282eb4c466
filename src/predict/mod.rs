//! How fast a launch is and why: limiters, how they combine, ranking.

mod estimate;
mod explain;
mod rank;
mod shared;
mod time;

pub use estimate::{Estimator, Model, Prediction, Unpredicted};
pub use explain::{
    AccessShare, Alone, Explanation, Halo, Layer, Level, Levels, Lost, Neighbour, Neighbours, explain,
};
pub use rank::{Choice, Ranked, Ranking, rank};
pub use time::{Limiter, Limits, Terms, Time};
