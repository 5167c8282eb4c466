//! Reuse distances and types of misses.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use super::{TraceHead, percent};
use crate::report::answer::{Answer, View};
#[cfg(feature = "cli")]
use crate::report::svg;
use crate::report::{Align, Table};
use crate::trace::reuse::{RunKind, RunResult};

impl Answer for ReuseDocument {
    fn text(&self, view: View) -> String {
        reuse_text(self, view.width)
    }

    fn table(answers: &[&Self]) -> Table {
        Table::join(answers.iter().map(|d| reuse_table(d)))
    }

    #[cfg(feature = "cli")]
    fn picture(&self) -> Option<String> {
        let ablated = self.runs.iter().any(|run| run.types.is_some());
        let draw = if ablated { svg::ablation_picture } else { svg::reuse_picture };
        Some(draw(self))
    }
}

/// Reuse distances and types of misses: `wavecast/reuse/1`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReuseSettings {
    /// `code` or `paper`.
    pub rules: &'static str,
    /// Bytes of the cache.
    pub bytes: u64,
    /// Bytes of a line.
    pub line: u64,
    /// Lines of a set.
    pub ways: u32,
    /// Sets.
    pub sets: usize,
    /// From lines to sets.
    pub index: String,
    /// Which lanes share a request for a line.
    pub coalescing: &'static str,
    /// Latency of a hit, in time stamps.
    pub hit_latency: u32,
    /// Least latency of a miss.
    pub miss_latency: u32,
    /// Standard deviation of the half-normal distribution on top of it.
    pub deviation: f64,
    /// Of the random numbers.
    pub seed: u64,
    /// MSHRs of a core; null is unlimited.
    pub mshrs: Option<u32>,
    /// MSHRs that a warp may use.
    pub mshrs_per_warp: Option<u32>,
    /// Requests that one MSHR serves.
    pub merged: Option<u32>,
    /// Cores.
    pub cores: u32,
    /// Threads of the trace that were simulated.
    pub simulated_threads: usize,
    /// Threads of a warp.
    pub warp_size: u32,
}

/// Misses by type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MissTypes {
    /// Requests that hit.
    pub hits: u64,
    /// First requests to a line.
    pub compulsory: u64,
    /// What is lost for want of room in the whole cache.
    pub capacity: u64,
    /// What a fully associative cache would not lose; negative where it would lose more.
    pub associativity: i64,
    /// What is lost for want of MSHRs; negative where fewer MSHRs save misses (N section 7).
    pub mshr: i64,
    /// Requests to lines in flight: no further memory requests, and not in the miss rate (N section 6.1).
    pub latency: u64,
}

/// A run of the model.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunDocument {
    /// `full`, or what it leaves out.
    pub run: &'static str,
    /// Memory misses of all requests, in percent.
    pub miss_rate_percent: f64,
    /// Misses that go to memory.
    pub memory_misses: u64,
    /// All misses.
    pub misses: u64,
    /// Misses to lines in flight.
    pub latency_misses: u64,
    /// First requests to a line.
    pub compulsory: u64,
    /// Turns of warps that were refused for want of an MSHR.
    pub refusals: u64,
    /// Last time stamp.
    pub ticks: u64,
    /// Requests without an earlier effect on their line.
    pub infinite: u64,
    /// Distances and how often they occur.
    pub histogram: Vec<[u64; 2]>,
    /// Its misses by type; only where each extension is turned off in turn.
    pub types: Option<MissTypes>,
    /// Difference to the measured miss rate, in points.
    pub error_points: Option<f64>,
}

/// What one rule of the published program changes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RuleEffect {
    /// Its name.
    pub rule: &'static str,
    /// What the published program does.
    pub says: &'static str,
    /// Memory misses with it.
    pub memory_misses: u64,
    /// Difference in points of the miss rate.
    pub points: f64,
}

/// A profiler's counts.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct MeasuredMisses {
    /// Hits.
    pub hits: f64,
    /// Misses.
    pub misses: f64,
    /// Misses of both, in percent.
    pub miss_rate_percent: f64,
}

impl MeasuredMisses {
    /// From counts; none if nothing was counted.
    pub fn new(hits: f64, misses: f64) -> Option<Self> {
        let sensible = hits >= 0.0 && misses >= 0.0 && (hits + misses).is_normal();
        sensible.then(|| Self { hits, misses, miss_rate_percent: 100.0 * misses / (hits + misses) })
    }
}

impl MissTypes {
    /// What has negative counts, in words: a limit that saves misses.
    pub fn saved(&self) -> String {
        let one = |count: i64, with: &str, without: &str| match count {
            0.. => String::new(),
            _ => format!("{with} there are {} misses fewer than {without}\n", count.unsigned_abs()),
        };
        one(self.associativity, "with sets of these ways", "with one set for all lines")
            + &one(self.mshr, "with these MSHRs", "with MSHRs without end (N section 7)")
    }

    /// From the four runs of the published program (N section 6): what a run without something does not
    /// miss, that something causes.
    pub fn new(full: &RunResult, associative: Option<&RunResult>, unlimited: Option<&RunResult>) -> Self {
        let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let lost = |other: Option<&RunResult>| {
            other.map_or(0, |o| signed(full.memory_misses()) - signed(o.memory_misses()))
        };
        let (associativity, mshr) = (lost(associative), lost(unlimited));
        let rest =
            signed(full.memory_misses()) - signed(full.compulsory) - associativity.max(0) - mshr.max(0);
        Self {
            hits: full.accesses() - full.misses(),
            compulsory: full.compulsory,
            capacity: u64::try_from(rest).unwrap_or(0),
            associativity,
            mshr,
            latency: full.latency_misses,
        }
    }
}

/// A run as a document.
pub fn run_document(kind: RunKind, run: &RunResult, measured: Option<MeasuredMisses>) -> RunDocument {
    RunDocument {
        run: kind.word(),
        miss_rate_percent: run.miss_rate(),
        memory_misses: run.memory_misses(),
        misses: run.misses(),
        latency_misses: run.latency_misses,
        compulsory: run.compulsory,
        refusals: run.refusals,
        ticks: run.ticks,
        infinite: run.profile.infinite(),
        histogram: run.profile.distances().map(|(d, n)| [d, n]).collect(),
        types: None,
        error_points: measured.map(|m| (run.miss_rate() - m.miss_rate_percent).abs()),
    }
}

/// The runs as a table.
fn reuse_table(document: &ReuseDocument) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new([
        ("run", Left),
        ("miss rate %", Right),
        ("memory misses", Right),
        ("compulsory", Right),
        ("latency misses", Right),
        ("refusals", Right),
        ("ticks", Right),
        ("error points", Right),
    ]);
    for run in &document.runs {
        table.row([
            run.run.to_owned(),
            percent(run.miss_rate_percent),
            run.memory_misses.to_string(),
            run.compulsory.to_string(),
            run.latency_misses.to_string(),
            run.refusals.to_string(),
            run.ticks.to_string(),
            run.error_points.map(percent).unwrap_or_default(),
        ]);
    }
    table
}

/// For a terminal.
fn reuse_text(document: &ReuseDocument, width: Option<usize>) -> String {
    let s = &document.settings;
    let mut out = document.head.text();
    let _ = write!(
        out,
        "cache {} bytes, {} sets of {} ways by {}, lines of {} bytes; rules: {}; {} requests to {} lines, of {}\n\n",
        s.bytes, s.sets, s.ways, s.index, s.line, s.rules, document.requests, document.lines, s.coalescing
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
    out += &m.saved();
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
            rule.rule, rule.says, rule.memory_misses, rule.points
        );
    }
    out
}
