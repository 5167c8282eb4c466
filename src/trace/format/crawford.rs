//! C 5.1: the buffers of an instrumented kernel, `address and instruction|thread|loops` in hexadecimal.
//! The grid is not said: it follows from the largest thread, so that a run is held until it is complete.

use super::error::ReadError;
use super::lines::{Lines, shown};
use super::number::hex;
use super::sink::Sink;
use super::threads::thread_number;
use crate::trace::model::{Dim3, Header, NO_INSTRUCTION, Tables, TraceAccess, TraceKind};

const HEAD: &str = "`local size:X Y Z`";
const LINE: &str = "`0xAAAAAAAAFNNNNNNN|0xIDS|0xLOOPS` (address, F load or A store, instruction), `0x1|ids|loops` or hyphens";

/// Bytes of an access: C's kernels have 4-byte elements, and the format does not say.
const BYTES: u16 = 4;

/// A run until its grid is known.
#[derive(Default)]
struct Run {
    entries: Vec<(TraceAccess, [u32; 3])>,
    tables: Tables,
    most: [u32; 3],
}

pub(super) fn read(lines: &mut Lines, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let Some(first) = lines.next()? else { return Err(ReadError::Empty) };
    let Some(block) =
        first.strip_prefix(b"local size:").and_then(|t| super::threads::extents(t.trim_ascii(), b' '))
    else {
        let found = shown(first);
        return Err(ReadError::Malformed { line: lines.number(), expected: HEAD, found });
    };
    let mut run = Run::default();
    let mut runs = 0;
    while let Some(line) = lines.next()? {
        if line.trim_ascii().is_empty() {
            continue;
        }
        if line.starts_with(b"--") {
            hand_on(std::mem::take(&mut run), block, sink)?;
            runs += 1;
        } else if entry(line, &mut run).is_none() {
            let found = shown(line);
            lines.refuse(LINE, &found)?;
        } else {
            lines.hold()?;
        }
    }
    if !run.entries.is_empty() || runs == 0 {
        hand_on(run, block, sink)?;
    }
    Ok(())
}

fn entry(line: &[u8], run: &mut Run) -> Option<()> {
    let mut parts = line.split(|&b| b == b'|');
    let (what, ids, loops) = (parts.next()?, parts.next()?, parts.next()?);
    let id = whole(ids)?;
    // 20 bits for each dimension, x lowest.
    let place = [0, 20, 40].map(|shift| segment(id, shift));
    let digits = what.strip_prefix(b"0x")?;
    let access = if let [scope @ (b'1' | b'2')] = digits {
        TraceAccess::plain(0, TraceKind::Barrier, u64::from(scope - b'0'), 0)
    } else {
        let (head, name) = digits.split_at_checked(digits.len().checked_sub(7)?)?;
        let (address, kind) = head.split_at_checked(head.len().checked_sub(1)?)?;
        let kind = match kind {
            b"F" => TraceKind::Load,
            b"A" => TraceKind::Store,
            _ => return None,
        };
        (address.len() <= 8).then_some(())?;
        let instruction = run.tables.instruction(&name_of(whole(name)?));
        let iteration = iteration(whole(loops)?, &mut run.tables);
        TraceAccess { address: whole(address)?, thread: 0, instruction, iteration, bytes: BYTES, kind }
    };
    for (most, n) in run.most.iter_mut().zip(place) {
        *most = (*most).max(n);
    }
    run.entries.push((access, place));
    Some(())
}

/// 20 bits of a number.
fn segment(bits: u64, shift: u32) -> u32 {
    (bits >> shift & 0xF_FFFF) as u32
}

/// The whole text as a number.
fn whole(text: &[u8]) -> Option<u64> {
    let (value, rest) = hex(text)?;
    rest.is_empty().then_some(value)
}

const BASE_36: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// The seven hexadecimal digits are a number that spells the name in base 36.
fn name_of(mut number: u64) -> String {
    let mut digits = Vec::new();
    while number > 0 || digits.is_empty() {
        digits.push(char::from(BASE_36[(number % 36) as usize]));
        number /= 36;
    }
    digits.iter().rev().collect()
}

/// Three segments of 20 bits (C 4.4.2), 4 of them the loop and 16 its iteration, counted from 1; the outermost loop in
/// the highest segment. A segment of 0 is no loop.
fn iteration(loops: u64, tables: &mut Tables) -> u32 {
    let mut pairs = [(0, 0); 3];
    let mut count = 0;
    for shift in [40, 20, 0] {
        let segment = segment(loops, shift);
        if segment != 0 {
            pairs[count] = (segment >> 16, segment & 0xFFFF);
            count += 1;
        }
    }
    tables.iteration(&pairs[..count])
}

fn hand_on(run: Run, block: Dim3, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut grid = [1; 3];
    for ((n, most), b) in grid.iter_mut().zip(run.most).zip(block.0) {
        *n = most / b + 1;
    }
    let grid = Dim3(grid);
    sink.begin(&Header { kernel: None, block, grid: Some(grid) }, false)?;
    for (mut access, [x, y, z]) in run.entries {
        let [bx, by, bz] = block.0;
        let group = grid.linear(Dim3([x / bx, y / by, z / bz]));
        let local = block.linear(Dim3([x % bx, y % by, z % bz]));
        let thread = group.checked_mul(block.volume()).and_then(|n| n.checked_add(local));
        let Some(thread) = thread.and_then(thread_number) else {
            return Err(ReadError::Limit { line: 0, what: "more threads than can be held" });
        };
        access.thread = thread;
        debug_assert!(access.kind != TraceKind::Barrier || access.instruction == NO_INSTRUCTION);
        sink.access(access, &run.tables)?;
    }
    sink.end(run.tables)
}
