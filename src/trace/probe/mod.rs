//! Cache structure from latencies: logs of pointer chases, what follows from them, and simulated caches to
//! test that on.
//!
//! "S" is the supplement of Mei and Chu, Dissecting GPU Memory Hierarchy through Microbenchmarking; "N" is
//! Nugteren et al., A Detailed GPU Cache Model Based on Reuse Distance Theory.

pub mod simulate;

mod log;
mod read;
mod write;

pub use log::{Load, Order, Run};
pub use read::{Figure, Given, LogError, Logs, MshrPoint, SizePoint, read_logs};
pub use write::write_runs;
