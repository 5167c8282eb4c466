//! Cache structure from latencies: logs of pointer chases, what follows from them, and simulated caches to
//! test that on.
//!
//! "S" is the supplement of Mei and Chu, Dissecting GPU Memory Hierarchy through Microbenchmarking; "N" is
//! Nugteren et al., A Detailed GPU Cache Model Based on Reuse Distance Theory.

pub mod simulate;

mod bins;
mod clock;
mod clusters;
mod confidence;
mod finding;
mod findings;
mod gf2;
mod infer;
mod levels;
mod log;
mod marks;
mod mshr;
mod noise;
mod read;
mod serial;
mod sethash;
mod write;

pub use clusters::{Cluster, Clusters};
pub use confidence::{Finding, FindingConfidence};
pub use finding::{FittingArrays, MappedLines, MappingFound, PrefetchFound, ReplacementFound, Structure};
pub use findings::ProbeFindings;
pub use gf2::Basis;
pub use infer::infer;
pub use levels::{Edge, LatencyLevel, levels};
pub use log::{ChaseOrder, Load, Run};
pub use mshr::{MshrsFound, mshrs};
pub use read::{Figure, LogDefaults, LogError, Logs, MshrPoint, SizePoint, read_logs};
pub use sethash::{Evictions, SetHash, evictions, set_hash};
pub use write::write_runs;
