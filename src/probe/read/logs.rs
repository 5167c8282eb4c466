//! What logs hold.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::probe::log::Run;
use crate::readable::readable;

/// Loads of all chases: more is refused.
pub(super) const MOST_LOADS: usize = 1 << 27;

/// Latency of a chase through a buffer of some size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizePoint {
    /// Size of the buffer in KiB.
    pub kib: f64,
    /// Cycles of a load.
    pub cycles: f64,
}

/// Time of independent loads (N 5.2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MshrPoint {
    /// Warps that load, one thread each.
    pub warps: u32,
    /// Loads of each.
    pub loads: u32,
    /// Cycles until all are done.
    pub cycles: f64,
}

readable! {
    /// A row of a table of throughput or latency: its name or parameters, and the number.
    #[derive(Debug, Clone, PartialEq, Serialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    pub struct Figure {
        /// Column that it stood in, which names its unit.
        what: String,
        /// The other columns.
        at: BTreeMap<String, String>,
        /// The figure, in the unit of its column.
        value: f64,
    }
}

/// All that logs hold.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Logs {
    /// Chases, load by load.
    pub runs: Vec<Run>,
    /// Latency over size.
    pub sizes: Vec<SizePoint>,
    /// Time over loads and warps.
    pub mshrs: Vec<MshrPoint>,
    /// Throughputs and latencies.
    pub figures: Vec<Figure>,
    /// What was left out, and why.
    pub warnings: Vec<String>,
}

impl Logs {
    pub(super) fn sizes(&self) -> [usize; 4] {
        [self.runs.len(), self.sizes.len(), self.mshrs.len(), self.figures.len()]
    }
}

/// What a file that does not say them is to have.
#[derive(Debug, Clone, Copy, Default)]
pub struct LogDefaults {
    /// Elements of the array.
    pub n: Option<u64>,
    /// Elements from one load to the next.
    pub stride: Option<i64>,
    /// Bytes of an element.
    pub element: Option<u32>,
    /// Whether the first loads were timed with an empty cache.
    pub cold: bool,
}
