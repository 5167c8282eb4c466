//! Simulated caches and the chases through them: the test bed of the inference.

mod cache;
mod chase;
mod document;
mod explore;
mod spec;
mod waits;

pub use cache::{Cache, Latencies};
pub use chase::{Chase, chase};
pub use document::{SpecDocument, read_spec};
pub use explore::{Lines, explore};
pub use spec::{CacheSpec, Mapping, Policy, Prefetch, ProbeSpec, Trigger};
pub use waits::{mshr_points, set_hash_runs};
