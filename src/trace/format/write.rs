//! Writers: N's format, our own two, and C's scheduled form.

use std::io::{self, Write};

use super::error::ReadError;
use super::json::{Entry, Launch, Line};
use super::number::put_digits;
use super::own::{COLUMNS, MAGIC, letter};
use super::sink::Sink;
use crate::trace::model::{Header, NO_INSTRUCTION, Tables, Trace, TraceAccess, TraceInstruction, TraceKind};

/// Writes N's format, which has one launch and neither atomics nor barriers: barriers are left out, an atomic
/// becomes a load and a store.
#[derive(Debug)]
pub struct TrcWriter<W> {
    out: W,
    row: Vec<u8>,
    begun: bool,
}

impl<W: Write> TrcWriter<W> {
    /// A writer.
    pub fn new(out: W) -> Self {
        Self { out, row: Vec::new(), begun: false }
    }
}

impl<W: Write> Sink for TrcWriter<W> {
    fn begin(&mut self, header: &Header, _: bool) -> Result<(), ReadError> {
        if self.begun {
            let what = "a .trc file holds one launch, and the trace has more: choose one with --launch";
            return Err(ReadError::Limit { line: 0, what });
        }
        self.begun = true;
        let [x, y, z] = header.block.0;
        writeln!(self.out, "blocksize: {x} {y} {z}").map_err(ReadError::Unwritten)
    }

    fn access(&mut self, access: TraceAccess, _: &Tables) -> Result<(), ReadError> {
        let TraceAccess { thread, address, bytes, .. } = access;
        let ways: &[u64] = match access.kind {
            TraceKind::Load => &[0],
            TraceKind::Store => &[1],
            TraceKind::Atomic => &[0, 1],
            TraceKind::Barrier => &[],
        };
        self.row.clear();
        for way in ways {
            let row = &mut self.row;
            put(row, thread.into(), b' ');
            put(row, *way, b' ');
            put(row, address, b' ');
            put(row, bytes.into(), b'\n');
        }
        self.out.write_all(&self.row).map_err(ReadError::Unwritten)
    }

    fn end(&mut self, _: Tables) -> Result<(), ReadError> {
        self.out.flush().map_err(ReadError::Unwritten)
    }
}

/// Writes our own table.
#[derive(Debug)]
pub struct CsvWriter<W> {
    out: W,
    row: Vec<u8>,
    /// Cells of instructions that were written, by their numbers: each comes many times.
    known: Vec<Option<Known>>,
    begun: bool,
}

/// The cells of an instruction.
#[derive(Debug, Clone)]
struct Known {
    of: TraceInstruction,
    cells: Vec<u8>,
}

impl Known {
    fn new(of: &TraceInstruction) -> Self {
        // What separates cells and rows becomes a blank.
        let blank = |byte: u8| matches!(byte, b',' | b'\n' | b'\r');
        let name = of.name.trim_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        let mut cells: Vec<u8> = name.bytes().map(|byte| if blank(byte) { b' ' } else { byte }).collect();
        cells.push(b',');
        put(&mut cells, of.line.into(), b',');
        put(&mut cells, of.column.into(), b',');
        Self { of: of.clone(), cells }
    }
}

impl<W: Write> CsvWriter<W> {
    /// A writer.
    pub fn new(out: W) -> Self {
        Self { out, row: Vec::new(), known: Vec::new(), begun: false }
    }
}

impl<W: Write> CsvWriter<W> {
    fn head(&mut self, header: &Header, ordered: bool) -> io::Result<()> {
        if !self.begun {
            self.out.write_all(MAGIC)?;
            writeln!(self.out)?;
        }
        let [x, y, z] = header.block.0;
        write!(self.out, "# launch block={x},{y},{z}")?;
        if let Some([x, y, z]) = header.grid.map(|g| g.0) {
            write!(self.out, " grid={x},{y},{z}")?;
        }
        write!(self.out, " ordered={}", u8::from(ordered))?;
        if let Some(kernel) = &header.kernel {
            write!(self.out, " kernel={}", kernel.replace(['\n', '\r'], " "))?;
        }
        writeln!(self.out)?;
        if !self.begun {
            writeln!(self.out, "{COLUMNS}")?;
        }
        self.begun = true;
        Ok(())
    }

    fn row(&mut self, access: TraceAccess, tables: &Tables) -> io::Result<()> {
        let TraceAccess { thread, address, bytes, .. } = access;
        let row = &mut self.row;
        row.clear();
        put(row, thread.into(), b',');
        row.extend_from_slice(letter(access.kind).as_bytes());
        row.push(b',');
        put(row, address, b',');
        put(row, bytes.into(), b',');
        let at = access.instruction as usize;
        if let Some(instruction) = tables.instructions().get(at) {
            if self.known.len() <= at {
                self.known.resize(at + 1, None);
            }
            // Each block may number its instructions anew.
            let known = match &mut self.known[at] {
                Some(known) if known.of == *instruction => known,
                other => other.insert(Known::new(instruction)),
            };
            row.extend_from_slice(&known.cells);
        } else {
            row.extend_from_slice(b",0,0,");
        }
        for (i, (label, iteration)) in tables.pairs(access.iteration).iter().enumerate() {
            if i > 0 {
                row.push(b';');
            }
            put(row, (*label).into(), b'=');
            put_digits(row, (*iteration).into());
        }
        row.push(b'\n');
        self.out.write_all(row)
    }
}

impl<W: Write> Sink for CsvWriter<W> {
    fn begin(&mut self, header: &Header, ordered: bool) -> Result<(), ReadError> {
        self.head(header, ordered).map_err(ReadError::Unwritten)
    }

    fn access(&mut self, access: TraceAccess, tables: &Tables) -> Result<(), ReadError> {
        self.row(access, tables).map_err(ReadError::Unwritten)
    }

    fn end(&mut self, _: Tables) -> Result<(), ReadError> {
        self.out.flush().map_err(ReadError::Unwritten)
    }
}

/// Writes our own lines of JSON.
#[derive(Debug)]
pub struct JsonWriter<W> {
    out: W,
}

impl<W: Write> JsonWriter<W> {
    /// A writer.
    pub fn new(out: W) -> Self {
        Self { out }
    }

    fn line(&mut self, line: &Line) -> Result<(), ReadError> {
        let written = serde_json::to_writer(&mut self.out, line).map_err(io::Error::from);
        written.and_then(|()| writeln!(self.out)).map_err(ReadError::Unwritten)
    }
}

impl<W: Write> Sink for JsonWriter<W> {
    fn begin(&mut self, header: &Header, ordered: bool) -> Result<(), ReadError> {
        let (kernel, grid) = (header.kernel.clone(), header.grid.map(|g| g.0));
        self.line(&Line::Launch(Launch { kernel, block: header.block.0, grid, ordered }))
    }

    fn access(&mut self, access: TraceAccess, tables: &Tables) -> Result<(), ReadError> {
        let (name, line, column) = instruction(access, tables);
        self.line(&Line::Entry(Entry {
            thread: access.thread.into(),
            kind: letter(access.kind).to_owned(),
            address: access.address,
            bytes: access.bytes,
            instruction: name.to_owned(),
            line,
            column,
            loops: tables.pairs(access.iteration).to_vec(),
        }))
    }

    fn end(&mut self, _: Tables) -> Result<(), ReadError> {
        self.out.flush().map_err(ReadError::Unwritten)
    }
}

/// A number and what stands behind it.
fn put(row: &mut Vec<u8>, value: u64, behind: u8) {
    put_digits(row, value);
    row.push(behind);
}

fn instruction(access: TraceAccess, tables: &Tables) -> (&str, u32, u32) {
    let known = tables.instructions().get(access.instruction as usize);
    known.map_or(("", 0, 0), |i| (&i.name, i.line, i.column))
}

/// Writes C's scheduled form (C 5.2.3): accesses of a trace in a given order, by their positions in it.
pub fn write_scheduled<W: Write>(
    out: &mut W,
    trace: &Trace,
    warp_size: u32,
    order: impl IntoIterator<Item = u32>,
) -> io::Result<()> {
    writeln!(out, "{warp_size} {}", trace.blocks().max(1))?;
    let block = trace.block_threads();
    for position in order {
        let access = trace.accesses()[position as usize];
        let letter = match access.kind {
            TraceKind::Load => 'R',
            TraceKind::Store | TraceKind::Atomic => 'W',
            TraceKind::Barrier => continue,
        };
        let thread = access.thread as usize;
        let (group, warp) = (thread / block, thread % block / (warp_size.max(1) as usize));
        // The format wants a number; one that is not known is 0.
        let instruction = if access.instruction == NO_INSTRUCTION { 0 } else { access.instruction };
        writeln!(out, "{:#X} {letter} {group} {warp} {instruction}", access.address)?;
    }
    out.flush()
}
