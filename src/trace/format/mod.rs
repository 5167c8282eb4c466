//! Readers and writers of traces.

mod crawford;
mod detect;
mod error;
mod full;
mod json;
mod kind;
mod lines;
mod number;
mod nvbit;
mod opcode;
mod own;
mod reading;
mod scheduled;
mod sink;
mod threads;
mod traceg;
mod trc;
mod unpack;
mod write;

use std::io::Read;

pub use error::ReadError;
pub use kind::TraceFormat;
pub use reading::{ReadOptions, Reading};
pub use sink::{Collector, Sink};
pub use unpack::unpack;
pub use write::{CsvWriter, JsonWriter, TrcWriter, write_scheduled};

use lines::Lines;

/// Reads a trace, packed (gzip, xz, zstd) or not, and hands it on access by access.
pub fn read(input: impl Read, options: ReadOptions, sink: &mut dyn Sink) -> Result<Reading, ReadError> {
    let mut unpacked = unpack::unpack_up_to(input, options.limits.unpacked)?;
    let mut lines = Lines::new(&mut unpacked, options.lenient, options.limits.memory);
    read_lines(&mut lines, options.format, sink)
}

/// Reads an unpacked trace that lies in memory.
pub fn read_text(mut text: &[u8], options: ReadOptions, sink: &mut dyn Sink) -> Result<Reading, ReadError> {
    let mut lines = Lines::new(&mut text, options.lenient, options.limits.memory);
    read_lines(&mut lines, options.format, sink)
}

fn read_lines(
    lines: &mut Lines,
    forced: Option<TraceFormat>,
    sink: &mut dyn Sink,
) -> Result<Reading, ReadError> {
    let format = match forced {
        Some(format) => format,
        None => detect::detect(lines.peek()?)?,
    };
    match format {
        TraceFormat::Trc => trc::read(lines, sink)?,
        TraceFormat::Crawford => crawford::read(lines, sink)?,
        TraceFormat::Scheduled => scheduled::read(lines, sink)?,
        TraceFormat::Traceg => traceg::read(lines, sink)?,
        TraceFormat::Nvbit => nvbit::read(lines, sink)?,
        TraceFormat::Full => full::read(lines, sink)?,
        TraceFormat::Csv => own::read(lines, sink)?,
        TraceFormat::Jsonl => json::read(lines, sink)?,
    }
    Ok(Reading { format: Some(format), ..lines.reading() })
}
