//! Wavecast predicts, in microseconds and without a GPU, what a GPU kernel does to the memory
//! hierarchy, for every thread-block configuration it could be launched with.

pub mod cache;
pub mod curve;
pub mod device;
pub mod effort;
pub mod emit;
pub mod expr;
pub mod footprint;
pub mod kernel;
pub mod launch;
pub mod measure;
pub mod parallel;
pub mod predict;
pub mod probe;
mod random;
pub mod report;
pub mod service;
pub mod sweep;
pub mod text;
pub mod trace;
pub mod traffic;
