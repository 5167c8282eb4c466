//! The trace-based models: formats, scheduling, coalescing and the reuse-distance model.
//!
//! They answer what the analytic model cannot: types of misses, order, conflicts, data-dependent accesses.
//! "N" is Nugteren et al., A Detailed GPU Cache Model Based on Reuse Distance Theory; "C" is Crawford's
//! thesis on a cache model for `OpenCL` kernels.

mod alike;
mod block_requests;
mod bytes;
pub mod coalesce;
pub mod contents;
pub mod entry;
pub mod format;
mod geometry;
pub(crate) mod intern;
mod limits;
mod model;
pub(crate) mod numbering;
pub mod pattern;
pub mod reference;
pub mod reuse;
pub mod schedule;
pub mod sets;
pub mod stream;
pub mod synth;

pub use block_requests::{BlockRequests, MovedRequests};
pub use geometry::CacheGeometry;
pub use limits::TraceLimits;
pub use model::{
    Dim3, Header, NO_INSTRUCTION, Tables, Trace, TraceAccess, TraceBuilder, TraceInstruction, TraceKind,
    TracedLaunch,
};
