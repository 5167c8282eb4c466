//! What a trace holds.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use super::TraceHead;
use crate::report::{Align, Table};
use crate::trace::format::Reading;
use crate::trace::{Kind, Trace};

/// What a trace holds: `wavecast/trace-info/1`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TraceInfoDocument {
    /// `wavecast/trace-info/1`.
    pub schema: &'static str,
    /// Name of the format; `kernel` for a kernel document.
    pub format: &'static str,
    /// Lines read.
    pub lines: u64,
    /// Malformed lines that were skipped.
    pub skipped: u64,
    /// Number of the first of them.
    pub first_skipped: Option<u64>,
    /// Accesses to shared, local or other memory, which are left out.
    pub elsewhere: u64,
    /// The kernel launches.
    pub launches: Vec<LaunchInfo>,
}

/// A launch in a trace.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LaunchInfo {
    /// The launch.
    #[serde(flatten)]
    pub head: TraceHead,
    /// Loads.
    pub loads: u64,
    /// Stores.
    pub stores: u64,
    /// Atomics.
    pub atomics: u64,
    /// Barriers, counted for each thread.
    pub barriers: u64,
    /// Bytes that lanes load.
    pub loaded_bytes: u64,
    /// Bytes that lanes store.
    pub stored_bytes: u64,
    /// Distinct lines of 128 bytes.
    pub distinct_lines: u64,
    /// First and last byte touched; null if there are none.
    pub addresses: Option<[u64; 2]>,
    /// Instructions; 0 if the trace does not know them.
    pub instructions: usize,
    /// Most accesses of a thread.
    pub longest_thread: usize,
}

impl TraceInfoDocument {
    /// Of what was read.
    pub fn new(reading: Reading, launches: Vec<LaunchInfo>) -> Self {
        Self {
            schema: "wavecast/trace-info/1",
            format: reading.format.map_or("kernel", crate::trace::format::Format::word),
            lines: reading.lines,
            skipped: reading.skipped,
            first_skipped: reading.first_skipped,
            elsewhere: reading.elsewhere,
            launches,
        }
    }
}

/// What a launch holds.
pub fn launch_info(source: &str, trace: &Trace) -> LaunchInfo {
    let mut info = LaunchInfo {
        head: TraceHead::new(source, trace),
        loads: 0,
        stores: 0,
        atomics: 0,
        barriers: 0,
        loaded_bytes: 0,
        stored_bytes: 0,
        distinct_lines: 0,
        addresses: None,
        instructions: trace.tables.instructions().len(),
        longest_thread: (0..trace.threads()).map(|t| trace.thread(t).len()).max().unwrap_or(0),
    };
    let mut lines = Vec::new();
    for access in trace.accesses() {
        let bytes = u64::from(access.bytes);
        match access.kind {
            Kind::Load => info.loads += 1,
            Kind::Store => info.stores += 1,
            Kind::Atomic => info.atomics += 1,
            Kind::Barrier => {
                info.barriers += 1;
                continue;
            }
        }
        if access.kind != Kind::Store {
            info.loaded_bytes += bytes;
        }
        if access.kind != Kind::Load {
            info.stored_bytes += bytes;
        }
        let last = access.address.saturating_add(bytes.max(1) - 1);
        let [from, to] = info.addresses.unwrap_or([u64::MAX, 0]);
        info.addresses = Some([from.min(access.address), to.max(last)]);
        lines.extend([access.address / 128, last / 128]);
        if lines.len() > 1 << 22 {
            lines.sort_unstable();
            lines.dedup();
        }
    }
    lines.sort_unstable();
    lines.dedup();
    info.distinct_lines = lines.len() as u64;
    info
}

/// As a table.
pub fn info_table(document: &TraceInfoDocument) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new([
        ("kernel", Left),
        ("block", Right),
        ("grid", Right),
        ("threads", Right),
        ("loads", Right),
        ("stores", Right),
        ("atomics", Right),
        ("barriers", Right),
        ("lines", Right),
        ("instructions", Right),
    ]);
    let shape = |[x, y, z]: [u32; 3]| format!("{x}x{y}x{z}");
    for launch in &document.launches {
        table.row([
            launch.head.kernel.clone().unwrap_or_default(),
            shape(launch.head.block),
            shape(launch.head.grid),
            launch.head.threads.to_string(),
            launch.loads.to_string(),
            launch.stores.to_string(),
            launch.atomics.to_string(),
            launch.barriers.to_string(),
            launch.distinct_lines.to_string(),
            launch.instructions.to_string(),
        ]);
    }
    table
}

/// For a terminal.
pub fn info_text(document: &TraceInfoDocument, width: Option<usize>) -> String {
    let mut out = format!("format {}, {} lines", document.format, document.lines);
    if let Some(first) = document.first_skipped {
        let _ = write!(out, ", {} malformed lines skipped, the first is line {first}", document.skipped);
    }
    if document.elsewhere > 0 {
        let _ = write!(out, ", {} accesses to other memories left out", document.elsewhere);
    }
    out + "\n\n" + &info_table(document).text(1, width)
}
