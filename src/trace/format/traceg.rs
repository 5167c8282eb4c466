//! Accel-Sim's `.traceg`: the instructions of each warp, with the addresses of its active lanes.

use super::error::ReadError;
use super::lines::{Lines, shown};
use super::number::{decimal, hex, signed, skip_blanks, triple, word};
use super::opcode::{Opcode, opcode};
use super::sink::Sink;
use super::threads::thread_of;
use crate::trace::model::{Dim3, Header, NO_INSTRUCTION, Tables, TraceAccess, TraceKind};

const LINE: &str =
    "`PC mask ndst [R..] opcode nsrc [R..] width [mode addresses]`, in a warp of a thread block";
const LANES: u32 = 32;

#[derive(Default)]
struct State {
    kernel: Option<String>,
    grid: Option<Dim3>,
    block: Option<Dim3>,
    begun: bool,
    /// Number of the block in the grid.
    group: Option<u64>,
    warp: u32,
    /// Lines of the warp that are still to come.
    left: u64,
    /// Instructions of the warp so far.
    sequence: u32,
    tables: Tables,
}

pub(super) fn read(lines: &mut Lines, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut state = State::default();
    let mut lanes = Vec::with_capacity(LANES as usize);
    while let Some(line) = lines.next()? {
        let line = line.trim_ascii();
        let understood = match line {
            [] | [b'#', b'B' | b't', ..] => Some(()),
            [b'-', option @ ..] => head(option, &mut state),
            _ if line.starts_with(b"#END_TB") => {
                if state.left > 0 {
                    lines.refuse("as many instructions as `insts` says", "#END_TB")?;
                    state.left = 0;
                }
                state.group = None;
                continue;
            }
            [b'#', ..] => Some(()),
            _ if line.starts_with(b"thread block") => begin_block(line, &mut state),
            _ if line.starts_with(b"warp") => begin_warp(line, &mut state),
            _ if line.starts_with(b"insts") => insts(line, &mut state),
            _ => instruction(line, &mut state, &mut lanes).map(|elsewhere| {
                if elsewhere {
                    lines.elsewhere();
                }
            }),
        };
        // The line has been read completely: it can be shown no more.
        if understood.is_none() {
            lines.refuse(LINE, "another line")?;
            continue;
        }
        if !state.begun && state.group.is_some() {
            let (kernel, block) = (state.kernel.clone(), state.block.unwrap_or(Dim3::ONE));
            sink.begin(&Header { kernel, block, grid: state.grid }, false)?;
            state.begun = true;
        }
        for access in lanes.drain(..) {
            sink.access(access, &state.tables)?;
        }
    }
    if state.left > 0 || state.group.is_some() {
        lines.truncated("the rest of a thread block and `#END_TB`")?;
    }
    if !state.begun {
        let Some(block) = state.block else { return Err(ReadError::Empty) };
        sink.begin(&Header { kernel: state.kernel, block, grid: state.grid }, false)?;
    }
    sink.end(state.tables)
}

fn value(line: &[u8]) -> Option<&[u8]> {
    let at = line.iter().position(|&b| b == b'=')?;
    Some(line[at + 1..].trim_ascii())
}

fn shape(text: &[u8]) -> Option<Dim3> {
    super::threads::extents(text.strip_prefix(b"(")?.strip_suffix(b")")?, b',')
}

fn head(option: &[u8], state: &mut State) -> Option<()> {
    let value = value(option)?;
    if option.starts_with(b"kernel name") {
        state.kernel = Some(shown(value));
    } else if option.starts_with(b"grid dim") {
        state.grid = Some(shape(value)?);
    } else if option.starts_with(b"block dim") {
        state.block = Some(shape(value)?);
    }
    Some(())
}

fn begin_block(line: &[u8], state: &mut State) -> Option<()> {
    let (place, _) = triple(value(line)?)?;
    let grid = state.grid?;
    (place.iter().zip(grid.0).all(|(&p, n)| p < n) && state.block.is_some()).then_some(())?;
    state.group = Some(grid.linear(Dim3(place)));
    state.left = 0;
    Some(())
}

fn insts(line: &[u8], state: &mut State) -> Option<()> {
    state.left = decimal(value(line)?)?.0;
    Some(())
}

fn begin_warp(line: &[u8], state: &mut State) -> Option<()> {
    (state.left == 0 && state.group.is_some()).then_some(())?;
    let (warp, _) = decimal(value(line)?)?;
    (warp.saturating_mul(u64::from(LANES)) < state.block?.volume()).then_some(())?;
    state.warp = u32::try_from(warp).ok()?;
    state.sequence = 0;
    Some(())
}

/// An instruction's accesses; whether it goes to a memory that is not modelled.
fn instruction(line: &[u8], state: &mut State, out: &mut Vec<TraceAccess>) -> Option<bool> {
    state.left = state.left.checked_sub(1)?;
    let (pc, rest) = word(line)?;
    let (mask, rest) = hex(rest)?;
    let mask = u32::try_from(mask).ok()?;
    let rest = registers(skip_blanks(rest))?;
    let (name, rest) = word(rest)?;
    let rest = registers(rest)?;
    let (width, rest) = decimal(rest)?;
    let kind = match opcode(name) {
        Opcode::Global(kind) if width > 0 => kind,
        Opcode::Barrier => TraceKind::Barrier,
        other => return Some(other == Opcode::Elsewhere),
    };
    let mut rest = skip_blanks(rest);
    let (mode, base, stride);
    if kind == TraceKind::Barrier {
        (mode, base, stride) = (1, 0, 0);
    } else {
        let (m, after) = decimal(rest)?;
        let (first, after) = hex(skip_blanks(after))?;
        (mode, base, rest) = (m, first, skip_blanks(after));
        stride = if mode == 1 { signed(rest)?.0 } else { 0 };
    }
    // Records of a warp are its instructions one after another: the number of a record stands for the
    // iteration, and keeps lanes of one record together.
    let iteration = state.tables.iteration(&[(0, state.sequence)]);
    state.sequence = state.sequence.checked_add(1)?;
    let instruction = match kind {
        TraceKind::Barrier => NO_INSTRUCTION,
        _ => state.tables.instruction(std::str::from_utf8(pc).ok()?),
    };
    let mut address = base;
    let mut first = true;
    let block = state.block?;
    let before = out.len();
    for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
        if !first && kind != TraceKind::Barrier {
            (address, rest) = match mode {
                0 => hex(rest).map(|(a, after)| (a, skip_blanks(after)))?,
                1 => (address.wrapping_add_signed(stride), rest),
                2 => signed(rest).map(|(d, after)| (address.wrapping_add_signed(d), skip_blanks(after)))?,
                _ => return None,
            };
        }
        first = false;
        let local = block.place(u64::from(state.warp) * u64::from(LANES) + u64::from(lane));
        let Some(thread) = thread_of(block, state.group?, local) else {
            out.truncate(before);
            return None;
        };
        let bytes = u16::try_from(width).ok()?;
        out.push(TraceAccess { address, thread, instruction, iteration, bytes, kind });
    }
    Some(false)
}

/// Skips a count of registers and the registers.
fn registers(rest: &[u8]) -> Option<&[u8]> {
    let (count, rest) = decimal(rest)?;
    let mut rest = skip_blanks(rest);
    for _ in 0..count {
        rest = word(rest)?.1;
    }
    Some(rest)
}
