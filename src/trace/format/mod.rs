//! Readers and writers of traces.

mod crawford;
mod detect;
mod error;
mod full;
mod json;
mod lines;
mod number;
mod nvbit;
mod opcode;
mod own;
mod scheduled;
mod sink;
mod traceg;
mod trc;
mod unpack;
mod write;

use std::io::Read;

pub use detect::Format;
pub use error::ReadError;
pub use sink::{Collector, Sink};
pub use unpack::unpack;
pub use write::{CsvWriter, JsonWriter, TrcWriter, write_scheduled};

use crate::trace::limits::Limits;
use crate::trace::model::Dim3;
use lines::Lines;

/// How a trace is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; by default found by content.
    pub format: Option<Format>,
    /// Counts and skips malformed lines.
    pub lenient: bool,
    /// How much is unpacked, and held where a format says only at its end what it begins with.
    pub limits: Limits,
}

/// What was met on the way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reading {
    /// The format.
    pub format: Option<Format>,
    /// Lines read.
    pub lines: u64,
    /// Malformed lines that were skipped.
    pub skipped: u64,
    /// The first of them.
    pub first_skipped: Option<u64>,
    /// Accesses to other memories than global memory, which no cache of ours sees.
    pub elsewhere: u64,
}

/// Reads a trace, packed (gzip, xz, zstd) or not, and hands it on access by access.
pub fn read<R: Read, S: Sink>(input: R, options: ReadOptions, sink: &mut S) -> Result<Reading, ReadError> {
    let mut unpacked = unpack::unpack_up_to(input, options.limits.unpacked)?;
    let mut lines = Lines::new(&mut unpacked, options.lenient, options.limits.memory);
    read_lines(&mut lines, options.format, sink)
}

/// Reads an unpacked trace that lies in memory.
pub fn read_text<S: Sink>(text: &[u8], options: ReadOptions, sink: &mut S) -> Result<Reading, ReadError> {
    let mut lines = Lines::new(text, options.lenient, options.limits.memory);
    read_lines(&mut lines, options.format, sink)
}

fn read_lines<R: Read, S: Sink>(
    lines: &mut Lines<R>,
    forced: Option<Format>,
    sink: &mut S,
) -> Result<Reading, ReadError> {
    let format = match forced {
        Some(format) => format,
        None => detect::detect(lines.peek()?)?,
    };
    match format {
        Format::Trc => trc::read(lines, sink)?,
        Format::Crawford => crawford::read(lines, sink)?,
        Format::Scheduled => scheduled::read(lines, sink)?,
        Format::Traceg => traceg::read(lines, sink)?,
        Format::Nvbit => nvbit::read(lines, sink)?,
        Format::Full => full::read(lines, sink)?,
        Format::Csv => own::read(lines, sink)?,
        Format::Jsonl => json::read(lines, sink)?,
    }
    Ok(Reading { format: Some(format), ..lines.reading() })
}

/// Threads beyond which a number is hardly meant: each needs a place in memory, whether it does anything or not.
const MOST_THREADS: u64 = 1 << 26;

/// A thread's number, if it is one that can be held.
#[inline]
fn thread_number(number: u64) -> Option<u32> {
    if number < MOST_THREADS { u32::try_from(number).ok() } else { None }
}

/// The number of a thread by the number of its block and its place in it.
fn thread_of(block: Dim3, group: u64, local: Dim3) -> Option<u32> {
    local.0.iter().zip(block.0).all(|(&l, n)| l < n).then_some(())?;
    thread_number(group.checked_mul(block.volume())?.checked_add(block.linear(local))?)
}

/// Three extents with a separator, the whole text; blanks beside it do not matter.
fn extents(text: &[u8], separator: u8) -> Option<Dim3> {
    let mut parts = text.split(|&b| b == separator).map(<[u8]>::trim_ascii).filter(|p| !p.is_empty());
    let mut all = [0; 3];
    for extent in &mut all {
        let (n, rest) = number::decimal(parts.next()?)?;
        rest.is_empty().then_some(())?;
        *extent = u32::try_from(n).ok()?;
    }
    parts.next().is_none().then_some(())?;
    checked(all)
}

/// Extents that are positive and of which all elements can be held.
fn checked(extents: [u32; 3]) -> Option<Dim3> {
    let all = Dim3(extents);
    (all.volume() > 0 && all.volume() <= MOST_THREADS).then_some(all)
}
