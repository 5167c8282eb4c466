//! Miss rates over one parameter of the cache (N figure 12).

use serde::Serialize;

use super::{TraceHead, percent};
use crate::quantity::Ratio;
use crate::report::{Align, Table};
use crate::trace::reuse::MissTypes;

/// Miss rates over parameters of the cache: `wavecast/trace-sweep/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TraceSweepDocument {
    /// `wavecast/trace-sweep/1`.
    pub schema: &'static str,
    /// The launch.
    #[serde(flatten)]
    pub head: TraceHead,
    /// The points.
    pub points: Vec<TraceSweepPoint>,
}

/// One value of one parameter, all others as they are.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TraceSweepPoint {
    /// `associativity`, `size`, `line` or `mshrs`.
    pub parameter: &'static str,
    /// Over the original value.
    pub factor: Ratio,
    /// The value.
    pub value: u64,
    /// Memory misses of all requests, in percent.
    pub miss_rate_percent: f64,
    /// Requests of warps after coalescing.
    pub requests: u64,
    /// Misses by type.
    pub misses: MissTypes,
}

/// For a terminal.
pub(super) fn trace_sweep_text(document: &TraceSweepDocument, width: Option<usize>) -> String {
    let mut out = document.head.text() + "\n" + &trace_sweep_table(document).text(1, width);
    if document.points.iter().any(|p| p.misses.associativity < 0 || p.misses.mshr < 0) {
        out +=
            "\nNegative: so many misses fewer than with one set for all lines, or with MSHRs without end.\n";
    }
    out
}

/// As a table.
pub(super) fn trace_sweep_table(document: &TraceSweepDocument) -> Table {
    use Align::{Left, Right};
    Table::filled(
        &document.points,
        &[
            ("parameter", Left, &|point| point.parameter.to_owned()),
            ("factor", Right, &|point| point.factor.to_string()),
            ("value", Right, &|point| point.value.to_string()),
            ("miss rate %", Right, &|point| percent(point.miss_rate_percent)),
            ("compulsory", Right, &|point| point.misses.compulsory.to_string()),
            ("capacity", Right, &|point| point.misses.capacity.to_string()),
            ("associativity", Right, &|point| point.misses.associativity.to_string()),
            ("mshr", Right, &|point| point.misses.mshr.to_string()),
            ("latency", Right, &|point| point.misses.latency.to_string()),
        ],
    )
}
