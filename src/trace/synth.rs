//! Traces of kernel documents: what the threads of a launch do, block by block.

use rustc_hash::FxHashMap;

use super::alike::Alike;
use super::limits::TraceLimits;
use super::model::{Dim3, Header, Tables, Trace, TraceAccess, TraceBuilder, TraceKind};
use crate::expr::Excess;
use crate::kernel::{AccessKind, FieldId, Kernel};
use crate::launch::{Event, Launch, NotRun, Program, Touch, visit_events};
use crate::space::{Block, Domain};

/// Where the first array lies; an allocation never lies at 0.
const BASE: u64 = 0x0020_0000;
/// As GPU allocations are aligned.
const ALIGN: u64 = 256;
/// Accesses and iterations of a thread beyond which it is not run.
const MOST: usize = 1 << 26;
/// Identical arrays of a field.
const MOST_COPIES: i64 = 1 << 16;
/// Bytes that an access takes in a trace that grows.
const ACCESS: u64 = 56;
/// Bytes that a thread takes.
const THREAD: u64 = 8;

/// Why there is no trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoTrace {
    /// Addresses or bounds cannot be computed.
    #[error("{0}")]
    Excess(#[from] Excess),
    /// An entry of PTX cannot be run.
    #[error("{0}")]
    Entry(#[from] crate::ptx::run::EntryNotRun),
    /// A thread cannot be run.
    #[error("{0}")]
    NotRun(#[from] NotRun),
    /// The trace does not fit into the memory that it may take.
    #[error(
        "the trace of {threads} threads has {} accesses and takes {} of memory; the limit trace-memory is {}",
        about(*accesses), size(*bytes), size(*limit)
    )]
    Memory {
        /// Threads of the blocks that were asked for.
        threads: u64,
        /// Accesses, as the thread in the middle has them.
        accesses: u64,
        /// What they take.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The launch has more threads than can be numbered, or an access lies before all memory.
    #[error("{0}")]
    TooLarge(&'static str),
}

/// A number that is an estimate.
fn about(count: u64) -> String {
    match count {
        0..10_000_000 => format!("about {count}"),
        _ => format!("about {} million", count / 1_000_000),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{bytes} bytes"),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// A launch whose threads can be run, block by block.
#[derive(Debug)]
pub struct Synth<'k> {
    kernel: &'k Kernel,
    program: Program<i64>,
    block: Dim3,
    grid: Dim3,
    extents: Domain,
    /// First byte of each of the identical arrays of a field; none of fields that are not in global memory.
    bases: Vec<Vec<u64>>,
    limits: TraceLimits,
}

impl<'k> Synth<'k> {
    /// Lays out the arrays of a kernel and works out what a thread of the launch does.
    pub fn new(kernel: &'k Kernel, launch: &Launch) -> Result<Self, NoTrace> {
        let program = Program::placed(kernel, launch.candidate)?.at(launch)?;
        let narrow = |n: i64| u32::try_from(n).ok();
        let (block, grid) = (launch.sizes.block.map(narrow), launch.sizes.grid.map(narrow));
        let ([Some(bx), Some(by), Some(bz)], [Some(gx), Some(gy), Some(gz)]) = (block, grid) else {
            return Err(NoTrace::TooLarge("the launch has more blocks or threads than can be numbered"));
        };
        let (block, grid) = (Dim3([bx, by, bz]), Dim3([gx, gy, gz]));
        let mut next = BASE;
        let mut bases = Vec::new();
        for field in &kernel.fields {
            if !field.space.in_memory() {
                bases.push(Vec::new());
                continue;
            }
            let bytes = field.elements.at(&launch.sizes)?.checked_mul(field.dtype.bytes);
            let bytes = bytes.and_then(|b| b.checked_add(field.offset.checked_mul(field.dtype.bytes)?));
            let size = bytes.and_then(|b| u64::try_from(b).ok());
            let align = field.align.unsigned_abs().max(ALIGN);
            let mut copies = Vec::new();
            for _ in 0..field.multiplicity.clamp(1, MOST_COPIES) {
                let at = next.checked_next_multiple_of(align);
                let end = at.and_then(|a| a.checked_add(size?));
                let (Some(at), Some(end)) = (at, end) else {
                    return Err(NoTrace::TooLarge("the arrays do not fit into 64-bit addresses"));
                };
                copies.push(at);
                next = end;
            }
            bases.push(copies);
        }
        Ok(Self {
            kernel,
            program,
            block,
            grid,
            extents: kernel.extents(),
            bases,
            limits: TraceLimits::default(),
        })
    }

    /// With other limits.
    #[must_use]
    pub fn with_limits(self, limits: TraceLimits) -> Self {
        Self { limits, ..self }
    }

    /// What a trace of the first blocks would take, by the accesses of the thread in the middle of the launch; an
    /// error if that is too much.
    pub fn check(&self, blocks: u64) -> Result<(), NoTrace> {
        let middle = |of: Dim3| of.0.map(|n| i64::from(n / 2));
        let shape = Block::known(self.block.0.map(i64::from));
        let mut count = 0_u64;
        let copies = |field: FieldId| self.bases[usize::from(field.0)].len() as u64;
        let counted = visit_events(
            &self.program,
            self.extents,
            shape,
            middle(self.grid).into(),
            middle(self.block).into(),
            MOST,
            &mut |event| {
                count += match event {
                    Event::Sync => 1,
                    Event::Access(touch, _) => copies(touch.instruction.field),
                };
            },
        );
        // A thread that cannot be run says so when it is its turn; one that is too long counts as long.
        let _ = counted;
        let threads = blocks.saturating_mul(self.block.volume());
        let accesses = threads.saturating_mul(count);
        let bytes = accesses.saturating_mul(ACCESS).saturating_add(threads.saturating_mul(THREAD));
        let limit = self.limits.memory;
        if bytes > limit { Err(NoTrace::Memory { threads, accesses, bytes, limit }) } else { Ok(()) }
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.volume()
    }

    /// Blocks of the grid along each axis.
    pub fn grid(&self) -> Dim3 {
        self.grid
    }

    /// Threads of a block.
    pub fn block(&self) -> Dim3 {
        self.block
    }

    /// How blocks depend on their place, if it only moves their addresses.
    pub(super) fn alike(&self) -> Option<Alike> {
        Alike::new(self.kernel, &self.program, self.block, |field| !self.bases[field].is_empty())
    }

    /// The trace of some blocks of the grid. They are numbered as they are given, from 0: what comes of the
    /// trace does not need memory for those that are left out.
    pub fn trace(&self, blocks: impl IntoIterator<Item = u64>) -> Result<Trace, NoTrace> {
        let header = Header { kernel: Some(self.kernel.name.clone()), block: self.block, grid: None };
        let mut making = Making {
            synth: self,
            builder: TraceBuilder::new(header, false),
            tables: Tables::default(),
            instructions: FxHashMap::default(),
            pairs: Vec::new(),
            held: 0,
            wrong: None,
        };
        for (number, block) in (0..).zip(blocks) {
            making.block(number, self.grid.place(block))?;
        }
        Ok(making.builder.finish(making.tables))
    }

    /// The trace of the whole launch.
    pub fn whole(&self) -> Result<Trace, NoTrace> {
        self.check(self.blocks())?;
        let mut trace = self.trace(0..self.blocks())?;
        trace.grid = self.grid;
        Ok(trace)
    }
}

struct Making<'s> {
    synth: &'s Synth<'s>,
    builder: TraceBuilder,
    tables: Tables,
    /// Numbers of instructions by their positions in the program and the copy of the field.
    instructions: FxHashMap<(usize, usize), u32>,
    pairs: Vec<(u32, u32)>,
    held: u64,
    wrong: Option<NoTrace>,
}

impl Making<'_> {
    fn block(&mut self, number: u64, place: Dim3) -> Result<(), NoTrace> {
        crate::effort::unwind_if_asked();
        let synth = self.synth;
        let size = synth.block.volume();
        let signed = |d: Dim3| d.0.map(i64::from);
        for local in 0..size {
            let thread = number.checked_mul(size).and_then(|n| u32::try_from(n.checked_add(local)?).ok());
            let Some(thread) = thread else {
                return Err(NoTrace::TooLarge("more threads than can be numbered"));
            };
            let (shape, place) = (Block::known(signed(synth.block)), signed(place).into());
            let own = signed(synth.block.place(local)).into();
            visit_events(&synth.program, synth.extents, shape, place, own, MOST, &mut |event| {
                self.event(thread, event);
            })?;
            if let Some(wrong) = self.wrong.take() {
                return Err(wrong);
            }
        }
        Ok(())
    }

    fn event(&mut self, thread: u32, event: Event<'_, '_>) {
        self.held += 1;
        let (bytes, limit) = (self.held.saturating_mul(ACCESS), self.synth.limits.memory);
        if bytes > limit {
            let (threads, accesses) = (u64::from(thread) + 1, self.held);
            self.wrong.get_or_insert(NoTrace::Memory { threads, accesses, bytes, limit });
            return;
        }
        match event {
            Event::Sync => self.builder.push(TraceAccess::plain(thread, TraceKind::Barrier, 0, 0)),
            Event::Access(touch, iterations) => self.access(thread, touch, iterations),
        }
    }

    fn access(&mut self, thread: u32, touch: Touch<'_>, iterations: &[Option<u32>]) {
        let FieldId(field) = touch.instruction.field;
        let synth = self.synth;
        let bases = &synth.bases[usize::from(field)];
        if bases.is_empty() {
            return;
        }
        let known = synth.kernel.field(touch.instruction.field);
        let place = touch.element.checked_add(known.offset).and_then(|e| e.checked_mul(known.dtype.bytes));
        self.pairs.clear();
        let running = (0..).zip(iterations).filter_map(|(label, i)| Some((label, (*i)?)));
        self.pairs.extend(running);
        let iteration = self.tables.iteration(&self.pairs);
        let kind = match touch.instruction.kind {
            AccessKind::Load => TraceKind::Load,
            AccessKind::Store => TraceKind::Store,
            AccessKind::Atomic => TraceKind::Atomic,
        };
        let Ok(bytes) = u16::try_from(touch.instruction.width) else {
            self.wrong = Some(NoTrace::TooLarge("an access has more than 65535 bytes"));
            return;
        };
        self.held += bases.len() as u64 - 1;
        for (copy, &base) in bases.iter().enumerate() {
            let Some(address) = place.and_then(|b| base.checked_add_signed(b)) else {
                self.wrong = Some(NoTrace::TooLarge("an access lies outside of 64-bit addresses"));
                return;
            };
            let instruction = self.instruction(touch.position, copy, &known.name);
            self.builder.push(TraceAccess { address, thread, instruction, iteration, bytes, kind });
        }
    }

    /// The number of an instruction on one of the identical arrays of its field.
    fn instruction(&mut self, position: usize, copy: usize, field: &str) -> u32 {
        if let Some(&known) = self.instructions.get(&(position, copy)) {
            return known;
        }
        let of_copy = if copy > 0 { format!(".{copy}") } else { String::new() };
        let made = self.tables.instruction(&format!("{field}{of_copy}:{position}"));
        self.instructions.insert((position, copy), made);
        made
    }
}
