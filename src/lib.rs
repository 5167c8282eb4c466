//! Wavecast predicts, in microseconds and without a GPU, what a GPU kernel does to the memory
//! hierarchy, for every thread-block configuration it could be launched with.

// What rooms share may have its only caller in a room that is left out.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

#[cfg(feature = "trace")]
pub mod cache;
#[cfg(feature = "cli")]
pub mod cli;
pub mod curve;
pub mod device;
pub mod effort;
pub mod emit;
pub mod expr;
pub mod footprint;
pub mod kernel;
pub mod launch;
#[cfg(feature = "fit")]
pub mod measure;
pub mod parallel;
pub mod predict;
#[cfg(feature = "trace")]
pub mod probe;
mod random;
pub mod report;
pub mod service;
pub mod sweep;
pub mod text;
#[cfg(feature = "trace")]
pub mod trace;
pub mod traffic;
