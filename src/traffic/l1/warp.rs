//! One warp as it runs: its lanes go through the program together.

use super::inside::Inside;
use super::lanes::{Lanes, MOST_LANES};
use super::prepared::Prepared;
use super::running::{RunningLoop, ThreadParts};
use super::tally::WarpTally;
use super::values::{LaneVector, lanes_of};
use crate::effort::{spend, spend_on};
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
pub(super) const LARGEST: i64 = 1 << 54;
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
    pub(super) shape: Block,
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
