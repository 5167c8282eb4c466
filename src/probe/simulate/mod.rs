//! Simulated caches and the chases through them: the test bed of the inference.

mod cache;
mod chase;
mod document;
mod explore;
mod spec;
mod waits;

pub use cache::{Latencies, ProbedCache};
pub use chase::{Chase, chase};
pub use document::read_spec;
pub use explore::{LineRange, explore};
pub use spec::{CacheSpec, Prefetch, ProbeSpec, ReplacementRule, SetMapping, Trigger};
pub use waits::{mshr_points, set_hash_runs};
