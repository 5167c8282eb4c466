//! From logs to the structure of a cache (S 4): each step is a file.

mod edge;
mod fit;
mod flips;
mod line;
mod pattern;
mod prefetch;
mod replay;
mod rules;
mod sector;
mod verdict;

pub use verdict::infer;

pub(in crate::probe) use edge::overflows;
pub(in crate::probe) use prefetch::ahead;
pub(in crate::probe) use sector::{Shared, misses_enough, shared};

/// Lines of a set side by side that are thought possible, if there is no sign of more.
pub(in crate::probe) const BESIDE: usize = 16;
