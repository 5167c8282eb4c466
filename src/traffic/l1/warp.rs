//! One warp as it runs: its lanes go through the program together.

use super::lanes::{Lanes, MOST_LANES};
use super::tally::WarpTally;
use super::values::{self, CoordValues, LaneVector, Warp, lanes_of};
use crate::effort::{spend, spend_on};
use crate::expr::{Cond, Coord, Form, LoopId};
use crate::kernel::Kernel;
use crate::launch::{Launch, NotRun, Program, Step};
use crate::quantity::{ItemCount, Times};
use crate::space::{Block, BlockIndex, Domain, Thread};

/// Most iterations of one loop that are run.
const MOST_ITERATIONS: i64 = 32;
/// No block has more threads along a dimension.
const MOST_THREADS: i128 = 1 << 32;
/// Most warp-wide instructions of one warp.
const MOST_OF_WARP: usize = 1 << 18;
/// Steps for a part of an address or a condition, in one lane.
const STEPS_OF_PART: u64 = 2;
/// Steps for an access in which no lane takes part.
const STEPS_OF_ACCESS: u64 = 6;

/// One warp as it runs.
pub(super) struct RunningWarp<'a> {
    program: &'a Program<i64>,
    block: BlockIndex,
    lanes: &'a [Thread],
    /// Lanes in which each work item works: by its guard, and inside the domain as well.
    guarded: Vec<u64>,
    inside: Vec<u64>,
    /// Work items of the lanes, whether their guard holds or not.
    work_items: u32,
    /// Threads along x, y, z by lane.
    threads: [LaneVector; 3],
    /// Values of the loops by lane, and how large they are at most, without their sign.
    loops: Vec<Option<(LaneVector, u128)>>,
    extents: Domain,
    shape: Block,
    left: usize,
}

impl<'a> RunningWarp<'a> {
    pub(super) fn new(
        kernel: &Kernel,
        launch: &Launch,
        program: &'a Program<i64>,
        block: BlockIndex,
        lanes: &'a [Thread],
    ) -> Self {
        let lanes = &lanes[..lanes.len().min(MOST_LANES)];
        let along = |d: usize| std::array::from_fn(|lane| lanes.get(lane).map_or(0, |thread| thread[d]));
        Self {
            program,
            block,
            lanes,
            threads: [along(0), along(1), along(2)],
            guarded: Vec::new(),
            inside: Vec::new(),
            work_items: 0,
            loops: vec![None; program.loops.len()],
            extents: kernel.extents(),
            shape: launch.candidate.block(),
            left: MOST_OF_WARP,
        }
    }

    pub(super) fn run(mut self, tally: &mut WarpTally) -> Result<(), NotRun> {
        self.find_working_items()?;
        tally.counts.work_items += ItemCount::new(f64::from(self.work_items));
        tally.unions.resize(tally.kernel.fields.len(), Default::default());
        let active = self.guarded.iter().fold(0, |any, m| any | m);
        tally.issued = false;
        if active != 0 {
            self.steps(&self.program.steps, active, 1.0, tally)?;
        }
        tally.counts.warps += Times::new(if tally.issued { 1.0 } else { 0.0 });
        tally.end_of_warp();
        Ok(())
    }

    /// As [`visit_thread`](crate::launch::visit_thread) does.
    fn find_working_items(&mut self) -> Result<(), NotRun> {
        // Where everything needs a work item inside the domain, guards have no meaning outside.
        let only_inside = self.program.instructions.iter().all(|i| i.clipped);
        let clipped = self.program.instructions.iter().any(|i| i.clipped);
        for item in &self.program.items {
            let mut within = self.everyone();
            for d in 0..3 {
                // (block * shape + thread) * fold + offset < extent
                let before = i128::from(self.block[d]) * i128::from(self.shape[d]);
                let left = i128::from(self.extents[d]) - i128::from(item.offset[d]);
                let fold = i128::from(self.program.fold[d]);
                let end = (-(-left).div_euclid(fold) - before).clamp(0, MOST_THREADS);
                let end = i64::try_from(end).expect("it is no larger than a block");
                let inside = |lane: usize| self.threads[d][lane] < end;
                within = lanes_of(within).filter(|&lane| inside(lane)).fold(0, |mask, lane| mask | 1 << lane);
            }
            self.work_items += if clipped { within } else { self.everyone() }.count_ones();
            let asked = if only_inside { within } else { self.everyone() };
            let guarded = self.where_true(item.guard.as_ref(), asked)?;
            self.guarded.push(guarded);
            self.inside.push(guarded & within);
        }
        Ok(())
    }

    fn everyone(&self) -> u64 {
        if self.lanes.len() >= MOST_LANES { u64::MAX } else { (1 << self.lanes.len()) - 1 }
    }

    fn value(&self, lane: usize, coord: Coord) -> Option<i64> {
        match coord {
            Coord::ThreadIdx(d) => Some(self.lanes[lane][d.index()]),
            Coord::BlockIdx(d) => Some(self.block[d.index()]),
            Coord::Loop(LoopId(i)) => self.loops.get(usize::from(i))?.as_ref()?.0.get(lane).copied(),
            Coord::Axis(_) | Coord::Thread(_) => None,
        }
    }

    fn evaluate(&self, form: &Form<i64>, lane: usize) -> Result<i64, NotRun> {
        form.evaluate(&|c| self.value(lane, c)).ok_or(NotRun::Overflow)
    }

    /// The values of a form in some lanes.
    fn all_values(&self, form: &Form<i64>, asked: u64) -> Result<LaneVector, NotRun> {
        let mut all = [0; MOST_LANES];
        if values::form(form, self, asked, &mut all).is_none() {
            for lane in lanes_of(asked) {
                all[lane] = self.evaluate(form, lane)?;
            }
        }
        Ok(all)
    }

    /// The lanes of `asked` in which a condition holds.
    fn where_true(&self, cond: Option<&Cond<i64>>, asked: u64) -> Result<u64, NotRun> {
        let Some(cond) = cond else { return Ok(asked) };
        spend_on(cond.size(), STEPS_OF_PART * u64::from(asked.count_ones()))?;
        if let Some(held) = values::held(cond, self, asked) {
            return Ok(held);
        }
        let mut held = 0;
        for lane in lanes_of(asked) {
            if cond.evaluate(&|c| self.value(lane, c)).ok_or(NotRun::Overflow)? {
                held |= 1 << lane;
            }
        }
        Ok(held)
    }

    fn steps(
        &mut self,
        steps: &'a [Step],
        active: u64,
        weight: f64,
        tally: &mut WarpTally,
    ) -> Result<(), NotRun> {
        for step in steps {
            match step {
                // What comes is another stretch of the program.
                Step::Sync => tally.end_of_iteration(),
                Step::Access(position) => self.access(*position, active, weight, tally)?,
                Step::Loop(id, inner) => self.repeat(*id, inner, active, weight, tally)?,
            }
        }
        Ok(())
    }

    fn access(
        &mut self,
        position: usize,
        active: u64,
        weight: f64,
        tally: &mut WarpTally,
    ) -> Result<(), NotRun> {
        self.left = self.left.checked_sub(1).ok_or(NotRun::Stopped(MOST_OF_WARP))?;
        let instruction = &self.program.instructions[position];
        spend(STEPS_OF_ACCESS)?;
        let works = if instruction.clipped { &self.inside } else { &self.guarded };
        let items = instruction.items.iter().map(|i| works[usize::from(i)]);
        let needed = items.fold(0, |any, works| any | works) & active;
        let active = self.where_true(instruction.when.as_ref(), needed)?;
        if active == 0 {
            return Ok(());
        }
        spend_on(1 + instruction.element.size(), STEPS_OF_PART * u64::from(active.count_ones()))?;
        let field = tally.kernel.field(instruction.field);
        let mut addresses = self.all_values(&instruction.element, active)?;
        for lane in lanes_of(active) {
            let element = addresses[lane].checked_add(field.offset);
            let address = element.and_then(|e| e.checked_mul(field.dtype.bytes)).ok_or(NotRun::Overflow)?;
            addresses[lane] = address;
        }
        let addresses = &addresses[..self.lanes.len()];
        tally.access(self.program, position, Lanes { addresses, active }, weight);
        Ok(())
    }

    /// All lanes begin at their own first value and go on until the last has reached its end.
    fn repeat(
        &mut self,
        id: LoopId,
        body: &'a [Step],
        active: u64,
        weight: f64,
        tally: &mut WarpTally,
    ) -> Result<(), NotRun> {
        let number = usize::from(id.0);
        let range = &self.program.loops[number];
        spend_on(range.from.size() + range.to.size(), STEPS_OF_PART * u64::from(active.count_ones()))?;
        let mut values = self.all_values(&range.from, active)?;
        let ends = self.all_values(&range.to, active)?;
        let mut counts = [0; MOST_LANES];
        for lane in lanes_of(active) {
            let (from, to) = (values[lane], ends[lane]);
            let span = if range.step > 0 { to.checked_sub(from) } else { from.checked_sub(to) };
            let span = span.ok_or(NotRun::Overflow)?;
            let step = range.step.checked_abs().ok_or(NotRun::Overflow)?;
            counts[lane] = if span < 0 { 0 } else { (span / step).saturating_add(1) };
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        let run = most.min(MOST_ITERATIONS);
        tally.counts.sampled |= run < most;
        let weight = if run < most { weight * most as f64 / run as f64 } else { weight };
        for iteration in 0..run {
            self.left = self.left.checked_sub(1).ok_or(NotRun::Stopped(MOST_OF_WARP))?;
            let running = |lane: &usize| iteration < counts[*lane];
            let active = lanes_of(active).filter(running).fold(0, |mask, lane| mask | 1 << lane);
            let largest = lanes_of(active).map(|lane| values[lane].unsigned_abs()).max().unwrap_or(0);
            self.loops[number] = Some((values, u128::from(largest)));
            tally.end_of_iteration();
            self.steps(body, active, weight, tally)?;
            for value in &mut values {
                *value = value.saturating_add(range.step);
            }
        }
        tally.end_of_iteration();
        self.loops[number] = None;
        Ok(())
    }
}

impl Warp for RunningWarp<'_> {
    fn lanes(&self) -> usize {
        self.lanes.len()
    }

    fn coord(&self, coord: Coord) -> Option<CoordValues<'_>> {
        match coord {
            Coord::ThreadIdx(d) => {
                let most = self.shape[d.index()].unsigned_abs();
                Some(CoordValues::Each(&self.threads[d.index()], u128::from(most)))
            }
            Coord::BlockIdx(d) => Some(CoordValues::Same(self.block[d.index()])),
            Coord::Loop(LoopId(i)) => {
                let (values, largest) = self.loops.get(usize::from(i))?.as_ref()?;
                Some(CoordValues::Each(values, *largest))
            }
            Coord::Axis(_) | Coord::Thread(_) => None,
        }
    }
}
