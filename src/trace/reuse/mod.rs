//! Reuse distances on a GPU (N 4): the theory for sequential traces, and its five extensions.

mod config;
mod machine;
mod model;
mod profile;
mod sequential;
mod stack;
mod timeline;
mod types;
mod wheel;

pub use config::{
    Batches, EffectOrder, Extensions, Latency, MshrLimits, RefusalCheck, Release, ReuseConfig, ReuseRules,
    Visible,
};
pub use model::{ReuseModel, RunKind, RunResult, simulate};
pub use profile::Profile;
pub use sequential::{lru_misses, profile, sampled_profile};
pub use stack::LineStack;
pub use timeline::{Example, RequestOutcome, TimelineRow, timeline};
pub use types::{MissTypes, RuleEffect, rule_effects};
