//! Footprints: which lines a set of threads touches through a set of accesses.
//!
//! So far this room holds the sets themselves, built with isl; the engines that count them come next.

#[cfg(feature = "isl")]
mod isl;

#[cfg(feature = "isl")]
pub use isl::{IslError, ShownSets, show_sets};
