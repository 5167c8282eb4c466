//! Traces of entries of PTX: what their threads do when they run, data-dependent accesses included.

use super::limits::TraceLimits;
use super::model::{Dim3, Header, Tables, Trace, TraceAccess, TraceBuilder, TraceKind};
use super::synth::NoTrace;
use crate::ptx::run::{AccessOperation, Machine, MachineRun, Memory, ThreadAccess, ThreadEvent, Who};

/// Where the first array lies; an allocation never lies at 0.
const BASE: u64 = 0x0020_0000;
/// As GPU allocations are aligned.
const ALIGN: u64 = 256;
/// From a field of unknown size to the next. Not a power of two, so that they do not meet in the sets of caches.
const APART: u64 = (1 << 32) + 0x1_0100;
/// Bytes that an access takes in a trace that grows.
const ACCESS: u64 = 56;
/// Steps of all threads together.
const MOST_STEPS: u64 = 1 << 40;
/// Local memory of the threads of a warp lies word beside word.
const WORD: i64 = 4;
const LANES: u64 = 32;

/// A launch of an entry that is run block by block.
pub struct EntrySynth<'m> {
    machine: &'m Machine,
    run: MachineRun<'m>,
    name: String,
    /// The first byte of each field, and of local memory behind them.
    bases: Vec<u64>,
    limits: TraceLimits,
    /// Accesses and decisions so far that rest on data that was not given, and the line of the first of them.
    guessed: (u64, u32),
}

impl<'m> EntrySynth<'m> {
    /// Lays out the arrays that an entry gets.
    pub fn new(machine: &'m Machine, name: &str, limits: TraceLimits) -> Result<Self, NoTrace> {
        let mut next = BASE;
        let mut bases = Vec::new();
        for field in machine.fields() {
            bases.push(next);
            let end = next.checked_add(field.bytes.unwrap_or(APART));
            let after = end.and_then(|end| end.checked_next_multiple_of(ALIGN));
            next = after.ok_or(NoTrace::TooLarge("the arrays do not fit into 64-bit addresses"))?;
        }
        bases.push(next);
        let run = machine.start(MOST_STEPS);
        Ok(Self { machine, run, name: name.to_owned(), bases, limits, guessed: (0, 0) })
    }

    /// Blocks of the grid.
    pub fn grid(&self) -> Dim3 {
        narrow(&self.machine.grid())
    }

    /// Threads of a block.
    pub fn block(&self) -> Dim3 {
        narrow(&self.machine.block())
    }

    /// Steps that threads have done so far, in portions.
    pub fn steps(&self) -> u64 {
        self.run.steps()
    }

    /// How many accesses and decisions so far rest on data that was not given, and the line of the first of them.
    pub fn guessed(&self) -> Option<(u64, u32)> {
        Some(self.guessed).filter(|(count, _)| *count > 0)
    }

    /// The trace of some blocks of the grid, numbered as they are given, from 0.
    pub fn trace(&mut self, blocks: impl IntoIterator<Item = u64>) -> Result<Trace, NoTrace> {
        let (block, grid) = (self.block(), self.grid());
        let header = Header { kernel: Some(self.name.clone()), block, grid: None };
        let mut making = Making {
            machine: self.machine,
            threads: self.machine.threads() as usize,
            bases: &self.bases,
            builder: TraceBuilder::new(header, false),
            tables: Tables::default(),
            instructions: Vec::new(),
            times: Vec::new(),
            iterations: vec![0],
            first: 0,
            place: 0,
            held: 0,
            limits: self.limits,
            guessed: self.guessed,
            wrong: None,
        };
        for (number, place) in (0_u64..).zip(blocks) {
            let first = number.checked_mul(block.volume()).and_then(|n| u32::try_from(n).ok());
            let last = first.and_then(|n| n.checked_add(self.machine.threads()));
            let (Some(first), Some(_)) = (first, last) else {
                return Err(NoTrace::TooLarge("more threads than can be numbered"));
            };
            (making.first, making.place) = (first, place);
            making.times.fill(0);
            let at = grid.place(place).0.map(i64::from);
            self.run.block(at.into(), Who::All, &mut |thread, event| making.event(thread, event))?;
            if let Some(wrong) = making.wrong.take() {
                return Err(wrong);
            }
        }
        self.guessed = making.guessed;
        Ok(making.builder.finish(making.tables))
    }
}

fn narrow(extents: &[i64; 3]) -> Dim3 {
    Dim3(extents.map(|n| u32::try_from(n).expect("a machine counts blocks and threads in 32 bits")))
}

struct Making<'s> {
    machine: &'s Machine,
    /// Of a block.
    threads: usize,
    bases: &'s [u64],
    builder: TraceBuilder,
    tables: Tables,
    /// Of each step whose accesses were seen, the number of its instruction, and its place among these.
    instructions: Vec<Option<(u32, usize)>>,
    /// How often each thread of the block has done each of these, one row for each.
    times: Vec<u32>,
    /// Numbers of iterations, by how often something was done before.
    iterations: Vec<u32>,
    /// The number of the block's first thread, and that of the block in its grid.
    first: u32,
    place: u64,
    held: u64,
    limits: TraceLimits,
    guessed: (u64, u32),
    wrong: Option<NoTrace>,
}

impl Making<'_> {
    fn event(&mut self, local: u32, event: ThreadEvent) {
        self.held += 1;
        let bytes = self.held.saturating_mul(ACCESS);
        if bytes > self.limits.memory || self.wrong.is_some() {
            let (threads, accesses, limit) = (u64::from(self.first) + 1, self.held, self.limits.memory);
            self.wrong.get_or_insert(NoTrace::Memory { threads, accesses, bytes, limit });
            return;
        }
        match event {
            ThreadEvent::Access(access) => self.access(local, &access),
            ThreadEvent::Guess { step } => self.guess(step),
            ThreadEvent::Barrier => {
                self.builder.push(TraceAccess::plain(self.first + local, TraceKind::Barrier, 0, 0));
            }
        }
    }

    fn access(&mut self, local: u32, access: &ThreadAccess) {
        if !access.sure {
            self.guess(access.step);
        }
        match access.memory {
            Memory::Global => {
                let base = self.bases[access.field as usize];
                self.push(local, access, base.checked_add_signed(access.offset), access.bytes);
            }
            // Each word of a thread lies beside that of its neighbour.
            Memory::Local => {
                let bytes = i64::from(access.bytes);
                let words = access.offset.div_euclid(WORD)..=(access.offset + bytes - 1).div_euclid(WORD);
                let base = self.bases[self.bases.len() - 1];
                let warps = u64::from(self.machine.threads()).div_ceil(LANES);
                let warp = self.place * warps + u64::from(local) / LANES;
                let row =
                    self.machine.local_bytes().div_ceil(WORD.unsigned_abs()) * LANES * WORD.unsigned_abs();
                for word in words {
                    let within = word.unsigned_abs() * LANES + u64::from(local) % LANES;
                    let start = warp.checked_mul(row).and_then(|w| w.checked_add(base));
                    let address = start.and_then(|s| s.checked_add(within * WORD.unsigned_abs()));
                    self.push(local, access, address, access.bytes.min(4));
                }
            }
            // These have caches of their own, or none.
            Memory::Shared | Memory::Constant => {}
        }
    }

    fn guess(&mut self, step: u32) {
        let (count, line) = self.guessed;
        let line = if count == 0 { self.machine.place(step).line } else { line };
        self.guessed = (count + 1, line);
    }

    fn push(&mut self, local: u32, access: &ThreadAccess, address: Option<u64>, bytes: u32) {
        let Some(address) = address else {
            self.wrong = Some(NoTrace::TooLarge("an access lies outside of 64-bit addresses"));
            return;
        };
        let kind = match access.operation {
            AccessOperation::Load => TraceKind::Load,
            AccessOperation::Store => TraceKind::Store,
            AccessOperation::Atomic => TraceKind::Atomic,
        };
        let (instruction, row) = self.instruction(access.step);
        // The n-th time of one thread goes with the n-th time of its neighbour.
        let times = &mut self.times[row * self.threads + local as usize];
        let time = *times as usize;
        *times += 1;
        while self.iterations.len() <= time {
            let next = u32::try_from(self.iterations.len()).expect("times are counted in 32 bits");
            self.iterations.push(self.tables.iteration(&[(0, next)]));
        }
        let iteration = self.iterations[time];
        let Ok(bytes) = u16::try_from(bytes) else {
            self.wrong = Some(NoTrace::TooLarge("an access has more than 65535 bytes"));
            return;
        };
        let thread = self.first + local;
        self.builder.push(TraceAccess { address, thread, instruction, iteration, bytes, kind });
    }

    /// The number of the instruction that a step belongs to, and the row of its times.
    fn instruction(&mut self, step: u32) -> (u32, usize) {
        let at = step as usize;
        if let Some(Some(known)) = self.instructions.get(at) {
            return *known;
        }
        let place = self.machine.place(step);
        let name = format!("{}:{}", place.function, place.instruction);
        let made = self.tables.instruction(&name);
        self.tables.place(made, place.line, 0);
        let row = self.instructions.iter().flatten().count();
        self.instructions.resize(self.instructions.len().max(at + 1), None);
        self.instructions[at] = Some((made, row));
        self.times.resize((row + 1) * self.threads, 0);
        (made, row)
    }
}
