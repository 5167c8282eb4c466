//! Running the program of a single thread: the plain meaning of a program, against which faster
//! engines are held.

use super::program::{Instruction, Item, Program, Step};
use crate::effort::Spent;
use crate::expr::{Coord, LoopId};
use crate::space::{Block, BlockIndex, Domain, Thread};

/// One address that a thread touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touch<'p> {
    /// The instruction.
    pub instruction: &'p Instruction<i64>,
    /// Its position in the program.
    pub position: usize,
    /// Elements from the field's base, before the field's `offset`.
    pub element: i64,
}

/// What a thread does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'p, 'r> {
    /// An access, and which iteration of each loop of the program it is in, from 0; none outside of the loop.
    Access(Touch<'p>, &'r [Option<u32>]),
    /// A barrier of the block.
    Sync,
}

/// Why a thread could not be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotRun {
    /// An address or bound left 64 bits.
    #[error("an address or loop bound does not fit into 64 bits")]
    Overflow,
    /// The visitor asked to stop, or a loop is longer than it allowed.
    #[error("stopped after {0} accesses and iterations")]
    Stopped(usize),
    /// It takes more steps than it may.
    #[error(transparent)]
    Spent(#[from] Spent),
}

/// Calls `visit` for every access of a thread in program order, of at most `most` accesses and loop
/// iterations. `extents` is the domain, `block` the block's place in the grid, `thread` the thread's
/// in the block, `shape` the block's.
pub fn visit_thread<'p>(
    program: &'p Program<i64>,
    extents: Domain,
    shape: Block,
    block: BlockIndex,
    thread: Thread,
    most: usize,
    visit: &mut dyn FnMut(Touch<'p>),
) -> Result<(), NotRun> {
    let mut accesses = |event: Event<'p, '_>| {
        if let Event::Access(touch, _) = event {
            visit(touch);
        }
    };
    visit_events(program, extents, shape, block, thread, most, &mut accesses)
}

/// As [`visit_thread`], with barriers and iterations.
pub fn visit_events<'p>(
    program: &'p Program<i64>,
    extents: Domain,
    shape: Block,
    block: BlockIndex,
    thread: Thread,
    most: usize,
    visit: &mut dyn FnMut(Event<'p, '_>),
) -> Result<(), NotRun> {
    let mut run = Run {
        program,
        block,
        thread,
        loops: vec![None; program.loops.len()],
        iterations: vec![None; program.loops.len()],
        left: most,
        most,
        working: Vec::new(),
    };
    // Where everything needs a work item inside the domain, coordinates outside have no meaning: what
    // was lowered rests on the intervals inside, and table entries may not exist.
    let clipped = program.instructions.iter().all(|i| i.clipped);
    run.working = run.working_items(extents, shape, clipped)?;
    if run.working.iter().all(|w| !w.guarded) {
        return Ok(());
    }
    run.steps(&program.steps, visit)
}

/// Whether a work item works: its guard alone, and with the domain.
#[derive(Debug, Clone, Copy)]
struct Working {
    guarded: bool,
    inside: bool,
}

struct Run<'p> {
    program: &'p Program<i64>,
    block: BlockIndex,
    thread: Thread,
    loops: Vec<Option<i64>>,
    /// Of each loop that runs, from 0.
    iterations: Vec<Option<u32>>,
    left: usize,
    most: usize,
    working: Vec<Working>,
}

impl<'p> Run<'p> {
    fn value(&self, coord: Coord) -> Option<i64> {
        match coord {
            Coord::ThreadIdx(d) => Some(self.thread[d.index()]),
            Coord::BlockIdx(d) => Some(self.block[d.index()]),
            Coord::Loop(LoopId(i)) => *self.loops.get(usize::from(i))?,
            // Gone since the launch was put in.
            Coord::Axis(_) | Coord::Thread(_) => None,
        }
    }

    fn working_items(&self, extents: Domain, shape: Block, clipped: bool) -> Result<Vec<Working>, NotRun> {
        // A grid of its own may be so large that a coordinate leaves 64 bits.
        let first = |d: usize| {
            let at = i128::from(self.block[d]) * i128::from(shape[d]) + i128::from(self.thread[d]);
            at * i128::from(self.program.fold[d])
        };
        let first = [first(0), first(1), first(2)];
        let one = |item: &'p Item<i64>| {
            let within = (0..3).all(|d| first[d] + i128::from(item.offset[d]) < i128::from(extents[d]));
            if clipped && !within {
                return Ok(Working { guarded: false, inside: false });
            }
            let guarded = match &item.guard {
                Some(guard) => guard.evaluate(&|c| self.value(c)).ok_or(NotRun::Overflow)?,
                None => true,
            };
            Ok(Working { guarded, inside: guarded && within })
        };
        self.program.items.iter().map(one).collect()
    }

    fn spend(&mut self) -> Result<(), NotRun> {
        self.left = self.left.checked_sub(1).ok_or(NotRun::Stopped(self.most))?;
        Ok(())
    }

    fn steps(&mut self, steps: &'p [Step], visit: &mut dyn FnMut(Event<'p, '_>)) -> Result<(), NotRun> {
        for step in steps {
            match step {
                Step::Access(position) => self.access(*position, visit)?,
                Step::Sync => visit(Event::Sync),
                Step::Loop(id, body) => self.repeat(*id, body, visit)?,
            }
        }
        Ok(())
    }

    fn access(&mut self, position: usize, visit: &mut dyn FnMut(Event<'p, '_>)) -> Result<(), NotRun> {
        self.spend()?;
        let instruction = &self.program.instructions[position];
        let works = |i: u16| {
            let item = self.working[usize::from(i)];
            if instruction.clipped { item.inside } else { item.guarded }
        };
        if !instruction.items.iter().any(works) {
            return Ok(());
        }
        if let Some(when) = &instruction.when
            && !when.evaluate(&|c| self.value(c)).ok_or(NotRun::Overflow)?
        {
            return Ok(());
        }
        let element = instruction.element.evaluate(&|c| self.value(c)).ok_or(NotRun::Overflow)?;
        visit(Event::Access(Touch { instruction, position, element }, &self.iterations));
        Ok(())
    }

    fn repeat(
        &mut self,
        id: LoopId,
        body: &'p [Step],
        visit: &mut dyn FnMut(Event<'p, '_>),
    ) -> Result<(), NotRun> {
        let number = usize::from(id.0);
        let range = &self.program.loops[number];
        let from = range.from.evaluate(&|c| self.value(c)).ok_or(NotRun::Overflow)?;
        let to = range.to.evaluate(&|c| self.value(c)).ok_or(NotRun::Overflow)?;
        let (mut k, mut done) = (from, 0);
        while if range.step > 0 { k <= to } else { k >= to } {
            self.spend()?;
            self.loops[number] = Some(k);
            self.iterations[number] = u32::try_from(done).ok();
            self.steps(body, visit)?;
            done += 1;
            let Some(next) = k.checked_add(range.step) else { break };
            k = next;
        }
        self.loops[number] = None;
        self.iterations[number] = None;
        Ok(())
    }
}
