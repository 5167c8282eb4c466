//! What a trace holds.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use super::TraceHead;
use crate::report::answer::{Answer, View};
use crate::report::{Align, Table};
use crate::trace::format::{ReadError, Reading, Sink};
use crate::trace::{Dim3, Header, Tables, TraceAccess, TraceKind};

impl Answer for TraceInfoDocument {
    fn text(&self, view: View) -> String {
        info_text(self, view.width)
    }

    fn table(answers: &[&Self]) -> Table {
        Table::join(answers.iter().map(|d| info_table(d)))
    }
}

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
            format: reading.format.map_or("kernel", crate::trace::format::TraceFormat::word),
            lines: reading.lines,
            skipped: reading.skipped,
            first_skipped: reading.first_skipped,
            elsewhere: reading.elsewhere,
            launches,
        }
    }
}

/// Counts what the launches of a trace hold as they are read. Of each thread it keeps a number, and of each line
/// that is touched its address.
#[derive(Debug)]
pub struct InfoSink {
    source: String,
    /// The launches that are complete.
    pub launches: Vec<LaunchInfo>,
    current: Option<Counting>,
}

#[derive(Debug)]
struct Counting {
    info: LaunchInfo,
    grid: Option<Dim3>,
    /// Accesses of each thread.
    threads: Vec<u32>,
    lines: Vec<u64>,
    /// So many lines are sorted and made distinct.
    full: usize,
}

/// Lines that are gathered before they are made distinct.
const LINES: usize = 1 << 22;

impl InfoSink {
    /// For a trace from some source.
    pub fn new(source: &str) -> Self {
        Self { source: source.to_owned(), launches: Vec::new(), current: None }
    }
}

impl Sink for InfoSink {
    fn begin(&mut self, header: &Header, _: bool) -> Result<(), ReadError> {
        let head = TraceHead {
            tool: crate::report::check::Tool::this(),
            source: self.source.clone(),
            kernel: header.kernel.clone(),
            block: header.block.0,
            grid: [1; 3],
            threads: 0,
            accesses: 0,
        };
        let info = LaunchInfo {
            head,
            loads: 0,
            stores: 0,
            atomics: 0,
            barriers: 0,
            loaded_bytes: 0,
            stored_bytes: 0,
            distinct_lines: 0,
            addresses: None,
            instructions: 0,
            longest_thread: 0,
        };
        let (threads, lines) = (Vec::new(), Vec::new());
        self.current = Some(Counting { info, grid: header.grid, threads, lines, full: LINES });
        Ok(())
    }

    fn access(&mut self, access: TraceAccess, _: &Tables) -> Result<(), ReadError> {
        if let Some(current) = &mut self.current {
            current.access(&access);
        }
        Ok(())
    }

    fn end(&mut self, tables: Tables) -> Result<(), ReadError> {
        let Some(mut now) = self.current.take() else { return Ok(()) };
        now.distinct();
        let info = &mut now.info;
        info.distinct_lines = now.lines.len() as u64;
        info.instructions = tables.instructions().len();
        info.longest_thread = now.threads.iter().copied().max().unwrap_or(0) as usize;
        info.head.threads = now.threads.len();
        let blocks = (now.threads.len() as u64).div_ceil(Dim3(info.head.block).volume().max(1));
        let row = [u32::try_from(blocks).unwrap_or(u32::MAX).max(1), 1, 1];
        info.head.grid = now.grid.map_or(row, |g| g.0);
        self.launches.push(now.info);
        Ok(())
    }
}

impl Counting {
    fn access(&mut self, access: &TraceAccess) {
        let thread = access.thread as usize;
        if self.threads.len() <= thread {
            self.threads.resize(thread + 1, 0);
        }
        if let Some(count) = self.threads.get_mut(thread) {
            *count = count.saturating_add(1);
        }
        let info = &mut self.info;
        info.head.accesses += 1;
        let bytes = u64::from(access.bytes);
        match access.kind {
            TraceKind::Load => info.loads += 1,
            TraceKind::Store => info.stores += 1,
            TraceKind::Atomic => info.atomics += 1,
            TraceKind::Barrier => {
                info.barriers += 1;
                return;
            }
        }
        if access.kind != TraceKind::Store {
            info.loaded_bytes += bytes;
        }
        if access.kind != TraceKind::Load {
            info.stored_bytes += bytes;
        }
        let last = access.address.saturating_add(bytes.max(1) - 1);
        let [from, to] = info.addresses.unwrap_or([u64::MAX, 0]);
        info.addresses = Some([from.min(access.address), to.max(last)]);
        let (first, last) = (access.address / 128, last / 128);
        // Most accesses touch the line of the one before.
        if self.lines.last() != Some(&first) || first != last {
            self.lines.extend([first, last]);
        }
        if self.lines.len() >= self.full {
            self.distinct();
            self.full = (2 * self.lines.len()).max(LINES);
        }
    }

    fn distinct(&mut self) {
        self.lines.sort_unstable();
        self.lines.dedup();
    }
}

/// As a table.
fn info_table(document: &TraceInfoDocument) -> Table {
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
fn info_text(document: &TraceInfoDocument, width: Option<usize>) -> String {
    let mut out = format!("format {}, {} lines", document.format, document.lines);
    if let Some(first) = document.first_skipped {
        let _ = write!(out, ", {} malformed lines skipped, the first is line {first}", document.skipped);
    }
    if document.elsewhere > 0 {
        let _ = write!(out, ", {} accesses to other memories left out", document.elsewhere);
    }
    out + "\n\n" + &info_table(document).text(1, width)
}
