//! How fast a launch is and why: limiters, how they combine, ranking.

mod best;
mod bound;
mod choices;
mod code;
mod confidence;
mod contest;
mod estimate;
#[cfg(feature = "explain")]
mod explain;
mod gaps;
mod inputs;
mod joined;
mod known;
mod open;
mod parts;
mod placing;
mod prediction;
mod rank;
mod ranking;
mod round;
mod shared;
mod slots;
mod time;
mod work_part;

pub use choices::{Choices, Watch};
pub use confidence::{Confidence, Judge, Reason, ReasonKind};
pub use estimate::{Estimator, Model, Unpredicted};
#[cfg(feature = "explain")]
pub use explain::{
    AccessCost, AccessShare, Alone, CachePressure, Explanation, Halo, Layer, LoadParts, MemoryLevel,
    Neighbour, Neighbours, explain,
};
pub use gaps::{Gap, gaps};
pub use parts::{Limiter, RateLimits, Terms, Time};
pub use placing::{Placing, Plan};
pub use prediction::{Estimated, HowCounted, Prediction, Summary};
pub use rank::rank;
pub use ranking::{Choice, Ranked, Ranking};
