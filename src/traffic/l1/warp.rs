//! One warp as it runs: its lanes go through the program together.

use super::inside::Inside;
use super::lanes::{Lanes, MOST_LANES};
use super::prepared::{Affine, CondParts, Prepared, PreparedCond, PreparedForm};
use super::running::{RunningLoop, ThreadPart, ThreadParts};
use super::tally::WarpTally;
use super::values::{self, CoordValues, LaneVector, WarpValues, lanes_of, mask_of};
use crate::effort::{spend, spend_on};
use crate::expr::{Coord, Form, LoopId};
use crate::footprint::remainder;
use crate::kernel::{Kernel, Space};
use crate::launch::{Launch, NotRun, Program, Step};
use crate::quantity::Times;
use crate::random::Digest;
use crate::space::{Block, BlockIndex, Thread};

/// Most warp-wide instructions of one warp.
pub(super) const MOST_OF_WARP: usize = 1 << 18;
/// Accesses that are remembered for one form and warp.
const MOST_MET: usize = 64;
/// Parts of affine forms that are no larger, without their sign, have sums that fit, in bytes as well.
const LARGEST: i64 = 1 << 54;
/// Most bytes of an element whose address is known to fit.
const MOST_BYTES: i64 = 64;
/// Steps for a part of an address or a condition, in one lane.
pub(super) const STEPS_OF_PART: u64 = 2;
/// Steps for an access in which no lane takes part.
const STEPS_OF_ACCESS: u64 = 6;

/// The threads in the lanes of a warp, which are the same in all blocks.
pub(super) struct WarpLanes {
    pub(super) threads: Vec<Thread>,
    /// Their places along x, y, z by lane.
    along: [LaneVector; 3],
}

impl WarpLanes {
    pub(super) fn new(mut threads: Vec<Thread>) -> Self {
        threads.truncate(MOST_LANES);
        let along = |d: usize| std::array::from_fn(|lane| threads.get(lane).map_or(0, |thread| thread[d]));
        Self { along: [along(0), along(1), along(2)], threads }
    }
}

/// One warp as it runs.
pub(super) struct RunningWarp<'a> {
    pub(super) program: &'a Program<i64>,
    pub(super) prepared: &'a Prepared<'a>,
    pub(super) block: BlockIndex,
    pub(super) lanes: &'a [Thread],
    pub(super) thread_parts: &'a mut ThreadParts,
    /// Lanes in which each work item works: by its guard, and inside the domain as well.
    guarded: Vec<u64>,
    inside: Vec<u64>,
    /// Threads along x, y, z by lane.
    pub(super) threads: &'a [LaneVector; 3],
    pub(super) loops: Vec<Option<RunningLoop>>,
    /// The condition of an access that was looked at last in this iteration, the lanes in which that was asked, and those
    /// in which it holds.
    pub(super) last_held: Option<(usize, u64, u64)>,
    place: Inside,
    shape: Block,
    pub(super) left: usize,
}

impl<'a> RunningWarp<'a> {
    pub(super) fn new(
        kernel: &Kernel,
        launch: &Launch,
        (program, prepared): (&'a Program<i64>, &'a Prepared<'a>),
        block: BlockIndex,
        WarpLanes { threads, along }: &'a WarpLanes,
        thread_parts: &'a mut ThreadParts,
    ) -> Self {
        if thread_parts.is_empty() {
            thread_parts.resize_with(prepared.gains, || None);
        }
        Self {
            program,
            prepared,
            block,
            lanes: threads,
            thread_parts,
            threads: along,
            guarded: Vec::with_capacity(program.items.len()),
            inside: Vec::with_capacity(program.items.len()),
            loops: vec![None; program.loops.len()],
            last_held: None,
            place: Inside::new(kernel, launch, program),
            shape: launch.candidate.block(),
            left: MOST_OF_WARP,
        }
    }

    /// Runs steps of the program, standing for so many warps.
    pub(super) fn run(mut self, steps: &'a [Step], weight: f64, tally: &mut WarpTally) -> Result<(), NotRun> {
        self.find_working_items()?;
        tally.unions.resize(tally.kernel.fields.len(), Default::default());
        let active = self.active();
        tally.issued = false;
        tally.done = Digest::default();
        tally.begun += usize::from(!tally.only_passes);
        if active != 0 {
            self.steps(steps, active, weight, tally)?;
        }
        tally.counts.warps += Times::new(if tally.issued { weight } else { 0.0 });
        tally.end_of_warp();
        Ok(())
    }

    /// The lanes in which a guard holds.
    pub(super) fn active(&self) -> u64 {
        self.guarded.iter().fold(0, |any, m| any | m)
    }

    /// The lanes in which each work item works: by its guard, and inside the domain as well.
    pub(super) fn working_lanes(&self) -> impl Iterator<Item = u64> {
        self.guarded.iter().chain(&self.inside).copied()
    }

    /// As [`visit_thread`](crate::launch::visit_thread) does.
    pub(super) fn find_working_items(&mut self) -> Result<(), NotRun> {
        let (prepared, place) = (self.prepared, self.place);
        for (item, guard) in self.program.items.iter().zip(&prepared.guards) {
            let mut within = self.everyone();
            let ends = place.threads(item.offset, self.block);
            for (d, &end) in ends.iter().enumerate() {
                if end >= self.shape[d] {
                    continue;
                }
                let inside = |lane: usize| self.threads[d][lane] < end;
                within = lanes_of(within).filter(|&lane| inside(lane)).fold(0, |mask, lane| mask | 1 << lane);
            }
            let asked = if prepared.only_inside { within } else { self.everyone() };
            let guarded = self.where_true(guard.as_ref(), asked)?;
            self.guarded.push(guarded);
            self.inside.push(guarded & within);
        }
        Ok(())
    }

    pub(super) fn everyone(&self) -> u64 {
        if self.lanes.len() >= MOST_LANES { u64::MAX } else { (1 << self.lanes.len()) - 1 }
    }

    fn value(&self, lane: usize, coord: Coord) -> Option<i64> {
        match coord {
            Coord::ThreadIdx(d) => Some(self.lanes[lane][d.index()]),
            Coord::BlockIdx(d) => Some(self.block[d.index()]),
            Coord::Loop(LoopId(i)) => self.loops.get(usize::from(i))?.as_ref()?.value(lane),
            Coord::Axis(_) | Coord::Thread(_) => None,
        }
    }

    fn evaluate(&self, form: &Form<i64>, lane: usize) -> Result<i64, NotRun> {
        form.evaluate(&|c| self.value(lane, c)).ok_or(NotRun::Overflow)
    }

    /// What a form gains from threads, made when first needed, and by how much it is more; `None` where it is not
    /// affine or may be too large. None of both is larger than [`LARGEST`].
    pub(super) fn part(&mut self, form: &PreparedForm) -> Option<(&mut ThreadPart, i64)> {
        let affine = self.affine_here(form)?;
        self.part_of(affine)
    }

    /// The affine form that a form is in this warp and iteration, if it is known to be one.
    fn affine_here<'f>(&mut self, form: &'f PreparedForm) -> Option<&'f Affine> {
        if form.affine.is_some() {
            return form.affine.as_ref();
        }
        let free = form.free.as_deref()?;
        for (sum, [low, high]) in &free.bounded {
            let (part, by) = self.part_of(sum)?;
            if part.low + by < *low || part.high + by > *high {
                return None;
            }
        }
        Some(&free.affine)
    }

    /// The same as [`part`](Self::part) of a form that is affine.
    fn part_of(&mut self, affine: &Affine) -> Option<(&mut ThreadPart, i64)> {
        let mut by = i128::from(affine.constant);
        for d in 0..3 {
            by += i128::from(affine.block[d]) * i128::from(self.block[d]);
        }
        for &(number, step) in &affine.loops {
            by += i128::from(step) * i128::from(self.loops[number].as_ref()?.iteration);
        }
        let by = i64::try_from(by).ok().filter(|by| by.unsigned_abs() <= LARGEST.unsigned_abs())?;
        if self.thread_parts[affine.number].is_none() {
            self.thread_parts[affine.number] = Some(Box::new(self.thread_part(affine)?));
        }
        self.thread_parts[affine.number].as_deref_mut().map(|part| (part, by))
    }

    /// What a form gains from threads; `None` where that may be larger than [`LARGEST`].
    fn thread_part(&self, affine: &Affine) -> Option<ThreadPart> {
        let largest = |d: usize| i128::from(affine.thread[d]).abs() * i128::from(self.shape[d]);
        let mut most = largest(0) + largest(1) + largest(2);
        let mut values = [0; MOST_LANES];
        if !affine.of_threads.terms().is_empty() {
            let more = values::form(&affine.of_threads, self, self.everyone(), &mut values)?;
            most += i128::try_from(more).ok()?;
        }
        if most > i128::from(LARGEST) {
            return None;
        }
        let lanes = self.lanes.len();
        for (threads, &stride) in self.threads.iter().zip(affine.thread.iter()).filter(|(_, s)| **s != 0) {
            for (value, thread) in values[..lanes].iter_mut().zip(threads.iter()) {
                *value += thread * stride;
            }
        }
        let there = values[..lanes].iter().copied();
        let (low, high) = there.fold((i64::MAX, i64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        Some(ThreadPart { values, low, high, met: Vec::new() })
    }

    /// The values of a form in some lanes; in others anything.
    pub(super) fn all_values(&mut self, form: &PreparedForm, asked: u64) -> Result<LaneVector, NotRun> {
        let mut all = [0; MOST_LANES];
        let lanes = self.lanes.len();
        if let Some((part, by)) = self.part(form) {
            all[..lanes].iter_mut().zip(&part.values).for_each(|(all, value)| *all = value + by);
        } else {
            self.each_value(form, asked, &mut all)?;
        }
        Ok(all)
    }

    /// The same of a form whose gains from threads are not kept.
    fn each_value(&self, form: &PreparedForm, asked: u64, into: &mut LaneVector) -> Result<(), NotRun> {
        if values::form(form.form, self, asked, into).is_none() {
            for lane in lanes_of(asked) {
                into[lane] = self.evaluate(form.form, lane)?;
            }
        }
        Ok(())
    }

    /// The lanes of `asked` in which the value of a form passes a test.
    fn where_value(
        &mut self,
        form: &PreparedForm,
        asked: u64,
        test: impl Fn(i64) -> bool,
    ) -> Result<u64, NotRun> {
        let lanes = self.lanes.len();
        if let Some((part, by)) = self.part(form) {
            return Ok(mask_of(&part.values[..lanes], |value| test(value + by)) & asked);
        }
        let mut all = [0; MOST_LANES];
        self.each_value(form, asked, &mut all)?;
        Ok(mask_of(&all[..lanes], test) & asked)
    }

    /// The lanes of `asked` in which a condition holds.
    fn where_true(&mut self, cond: Option<&PreparedCond>, asked: u64) -> Result<u64, NotRun> {
        let Some(cond) = cond else { return Ok(asked) };
        spend_on(cond.size, STEPS_OF_PART * u64::from(asked.count_ones()))?;
        self.held(&cond.parts, asked)
    }

    /// The lanes of `asked` in which a condition of accesses holds.
    pub(super) fn where_done(&mut self, condition: usize, asked: u64) -> Result<u64, NotRun> {
        let cond = &self.prepared.conditions[condition];
        spend_on(cond.size, STEPS_OF_PART * u64::from(asked.count_ones()))?;
        match self.last_held {
            Some((last, in_lanes, held)) if (last, in_lanes) == (condition, asked) => Ok(held),
            _ => {
                let held = self.held(&cond.parts, asked)?;
                self.last_held = Some((condition, asked, held));
                Ok(held)
            }
        }
    }

    fn held(&mut self, cond: &CondParts, asked: u64) -> Result<u64, NotRun> {
        // All parts are looked at: a number that is too large anywhere is one.
        match cond {
            CondParts::Const(held) => Ok(if *held { asked } else { 0 }),
            CondParts::NonNegative(form) => {
                if let Some((part, by)) = self.part(form) {
                    if part.low + by >= 0 {
                        return Ok(asked);
                    }
                    if part.high + by < 0 {
                        return Ok(0);
                    }
                }
                self.where_value(form, asked, |value| value >= 0)
            }
            CondParts::Zero(form) => {
                if let Some((part, by)) = self.part(form)
                    && (part.low + by > 0 || part.high + by < 0)
                {
                    return Ok(0);
                }
                self.where_value(form, asked, |value| value == 0)
            }
            CondParts::All(parts) => parts.iter().try_fold(asked, |mask, p| Ok(mask & self.held(p, asked)?)),
            CondParts::Any(parts) => parts.iter().try_fold(0, |mask, p| Ok(mask | self.held(p, asked)?)),
        }
    }

    pub(super) fn steps(
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
        tally.passed += usize::from(tally.only_passes);
        let works = if instruction.clipped { &self.inside } else { &self.guarded };
        let items = instruction.items.iter().map(|i| works[usize::from(i)]);
        let needed = items.fold(0, |any, works| any | works) & active;
        let (when, element) = &self.prepared.accesses[position];
        let active = match *when {
            Some(condition) => self.where_done(condition, needed)?,
            None => needed,
        };
        if active == 0 {
            return Ok(());
        }
        if tally.only_passes {
            tally.pass(position, active, weight);
            return Ok(());
        }
        spend_on(1 + element.size, STEPS_OF_PART * u64::from(active.count_ones()))?;
        let field = tally.kernel.field(instruction.field);
        let (program, lanes, bytes) = (self.program, self.lanes.len(), field.dtype.bytes);
        let period = tally.period_of(instruction.width, field.space == Space::Shared);
        let is_small = field.offset.unsigned_abs() < LARGEST.unsigned_abs() && bytes <= MOST_BYTES;
        if let (Some((part, by)), Some(period), true) = (self.part(element), period, is_small) {
            // Neither leaves 64 bits.
            let address = |value: i64| (value + by + field.offset) * bytes;
            let first = address(part.values[active.trailing_zeros() as usize]);
            let alignment = remainder(first, period);
            let like = part.met.iter().position(|met| met.0 == active && met.1 == alignment);
            if let Some(place) = like {
                if tally.again(program, position, active, part.met[place].2, first - alignment, weight) {
                    return Ok(());
                }
                part.met.swap_remove(place);
            }
            let mut addresses = [0; MOST_LANES];
            addresses.iter_mut().zip(&part.values[..lanes]).for_each(|(to, &value)| *to = address(value));
            let lanes = Lanes { addresses: &addresses[..lanes], active };
            if let Some((met, _)) = tally.access(program, position, lanes, weight) {
                if part.met.len() >= MOST_MET {
                    part.met.clear();
                }
                part.met.push((active, alignment, met));
            }
            return Ok(());
        }
        let mut addresses = self.all_values(element, active)?;
        for lane in lanes_of(active) {
            let element = addresses[lane].checked_add(field.offset);
            let address = element.and_then(|e| e.checked_mul(bytes)).ok_or(NotRun::Overflow)?;
            addresses[lane] = address;
        }
        tally.access(program, position, Lanes { addresses: &addresses[..lanes], active }, weight);
        Ok(())
    }
}

impl WarpValues for RunningWarp<'_> {
    fn lanes(&self) -> usize {
        self.lanes.len()
    }

    fn coord(&self, coord: Coord) -> Option<CoordValues<'_>> {
        match coord {
            Coord::ThreadIdx(d) => {
                let most = self.shape[d.index()].unsigned_abs();
                Some(CoordValues::Each(&self.threads[d.index()], 0, u128::from(most)))
            }
            Coord::BlockIdx(d) => Some(CoordValues::Same(self.block[d.index()])),
            Coord::Loop(LoopId(i)) => self.loops.get(usize::from(i))?.as_ref()?.values(),
            Coord::Axis(_) | Coord::Thread(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::load;
    use crate::launch::Candidate;

    const ELEMENTS: [&str; 10] = [
        "x + 4096*y + i",
        "min(max(x - 3, 0), 4095) + 4096*y + i",
        "min(max(x + i - 3, 0), 4095) + 4096*min(max(y - 2, 0), 4095)",
        "threadIdx.x/5 + 64*(threadIdx.x % 5) + 4096*blockIdx.y + i",
        "x/3 + 4096*y + 5*i",
        "3*max(threadIdx.x - 7, threadIdx.y) + x + i",
        "4095 - min(x, 4000) + 4096*(threadIdx.y % 3)",
        "min(max(2*x - 1000, 0), 4095)",
        "x + 7*j + 4096*i",
        "min(max(x + j - 20, 0), 4095) + 4096*(threadIdx.x/3)",
    ];

    /// What is kept of the threads of a warp from block to block gives what each lane has by itself.
    #[test]
    fn all_lanes_at_once_have_what_each_has() {
        let loads: Vec<String> = ELEMENTS.iter().map(|element| format!("'load a + {element}'")).collect();
        let text = format!(
            "wavecast: 1\nkernel: k\nfields:\n  a: {{dtype: f32, size: 100000000}}\ndomain: {{x: 4096, y: 4096}}\n\
             body:\n  - loop: {{i: 0..6}}\n    body:\n      - loop: {{j: {{from: threadIdx.x % 5 + i, to: 40}}}}\n        \
             body: [{}]\n",
            loads.join(", ")
        );
        let kernel = load("kernel", &text, &Default::default()).unwrap().kernels.remove(0);
        let candidate = Candidate::new([32, 4, 1], [1; 3]).unwrap();
        let launch = Launch::new(&kernel, candidate).unwrap();
        let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
        let prepared = Prepared::new(&program);
        let (mut kept, mut by_lane) = (0, 0);
        for row in 0..4 {
            let lanes = WarpLanes::new((0..32).map(|x| Thread::from([x, row, 0])).collect());
            let mut parts = ThreadParts::new();
            for block in [[0, 0, 0], [1, 1, 0], [16, 7, 0], [127, 1023, 0]] {
                let mut warp = RunningWarp::new(
                    &kernel,
                    &launch,
                    (&program, &prepared),
                    BlockIndex::from(block),
                    &lanes,
                    &mut parts,
                );
                for iteration in [0, 3, 6] {
                    // The inner loop begins elsewhere in each iteration of the outer one.
                    warp.leave(1);
                    for number in [0, 1] {
                        warp.be_in(number, iteration, warp.everyone()).unwrap();
                    }
                    for (_, form) in &prepared.accesses {
                        *(if warp.part(form).is_some() { &mut kept } else { &mut by_lane }) += 1;
                        let all = warp.all_values(form, warp.everyone()).unwrap();
                        for (lane, value) in all[..lanes.threads.len()].iter().enumerate() {
                            assert_eq!(
                                *value,
                                warp.evaluate(form.form, lane).unwrap(),
                                "{:?} {block:?}",
                                form.form
                            );
                        }
                    }
                }
            }
        }
        assert!(kept > 7 * 48 && by_lane > 48, "{kept} {by_lane}");
    }
}
