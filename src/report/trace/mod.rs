//! What the trace-based models found: documents, tables and texts.

mod answers;
mod cache;
#[cfg(feature = "fit")]
mod comparison;
mod experiment;
mod hot;
mod info;
mod reuse;
mod sweep;

pub use cache::{CacheSettings, SimulatedCacheDocument};
#[cfg(feature = "fit")]
pub use comparison::{ComparisonDocument, comparison_document};
pub use experiment::ExperimentDocument;
pub use hot::HotDocument;
pub use info::TraceInfoDocument;
pub use reuse::{MeasuredMisses, ReuseDocument, ReuseSettings, RunDocument};
pub use sweep::{TraceSweepDocument, TraceSweepPoint};

use crate::report::check::Tool;
use crate::trace::TracedLaunch;

/// A kernel launch that was traced, and from where.
#[derive(Debug, Clone, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TraceHead {
    /// The program.
    pub tool: Tool,
    /// Where the trace comes from.
    pub source: String,
    /// The launch.
    #[serde(flatten)]
    pub launch: TracedLaunch,
}

impl TraceHead {
    /// Of a trace from some source.
    pub fn new(source: &str, launch: TracedLaunch) -> Self {
        Self { tool: Tool::this(), source: source.to_owned(), launch }
    }

    /// The kernel, or where its trace comes from.
    #[cfg(feature = "cli")]
    pub fn name(&self) -> &str {
        self.launch.kernel.as_deref().unwrap_or(&self.source)
    }

    /// In one line.
    fn text(&self) -> String {
        let TracedLaunch { kernel, block, grid, threads, accesses } = &self.launch;
        let kernel = kernel.as_deref().unwrap_or("trace");
        let source = &self.source;
        format!("{kernel} ({source}): block {block}, grid {grid}, {threads} threads, {accesses} accesses\n")
    }
}

/// A percentage as it is shown.
fn percent(value: f64) -> String {
    format!("{value:.2}")
}
