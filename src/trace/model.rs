//! What a trace is: per thread an ordered list of accesses. Only the order within a thread means anything.

use rustc_hash::FxHashMap;

use serde::Serialize;

use super::numbering::number;

/// Three extents or a place, x fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(inline))]
pub struct Dim3(pub [u32; 3]);

impl Dim3 {
    /// One element.
    pub const ONE: Self = Self([1; 3]);

    /// Number of elements.
    pub fn volume(self) -> u64 {
        self.0.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul)
    }

    /// Threads of a block of these extents; at least one.
    pub fn threads(self) -> usize {
        usize::try_from(self.volume()).unwrap_or(usize::MAX).max(1)
    }

    /// Number of the element at a place.
    pub fn linear(self, Dim3([x, y, z]): Dim3) -> u64 {
        let [nx, ny, _] = self.0.map(u64::from);
        let row = u64::from(z).saturating_mul(ny).saturating_add(u64::from(y));
        row.saturating_mul(nx).saturating_add(u64::from(x))
    }

    /// Place of an element.
    #[must_use]
    pub fn place(self, linear: u64) -> Dim3 {
        let [nx, ny, _] = self.0.map(|n| u64::from(n.max(1)));
        // Beyond the last element, the place is beyond the extents, however far.
        let narrow = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        Dim3([narrow(linear % nx), narrow(linear / nx % ny), narrow(linear / nx / ny)])
    }
}

impl std::fmt::Display for Dim3 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "{x}x{y}x{z}")
    }
}

/// What an entry of a trace does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TraceKind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes beyond the L1 cache.
    Atomic,
    /// Waits for the block.
    Barrier,
}

/// The instruction of an access whose trace does not say.
pub const NO_INSTRUCTION: u32 = u32::MAX;

/// One entry of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceAccess {
    /// First byte.
    pub address: u64,
    /// Global number: of the block, times threads of a block, plus number in the block; x fastest.
    pub thread: u32,
    /// Position in [`Tables::instructions`], or [`NO_INSTRUCTION`].
    pub instruction: u32,
    /// Of the enclosing loops: position in [`Tables`]; 0 is outside of all.
    pub iteration: u32,
    /// How many bytes.
    pub bytes: u16,
    /// What it does.
    pub kind: TraceKind,
}

impl TraceAccess {
    /// An access of which nothing else is known.
    pub fn plain(thread: u32, kind: TraceKind, address: u64, bytes: u16) -> Self {
        Self { address, thread, instruction: NO_INSTRUCTION, iteration: 0, bytes, kind }
    }
}

/// What is known of an instruction.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TraceInstruction {
    /// Its name in the trace; empty if the trace does not know.
    #[serde(rename = "instruction")]
    pub name: String,
    /// Source line, from 1; 0 if not known.
    pub line: u32,
    /// Source column, from 1; 0 if not known.
    pub column: u32,
}

/// Names behind the numbers in accesses.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    instructions: Vec<TraceInstruction>,
    by_name: FxHashMap<String, u32>,
    /// Pairs of a loop's label and its iteration, of all interned iterations behind each other.
    pairs: Vec<(u32, u32)>,
    ends: Vec<usize>,
    by_pairs: FxHashMap<Box<[(u32, u32)]>, u32>,
}

impl Tables {
    /// The number of an instruction by name; a new name gets the next one.
    pub fn instruction(&mut self, name: &str) -> u32 {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        let next = number(self.instructions.len());
        self.instructions.push(TraceInstruction { name: name.to_owned(), ..TraceInstruction::default() });
        self.by_name.insert(name.to_owned(), next);
        next
    }

    /// Notes where an instruction stands in the source.
    pub fn place(&mut self, instruction: u32, line: u32, column: u32) {
        if let Some(known) = self.instructions.get_mut(instruction as usize) {
            (known.line, known.column) = (line, column);
        }
    }

    /// All instructions, in the order in which they were met.
    pub fn instructions(&self) -> &[TraceInstruction] {
        &self.instructions
    }

    /// The number of an iteration: pairs of loop label and iteration, outermost first. None is 0.
    pub fn iteration(&mut self, pairs: &[(u32, u32)]) -> u32 {
        if pairs.is_empty() {
            return 0;
        }
        if let Some(&known) = self.by_pairs.get(pairs) {
            return known;
        }
        self.pairs.extend_from_slice(pairs);
        self.ends.push(self.pairs.len());
        let next = number(self.ends.len());
        self.by_pairs.insert(pairs.into(), next);
        next
    }

    /// The pairs of an iteration.
    pub fn pairs(&self, iteration: u32) -> &[(u32, u32)] {
        let Some(last) = (iteration as usize).checked_sub(1) else { return &[] };
        let from = last.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.pairs[from..self.ends[last]]
    }
}

/// What stands before the accesses of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Name of the kernel, where the trace says.
    pub kernel: Option<String>,
    /// Threads of a block.
    pub block: Dim3,
    /// Blocks of the grid, where the trace says.
    pub grid: Option<Dim3>,
}

/// A kernel launch that was traced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TracedLaunch {
    /// Name of the kernel, where it is known.
    pub kernel: Option<String>,
    /// Threads of a block.
    pub block: Dim3,
    /// Blocks of the grid: as the trace says, or as many as there are in a row.
    pub grid: Dim3,
    /// Threads in the trace, up to the last one with an access.
    pub threads: usize,
    /// Accesses in the trace.
    pub accesses: u64,
}

impl TracedLaunch {
    /// What a header says, with what was counted after it.
    pub fn new(header: Header, threads: usize, accesses: u64) -> Self {
        let Header { kernel, block, grid } = header;
        Self { kernel, block, grid: grid.unwrap_or_else(|| row(block, threads)), threads, accesses }
    }
}

/// The grid of so many threads, where the trace does not say it: their blocks in a row.
fn row(block: Dim3, threads: usize) -> Dim3 {
    Dim3([number(threads.div_ceil(block.threads())).max(1), 1, 1])
}

/// The accesses of one kernel launch, by thread.
#[derive(Debug, Clone)]
pub struct Trace {
    /// Name of the kernel, where the trace says.
    pub kernel: Option<String>,
    /// Threads of a block.
    pub block: Dim3,
    /// Blocks of the grid: as the trace says, or as many as there are in a row.
    pub grid: Dim3,
    /// Names behind the numbers.
    pub tables: Tables,
    accesses: Vec<TraceAccess>,
    /// Where each thread's accesses start, and the end.
    starts: Vec<usize>,
    /// In which order they stand in the file, where that means something.
    recorded: Option<Vec<u32>>,
}

impl Trace {
    /// Threads up to the last one with an access.
    pub fn threads(&self) -> usize {
        self.starts.len() - 1
    }

    /// Threads of a block.
    pub fn block_threads(&self) -> usize {
        self.block.threads()
    }

    /// Blocks up to the last one with an access.
    pub fn blocks(&self) -> usize {
        self.threads().div_ceil(self.block_threads())
    }

    /// The accesses of a thread in order; none of one that does not exist.
    pub fn thread(&self, number: usize) -> &[TraceAccess] {
        self.accesses.get(self.range(number)).unwrap_or(&[])
    }

    /// Where the accesses of a thread lie among all.
    pub fn range(&self, number: usize) -> std::ops::Range<usize> {
        match (self.starts.get(number), self.starts.get(number + 1)) {
            (Some(&from), Some(&to)) => from..to,
            _ => 0..0,
        }
    }

    /// All accesses, by thread.
    pub fn accesses(&self) -> &[TraceAccess] {
        &self.accesses
    }

    /// Positions in [`accesses`](Self::accesses) in the order of the file, if that is a schedule.
    pub fn recorded(&self) -> Option<&[u32]> {
        self.recorded.as_deref()
    }

    /// Whether every access knows its instruction.
    pub fn has_instructions(&self) -> bool {
        self.accesses.iter().all(|a| a.instruction != NO_INSTRUCTION || a.kind == TraceKind::Barrier)
    }
}

impl Trace {
    /// The trace with its blocks renumbered, x fastest, where they were numbered x slowest, as N's tracer
    /// does; none if the grid does not have the blocks of the trace.
    pub fn from_x_slowest(&self, grid: Dim3) -> Option<Self> {
        let [nx, ny, nz] = grid.0;
        let turned = Dim3([nz, ny, nx]);
        if grid.volume() < self.blocks() as u64 || grid.volume() > 1 << 26 {
            return None;
        }
        let size = self.block_threads();
        let header = Header { kernel: self.kernel.clone(), block: self.block, grid: Some(grid) };
        let mut builder = TraceBuilder::new(header, false);
        for access in &self.accesses {
            let (block, local) = (access.thread as usize / size, access.thread as usize % size);
            let [z, y, x] = turned.place(block as u64).0;
            let block = usize::try_from(grid.linear(Dim3([x, y, z]))).ok()?;
            let thread = u32::try_from(block.checked_mul(size)?.checked_add(local)?).ok()?;
            builder.push(TraceAccess { thread, ..*access });
        }
        Some(builder.finish(self.tables.clone()))
    }
}

/// Collects the accesses of a launch.
#[derive(Debug)]
pub struct TraceBuilder {
    header: Header,
    accesses: Vec<TraceAccess>,
    threads: usize,
    sorted: bool,
    keep_order: bool,
}

impl TraceBuilder {
    /// An empty trace; `keep_order` where the order of all accesses together means something.
    pub fn new(header: Header, keep_order: bool) -> Self {
        Self { header, accesses: Vec::new(), threads: 0, sorted: true, keep_order }
    }

    /// Adds an access.
    #[inline]
    pub fn push(&mut self, access: TraceAccess) {
        let thread = access.thread as usize;
        self.sorted &= thread + 1 >= self.threads;
        self.threads = self.threads.max(thread + 1);
        self.accesses.push(access);
    }

    /// The trace.
    pub fn finish(self, tables: Tables) -> Trace {
        let Self { header, accesses, threads, sorted, keep_order } = self;
        let mut starts = vec![0_usize; threads + 1];
        for access in &accesses {
            starts[access.thread as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut recorded = None;
        let accesses = if sorted && !keep_order {
            accesses
        } else {
            let (by_thread, places) = by_thread(&accesses, &starts);
            recorded = keep_order.then_some(places);
            by_thread
        };
        let grid = header.grid.unwrap_or_else(|| row(header.block, threads));
        Trace { kernel: header.kernel, block: header.block, grid, tables, accesses, starts, recorded }
    }
}

/// Puts accesses in the order of threads; and where each went.
fn by_thread(accesses: &[TraceAccess], starts: &[usize]) -> (Vec<TraceAccess>, Vec<u32>) {
    let mut next = starts.to_vec();
    let mut sorted = accesses.to_vec();
    let mut places = Vec::with_capacity(accesses.len());
    for access in accesses {
        let place = &mut next[access.thread as usize];
        sorted[*place] = *access;
        places.push(number(*place));
        *place += 1;
    }
    (sorted, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_sorted_by_thread_and_keep_their_order() {
        let header = Header { kernel: None, block: Dim3([2, 1, 1]), grid: None };
        let mut builder = TraceBuilder::new(header, true);
        for (thread, address) in [(3, 10), (0, 20), (3, 30), (1, 40), (0, 50)] {
            builder.push(TraceAccess::plain(thread, TraceKind::Load, address, 4));
        }
        let trace = builder.finish(Tables::default());
        let of = |t| trace.thread(t).iter().map(|a| a.address).collect::<Vec<_>>();
        assert_eq!((of(0), of(1), of(2), of(3)), (vec![20, 50], vec![40], vec![], vec![10, 30]));
        assert_eq!((trace.threads(), trace.blocks(), trace.grid), (4, 2, Dim3([2, 1, 1])));
        assert_eq!(trace.recorded(), Some(&[3, 0, 4, 2, 1][..]));
    }

    #[test]
    fn blocks_that_were_numbered_x_slowest_are_renumbered() {
        let header = Header { kernel: None, block: Dim3([2, 1, 1]), grid: None };
        let mut builder = TraceBuilder::new(header, false);
        // Block 1 of a grid of 2 x 3 is at y = 1 where x is slowest: number 2 where x is fastest.
        builder.push(TraceAccess::plain(3, TraceKind::Load, 7, 4));
        builder.push(TraceAccess::plain(11, TraceKind::Load, 8, 4));
        let trace = builder.finish(Tables::default()).from_x_slowest(Dim3([2, 3, 1])).unwrap();
        assert_eq!((trace.thread(5)[0].address, trace.thread(11)[0].address), (7, 8));
        assert!(trace.from_x_slowest(Dim3([2, 2, 1])).is_none());
    }

    #[test]
    fn iterations_are_numbered_once() {
        let mut tables = Tables::default();
        let a = tables.iteration(&[(0, 1), (1, 5)]);
        let b = tables.iteration(&[(0, 2)]);
        assert_eq!((a, b, tables.iteration(&[(0, 1), (1, 5)]), tables.iteration(&[])), (1, 2, 1, 0));
        assert_eq!((tables.pairs(1), tables.pairs(2)), (&[(0, 1), (1, 5)][..], &[(0, 2)][..]));
        assert!(tables.pairs(0).is_empty());
    }

    #[test]
    fn places_and_numbers_are_inverse() {
        let size = Dim3([3, 4, 5]);
        for n in 0..60 {
            assert_eq!(size.linear(size.place(n)), n);
        }
    }
}
