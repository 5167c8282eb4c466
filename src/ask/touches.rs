//! `touches`: what single threads access, in program order.

use super::asker::fault;
use super::entry::EntrySource;
use super::launches::OneLaunch;
use super::source::KernelsRead;
use crate::kernel::{AccessKind, Kernel};
use crate::launch::{Launch, Touched, Touching};
use crate::ptx::run::{EntryNotRun, Machine, ThreadAccess, ThreadEvent, Who};
use crate::report::TouchLine;
use crate::space::{Block, BlockIndex, Grid, Thread};
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
        let kernels = &*kernels.covering(|kernel| vec![self.launch.chosen(kernel).candidate.block()])?;
        let meant: Vec<&Kernel> = self.launch.meant(kernels.kernels()).collect();
        let [kernel] = meant.as_slice() else {
            let message = format!("there are {} kernels; lines do not say of which they are", meant.len());
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
            inside(spot, sizes.block, sizes.grid)?;
            for touched in touching.thread(spot.block, spot.thread).map_err(|e| wrong(&e))? {
                line_of_document(kernel, spot, &touched, &mut lines);
            }
        }
        Ok(lines)
    }

    /// The same of an entry of PTX, which is run for it.
    pub fn answer_entry(&self, source: &EntrySource) -> Result<Vec<TouchLine>, Fault> {
        let (machine, entry) = source.machine()?;
        let block = machine.block();
        let mut lines = Vec::new();
        for spot in &self.at {
            inside(spot, block, machine.grid())?;
            let [x, y, z] = *spot.thread;
            let number = u32::try_from(x + block[0] * (y + block[1] * z)).map_err(|_| {
                fault("not-run", format!("{entry}: threads of {block:?} cannot be numbered"), None)
            })?;
            let accesses = accesses(&machine, spot.block, number);
            let accesses = accesses.map_err(|e| fault("not-run", format!("{entry}: {e}"), None))?;
            lines.extend(accesses.iter().map(|access| line_of_entry(&machine, &entry, spot, access)));
        }
        Ok(lines)
    }
}

fn inside(spot: &Spot, block: Block, grid: Grid) -> Result<(), Fault> {
    let (at, thread) = (spot.block, spot.thread);
    if (0..3).any(|d| !(0..grid[d]).contains(&at[d])) {
        let message = format!("the grid {grid:?} has no block {at:?}");
        return Err(fault("usage", message, Some("blocks are numbered from 0")));
    }
    if (0..3).any(|d| !(0..block[d]).contains(&thread[d])) {
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

fn line_of_entry(machine: &Machine, entry: &str, spot: &Spot, access: &ThreadAccess) -> TouchLine {
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
fn accesses(machine: &Machine, block: BlockIndex, thread: u32) -> Result<Vec<ThreadAccess>, EntryNotRun> {
    let with = |who: Who<'_>| {
        let (mut own, mut clear) = (Vec::new(), true);
        let mut run = machine.start(MOST_STEPS);
        run.block(block, who, &mut |number, event| match event {
            ThreadEvent::Access(access) if number == thread => {
                clear &= access.sure;
                own.push(access);
            }
            ThreadEvent::Guess { .. } if number == thread => clear = false,
            _ => {}
        })?;
        Ok((own, clear))
    };
    let (alone, clear) = with(Who::Threads(&[thread]))?;
    if clear { Ok(alone) } else { with(Who::All).map(|(own, _)| own) }
}
