//! Crawford's experiments (C chapter 8): a kernel over group and matrix sizes.

use schemars::JsonSchema;
use serde::Serialize;

use super::percent;
use crate::cache::experiment::BenchmarkResult;
use crate::report::check::Tool;
use crate::report::{Align, Table};

/// Miss rates over group and matrix sizes: `wavecast/experiment/1`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExperimentDocument {
    /// `wavecast/experiment/1`.
    pub schema: &'static str,
    /// The program.
    pub tool: Tool,
    /// What was done.
    pub about: String,
    /// A row for each size.
    pub rows: Vec<BenchmarkResult>,
}

impl ExperimentDocument {
    /// Of rows for one core of so many, with so many choices of groups and this function from lines to sets.
    pub fn new(rows: Vec<BenchmarkResult>, cores: u32, seeds: u64, index: &str) -> Self {
        let about = format!(
            "Crawford's kernels (C chapters 7 and 8): one core of {cores}, medians of {seeds} choices of groups; \
             groups enter as others end; lines to sets by {index}"
        );
        Self { schema: "wavecast/experiment/1", tool: Tool::this(), about, rows }
    }
}

/// As a table.
pub(super) fn experiment_table(document: &ExperimentDocument) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new([
        ("kernel", Left),
        ("group", Right),
        ("groups", Right),
        ("elements", Right),
        ("at a time", Right),
        ("miss rate %", Right),
        ("reads", Right),
        ("misses", Right),
        ("deviation %", Right),
        ("C simulated %", Right),
        ("C profiled %", Right),
    ]);
    for row in &document.rows {
        table.row([
            row.kernel.to_owned(),
            format!("{}x{}", row.group[0], row.group[1]),
            row.groups.to_string(),
            row.elements.to_string(),
            row.max_groups.map_or("all".to_owned(), |m| m.to_string()),
            percent(row.miss_rate_percent),
            row.median_reads.to_string(),
            row.median_read_misses.to_string(),
            percent(row.misses_deviation_percent),
            row.published_simulated_percent.map(percent).unwrap_or_default(),
            row.published_profiled_percent.map(percent).unwrap_or_default(),
        ]);
    }
    table
}
