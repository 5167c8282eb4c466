//! What a simulated cache did.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use super::{TraceHead, percent};
use crate::cache::{LevelVolumes, Statistics};
use crate::report::answer::{Answer, View};
use crate::report::{Align, Table};

impl Answer for SimulatedCacheDocument {
    fn text(&self, view: View) -> String {
        cache_text(self, view.width)
    }

    fn table(answers: &[&Self]) -> Table {
        Table::join(answers.iter().map(|d| cache_table(d)))
    }
}

/// What a simulated cache did: `wavecast/cache/1`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SimulatedCacheDocument {
    /// `wavecast/cache/1`.
    pub schema: &'static str,
    /// The launch.
    #[serde(flatten)]
    pub head: TraceHead,
    /// What was simulated.
    pub settings: CacheSettings,
    /// Median of the miss rates of all runs, in percent of reads.
    pub miss_rate_percent: f64,
    /// Median of the reads.
    pub reads: f64,
    /// Median of the read misses.
    pub read_misses: f64,
    /// Standard deviation of the reads over their median, in percent (C section 7.3).
    pub reads_deviation_percent: f64,
    /// The same of the read misses.
    pub misses_deviation_percent: f64,
    /// Each run.
    pub runs: Vec<SeedRun>,
    /// Volumes of the two-level hierarchy, where one was asked for.
    pub volumes: Option<VolumesDocument>,
}

/// What was simulated.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CacheSettings {
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
    /// Which line gives way.
    pub replacement: &'static str,
    /// What happens to stores.
    pub write: &'static str,
    /// The order of accesses.
    pub policy: &'static str,
    /// Cores that share the blocks.
    pub cores: u32,
    /// Blocks at a time; null is all.
    pub max_groups: Option<u32>,
}

/// A run with one choice of blocks.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct SeedRun {
    /// Of the choice.
    pub seed: u64,
    /// Reads.
    pub reads: u64,
    /// Reads that miss.
    pub read_misses: u64,
    /// Writes.
    pub writes: u64,
    /// Writes that miss.
    pub write_misses: u64,
    /// Lines written back.
    pub write_backs: u64,
    /// Read misses of lines never seen before.
    pub cold: u64,
    /// Read misses of lines that a fully associative cache would have lost too.
    pub capacity: u64,
    /// The other read misses.
    pub conflict: u64,
    /// Read misses of all reads, in percent.
    pub miss_rate_percent: f64,
}

/// Bytes at each boundary.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct VolumesDocument {
    /// Sectors that loads ask the L1 caches for, in bytes.
    pub l1_load_bytes: u64,
    /// L2 to L1.
    pub l2_load_bytes: u64,
    /// L1 to L2.
    pub l2_store_bytes: u64,
    /// Memory to L2.
    pub dram_load_bytes: u64,
    /// L2 to memory, with what is still in L2 at the end.
    pub dram_store_bytes: u64,
    /// Blocks.
    pub blocks: u64,
}

impl VolumesDocument {
    /// Of what was counted, and what is still to be written back.
    pub fn new(volumes: &LevelVolumes, dirty: u64) -> Self {
        Self {
            l1_load_bytes: volumes.l1_load,
            l2_load_bytes: volumes.l2_load,
            l2_store_bytes: volumes.l2_store,
            dram_load_bytes: volumes.dram_load,
            dram_store_bytes: volumes.dram_store + dirty,
            blocks: volumes.blocks,
        }
    }
}

impl SeedRun {
    fn new(seed: u64, s: &Statistics) -> Self {
        Self {
            seed,
            reads: s.reads,
            read_misses: s.read_misses,
            writes: s.writes,
            write_misses: s.write_misses,
            write_backs: s.write_backs,
            cold: s.cold,
            capacity: s.capacity,
            conflict: s.conflict,
            miss_rate_percent: s.miss_rate(),
        }
    }
}

/// Medians and deviations of runs with several seeds (C section 7.3).
pub fn cache_document(
    head: TraceHead,
    settings: CacheSettings,
    runs: &[(u64, Statistics)],
    volumes: Option<VolumesDocument>,
) -> SimulatedCacheDocument {
    let of = |value: fn(&Statistics) -> f64| runs.iter().map(|r| value(&r.1)).collect::<Vec<f64>>();
    let (reads, misses) = (of(|s| s.reads as f64), of(|s| s.read_misses as f64));
    SimulatedCacheDocument {
        schema: "wavecast/cache/1",
        head,
        settings,
        miss_rate_percent: median(&of(Statistics::miss_rate)),
        reads: median(&reads),
        read_misses: median(&misses),
        reads_deviation_percent: relative_deviation(&reads),
        misses_deviation_percent: relative_deviation(&misses),
        runs: runs.iter().map(|(seed, s)| SeedRun::new(*seed, s)).collect(),
        volumes,
    }
}

pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.len() % 2, sorted.get(middle)) {
        (_, None) => 0.0,
        (1, Some(&m)) => m,
        (_, Some(&m)) => f64::midpoint(sorted.get(middle.wrapping_sub(1)).copied().unwrap_or(m), m),
    }
}

pub(super) fn relative_deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len().max(1) as f64;
    let middle = median(values);
    if middle == 0.0 { 0.0 } else { 100.0 * variance.sqrt() / middle }
}

/// The runs as a table.
fn cache_table(document: &SimulatedCacheDocument) -> Table {
    use Align::Right;
    let columns = [
        "seed",
        "miss rate %",
        "reads",
        "misses",
        "cold",
        "capacity",
        "conflict",
        "writes",
        "write misses",
        "write-backs",
    ];
    let mut table = Table::new(columns.map(|c| (c, Right)));
    for run in &document.runs {
        let counts = [
            run.reads,
            run.read_misses,
            run.cold,
            run.capacity,
            run.conflict,
            run.writes,
            run.write_misses,
            run.write_backs,
        ];
        let head = [run.seed.to_string(), percent(run.miss_rate_percent)];
        table.row(head.into_iter().chain(counts.map(|c| c.to_string())));
    }
    table
}

/// For a terminal.
fn cache_text(document: &SimulatedCacheDocument, width: Option<usize>) -> String {
    let s = &document.settings;
    let mut out = document.head.text();
    let _ = write!(
        out,
        "cache {} bytes, {} sets of {} ways by {}, lines of {} bytes, {}, {}; policy {}, {} cores, {}; requests of {}\n\n",
        s.bytes,
        s.sets,
        s.ways,
        s.index,
        s.line,
        s.replacement,
        s.write,
        s.policy,
        s.cores,
        s.max_groups.map_or("all groups at a time".to_owned(), |m| format!("{m} groups at a time")),
        s.coalescing
    );
    out += &cache_table(document).text(1, width);
    let _ = write!(
        out,
        "\nmedian: miss rate {} %, {} reads (deviation {} %), {} misses (deviation {} %)\n",
        percent(document.miss_rate_percent),
        document.reads,
        percent(document.reads_deviation_percent),
        document.read_misses,
        percent(document.misses_deviation_percent)
    );
    if let Some(v) = document.volumes {
        let _ = writeln!(
            out,
            "two levels: loads {} B from L1, {} B from L2, {} B from memory; stores {} B to L2, {} B to memory",
            v.l1_load_bytes, v.l2_load_bytes, v.dram_load_bytes, v.l2_store_bytes, v.dram_store_bytes
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "exact numbers")]
    fn medians_and_deviations() {
        assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0]), median(&[])), (2.0, 2.5, 0.0));
        assert_eq!(relative_deviation(&[2.0, 2.0]), 0.0);
        assert_eq!(relative_deviation(&[1.0, 3.0]), 50.0);
    }
}
