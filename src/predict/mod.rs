//! How fast a launch is and why: limiters, how they combine, ranking.

mod confidence;
mod estimate;
#[cfg(feature = "explain")]
mod explain;
mod gaps;
mod parts;
mod placing;
mod prediction;
mod rank;
mod ranking;
mod shared;
mod slots;
mod time;

pub use confidence::{Confidence, Judge, Reason, ReasonKind};
pub use estimate::{Estimator, Model, Unpredicted};
#[cfg(feature = "explain")]
pub use explain::{
    AccessCost, AccessShare, Alone, CachePressure, Explanation, Halo, Layer, LoadParts, MemoryLevel,
    Neighbour, Neighbours, explain,
};
pub use gaps::{Gap, gaps};
pub use parts::{Limiter, RateLimits, Terms, Time};
pub use placing::{Choices, Placing, Plan, Watch};
pub use prediction::{HowCounted, Prediction, Summary};
pub use rank::rank;
pub use ranking::{Choice, Ranked, Ranking};
