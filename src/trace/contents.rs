//! What the launches of a trace hold, counted as they are read.

use serde::Serialize;

use super::format::{ReadError, Sink};
use super::model::{Header, Tables, TraceAccess, TraceKind, TracedLaunch};

/// What a launch of a trace holds.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaunchContents {
    /// The launch.
    #[serde(flatten)]
    pub launch: TracedLaunch,
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

/// Counts what the launches of a trace hold as they are read. Of each thread it keeps a number, and of each line
/// that is touched its address.
#[derive(Debug, Default)]
pub struct ContentsSink {
    /// The launches that are complete.
    pub launches: Vec<LaunchContents>,
    current: Option<Counting>,
}

#[derive(Debug)]
struct Counting {
    header: Header,
    found: LaunchContents,
    /// Accesses of each thread.
    threads: Vec<u32>,
    lines: Vec<u64>,
    /// So many lines are sorted and made distinct.
    full: usize,
}

/// Lines that are gathered before they are made distinct.
const LINES: usize = 1 << 22;

impl Sink for ContentsSink {
    fn begin(&mut self, header: &Header, _: bool) -> Result<(), ReadError> {
        let found = LaunchContents {
            launch: TracedLaunch::new(header.clone(), 0, 0),
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
        self.current = Some(Counting { header: header.clone(), found, threads, lines, full: LINES });
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
        let accesses = now.found.launch.accesses;
        self.launches.push(LaunchContents {
            launch: TracedLaunch::new(now.header, now.threads.len(), accesses),
            distinct_lines: now.lines.len() as u64,
            instructions: tables.instructions().len(),
            longest_thread: now.threads.iter().copied().max().unwrap_or(0) as usize,
            ..now.found
        });
        Ok(())
    }
}

impl Counting {
    fn access(&mut self, access: &TraceAccess) {
        let thread = access.thread as usize;
        if self.threads.len() <= thread {
            self.threads.resize(thread + 1, 0);
        }
        self.threads[thread] = self.threads[thread].saturating_add(1);
        let found = &mut self.found;
        found.launch.accesses += 1;
        let bytes = u64::from(access.bytes);
        match access.kind {
            TraceKind::Load => found.loads += 1,
            TraceKind::Store => found.stores += 1,
            TraceKind::Atomic => found.atomics += 1,
            TraceKind::Barrier => {
                found.barriers += 1;
                return;
            }
        }
        if access.kind != TraceKind::Store {
            found.loaded_bytes += bytes;
        }
        if access.kind != TraceKind::Load {
            found.stored_bytes += bytes;
        }
        let last = access.address.saturating_add(bytes.max(1) - 1);
        let [from, to] = found.addresses.unwrap_or([u64::MAX, 0]);
        found.addresses = Some([from.min(access.address), to.max(last)]);
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
