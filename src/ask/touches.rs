//! `touches`: what single threads access, in program order.

use super::asker::fault;
use super::entry::EntrySource;
use super::launches::OneLaunch;
use super::source::KernelsRead;
use crate::kernel::{AccessKind, Kernel};
use crate::launch::{Launch, Touched, Touching};
use crate::ptx::run::{Access, Event, Machine, NotRun, Who};
use crate::report::TouchLine;
use crate::space::{BlockIndex, Thread};
use crate::text::Fault;

/// Steps of the threads of a block together.
const MOST_STEPS: u64 = 1 << 32;

/// A thread of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// Its block's place in the grid.
    pub block: BlockIndex,
    /// Its place in the block.
    pub thread: Thread,
}

/// What do these threads access?
#[derive(Debug, Clone, Default)]
pub struct Touches {
    /// The launch of a kernel document.
    pub launch: OneLaunch,
    /// The threads.
    pub at: Vec<Spot>,
}

impl Touches {
    /// The accesses of each thread, one thread after the other.
    pub fn answer(&self, kernels: &KernelsRead) -> Result<Vec<TouchLine>, Fault> {
        let [kernel] = kernels.kernels() else {
            let message =
                format!("there are {} kernels; lines do not say of which they are", kernels.kernels().len());
            return Err(fault("usage", message, Some("choose one, with --variant if they are variants")));
        };
        let chosen = self.launch.chosen(kernel);
        let wrong =
            |why: &dyn std::fmt::Display| fault("no-touches", format!("{}: {why}", kernel.name), None);
        let launch = Launch::new(kernel, chosen.candidate).map_err(|e| wrong(&e))?;
        let touching = Touching::new(kernel, &launch).map_err(|e| wrong(&e))?;
        let sizes = launch.sizes();
        let mut lines = Vec::new();
        for spot in &self.at {
            inside(spot, sizes.block.into(), sizes.grid.into())?;
            for touched in touching.thread(spot.block, spot.thread).map_err(|e| wrong(&e))? {
                line_of_document(kernel, spot, &touched, &mut lines);
            }
        }
        Ok(lines)
    }

    /// The same of an entry of PTX, which is run for it.
    pub fn answer_entry(&self, source: &EntrySource) -> Result<Vec<TouchLine>, Fault> {
        let (machine, entry) = source.machine()?;
        let block: [i64; 3] = machine.block().into();
        let mut lines = Vec::new();
        for spot in &self.at {
            inside(spot, block, source.grid.into())?;
            let [x, y, z]: [i64; 3] = spot.thread.into();
            let number = u32::try_from(x + block[0] * (y + block[1] * z)).unwrap_or(u32::MAX);
            let accesses = accesses(&machine, spot.block, number);
            let accesses = accesses.map_err(|e| fault("not-run", format!("{entry}: {e}"), None))?;
            lines.extend(accesses.iter().map(|access| line_of_entry(&machine, &entry, spot, access)));
        }
        Ok(lines)
    }
}

fn inside(spot: &Spot, block: [i64; 3], grid: [i64; 3]) -> Result<(), Fault> {
    let (at, thread): ([i64; 3], [i64; 3]) = (spot.block.into(), spot.thread.into());
    let beyond = |place: [i64; 3], size: [i64; 3]| (0..3).any(|d| !(0..size[d]).contains(&place[d]));
    if beyond(at, grid) {
        let message = format!("the grid {grid:?} has no block {at:?}");
        return Err(fault("usage", message, Some("blocks are numbered from 0")));
    }
    if beyond(thread, block) {
        let message = format!("the block {block:?} has no thread {thread:?}");
        return Err(fault("usage", message, Some("threads are numbered from 0")));
    }
    Ok(())
}

fn line_of_document(kernel: &Kernel, spot: &Spot, touched: &Touched, lines: &mut Vec<TouchLine>) {
    let field = kernel.field(touched.field);
    for copy in 0..field.multiplicity.max(1) {
        let of_copy = if copy > 0 { format!(".{copy}") } else { String::new() };
        lines.push(TouchLine {
            block: spot.block,
            thread: spot.thread,
            op: match touched.kind {
                AccessKind::Load => "load",
                AccessKind::Store => "store",
                AccessKind::Atomic => "atomic",
            },
            space: field.space.word(),
            field: format!("{}{of_copy}", field.name),
            offset_bytes: touched.offset,
            width: touched.bytes,
            instruction: None,
            line: None,
            function: None,
            known: None,
        });
    }
}

fn line_of_entry(machine: &Machine, entry: &str, spot: &Spot, access: &Access) -> TouchLine {
    let place = machine.place(access.step);
    TouchLine {
        block: spot.block,
        thread: spot.thread,
        op: access.operation.word(),
        space: access.memory.word(),
        field: machine.name(access).to_owned(),
        offset_bytes: access.offset,
        width: i64::from(access.bytes),
        instruction: Some(place.instruction),
        line: Some(place.line),
        function: Some(place.function.to_owned()).filter(|name| name != entry),
        known: Some(false).filter(|_| !access.sure),
    }
}

/// What a thread does: alone, or where it needs what others put into shared memory, with its block.
fn accesses(machine: &Machine, block: BlockIndex, thread: u32) -> Result<Vec<Access>, NotRun> {
    let with = |who: Who<'_>| {
        let (mut own, mut clear) = (Vec::new(), true);
        let mut run = machine.start(MOST_STEPS);
        run.block(block, who, &mut |number, event| match event {
            Event::Access(access) if number == thread => {
                clear &= access.sure;
                own.push(access);
            }
            Event::Guess { .. } if number == thread => clear = false,
            _ => {}
        })?;
        Ok((own, clear))
    };
    let (alone, clear) = with(Who::Threads(&[thread]))?;
    if clear { Ok(alone) } else { with(Who::All).map(|(own, _)| own) }
}
