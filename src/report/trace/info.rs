//! What a trace holds.

use std::fmt::Write;

use serde::Serialize;

use crate::report::answer::{Answer, View};
use crate::report::check::Tool;
use crate::report::{Align, Table};
use crate::trace::contents::LaunchContents;
use crate::trace::format::Reading;

impl Answer for TraceInfoDocument {
    fn text(&self, view: View) -> String {
        info_text(self, view.width)
    }

    fn table(answers: &[&Self]) -> Table {
        Table::join(answers.iter().map(|d| info_table(d)))
    }
}

/// What a trace holds: `wavecast/trace-info/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TraceInfoDocument {
    /// `wavecast/trace-info/1`.
    pub schema: &'static str,
    /// What was met while it was read.
    #[serde(flatten)]
    pub reading: Reading,
    /// The kernel launches.
    pub launches: Vec<LaunchInfo>,
}

/// A launch in a trace.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaunchInfo {
    /// The program.
    pub tool: Tool,
    /// Where the trace comes from.
    pub source: String,
    /// What the launch holds.
    #[serde(flatten)]
    pub contents: LaunchContents,
}

impl TraceInfoDocument {
    /// Of what was read from some source.
    pub fn new(source: &str, reading: Reading, launches: Vec<LaunchContents>) -> Self {
        let one = |contents| LaunchInfo { tool: Tool::this(), source: source.to_owned(), contents };
        Self { schema: "wavecast/trace-info/1", reading, launches: launches.into_iter().map(one).collect() }
    }
}

/// As a table.
fn info_table(document: &TraceInfoDocument) -> Table {
    use Align::{Left, Right};
    Table::filled(
        document.launches.iter().map(|l| &l.contents),
        &[
            ("kernel", Left, &|l| l.launch.kernel.clone().unwrap_or_default()),
            ("block", Right, &|l| l.launch.block.to_string()),
            ("grid", Right, &|l| l.launch.grid.to_string()),
            ("threads", Right, &|l| l.launch.threads.to_string()),
            ("loads", Right, &|l| l.loads.to_string()),
            ("stores", Right, &|l| l.stores.to_string()),
            ("atomics", Right, &|l| l.atomics.to_string()),
            ("barriers", Right, &|l| l.barriers.to_string()),
            ("lines", Right, &|l| l.distinct_lines.to_string()),
            ("instructions", Right, &|l| l.instructions.to_string()),
        ],
    )
}

/// For a terminal.
fn info_text(document: &TraceInfoDocument, width: Option<usize>) -> String {
    let reading = &document.reading;
    let mut out = format!("format {}, {} lines", reading.format_name(), reading.lines);
    if let Some(first) = reading.first_skipped {
        let _ = write!(out, ", {} malformed lines skipped, the first is line {first}", reading.skipped);
    }
    if reading.elsewhere > 0 {
        let _ = write!(out, ", {} accesses to other memories left out", reading.elsewhere);
    }
    out + "\n\n" + &info_table(document).text(1, width)
}
