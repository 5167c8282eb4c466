//! What was understood of a kernel: `wavecast check`.

mod build;
mod document;
mod text;

pub use build::{check, check_sets, kernels_warnings};
pub use document::{Check, DeviceSummary, SetsSummary, Tool, Warning};
