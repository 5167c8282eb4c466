//! The log of a simulator that runs real `OpenCL` kernels: buffers, kernels, instructions with their loops, and
//! accesses with instruction and iteration. Buffers are put behind each other, 256 bytes apart at least.

use rustc_hash::FxHashMap;

use super::error::ReadError;
use super::lines::{Lines, shown};
use super::number::{decimal, hex, skip_blanks, triple, word};
use super::sink::Sink;
use super::threads::thread_of;
use crate::trace::model::{Dim3, Header, Tables, TraceAccess, TraceKind};

const KERNEL: &str = "`K kernel dim N global X Y Z local X Y Z`";
const ACCESS: &str = "`A group gid3 lid3 R|W|r|w space buffer:0xoffset size iN [loop=iteration ..]`";
const OTHER: &str = "a line that begins with B, K, P, L, I, A, Y or E";

/// Where the first buffer lies; an allocation never lies at 0.
const BASE: u64 = 0x0020_0000;
/// As GPU allocations are aligned.
const ALIGN: u64 = 256;

/// Buffers by number: first byte.
#[derive(Default)]
struct Buffers {
    places: Vec<(u64, u64)>,
    next: u64,
}

impl Buffers {
    fn add(&mut self, number: u64, size: u64) -> Option<()> {
        let at = self.next.max(BASE);
        self.next = at.checked_add(size)?.checked_next_multiple_of(ALIGN)?;
        self.places.retain(|p| p.0 != number);
        self.places.push((number, at));
        (self.places.len() < 65_536).then_some(())
    }

    fn place(&self, number: u64) -> Option<u64> {
        self.places.iter().rev().find(|p| p.0 == number).map(|p| p.1)
    }
}

/// A kernel that is being read.
struct Running {
    header: Header,
    tables: Tables,
    /// By the number in the log.
    instructions: FxHashMap<u64, u32>,
}

pub(super) fn read(lines: &mut Lines, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut buffers = Buffers::default();
    let mut running: Option<Running> = None;
    let mut pairs = Vec::new();
    while let Some(line) = lines.next()? {
        let (done, expected) = match (line, &mut running) {
            ([b'A', b' ', rest @ ..], Some(run)) => match access(rest, run, &buffers, &mut pairs) {
                Some(Found::Access(access)) => {
                    sink.access(access, &run.tables)?;
                    (true, ACCESS)
                }
                Some(Found::Elsewhere) => {
                    lines.elsewhere();
                    continue;
                }
                None => (false, ACCESS),
            },
            ([b'Y', b' ', rest @ ..], Some(run)) => match barrier(rest, run) {
                Some((first, count)) => {
                    for thread in first..first + count {
                        sink.access(TraceAccess::plain(thread, TraceKind::Barrier, 0, 0), &run.tables)?;
                    }
                    (true, OTHER)
                }
                None => (false, "`Y group flags`"),
            },
            ([b'B', b' ', rest @ ..], _) => {
                (buffer(rest, &mut buffers).is_some(), "`B buffer size N flags F`")
            }
            ([b'K', b' ', rest @ ..], _) => match kernel(rest) {
                Some(header) => {
                    if let Some(before) = running.take() {
                        sink.end(before.tables)?;
                    }
                    sink.begin(&header, false)?;
                    running = Some(Running {
                        header,
                        tables: Tables::default(),
                        instructions: FxHashMap::default(),
                    });
                    (true, KERNEL)
                }
                None => (false, KERNEL),
            },
            ([b'I', b' ', rest @ ..], Some(run)) => {
                (instruction(rest, run).is_some(), "`I number opcode line L col C loops ..`")
            }
            ([b'A' | b'Y' | b'I', b' ', ..], None) => (false, "a kernel (`K ..`) before its lines"),
            ([b'E', b' ', ..], _) => {
                if let Some(before) = running.take() {
                    sink.end(before.tables)?;
                }
                (true, OTHER)
            }
            ([b'P' | b'L' | b'#', b' ', ..] | [], _) => (true, OTHER),
            _ => (false, OTHER),
        };
        if !done {
            let found = shown(line);
            lines.refuse(expected, &found)?;
        }
    }
    match running {
        Some(before) => {
            lines.truncated("a line `E n` after the accesses of a kernel")?;
            sink.end(before.tables)
        }
        None => Ok(()),
    }
}

enum Found {
    Access(TraceAccess),
    Elsewhere,
}

fn access(rest: &[u8], run: &mut Running, buffers: &Buffers, pairs: &mut Vec<(u32, u32)>) -> Option<Found> {
    let (group, rest) = decimal(rest)?;
    let (_, rest) = triple(skip_blanks(rest))?;
    let (local, rest) = triple(skip_blanks(rest))?;
    let (what, rest) = word(rest)?;
    let kind = match what {
        b"R" => TraceKind::Load,
        b"W" => TraceKind::Store,
        b"r" | b"w" => TraceKind::Atomic,
        _ => return None,
    };
    let (space, rest) = decimal(rest)?;
    // 1 is global memory, 2 constant: both are cached by lines.
    if !matches!(space, 1 | 2) {
        return Some(Found::Elsewhere);
    }
    let (buffer, rest) = decimal(skip_blanks(rest))?;
    let (offset, rest) = hex(rest.strip_prefix(b":")?)?;
    let (bytes, rest) = decimal(skip_blanks(rest))?;
    let (number, mut rest) = decimal(skip_blanks(rest).strip_prefix(b"i")?)?;
    pairs.clear();
    while let Some((pair, after)) = word(rest) {
        let (label, pair) = decimal(pair)?;
        let (iteration, pair) = decimal(pair.strip_prefix(b"=")?)?;
        pair.is_empty().then_some(())?;
        pairs.push((u32::try_from(label).ok()?, u32::try_from(iteration).ok()?));
        rest = after;
    }
    let place = buffers.place(buffer)?;
    let block = run.header.block;
    Some(Found::Access(TraceAccess {
        address: place.checked_add(offset)?,
        thread: thread_of(block, group, Dim3(local))?,
        instruction: known(run, number)?,
        iteration: run.tables.iteration(pairs),
        bytes: u16::try_from(bytes).ok()?,
        kind,
    }))
}

/// The instruction with a number; its line comes before its first access.
fn known(run: &Running, number: u64) -> Option<u32> {
    run.instructions.get(&number).copied()
}

/// All threads of a group wait; the log has one line for all of them.
fn barrier(rest: &[u8], run: &Running) -> Option<(u32, u32)> {
    let (group, _) = decimal(rest)?;
    let first = thread_of(run.header.block, group, Dim3([0; 3]))?;
    Some((first, u32::try_from(run.header.block.volume()).ok()?))
}

fn buffer(rest: &[u8], buffers: &mut Buffers) -> Option<()> {
    let (number, rest) = decimal(rest)?;
    let (size, _) = decimal(skip_blanks(skip_blanks(rest).strip_prefix(b"size")?))?;
    buffers.add(number, size)
}

fn kernel(rest: &[u8]) -> Option<Header> {
    let (name, rest) = word(rest)?;
    let (_, rest) = decimal(skip_blanks(rest.strip_prefix(b"dim")?))?;
    let rest = skip_blanks(skip_blanks(rest).strip_prefix(b"global")?);
    let local = rest.windows(5).position(|w| w == b"local")?;
    let global = super::threads::extents(rest[..local].trim_ascii(), b' ')?;
    let block = super::threads::extents(rest[local + 5..].trim_ascii(), b' ')?;
    let mut grid = [1; 3];
    for (n, (g, b)) in grid.iter_mut().zip(global.0.iter().zip(block.0)) {
        *n = g.div_ceil(b);
    }
    let name = String::from_utf8_lossy(name).into_owned();
    Some(Header { kernel: Some(name), block, grid: Some(Dim3(grid)) })
}

fn instruction(rest: &[u8], run: &mut Running) -> Option<()> {
    let (number, rest) = decimal(rest)?;
    let (_, rest) = word(rest)?;
    let (line, rest) = decimal(skip_blanks(rest.strip_prefix(b"line")?))?;
    let (column, _) = decimal(skip_blanks(skip_blanks(rest).strip_prefix(b"col")?))?;
    let id = run.tables.instruction(&format!("i{}", u32::try_from(number).ok()?));
    run.tables.place(id, u32::try_from(line).ok()?, u32::try_from(column).ok()?);
    run.instructions.insert(number, id);
    (run.instructions.len() < 65_536).then_some(())
}
