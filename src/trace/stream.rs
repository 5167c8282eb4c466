//! Traces that are larger than memory: read twice, the second time block by block. The first time tells where each
//! block ends, so that a block is held from its first access to its last and no longer, in whatever order a
//! file has them.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::format::{ReadError, Sink};
use super::model::{
    Dim3, Header, NO_INSTRUCTION, Tables, Trace, TraceAccess, TraceBuilder, TraceInstruction, TraceKind,
    TracedLaunch,
};
use super::numbering::number;
use super::schedule::{ProgramOrder, ProgramOrderBuilder};

/// Bytes that an access takes while its block is gathered and sorted.
const ACCESS: u64 = 56;

/// Of a block without an access.
const NEVER: u64 = u64::MAX;

/// Which accesses of which launch of a file are meant.
#[derive(Debug, Clone, Copy, Default)]
pub struct LaunchChoice {
    /// The launch, from 1; there is none of number 0.
    pub launch: usize,
    /// Kinds of accesses; all without it.
    pub keep: Option<fn(TraceKind) -> bool>,
    /// The grid, where blocks are numbered x slowest.
    pub x_slowest: Option<Dim3>,
}

impl LaunchChoice {
    fn keeps(&self, kind: TraceKind) -> bool {
        self.keep.is_none_or(|keep| keep(kind))
    }

    /// The thread by the numbering with x fastest.
    fn thread(&self, thread: u32, size: u64) -> Result<u32, ReadError> {
        let Some(grid) = self.x_slowest else { return Ok(thread) };
        let (block, local) = (u64::from(thread) / size, u64::from(thread) % size);
        let [nx, ny, nz] = grid.0;
        let [z, y, x] = Dim3([nz, ny, nx]).place(block).0;
        let number = grid.linear(Dim3([x, y, z])).saturating_mul(size).saturating_add(local);
        u32::try_from(number).map_err(|_| ReadError::Limit { line: 0, what: "more threads than can be held" })
    }
}

/// What is known of a launch before its blocks are read.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The launch as a whole.
    pub launch: TracedLaunch,
    /// Whether every access knows its instruction.
    pub has_instructions: bool,
    /// The instructions.
    pub instructions: Vec<TraceInstruction>,
    order: ProgramOrder,
    /// Number of each block's last access among all that were kept.
    last: Vec<u64>,
}

impl Facts {
    /// Of a trace that is held.
    pub fn read(trace: &Trace) -> Self {
        Self {
            launch: TracedLaunch {
                kernel: trace.kernel.clone(),
                block: trace.block,
                grid: trace.grid,
                threads: trace.threads(),
                accesses: trace.accesses().len() as u64,
            },
            has_instructions: trace.has_instructions(),
            instructions: trace.tables.instructions().to_vec(),
            order: ProgramOrder::new(trace),
            last: Vec::new(),
        }
    }

    /// Threads of a block.
    pub fn block_threads(&self) -> usize {
        self.launch.block.threads()
    }

    /// Blocks up to the last one with an access.
    pub fn blocks(&self) -> usize {
        self.launch.threads.div_ceil(self.block_threads())
    }

    /// The order of its instructions.
    pub fn order(&self) -> &ProgramOrder {
        &self.order
    }
}

/// Reads a file for the first time.
#[derive(Debug)]
pub struct Scan {
    choice: LaunchChoice,
    /// Launches met.
    pub launches: usize,
    /// Of the launch that was chosen.
    pub facts: Option<Facts>,
    /// Blocks that the file itself has, whatever they are renumbered to.
    pub file_blocks: u64,
    current: Option<Scanning>,
}

#[derive(Debug)]
struct Scanning {
    header: Header,
    size: u64,
    threads: usize,
    accesses: u64,
    has_instructions: bool,
    /// Instruction and iteration of the latest access of each thread.
    latest: Vec<(u32, u32)>,
    order: ProgramOrderBuilder,
    last: Vec<u64>,
}

impl Scan {
    /// For a launch of a file.
    pub fn new(choice: LaunchChoice) -> Self {
        Self { choice, launches: 0, facts: None, file_blocks: 0, current: None }
    }
}

impl Sink for Scan {
    fn begin(&mut self, header: &Header, _: bool) -> Result<(), ReadError> {
        self.launches += 1;
        if self.launches == self.choice.launch {
            self.current = Some(Scanning {
                header: header.clone(),
                size: header.block.volume().max(1),
                threads: 0,
                accesses: 0,
                has_instructions: true,
                latest: Vec::new(),
                order: ProgramOrderBuilder::default(),
                last: Vec::new(),
            });
        }
        Ok(())
    }

    fn access(&mut self, access: TraceAccess, tables: &Tables) -> Result<(), ReadError> {
        let Some(now) = self.current.as_mut().filter(|_| self.choice.keeps(access.kind)) else {
            return Ok(());
        };
        self.file_blocks = self.file_blocks.max(u64::from(access.thread) / now.size + 1);
        let thread = self.choice.thread(access.thread, now.size)? as usize;
        now.threads = now.threads.max(thread + 1);
        let block = thread / now.header.block.threads();
        if now.last.len() <= block {
            now.last.resize(block + 1, NEVER);
        }
        now.last[block] = now.accesses;
        now.accesses += 1;
        now.has_instructions &= access.instruction != NO_INSTRUCTION || access.kind == TraceKind::Barrier;
        if now.has_instructions {
            if now.latest.len() <= thread {
                now.latest.resize(thread + 1, (NO_INSTRUCTION, 0));
            }
            let this = (access.instruction, access.iteration);
            let before = std::mem::replace(&mut now.latest[thread], this);
            now.order.follows(tables, before, this);
        }
        Ok(())
    }

    fn end(&mut self, tables: Tables) -> Result<(), ReadError> {
        let Some(now) = self.current.take() else { return Ok(()) };
        let header = Header { grid: self.choice.x_slowest.or(now.header.grid), ..now.header };
        self.facts = Some(Facts {
            launch: TracedLaunch::new(header, now.threads, now.accesses),
            has_instructions: now.has_instructions,
            instructions: tables.instructions().to_vec(),
            order: now.order.finish(tables.instructions().len()),
            last: now.last,
        });
        Ok(())
    }
}

/// A block of a launch, in a trace that holds it.
#[derive(Debug, Clone, Copy)]
pub struct BlockOf<'b> {
    /// Its number in the launch.
    pub number: usize,
    /// Where its accesses are.
    pub trace: &'b Trace,
    /// Its number there.
    pub place: usize,
    /// Names behind the numbers.
    pub tables: &'b Tables,
}

/// Takes blocks one after the other.
pub type BlockVisit<'v> = dyn FnMut(BlockOf<'_>) -> Result<(), ReadError> + 'v;

/// Reads a file for the second time and hands its blocks on in their order.
pub struct Blocks<'f, 'v> {
    choice: LaunchChoice,
    facts: &'f Facts,
    /// The first block that nobody wants.
    until: usize,
    limit: u64,
    launches: usize,
    met: u64,
    /// Blocks with some accesses, and those that have all of theirs.
    open: FxHashMap<usize, Vec<TraceAccess>>,
    ready: BTreeMap<usize, Vec<TraceAccess>>,
    held: u64,
    next: usize,
    visit: &'v mut BlockVisit<'v>,
}

impl<'f, 'v> Blocks<'f, 'v> {
    /// The blocks below `until` of a launch, of which so many bytes may be held at a time.
    pub fn new(
        choice: LaunchChoice,
        facts: &'f Facts,
        until: usize,
        limit: u64,
        visit: &'v mut BlockVisit<'v>,
    ) -> Self {
        Self {
            choice,
            facts,
            until: until.min(facts.blocks()),
            limit,
            launches: 0,
            met: 0,
            open: FxHashMap::default(),
            ready: BTreeMap::new(),
            held: 0,
            next: 0,
            visit,
        }
    }

    fn is_chosen(&self) -> bool {
        self.launches == self.choice.launch
    }

    /// Hands on what comes next, as far as it is there.
    fn hand_on(&mut self, tables: &Tables) -> Result<(), ReadError> {
        while self.next < self.until {
            let accesses = match self.ready.remove(&self.next) {
                Some(accesses) => accesses,
                None if self.facts.last.get(self.next).is_none_or(|&l| l == NEVER) => Vec::new(),
                None => return Ok(()),
            };
            self.held -= accesses.len() as u64 * ACCESS;
            let header = Header { kernel: None, block: self.facts.launch.block, grid: None };
            let mut builder = TraceBuilder::new(header, false);
            for access in accesses {
                builder.push(access);
            }
            let trace = builder.finish(Tables::default());
            (self.visit)(BlockOf { number: self.next, trace: &trace, place: 0, tables })?;
            self.next += 1;
        }
        Ok(())
    }
}

impl Sink for Blocks<'_, '_> {
    fn begin(&mut self, _: &Header, _: bool) -> Result<(), ReadError> {
        self.launches += 1;
        Ok(())
    }

    fn access(&mut self, access: TraceAccess, tables: &Tables) -> Result<(), ReadError> {
        if !self.is_chosen() || !self.choice.keeps(access.kind) {
            return Ok(());
        }
        let place = self.met;
        self.met += 1;
        let size = self.facts.block_threads();
        let thread = self.choice.thread(access.thread, size as u64)? as usize;
        let block = thread / size;
        if block >= self.until {
            return Ok(());
        }
        let local = number(thread % size);
        self.open.entry(block).or_default().push(TraceAccess { thread: local, ..access });
        self.held += ACCESS;
        if self.held > self.limit {
            return Err(ReadError::Memory { what: "the blocks that are open at a time", limit: self.limit });
        }
        if self.facts.last.get(block) == Some(&place) {
            self.ready.extend(self.open.remove(&block).map(|whole| (block, whole)));
            if block == self.next {
                self.hand_on(tables)?;
            }
        }
        Ok(())
    }

    fn end(&mut self, tables: Tables) -> Result<(), ReadError> {
        if !self.is_chosen() {
            return Ok(());
        }
        self.hand_on(&tables)?;
        // A block that had accesses the first time has fewer now.
        if self.next < self.until { Err(ReadError::Changed) } else { Ok(()) }
    }
}

/// Holds one launch, as long as it fits into memory.
#[derive(Debug)]
pub struct Holder {
    choice: LaunchChoice,
    limit: u64,
    /// Launches met.
    pub launches: usize,
    /// The launch that was chosen.
    pub trace: Option<Trace>,
    current: Option<TraceBuilder>,
    held: u64,
}

impl Holder {
    /// For a launch of a file, which may take so many bytes.
    pub fn new(choice: LaunchChoice, limit: u64) -> Self {
        Self { choice, limit, launches: 0, trace: None, current: None, held: 0 }
    }
}

impl Sink for Holder {
    fn begin(&mut self, header: &Header, ordered: bool) -> Result<(), ReadError> {
        self.launches += 1;
        if self.launches == self.choice.launch {
            self.current = Some(TraceBuilder::new(header.clone(), ordered));
        }
        Ok(())
    }

    fn access(&mut self, access: TraceAccess, _: &Tables) -> Result<(), ReadError> {
        if let Some(current) = self.current.as_mut().filter(|_| self.choice.keeps(access.kind)) {
            self.held += ACCESS;
            if self.held > self.limit {
                return Err(ReadError::Memory { what: "the accesses of the launch", limit: self.limit });
            }
            current.push(access);
        }
        Ok(())
    }

    fn end(&mut self, tables: Tables) -> Result<(), ReadError> {
        if let Some(current) = self.current.take() {
            self.trace = Some(current.finish(tables));
        }
        Ok(())
    }
}
