//! Our own table: comma-separated values that say all that the other formats can say.
//!
//! ```text
//! # wavecast-trace 1
//! # launch block=16,16,1 grid=2,2,1 ordered=0 kernel=mm
//! thread,kind,address,bytes,instruction,line,column,loops
//! 0,R,2097152,4,i1,10,16,0=1;1=5
//! ```
//!
//! The kind is R, W, A (atomic) or B (barrier). A later `# launch` begins the next launch.

use super::error::ReadError;
use super::lines::{Lines, shown};
use super::number::decimal;
use super::sink::Sink;
use super::threads::thread_number;
use crate::trace::model::{Header, NO_INSTRUCTION, Tables, TraceAccess, TraceKind};

/// How such a text begins.
pub(super) const MAGIC: &[u8] = b"# wavecast-trace 1";
/// The names of the columns.
pub(super) const COLUMNS: &str = "thread,kind,address,bytes,instruction,line,column,loops";

const LAUNCH: &str = "`# launch block=X,Y,Z [grid=X,Y,Z] [ordered=0|1] [kernel=NAME]`";
const LINE: &str = "`thread,kind,address,bytes,instruction,line,column,loops` after a launch";

pub(super) fn read(lines: &mut Lines, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut tables: Option<Tables> = None;
    let mut pairs = Vec::new();
    while let Some(line) = lines.next()? {
        let line = line.trim_ascii();
        if line.is_empty() || line == MAGIC || line == COLUMNS.as_bytes() {
            continue;
        }
        let understood = if let Some(rest) = line.strip_prefix(b"# launch ") {
            match launch(rest) {
                Some((header, ordered)) => {
                    if let Some(before) = tables.take() {
                        sink.end(before)?;
                    }
                    sink.begin(&header, ordered)?;
                    tables = Some(Tables::default());
                    Ok(())
                }
                None => Err(LAUNCH),
            }
        } else {
            match tables.as_mut().and_then(|t| Some((row(line, t, &mut pairs)?, &*t))) {
                Some((access, tables)) => {
                    sink.access(access, tables)?;
                    Ok(())
                }
                None => Err(LINE),
            }
        };
        if let Err(expected) = understood {
            let found = shown(line);
            lines.refuse(expected, &found)?;
        }
    }
    match tables {
        Some(tables) => sink.end(tables),
        None => Err(ReadError::Empty),
    }
}

fn launch(text: &[u8]) -> Option<(Header, bool)> {
    let text = std::str::from_utf8(text).ok()?;
    let (settings, kernel) = match text.split_once("kernel=") {
        Some((settings, kernel)) => (settings, Some(kernel.to_owned())),
        None => (text, None),
    };
    let of = |key: &str| settings.split_whitespace().find_map(|s| s.strip_prefix(key));
    let shape = |text: &str| super::threads::extents(text.as_bytes(), b',');
    let block = shape(of("block=")?)?;
    let grid = match of("grid=") {
        Some(text) => Some(shape(text)?),
        None => None,
    };
    Some((Header { kernel, block, grid }, of("ordered=") == Some("1")))
}

fn row(line: &[u8], tables: &mut Tables, pairs: &mut Vec<(u32, u32)>) -> Option<TraceAccess> {
    let mut cells = line.split(|&b| b == b',');
    let mut cell = || cells.next();
    let (thread, kind, address, bytes) =
        (number(cell()?)?, kind(cell()?)?, number(cell()?)?, number(cell()?)?);
    let (name, line, column, loops) = (cell()?, number(cell()?)?, number(cell()?)?, cell()?);
    let instruction = if name.is_empty() {
        NO_INSTRUCTION
    } else {
        let id = tables.instruction(std::str::from_utf8(name).ok()?);
        tables.place(id, u32::try_from(line).ok()?, u32::try_from(column).ok()?);
        id
    };
    pairs.clear();
    for pair in loops.split(|&b| b == b';').filter(|p| !p.is_empty()) {
        let (label, rest) = decimal(pair)?;
        let iteration = number(rest.strip_prefix(b"=")?)?;
        pairs.push((u32::try_from(label).ok()?, u32::try_from(iteration).ok()?));
    }
    let iteration = tables.iteration(pairs);
    let (thread, bytes) = (thread_number(thread)?, u16::try_from(bytes).ok()?);
    Some(TraceAccess { address, thread, instruction, iteration, bytes, kind })
}

fn number(cell: &[u8]) -> Option<u64> {
    let (n, rest) = decimal(cell)?;
    rest.is_empty().then_some(n)
}

/// The kind by its letter.
pub(super) fn kind(cell: &[u8]) -> Option<TraceKind> {
    KINDS.into_iter().find(|k| k.0.as_bytes() == cell).map(|k| k.1)
}

/// The letter of a kind.
pub(super) fn letter(kind: TraceKind) -> &'static str {
    KINDS.into_iter().find(|k| k.1 == kind).map_or("", |k| k.0)
}

const KINDS: [(&str, TraceKind); 4] =
    [("R", TraceKind::Load), ("W", TraceKind::Store), ("A", TraceKind::Atomic), ("B", TraceKind::Barrier)];
