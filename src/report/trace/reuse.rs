//! Reuse distances and types of misses.

use std::fmt::Write;

use serde::Serialize;

use super::{TraceHead, percent};
use crate::report::{Align, Table};
use crate::trace::CacheGeometry;
use crate::trace::reuse::{Latency, MissTypes, MshrLimits, RuleEffect, RunKind, RunResult};

/// Reuse distances and types of misses: `wavecast/reuse/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReuseDocument {
    /// `wavecast/reuse/1`.
    pub schema: &'static str,
    /// The launch.
    #[serde(flatten)]
    pub head: TraceHead,
    /// What was assumed.
    pub settings: ReuseSettings,
    /// Requests of warps after coalescing.
    pub requests: u64,
    /// Distinct lines.
    pub lines: u64,
    /// Misses by type, from the runs.
    pub misses: MissTypes,
    /// The runs: the full model, and each with something left out.
    pub runs: Vec<RunDocument>,
    /// What single rules of the published program would change.
    pub rules: Vec<RuleEffect>,
    /// A profiler's counts beside the model's, where they were given.
    pub measured: Option<MeasuredMisses>,
}

/// What was assumed.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReuseSettings {
    /// `code` or `paper`.
    pub rules: &'static str,
    /// The cache.
    #[serde(flatten)]
    pub geometry: CacheGeometry,
    /// Which lanes share a request for a line.
    pub coalescing: &'static str,
    /// Latencies.
    #[serde(flatten)]
    pub latency: Latency,
    /// Miss-status holding registers.
    #[serde(flatten)]
    pub mshrs: MshrLimits,
    /// Cores.
    pub cores: u32,
    /// Threads of the trace that were simulated.
    pub simulated_threads: usize,
    /// Threads of a warp.
    pub warp_size: u32,
}

/// A run of the model.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunDocument {
    /// `full`, or what it leaves out.
    pub run: RunKind,
    /// What it found.
    #[serde(flatten)]
    pub result: RunResult,
    /// Its misses by type; only where each extension is turned off in turn.
    pub types: Option<MissTypes>,
    /// Difference to the measured miss rate, in points.
    pub error_points: Option<f64>,
}

/// A profiler's counts.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MeasuredMisses {
    /// Hits.
    hits: f64,
    /// Misses.
    misses: f64,
    /// Misses of both, in percent.
    miss_rate_percent: f64,
}

impl MeasuredMisses {
    /// From counts; none if nothing was counted.
    pub fn new(hits: f64, misses: f64) -> Option<Self> {
        let sensible = hits >= 0.0 && misses >= 0.0 && (hits + misses).is_normal();
        sensible.then(|| Self { hits, misses, miss_rate_percent: 100.0 * misses / (hits + misses) })
    }

    /// Misses of all, in percent.
    pub fn miss_rate(&self) -> f64 {
        self.miss_rate_percent
    }
}

impl RunDocument {
    /// A run, beside what a profiler counted.
    pub fn new(run: RunKind, result: RunResult, measured: Option<MeasuredMisses>) -> Self {
        let error_points = measured.map(|m| (result.miss_rate_percent - m.miss_rate_percent).abs());
        Self { run, result, types: None, error_points }
    }
}

/// What has negative counts, in words: a limit that saves misses.
fn saved(types: &MissTypes) -> String {
    let one = |count: i64, with: &str, without: &str| match count {
        0.. => String::new(),
        _ => format!("{with} there are {} misses fewer than {without}\n", count.unsigned_abs()),
    };
    one(types.associativity, "with sets of these ways", "with one set for all lines")
        + &one(types.mshr, "with these MSHRs", "with MSHRs without end (N section 7)")
}

/// The runs as a table.
pub(super) fn reuse_table(document: &ReuseDocument) -> Table {
    use Align::{Left, Right};
    Table::filled(
        &document.runs,
        &[
            ("run", Left, &|run| run.run.word().to_owned()),
            ("miss rate %", Right, &|run| percent(run.result.miss_rate_percent)),
            ("memory misses", Right, &|run| run.result.memory_misses.to_string()),
            ("compulsory", Right, &|run| run.result.compulsory.to_string()),
            ("latency misses", Right, &|run| run.result.latency_misses.to_string()),
            ("refusals", Right, &|run| run.result.refusals.to_string()),
            ("ticks", Right, &|run| run.result.ticks.to_string()),
            ("error points", Right, &|run| run.error_points.map(percent).unwrap_or_default()),
        ],
    )
}

/// For a terminal.
pub(super) fn reuse_text(document: &ReuseDocument, width: Option<usize>) -> String {
    let s = &document.settings;
    let mut out = document.head.text();
    let _ = write!(
        out,
        "cache {}; rules: {}; {} requests to {} lines, of {}\n\n",
        s.geometry, s.rules, document.requests, document.lines, s.coalescing
    );
    out += &reuse_table(document).text(1, width);
    let m = &document.misses;
    let _ = write!(
        out,
        "\nmisses: {} compulsory, {} capacity, {} associativity, {} mshr; {} latency misses cause no request; \
         {} hits\n",
        m.compulsory,
        m.capacity,
        m.associativity.max(0),
        m.mshr.max(0),
        m.latency,
        m.hits
    );
    out += &saved(m);
    if let Some(measured) = document.measured {
        let _ = writeln!(
            out,
            "measured: {} hits, {} misses, miss rate {} %",
            measured.hits,
            measured.misses,
            percent(measured.miss_rate_percent)
        );
    }
    for rule in &document.rules {
        let _ = writeln!(
            out,
            "rule {} (the published program: {}): {} memory misses, {:+.2} points",
            rule.rule, rule.says, rule.memory_misses, rule.miss_rate_points
        );
    }
    out
}
