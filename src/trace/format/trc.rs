//! N's traces (N 4.6): `blocksize: X Y Z`, then `thread rw address bytes` with 0 for loads, 1 for stores.

use super::error::ReadError;
use super::lines::{Lines, shown};
use super::number::{blank, decimal, skip_blanks};
use super::sink::Sink;
use super::threads::thread_number;
use crate::trace::model::{Dim3, Header, Tables, TraceAccess, TraceKind};

const HEAD: &str = "`blocksize: X Y Z` with at most 2^20 threads";
const LINE: &str = "`thread rw address bytes` in decimal";

pub(super) fn read(lines: &mut Lines, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let Some(first) = lines.next()? else { return Err(ReadError::Empty) };
    // Nothing can be read without it.
    let Some(block) = head(first) else {
        let found = shown(first);
        return Err(ReadError::Malformed { line: lines.number(), expected: HEAD, found });
    };
    sink.begin(&Header { kernel: None, block, grid: None }, false)?;
    let tables = Tables::default();
    while let Some(line) = lines.next()? {
        match access(line) {
            Some(access) => sink.access(access, &tables)?,
            None if line.trim_ascii().is_empty() => {}
            None => {
                let found = shown(line);
                lines.refuse(LINE, &found)?;
            }
        }
    }
    sink.end(tables)
}

/// The block size.
pub(super) fn head(line: &[u8]) -> Option<Dim3> {
    let rest = skip_blanks(line.strip_prefix(b"blocksize:")?);
    super::threads::extents(rest, b' ')
}

#[inline]
fn access(line: &[u8]) -> Option<TraceAccess> {
    let (thread, rest) = decimal(line)?;
    let (kind, rest) = match blank(rest)? {
        [b'0', rest @ ..] => (TraceKind::Load, rest),
        [b'1', rest @ ..] => (TraceKind::Store, rest),
        _ => return None,
    };
    let (address, rest) = decimal(blank(rest)?)?;
    let (bytes, rest) = decimal(blank(rest)?)?;
    let bytes = u16::try_from(bytes).ok()?;
    skip_blanks(rest).is_empty().then_some(())?;
    Some(TraceAccess::plain(thread_number(thread)?, kind, address, bytes))
}
