//! Crawford's experiments (C chapter 8): a kernel over group and matrix sizes.

use serde::Serialize;

use super::percent;
use crate::cache::experiment::BenchmarkResult;
use crate::report::check::Tool;
use crate::report::{Align, Table};

/// Miss rates over group and matrix sizes: `wavecast/experiment/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    Table::filled(
        &document.rows,
        &[
            ("kernel", Left, &|row| row.kernel.to_owned()),
            ("group", Right, &|row| format!("{}x{}", row.group[0], row.group[1])),
            ("groups", Right, &|row| row.groups.to_string()),
            ("elements", Right, &|row| row.elements.to_string()),
            ("at a time", Right, &|row| row.max_groups.map_or("all".to_owned(), |m| m.to_string())),
            ("miss rate %", Right, &|row| percent(row.miss_rate_percent)),
            ("reads", Right, &|row| row.median_reads.to_string()),
            ("misses", Right, &|row| row.median_read_misses.to_string()),
            ("deviation %", Right, &|row| percent(row.misses_deviation_percent)),
            ("C simulated %", Right, &|row| row.published_simulated_percent.map(percent).unwrap_or_default()),
            ("C profiled %", Right, &|row| row.published_profiled_percent.map(percent).unwrap_or_default()),
        ],
    )
}
