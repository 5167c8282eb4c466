//! What a thread does one after the other: loads that it waits for, where nothing else hides that it does.

mod bodies;

use std::collections::BTreeSet;

use self::bodies::{Bodies, has_barrier};
use super::overhead::{Addresses, Overhead};
use crate::effort::{Spent, spend_on};
use crate::expr::{Cond, Coord, LoopId};
use crate::kernel::Kernel;
use crate::launch::{Instruction, Launch, Program, Step, Working};
use crate::quantity::{PerThread, Share, Times};
use crate::space::{BlockIndex, Thread};

/// Iterations of an innermost loop that nvcc writes out one after the other where it does not know how many there are:
/// first it does what is left over of fours, one by one (PTX of NVRTC 12.4 for `sm_75`; docs/fits.md, section 16).
const WRITTEN_OUT: f64 = 4.0;

/// Part of the accesses that code issues at least to be what computes.
const GOOD_PART: f64 = 0.25;

/// Iterations up to which the middle one stands for all of a loop.
const SHORT: f64 = 32.0;
/// Iterations of a longer loop that are looked at where conditions follow from it: the middle ones of equal parts.
const PARTS: i64 = 8;

/// The least part of all iterations around a loop of which some are looked at.
const LEAST_SHARE: f64 = 1.0 / PARTS as f64;

/// Steps for an access of a thread.
const STEPS_OF_ACCESS: u64 = 2;

/// What the busiest thread of a block in the middle of the grid does, loops counted in full.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct ThreadPath {
    /// Iterations of loops that load from global memory and store before the next one begins: the value is
    /// waited for. Loops that only load can have several loads on the way. Of loops that store to shared memory four
    /// iterations wait together, as compilers write them out.
    pub waits: Times<PerThread>,
    /// Of `waits`, those of four iterations.
    quads: Times<PerThread>,
    /// Loads from global memory in loops.
    pub looped_loads: Times<PerThread>,
    /// How often a load from global memory comes again in loops without barriers, which compute with what came before:
    /// the mean of all loads, 1 where there are no such loops.
    pub rounds: Times<PerThread>,
    /// Part of its loads from global memory that barriers keep apart from what it computes: those of loops that compute
    /// themselves have that beside them.
    pub kept_apart: Share,
    /// Iterations of loops that load from shared memory and store there what they make of it.
    pub shared_updates: Times<PerThread>,
    /// Barriers of the block.
    pub barriers: Times<PerThread>,
    /// Accesses that stand in the program, each once however often loops repeat it.
    pub written: Times<PerThread>,
    /// How often the code runs that computes, as far as accesses tell: iterations of a loop, or once.
    pub repeats: Times<PerThread>,
    /// What it computes for them.
    pub overhead: Overhead,
}

impl ThreadPath {
    /// The path of the busiest thread. Threads at the corners of the block are looked at: bounds of loops and
    /// conditions that follow from the thread's place are largest at one of them.
    pub fn new(kernel: &Kernel, launch: &Launch, program: &Program<i64>) -> Result<Self, Spent> {
        let middle = BlockIndex::along(|d| launch.sizes.grid[d] / 2);
        let block = Working::new(kernel, launch, program).near(middle);
        let shape = launch.candidate.block();
        let mut most = Self::default();
        let mut seen: Vec<Thread> = Vec::new();
        for corner in 0..8_u8 {
            let thread = Thread::along(|d| if corner >> d & 1 == 1 { shape[d] - 1 } else { 0 });
            if seen.contains(&thread) {
                continue;
            }
            seen.push(thread);
            let mut walk = Walk {
                kernel,
                program,
                bodies: Bodies { kernel, program },
                block,
                thread,
                loops: vec![None; program.loops.len()],
                in_loop: false,
                share: 1.0,
                repeated: 1.0,
                loads: [0.0; 2],
                within: Within::Nothing,
                beside: [0.0; 2],
                loaded: false,
                addresses: Addresses::default(),
                conditions: BTreeSet::new(),
                issued: Vec::new(),
                found: Self::default(),
            };
            walk.steps(&program.steps, 1.0)?;
            walk.found.repeats = walk.repeats();
            walk.found.rounds = walk.rounds();
            walk.found.kept_apart = walk.kept_apart();
            walk.found.overhead.far = walk.addresses.far(kernel);
            let differs = walk.bodies.depends_on_thread(&program.steps);
            most = most.or(&walk.found);
            if !differs {
                break;
            }
        }
        Ok(most)
    }

    /// What is known of a thread that has no loops.
    pub(crate) fn without_loops() -> Self {
        Self { rounds: Times::new(1.0), ..Self::default() }
    }

    /// The larger of each.
    fn or(&self, other: &Self) -> Self {
        // Lanes of a warp that have more left over than others do that one after the other.
        let [one, another] = [self, other].map(|p| p.waits - p.quads);
        let quads = self.quads.max(other.quads);
        Self {
            waits: one.max(another) + quads,
            quads,
            looped_loads: self.looped_loads.max(other.looped_loads),
            rounds: self.rounds.max(other.rounds),
            kept_apart: self.kept_apart.max(other.kept_apart),
            shared_updates: self.shared_updates.max(other.shared_updates),
            barriers: self.barriers.max(other.barriers),
            written: self.written.max(other.written),
            repeats: self.repeats.max(other.repeats),
            overhead: self.overhead.or(&other.overhead),
        }
    }
}

/// The iterations of a loop.
#[derive(Debug, Clone, Copy)]
struct Iterations {
    from: i64,
    step: i64,
    /// The number of the last one.
    last: i64,
}

impl Iterations {
    fn count(&self) -> f64 {
        self.last as f64 + 1.0
    }

    /// The value of the variable in the middle of one of equal parts.
    fn middle(&self, part: i64, parts: i64) -> i64 {
        let number = i128::from(self.last) * i128::from(2 * part + 1) / i128::from(2 * parts);
        let number = i64::try_from(number).expect("it is no larger than the last");
        self.from.wrapping_add(self.step.wrapping_mul(number))
    }
}

/// What the loops without barriers around a step do.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Within {
    /// There are none.
    Nothing,
    /// They only copy to shared memory.
    Copying,
    /// They compute.
    Computing,
}

/// One thread on its way. Loops are entered once, in their middle iteration; long ones from which conditions follow, as
/// of triangles, in several.
struct Walk<'p> {
    kernel: &'p Kernel,
    program: &'p Program<i64>,
    bodies: Bodies<'p>,
    block: BlockIndex,
    thread: Thread,
    loops: Vec<Option<i64>>,
    in_loop: bool,
    /// The part of the iterations that those stand for in which the loops around this step are.
    share: f64,
    /// Iterations around this step of loops without barriers in them.
    repeated: f64,
    /// Loads from memory, with all iterations of loops without barriers in them and each once.
    loads: [f64; 2],
    within: Within,
    /// Loads from memory in loops that compute, and those elsewhere.
    beside: [f64; 2],
    /// Whether anything was loaded from memory since this was last forgotten.
    loaded: bool,
    addresses: Addresses<'p>,
    /// What has been looked at in this iteration of the innermost loop.
    conditions: BTreeSet<&'p Cond<i64>>,
    /// Accesses issued in code that runs so often.
    issued: Vec<(f64, f64)>,
    found: ThreadPath,
}

impl<'p> Walk<'p> {
    fn value(&self, coord: Coord) -> Option<i64> {
        match coord {
            Coord::ThreadIdx(d) => Some(self.thread[d.index()]),
            Coord::BlockIdx(d) => Some(self.block[d.index()]),
            Coord::Loop(LoopId(i)) => self.loops[usize::from(i)],
            Coord::Axis(_) | Coord::Thread(_) => None,
        }
    }

    fn steps(&mut self, steps: &'p [Step], times: f64) -> Result<(), Spent> {
        spend_on(steps.len(), STEPS_OF_ACCESS)?;
        for step in steps {
            match step {
                Step::Sync => self.found.barriers += Times::new(times * self.share),
                Step::Access(position) => self.access(*position, times)?,
                Step::Loop(id, body) => {
                    let Some(iterations) = self.iterations(*id) else { continue };
                    if self.bodies.bounds_depend_on_thread(*id) {
                        let entered = times * self.share;
                        self.found.overhead.entries += Times::new(entered);
                        self.found.overhead.iterations += Times::new(entered * iterations.count());
                    }
                    self.iterate(*id, iterations, body, times)?;
                }
            }
        }
        Ok(())
    }

    /// Goes through the body of a loop, which is entered so often, in the middle iteration, which stands for all, or in some.
    fn iterate(
        &mut self,
        id: LoopId,
        iterations: Iterations,
        body: &'p [Step],
        entered: f64,
    ) -> Result<(), Spent> {
        let count = iterations.count();
        let times = entered * count;
        let is_inner = std::mem::replace(&mut self.in_loop, true);
        let repeated = self.repeated;
        let within = self.within;
        if !has_barrier(body) {
            self.repeated *= (count / WRITTEN_OUT).max(1.0);
            if within == Within::Nothing {
                self.within = if self.bodies.only_copies(body) { Within::Copying } else { Within::Computing };
            }
        }
        let outside = std::mem::take(&mut self.conditions);
        let around = self.share;
        // In loops in loops in loops that would be a great many.
        let in_parts = count > SHORT && around >= LEAST_SHARE && self.bodies.conditions_follow_from(id, body);
        let parts = if in_parts { PARTS } else { 1 };
        let mut loading = 0.0;
        for part in 0..parts {
            self.loops[usize::from(id.0)] = Some(iterations.middle(part, parts));
            self.share = around / parts as f64;
            self.conditions.clear();
            let before = std::mem::replace(&mut self.loaded, false);
            self.steps(body, times)?;
            loading += if self.loaded { 1.0 / parts as f64 } else { 0.0 };
            self.loaded |= before;
        }
        // Where all iterations are alike, those count that might load.
        let loading = around * if parts == 1 { 1.0 } else { loading };
        self.share = around;
        self.conditions = outside;
        self.in_loop = is_inner;
        (self.repeated, self.within) = (repeated, within);
        self.loops[usize::from(id.0)] = None;
        if self.bodies.waits_in(body) {
            let quads = if self.bodies.fills_shared(body) { (count / WRITTEN_OUT).floor() } else { 0.0 };
            let alone = count - quads * WRITTEN_OUT;
            self.found.quads += Times::new(entered * quads * loading);
            self.found.waits += Times::new(entered * (quads + alone) * loading);
        }
        if self.bodies.updates_shared(body) {
            self.found.shared_updates += Times::new(times * around);
        }
        Ok(())
    }

    fn access(&mut self, position: usize, times: f64) -> Result<(), Spent> {
        let instruction = &self.program.instructions[position];
        let guards = instruction.items.iter().map(|i| self.program.items[usize::from(i)].guard.as_ref());
        let mut works = false;
        for guard in guards {
            works = works || self.holds(guard)?;
        }
        if !works || !self.holds(instruction.when.as_ref())? {
            return Ok(());
        }
        self.condition_of(instruction, times);
        let field = self.kernel.field(instruction.field);
        let copies = Times::new(field.multiplicity as f64) * self.share;
        self.addresses.add(instruction.field, &instruction.element);
        if self.bodies.is_load_from_memory(instruction) {
            self.loaded = true;
            let copies = copies.get();
            self.loads[0] += copies * self.repeated;
            self.loads[1] += copies;
            let loads = &mut self.beside[usize::from(self.within != Within::Computing)];
            *loads += copies * times;
            if self.in_loop {
                self.found.looped_loads += Times::new(copies * times);
            }
        }
        self.found.written += copies;
        self.issue(field.multiplicity as f64 * times * self.share, times);
        Ok(())
    }

    fn issue(&mut self, accesses: f64, times: f64) {
        #[expect(clippy::float_cmp, reason = "the same loop has the same iterations")]
        match self.issued.iter_mut().find(|(often, _)| *often == times) {
            Some((_, issued)) => *issued += accesses,
            None => self.issued.push((times, accesses)),
        }
    }

    /// How often the code runs that computes. That is taken to be what runs most often of all that issues a good part
    /// of the accesses: code is rather taken to be too short than too long, as only long code costs something.
    fn repeats(&self) -> Times<PerThread> {
        let all: f64 = self.issued.iter().map(|(_, issued)| issued).sum();
        let busy = self.issued.iter().filter(|(_, issued)| *issued >= GOOD_PART * all);
        Times::new(busy.map(|(times, _)| *times).fold(1.0, f64::max))
    }

    fn kept_apart(&self) -> Share {
        let [beside, elsewhere] = self.beside;
        let is_apart = self.found.barriers > Times::ZERO && elsewhere > 0.0;
        if is_apart { Share::new(elsewhere / (beside + elsewhere)) } else { Share::ZERO }
    }

    fn rounds(&self) -> Times<PerThread> {
        let [all, each] = self.loads;
        Times::new(if each > 0.0 { (all / each).max(1.0) } else { 1.0 })
    }

    /// Counts the condition of an access, or of its first work item, where this iteration has not looked at it yet.
    fn condition_of(&mut self, instruction: &'p Instruction<i64>, times: f64) {
        let guard =
            || instruction.items.iter().find_map(|i| self.program.items[usize::from(i)].guard.as_ref());
        if let Some(condition) = instruction.when.as_ref().or_else(guard)
            && self.conditions.insert(condition)
        {
            self.found.overhead.conditions += Times::new(times * self.share);
        }
    }

    /// Whether a condition holds here. What cannot be evaluated may well hold.
    fn holds(&self, condition: Option<&Cond<i64>>) -> Result<bool, Spent> {
        let Some(condition) = condition else { return Ok(true) };
        spend_on(condition.size(), STEPS_OF_ACCESS)?;
        Ok(condition.evaluate(&|c| self.value(c)) != Some(false))
    }

    /// The iterations of a loop; `None` where this thread does not enter it.
    fn iterations(&self, id: LoopId) -> Option<Iterations> {
        let range = &self.program.loops[usize::from(id.0)];
        let bound = |form: &crate::expr::Form<i64>| form.evaluate(&|c| self.value(c));
        // Bounds that leave 64 bits are found where accesses are counted.
        let (from, to) = (bound(&range.from)?, bound(&range.to)?);
        let span = if range.step > 0 { to.checked_sub(from) } else { from.checked_sub(to) }?;
        let step = range.step.checked_abs().filter(|&s| s > 0)?;
        if span < 0 {
            return None;
        }
        Some(Iterations { from, step: range.step, last: span / step })
    }
}
