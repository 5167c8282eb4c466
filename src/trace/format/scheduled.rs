//! C 5.3: accesses in the order in which a cache sees them: `warpsize workgroups`, then `0xADDR R|W workgroup
//! warp instruction`. Threads are not said: lanes of a warp instruction are numbered as they come.

use super::error::ReadError;
use super::lines::{Lines, shown};
use super::number::{blank, decimal, hex, skip_blanks, word};
use super::sink::Sink;
use super::threads::thread_number;
use crate::trace::model::{Dim3, Header, Tables, TraceAccess, TraceKind};
use crate::trace::numbering::number;

const HEAD: &str = "`warpsize workgroups`";
const LINE: &str = "`0xADDR R|W workgroup warp instruction`";
/// Bytes of an access: C's kernels have 4-byte elements, and the format does not say.
const BYTES: u16 = 4;

/// An access whose thread follows when the number of warps is known.
struct Entry {
    access: TraceAccess,
    group: u64,
    warp: u64,
    lane: u64,
}

pub(super) fn read(lines: &mut Lines, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let Some(first) = lines.next()? else { return Err(ReadError::Empty) };
    let Some((warp_size, groups)) = head(first) else {
        let found = shown(first);
        return Err(ReadError::Malformed { line: lines.number(), expected: HEAD, found });
    };
    let mut tables = Tables::default();
    let mut entries: Vec<Entry> = Vec::new();
    let mut warps = 1;
    while let Some(line) = lines.next()? {
        let found = entry(line, groups, &mut tables);
        let Some(mut next) = found else {
            if !line.trim_ascii().is_empty() {
                let found = shown(line);
                lines.refuse(LINE, &found)?;
            }
            continue;
        };
        let same = |e: &&Entry| {
            (e.group, e.warp, e.access.instruction) == (next.group, next.warp, next.access.instruction)
        };
        next.lane = entries.last().filter(same).map_or(0, |e| (e.lane + 1) % warp_size);
        // Lanes of one instruction of a warp belong together, whatever their thread did before.
        let sequence = number(entries.len());
        next.access.iteration = match entries.last() {
            Some(before) if next.lane > 0 => before.access.iteration,
            _ => tables.iteration(&[(0, sequence)]),
        };
        warps = warps.max(next.warp + 1);
        entries.push(next);
        lines.hold()?;
    }
    let threads = warps.checked_mul(warp_size).and_then(thread_number);
    let all = threads.and_then(|t| thread_number(u64::from(t).checked_mul(groups)?));
    let too_many = || ReadError::Limit { line: lines.number(), what: "more threads than can be held" };
    let (Some(threads), Some(_), Some(blocks)) = (threads, all, thread_number(groups)) else {
        return Err(too_many());
    };
    let (block, grid) = (Dim3([threads, 1, 1]), Some(Dim3([blocks, 1, 1])));
    sink.begin(&Header { kernel: None, block, grid }, true)?;
    for Entry { mut access, group, warp, lane } in entries {
        let local = warp * warp_size + lane;
        access.thread = thread_number(group * u64::from(threads) + local).ok_or_else(too_many)?;
        sink.access(access, &tables)?;
    }
    sink.end(tables)
}

fn head(line: &[u8]) -> Option<(u64, u64)> {
    let (warp_size, rest) = decimal(line.trim_ascii())?;
    let (groups, rest) = decimal(blank(rest)?)?;
    let fits = rest.is_empty() && (1..=1024).contains(&warp_size) && thread_number(groups).is_some();
    (fits && groups > 0).then_some((warp_size, groups))
}

fn entry(line: &[u8], groups: u64, tables: &mut Tables) -> Option<Entry> {
    let (address, rest) = hex(line)?;
    let (kind, rest) = match blank(rest)? {
        [b'R', rest @ ..] => (TraceKind::Load, rest),
        [b'W', rest @ ..] => (TraceKind::Store, rest),
        _ => return None,
    };
    let (group, rest) = decimal(blank(rest)?)?;
    let (warp, rest) = decimal(blank(rest)?)?;
    let (name, rest) = word(blank(rest)?)?;
    (skip_blanks(rest).is_empty() && group < groups && thread_number(warp).is_some()).then_some(())?;
    let instruction = tables.instruction(std::str::from_utf8(name).ok()?);
    let access = TraceAccess { address, thread: 0, instruction, iteration: 0, bytes: BYTES, kind };
    Some(Entry { access, group, warp, lane: 0 })
}
