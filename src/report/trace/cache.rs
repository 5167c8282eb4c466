//! What a simulated cache did.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use super::{TraceHead, percent};
use crate::cache::{LevelVolumes, Replacement, SeedRuns, WritePolicy};
use crate::report::answer::{Answer, View};
use crate::report::{Align, Table};
use crate::trace::CacheGeometry;

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
    /// The runs, and what they have in common.
    #[serde(flatten)]
    pub runs: SeedRuns,
    /// Volumes of the two-level hierarchy, where one was asked for.
    pub volumes: Option<LevelVolumes>,
}

/// What was simulated.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CacheSettings {
    /// The cache.
    #[serde(flatten)]
    pub geometry: CacheGeometry,
    /// Which lanes share a request for a line.
    pub coalescing: &'static str,
    /// Which line gives way.
    pub replacement: Replacement,
    /// What happens to stores.
    pub write: WritePolicy,
    /// The order of accesses.
    pub policy: &'static str,
    /// Cores that share the blocks.
    pub cores: u32,
    /// Blocks at a time; null is all.
    pub max_groups: Option<u32>,
}

impl SimulatedCacheDocument {
    /// Of runs with several seeds.
    pub fn new(
        head: TraceHead,
        settings: CacheSettings,
        runs: SeedRuns,
        volumes: Option<LevelVolumes>,
    ) -> Self {
        Self { schema: "wavecast/cache/1", head, settings, runs, volumes }
    }
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
    for run in &document.runs.runs {
        let s = &run.statistics;
        let counts =
            [s.reads, s.read_misses, s.cold, s.capacity, s.conflict, s.writes, s.write_misses, s.write_backs];
        let head = [run.seed.to_string(), percent(run.miss_rate_percent)];
        table.row(head.into_iter().chain(counts.map(|c| c.to_string())));
    }
    table
}

/// For a terminal.
fn cache_text(document: &SimulatedCacheDocument, width: Option<usize>) -> String {
    let (s, runs) = (&document.settings, &document.runs);
    let mut out = document.head.text();
    let _ = write!(
        out,
        "cache {}, {}, {}; policy {}, {} cores, {}; requests of {}\n\n",
        s.geometry,
        s.replacement.word(),
        s.write.word(),
        s.policy,
        s.cores,
        s.max_groups.map_or("all groups at a time".to_owned(), |m| format!("{m} groups at a time")),
        s.coalescing
    );
    out += &cache_table(document).text(1, width);
    let _ = write!(
        out,
        "\nmedian: miss rate {} %, {} reads (deviation {} %), {} misses (deviation {} %)\n",
        percent(runs.miss_rate_percent),
        runs.median_reads,
        percent(runs.reads_deviation_percent),
        runs.median_read_misses,
        percent(runs.misses_deviation_percent)
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
