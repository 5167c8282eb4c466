//! Our own lines of JSON: one for each launch, one for each access. The fields are those of the table.

use serde::{Deserialize, Serialize};

use super::error::ReadError;
use super::lines::{Lines, shown};
use super::own::kind;
use super::sink::Sink;
use super::threads::{checked, thread_number};
use crate::trace::model::{Header, NO_INSTRUCTION, Tables, TraceAccess};

const LINE: &str =
    "a launch `{\"block\": [X,Y,Z], ..}` or, after one, an access `{\"thread\": .., \"kind\": ..}`";

/// A line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(super) enum Line {
    Launch(Launch),
    Entry(Entry),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Launch {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kernel: Option<String>,
    pub(super) block: [u32; 3],
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) grid: Option<[u32; 3]>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) ordered: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) thread: u64,
    pub(super) kind: String,
    #[serde(default)]
    pub(super) address: u64,
    #[serde(default)]
    pub(super) bytes: u16,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) instruction: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) line: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) column: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) loops: Vec<(u32, u32)>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

pub(super) fn read(lines: &mut Lines, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut tables: Option<Tables> = None;
    while let Some(line) = lines.next()? {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let understood = match serde_json::from_slice(line) {
            Ok(Line::Launch(launch)) => match header(&launch) {
                Some(header) => {
                    if let Some(before) = tables.take() {
                        sink.end(before)?;
                    }
                    sink.begin(&header, launch.ordered)?;
                    tables = Some(Tables::default());
                    true
                }
                None => false,
            },
            Ok(Line::Entry(entry)) => match tables.as_mut().and_then(|t| Some((access(&entry, t)?, &*t))) {
                Some((access, tables)) => {
                    sink.access(access, tables)?;
                    true
                }
                None => false,
            },
            Err(_) => false,
        };
        if !understood {
            let found = shown(line);
            lines.refuse(LINE, &found)?;
        }
    }
    match tables {
        Some(tables) => sink.end(tables),
        None => Err(ReadError::Empty),
    }
}

fn header(launch: &Launch) -> Option<Header> {
    let grid = match launch.grid {
        Some(grid) => Some(checked(grid)?),
        None => None,
    };
    Some(Header { kernel: launch.kernel.clone(), block: checked(launch.block)?, grid })
}

fn access(entry: &Entry, tables: &mut Tables) -> Option<TraceAccess> {
    let (thread, kind) = (thread_number(entry.thread)?, kind(entry.kind.as_bytes())?);
    let instruction = if entry.instruction.is_empty() {
        NO_INSTRUCTION
    } else {
        let id = tables.instruction(&entry.instruction);
        tables.place(id, entry.line, entry.column);
        id
    };
    let iteration = tables.iteration(&entry.loops);
    Some(TraceAccess { address: entry.address, thread, instruction, iteration, bytes: entry.bytes, kind })
}
