//! From logs to the structure of a cache (S 4): each step is a file.

mod edge;
mod fit;
mod flips;
mod line;
mod noise;
mod pattern;
mod prefetch;
mod replay;
mod rules;
mod sector;
mod verdict;

pub use verdict::infer;

pub(in crate::trace::probe) use edge::overflows;
pub(in crate::trace::probe) use noise::of_runs as noise_of;
pub(in crate::trace::probe) use prefetch::ahead;
pub(in crate::trace::probe) use sector::{Shared, misses_enough, shared};
pub(in crate::trace::probe) use verdict::BESIDE;
