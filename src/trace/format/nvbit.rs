//! The text of `NVBit`'s `mem_trace` tool: a line for each launch, then one for each memory instruction of a
//! warp with 32 addresses, 0 where a lane is idle. What is loaded, and how much, the opcode says.

use super::error::ReadError;
use super::lines::{Lines, shown};
use super::number::{decimal, hex, skip_blanks, triple};
use super::opcode::{Opcode, opcode, width};
use super::sink::Sink;
use super::threads::thread_of;
use crate::trace::model::{Dim3, Header, NO_INSTRUCTION, Tables, TraceAccess, TraceKind};

const LAUNCH: &str = "`.. LAUNCH .. grid size X,Y,Z - block size X,Y,Z ..`";
const LINE: &str =
    "`CTX c - grid_launch_id n - CTA x,y,z - warp w - OPCODE - ` and addresses, after a launch";

struct Running {
    block: Dim3,
    grid: Dim3,
    tables: Tables,
    /// Instructions of each warp so far, by warp.
    sequences: std::collections::HashMap<(u64, u64), u32>,
}

pub(super) fn read(lines: &mut Lines, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut running: Option<Running> = None;
    let mut lanes = Vec::with_capacity(32);
    while let Some(line) = lines.next()? {
        let line = line.trim_ascii();
        let line = line.strip_prefix(b"MEMTRACE:").unwrap_or(line).trim_ascii();
        // The tool says a few other things before the first launch.
        if line.is_empty() || !line.starts_with(b"CTX ") {
            continue;
        }
        if after(line, b" LAUNCH ").is_some() {
            let Some(header) = launch(line) else {
                let found = shown(line);
                lines.refuse(LAUNCH, &found)?;
                continue;
            };
            if let Some(before) = running.take() {
                sink.end(before.tables)?;
            }
            sink.begin(&header, false)?;
            running = Some(Running {
                block: header.block,
                grid: header.grid.unwrap_or(Dim3::ONE),
                tables: Tables::default(),
                sequences: Default::default(),
            });
            continue;
        }
        let found = running.as_mut().and_then(|run| accesses(line, run, &mut lanes));
        let Some(elsewhere) = found else {
            let found = shown(line);
            lines.refuse(LINE, &found)?;
            lanes.clear();
            continue;
        };
        if elsewhere {
            lines.elsewhere();
        }
        if let Some(run) = &running {
            for access in lanes.drain(..) {
                sink.access(access, &run.tables)?;
            }
        }
    }
    match running {
        Some(run) => sink.end(run.tables),
        None => Err(ReadError::Empty),
    }
}

/// What follows a mark.
fn after<'t>(text: &'t [u8], mark: &[u8]) -> Option<&'t [u8]> {
    memchr::memmem::find(text, mark).map(|at| &text[at + mark.len()..])
}

fn launch(line: &[u8]) -> Option<Header> {
    let shape = |mark: &[u8]| {
        let (n, _) = triple(skip_blanks(after(line, mark)?))?;
        super::threads::checked(n)
    };
    let (grid, block) = (shape(b"grid size")?, shape(b"block size")?);
    let kernel = after(line, b"Kernel name ").map(|rest| {
        let end = memchr::memmem::find(rest, b" - ").unwrap_or(rest.len());
        String::from_utf8_lossy(&rest[..end]).into_owned()
    });
    Some(Header { kernel, block, grid: Some(grid) })
}

fn accesses(line: &[u8], run: &mut Running, out: &mut Vec<TraceAccess>) -> Option<bool> {
    let (place, rest) = triple(skip_blanks(after(line, b"- CTA ")?))?;
    place.iter().zip(run.grid.0).all(|(&p, n)| p < n).then_some(())?;
    let group = run.grid.linear(Dim3(place));
    let (warp, rest) = decimal(skip_blanks(after(rest, b"- warp ")?))?;
    let rest = after(rest, b" - ")?;
    let end = memchr::memmem::find(rest, b" - ")?;
    let name = &rest[..end];
    let mut rest = skip_blanks(&rest[end + 3..]);
    let kind = match opcode(name) {
        Opcode::Global(kind) => kind,
        Opcode::Elsewhere => return Some(true),
        Opcode::Barrier | Opcode::Other => return None,
    };
    // The program counter is not said: the number of a record in its warp stands for it.
    let sequence = run.sequences.entry((group, warp)).or_insert(0);
    let iteration = run.tables.iteration(&[(0, *sequence)]);
    *sequence = sequence.checked_add(1)?;
    for lane in 0..32_u64 {
        let (address, after) = hex(rest)?;
        rest = skip_blanks(after);
        if address == 0 {
            continue;
        }
        let local = run.block.place(warp.checked_mul(32)?.checked_add(lane)?);
        let thread = thread_of(run.block, group, local)?;
        let bytes = width(name);
        out.push(TraceAccess { address, thread, instruction: NO_INSTRUCTION, iteration, bytes, kind });
    }
    // Barriers are no memory instructions: these traces have none.
    debug_assert!(kind != TraceKind::Barrier);
    rest.is_empty().then_some(false)
}
