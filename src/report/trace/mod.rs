//! What the trace-based models found: documents, tables and texts.

mod cache;
#[cfg(feature = "fit")]
mod comparison;
mod experiment;
mod hot;
mod info;
mod reuse;
mod sweep;

pub use cache::{CacheDocument, CacheSettings, SeedRun, VolumesDocument, cache_document};
#[cfg(feature = "fit")]
pub use comparison::{ComparisonDocument, comparison_document};
pub use experiment::{ExperimentDocument, ExperimentRow, experiment_row};
pub use hot::{HotDocument, HotInstruction, HotLine};
pub use info::{InfoSink, LaunchInfo, TraceInfoDocument};
pub use reuse::{
    MeasuredMisses, MissTypes, ReuseDocument, ReuseSettings, RuleEffect, RunDocument, run_document,
};
pub use sweep::{TraceSweepDocument, TraceSweepPoint};

use crate::report::check::Tool;

/// A kernel launch that was traced.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct TraceHead {
    /// The program.
    pub tool: Tool,
    /// Where the trace comes from.
    pub source: String,
    /// Name of the kernel, where it is known.
    pub kernel: Option<String>,
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads in the trace.
    pub threads: usize,
    /// Accesses in the trace.
    pub accesses: usize,
}

impl TraceHead {
    /// Of a trace from some source.
    pub fn new(source: &str, facts: &crate::trace::stream::Facts) -> Self {
        Self {
            tool: Tool::this(),
            source: source.to_owned(),
            kernel: facts.kernel.clone(),
            block: facts.block.0,
            grid: facts.grid.0,
            threads: facts.threads,
            accesses: usize::try_from(facts.accesses).unwrap_or(usize::MAX),
        }
    }

    /// In one line.
    fn text(&self) -> String {
        let shape = |[x, y, z]: [u32; 3]| format!("{x}x{y}x{z}");
        format!(
            "{} ({}): block {}, grid {}, {} threads, {} accesses\n",
            self.kernel.as_deref().unwrap_or("trace"),
            self.source,
            shape(self.block),
            shape(self.grid),
            self.threads,
            self.accesses
        )
    }
}

/// A percentage as it is shown.
fn percent(value: f64) -> String {
    format!("{value:.2}")
}
