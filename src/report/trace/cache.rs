//! What a simulated cache did.

use std::fmt::Write;

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
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    Table::filled(
        &document.runs.runs,
        &[
            ("seed", Right, &|run| run.seed.to_string()),
            ("miss rate %", Right, &|run| percent(run.miss_rate_percent)),
            ("reads", Right, &|run| run.statistics.reads.to_string()),
            ("misses", Right, &|run| run.statistics.read_misses.to_string()),
            ("cold", Right, &|run| run.statistics.cold.to_string()),
            ("capacity", Right, &|run| run.statistics.capacity.to_string()),
            ("conflict", Right, &|run| run.statistics.conflict.to_string()),
            ("writes", Right, &|run| run.statistics.writes.to_string()),
            ("write misses", Right, &|run| run.statistics.write_misses.to_string()),
            ("write-backs", Right, &|run| run.statistics.write_backs.to_string()),
        ],
    )
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
        if v.dram_fill_bytes > 0 {
            let _ = writeln!(
                out,
                "beside these, {} B from memory complete sectors that were stored in part",
                v.dram_fill_bytes
            );
        }
    }
    out
}
