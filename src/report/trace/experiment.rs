//! Crawford's experiments (C chapter 8): a kernel over group and matrix sizes.

use schemars::JsonSchema;
use serde::Serialize;

use super::cache::{median, relative_deviation};
use super::percent;
use crate::cache::Statistics;
use crate::cache::experiment::Benchmark;
use crate::report::answer::{Answer, View};
use crate::report::check::Tool;
use crate::report::{Align, Table};

impl Answer for ExperimentDocument {
    fn text(&self, view: View) -> String {
        format!("{}\n\n{}", self.about, experiment_table(self).text(1, view.width))
    }

    fn table(answers: &[&Self]) -> Table {
        Table::join(answers.iter().map(|d| experiment_table(d)))
    }

    #[cfg(feature = "cli")]
    fn picture(&self) -> Option<String> {
        Some(crate::report::svg::experiment_picture(self))
    }
}

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
    pub rows: Vec<ExperimentRow>,
}

/// One size.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExperimentRow {
    /// The kernel.
    pub kernel: &'static str,
    /// Threads of a group along x and y.
    pub group: [u32; 2],
    /// Groups in all.
    pub groups: u64,
    /// Elements of a matrix.
    pub elements: u64,
    /// Most groups of a core at a time; null is all.
    pub max_groups: Option<u32>,
    /// Median miss rate, in percent.
    pub miss_rate_percent: f64,
    /// Median of the reads.
    pub reads: f64,
    /// Median of the read misses.
    pub read_misses: f64,
    /// Standard deviation of the read misses over their median, in percent.
    pub misses_deviation_percent: f64,
    /// What C publishes: simulated.
    pub published_simulated_percent: Option<f64>,
    /// What C publishes: profiled.
    pub published_profiled_percent: Option<f64>,
}

impl ExperimentDocument {
    /// Of rows for one core of so many, with so many choices of groups and this function from lines to sets.
    pub fn new(rows: Vec<ExperimentRow>, cores: u32, seeds: u64, index: &str) -> Self {
        let about = format!(
            "Crawford's kernels (C chapters 7 and 8): one core of {cores}, medians of {seeds} choices of groups; \
             groups enter as others end; lines to sets by {index}"
        );
        Self { schema: "wavecast/experiment/1", tool: Tool::this(), about, rows }
    }
}

/// The row of a benchmark.
pub fn experiment_row(
    benchmark: Benchmark,
    groups: u64,
    max_groups: Option<u32>,
    runs: &[(u64, Statistics)],
) -> ExperimentRow {
    let of = |value: fn(&Statistics) -> f64| runs.iter().map(|r| value(&r.1)).collect::<Vec<f64>>();
    let (reads, misses) = (of(|s| s.reads as f64), of(|s| s.read_misses as f64));
    let [x, y] = benchmark.group();
    let (published_simulated_percent, published_profiled_percent) = benchmark.published();
    ExperimentRow {
        kernel: benchmark.word(),
        group: [x, y],
        groups,
        elements: groups * u64::from(x) * u64::from(y),
        max_groups,
        miss_rate_percent: median(&of(Statistics::miss_rate)),
        reads: median(&reads),
        read_misses: median(&misses),
        misses_deviation_percent: relative_deviation(&misses),
        published_simulated_percent,
        published_profiled_percent,
    }
}

/// As a table.
fn experiment_table(document: &ExperimentDocument) -> Table {
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
            row.reads.to_string(),
            row.read_misses.to_string(),
            percent(row.misses_deviation_percent),
            row.published_simulated_percent.map(percent).unwrap_or_default(),
            row.published_profiled_percent.map(percent).unwrap_or_default(),
        ]);
    }
    table
}
