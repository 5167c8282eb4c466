//! Reuse distances on a GPU (N 4): the theory for sequential traces, and its five extensions.

mod config;
mod machine;
mod model;
mod profile;
mod sequential;
mod stack;
mod timeline;
mod wheel;

pub use config::{Batches, Check, Config, EffectOrder, Extensions, Latency, Mshrs, Release, Rules, Visible};
pub use model::{Model, RunKind, RunResult, simulate};
pub use profile::Profile;
pub use sequential::{lru_misses, profile, sampled_profile};
pub use stack::LineStack;
pub use timeline::{Example, Outcome, Row, timeline};
