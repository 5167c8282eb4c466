//! Running warps lane by lane: any address, any condition.

use std::collections::BTreeSet;

use super::blocks::Phases;
use super::counts::{FieldCounts, InstructionCounts, L1Counts};
use super::lanes::{Lanes, MOST_LANES};
use super::pipe::Pipe;
use super::warps::{self, Class};
use crate::effort::{left, spend, spend_on};
use crate::expr::{Cond, Coord, Form, LoopId};
use crate::kernel::{AccessKind, Kernel, Space};
use crate::launch::{Fault, Launch, Program, Step, Working};

/// Most blocks that are looked at.
const MOST_BLOCKS: i64 = 16;
/// Most accesses of lanes that are evaluated; at least one warp is.
const MOST_ACCESSES: usize = 1 << 15;
/// Most iterations of one loop that are run.
const MOST_ITERATIONS: i64 = 32;
/// Most warp-wide instructions of one warp.
const MOST_OF_WARP: usize = 1 << 18;

/// Steps for a part of an address or a condition, in one lane.
const STEPS_OF_PART: u64 = 2;

/// Steps for an access in which no lane takes part.
const STEPS_OF_ACCESS: u64 = 6;

/// Counts warps of blocks that are spread over the grid, as many as the budget allows.
pub fn count(
    kernel: &Kernel,
    launch: &Launch,
    program: &Program<i64>,
    pipe: &Pipe,
) -> Result<L1Counts, Fault> {
    let working = Working::new(kernel, launch, program);
    let blocks = working.some(MOST_BLOCKS);
    let mut tally = Tally::new(kernel, program, pipe, &blocks);
    tally.counts.sampled = working.blocks.count() > MOST_BLOCKS;
    tally.run(launch, program, &blocks, MOST_ACCESSES)
}

/// Counts all warps of given blocks.
pub fn count_blocks(
    kernel: &Kernel,
    launch: &Launch,
    program: &Program<i64>,
    pipe: &Pipe,
    phases: Phases,
) -> Result<L1Counts, Fault> {
    let blocks = phases.blocks();
    let mut tally = Tally::new(kernel, program, pipe, &blocks);
    tally.counts.sampled = phases.cut;
    tally.run(launch, program, &blocks, usize::MAX)
}

/// Lanes of the warps of a block.
fn warps_of(block: [i64; 3], warp: usize) -> Vec<Vec<[i64; 3]>> {
    let classes = warps::classes(block, warp, &[]);
    let of = |c: &Class| -> Vec<Vec<[i64; 3]>> {
        let lanes = |f: &[i64; 3]| c.lanes.iter().map(|l| [0, 1, 2].map(|d| f[d] + l[d])).collect();
        c.firsts.iter().map(lanes).collect()
    };
    classes.iter().flat_map(of).collect()
}

/// The `i`-th pair of block and warp, so that any first few are spread over both.
fn spread(i: usize, blocks: usize, warps: usize) -> (usize, usize) {
    // Block by block in turn; within a block warps by steps that share no divisor with their number.
    let gcd = |a: usize, b: usize| {
        let (mut a, mut b) = (a, b);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let near_golden = (warps * 5 / 8).max(1);
    let step = (near_golden..near_golden + warps).find(|&s| gcd(s, warps) == 1).unwrap_or(1);
    let (block, turn) = (i % blocks, i / blocks);
    (block, (turn * step + block) % warps)
}

/// What was counted so far, over all warps.
struct Tally<'a> {
    kernel: &'a Kernel,
    pipe: &'a Pipe,
    counts: L1Counts,
    /// Accesses of lanes.
    spent: usize,
    /// Sectors that the current warp has loaded, and those that it has stored, by field.
    unions: Vec<[Union; 2]>,
    /// Whether the current warp has touched anything.
    issued: bool,
}

/// Sectors of one field that a warp has loaded or stored.
#[derive(Debug, Clone, Default)]
struct Union {
    sectors: BTreeSet<i64>,
    /// Sectors per access, added up: as often as evaluated, and as often as they stand for.
    evaluated: f64,
    meant: f64,
    /// Sectors of the current iteration, and how often it is meant.
    iteration: BTreeSet<i64>,
    weight: f64,
    /// Distinct sectors of iterations that are over, added up.
    of_iterations: f64,
}

impl Union {
    /// Distinct sectors: where iterations were left out, those that were run stand for them.
    fn sectors(&self) -> f64 {
        let scale = if self.evaluated > 0.0 { self.meant / self.evaluated } else { 1.0 };
        self.sectors.len() as f64 * scale
    }

    fn add(&mut self, sectors: Vec<i64>, weight: f64) {
        self.evaluated += sectors.len() as f64;
        self.meant += sectors.len() as f64 * weight;
        self.weight = weight;
        self.iteration.extend(&sectors);
        self.sectors.extend(sectors);
    }

    fn end_of_iteration(&mut self) {
        self.of_iterations += self.iteration.len() as f64 * self.weight;
        self.iteration.clear();
    }
}

impl<'a> Tally<'a> {
    fn new(kernel: &'a Kernel, program: &Program<i64>, pipe: &'a Pipe, blocks: &[[i64; 3]]) -> Self {
        let counts = L1Counts {
            instructions: vec![InstructionCounts::default(); program.instructions.len()],
            fields: vec![FieldCounts::default(); kernel.fields.len()],
            blocks: blocks.to_vec(),
            ..Default::default()
        };
        Self { kernel, pipe, counts, spent: 0, unions: Vec::new(), issued: false }
    }

    /// Runs warps of some blocks until so many accesses of lanes were evaluated, at least one warp.
    fn run(
        mut self,
        launch: &Launch,
        program: &Program<i64>,
        blocks: &[[i64; 3]],
        most: usize,
    ) -> Result<L1Counts, Fault> {
        let warps = warps_of(launch.candidate.block(), self.pipe.warp);
        let all = blocks.len() * warps.len();
        // Steps of the warp that took most: where no more are left, those before it stand for the next ones.
        let (mut done, mut dearest) = (0, 0);
        while done < all && (done == 0 || (self.spent < most && left() / 2 > dearest)) {
            let (block, warp) = spread(done, blocks.len(), warps.len());
            let before = left();
            Warp::new(self.kernel, launch, program, blocks[block], &warps[warp]).run(&mut self)?;
            dearest = dearest.max(before - left());
            done += 1;
        }
        Ok(self.finish(program, done, all, blocks.len()))
    }

    fn access(&mut self, program: &Program<i64>, position: usize, lanes: Lanes, weight: f64) {
        let instruction = &program.instructions[position];
        let field = self.kernel.field(instruction.field);
        let (pipe, width) = (self.pipe, instruction.width);
        let mut one = InstructionCounts {
            issues: 1.0,
            lanes: f64::from(lanes.active.count_ones()),
            ..Default::default()
        };
        if field.space == Space::Shared {
            one.data = f64::from(Pipe::shared(lanes, width).data);
            one.cycles = one.data;
        } else {
            let wavefronts = pipe.global(lanes, width);
            let sectors = lanes.touched(width, pipe.sector);
            one.data = f64::from(wavefronts.data);
            one.tag = f64::from(wavefronts.tag);
            one.cycles = pipe.cycles(wavefronts, width);
            one.sectors = sectors.len() as f64;
            one.runs = runs(&sectors);
            one.lines = lanes.touched(width, pipe.line).len() as f64;
            let of_field = self.unions.get_mut(usize::from(instruction.field.0));
            let union = match (instruction.kind, of_field) {
                (AccessKind::Load, Some([loads, _])) => Some(loads),
                (AccessKind::Store, Some([_, stores])) => Some(stores),
                _ => None,
            };
            if let Some(union) = union {
                union.add(sectors, weight);
            }
        }
        self.counts.instructions[position].add(&one, weight);
        self.issued = true;
        // Several arrays of one field cost as much as several fields would.
        let copies = usize::try_from(field.multiplicity).unwrap_or(1);
        self.spent = self.spent.saturating_add(copies.saturating_mul(lanes.active.count_ones() as usize));
    }

    /// What comes is another iteration of a loop, or comes after it.
    fn end_of_iteration(&mut self) {
        self.unions.iter_mut().for_each(|[loads, _]| loads.end_of_iteration());
    }

    /// Adds the distinct sectors of a warp that is done.
    fn end_of_warp(&mut self) {
        self.end_of_iteration();
        for (unions, field) in self.unions.iter_mut().zip(&mut self.counts.fields) {
            let [loads, stores] = std::mem::take(unions);
            field.warp_load_sectors += loads.sectors();
            field.iteration_load_sectors += loads.of_iterations;
            field.warp_store_sectors += stores.sectors();
        }
    }

    /// Means over blocks, from `done` of `all` warps.
    fn finish(mut self, program: &Program<i64>, done: usize, all: usize, blocks: usize) -> L1Counts {
        let kernel = self.kernel;
        let scale = all as f64 / done.max(1) as f64 / blocks.max(1) as f64;
        for counts in &mut self.counts.instructions {
            let sum = std::mem::take(counts);
            counts.add(&sum, scale);
        }
        for (field, of) in self.counts.fields.iter_mut().zip(&kernel.fields) {
            field.warp_load_sectors *= scale * of.multiplicity as f64;
            field.iteration_load_sectors *= scale * of.multiplicity as f64;
            field.warp_store_sectors *= scale * of.multiplicity as f64;
        }
        self.counts.work_items *= scale;
        self.counts.warps *= scale;
        self.counts.sampled |= done < all;
        self.counts.add_up(kernel, program);
        self.counts
    }
}

/// One warp as it runs.
struct Warp<'a> {
    program: &'a Program<i64>,
    block: [i64; 3],
    lanes: &'a [[i64; 3]],
    /// Lanes in which each work item works: by its guard, and inside the domain as well.
    guarded: Vec<u64>,
    inside: Vec<u64>,
    /// Work items of the lanes, whether their guard holds or not.
    work_items: u32,
    /// Values of the loops by lane.
    loops: Vec<Vec<i64>>,
    extents: [i64; 3],
    shape: [i64; 3],
    left: usize,
}

impl<'a> Warp<'a> {
    fn new(
        kernel: &Kernel,
        launch: &Launch,
        program: &'a Program<i64>,
        block: [i64; 3],
        lanes: &'a [[i64; 3]],
    ) -> Self {
        Self {
            program,
            block,
            lanes: lanes.get(..lanes.len().min(MOST_LANES)).unwrap_or(lanes),
            guarded: Vec::new(),
            inside: Vec::new(),
            work_items: 0,
            loops: vec![Vec::new(); program.loops.len()],
            extents: kernel.extents(),
            shape: launch.candidate.block(),
            left: MOST_OF_WARP,
        }
    }

    fn run(mut self, tally: &mut Tally) -> Result<(), Fault> {
        self.find_working_items()?;
        tally.counts.work_items += f64::from(self.work_items);
        tally.unions.resize(tally.kernel.fields.len(), Default::default());
        let active = self.guarded.iter().fold(0, |any, m| any | m);
        tally.issued = false;
        if active != 0 {
            self.steps(&self.program.steps, active, 1.0, tally)?;
        }
        tally.counts.warps += if tally.issued { 1.0 } else { 0.0 };
        tally.end_of_warp();
        Ok(())
    }

    /// As [`visit_thread`](crate::launch::visit_thread) does.
    fn find_working_items(&mut self) -> Result<(), Fault> {
        // Where everything needs a work item inside the domain, guards have no meaning outside.
        let only_inside = self.program.instructions.iter().all(|i| i.clipped);
        let clipped = self.program.instructions.iter().any(|i| i.clipped);
        for item in &self.program.items {
            let mut within = 0;
            for (lane, thread) in self.lanes.iter().enumerate() {
                let place = |d: usize| {
                    let at = i128::from(self.block[d]) * i128::from(self.shape[d]) + i128::from(thread[d]);
                    at * i128::from(self.program.fold[d]) + i128::from(item.offset[d])
                };
                if (0..3).all(|d| place(d) < i128::from(self.extents[d])) {
                    within |= 1 << lane;
                }
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
            Coord::Loop(LoopId(i)) => self.loops.get(usize::from(i))?.get(lane).copied(),
            Coord::Axis(_) | Coord::Thread(_) => None,
        }
    }

    fn evaluate(&self, form: &Form<i64>, lane: usize) -> Result<i64, Fault> {
        form.evaluate(&|c| self.value(lane, c)).ok_or(Fault::Overflow)
    }

    /// The lanes of `asked` in which a condition holds.
    fn where_true(&self, cond: Option<&Cond<i64>>, asked: u64) -> Result<u64, Fault> {
        let Some(cond) = cond else { return Ok(asked) };
        let mut held = 0;
        spend_on(cond.size(), STEPS_OF_PART * u64::from(asked.count_ones()))?;
        for lane in lanes_of(asked) {
            if cond.evaluate(&|c| self.value(lane, c)).ok_or(Fault::Overflow)? {
                held |= 1 << lane;
            }
        }
        Ok(held)
    }

    fn steps(&mut self, steps: &'a [Step], active: u64, weight: f64, tally: &mut Tally) -> Result<(), Fault> {
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

    fn access(&mut self, position: usize, active: u64, weight: f64, tally: &mut Tally) -> Result<(), Fault> {
        self.left = self.left.checked_sub(1).ok_or(Fault::Stopped(MOST_OF_WARP))?;
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
        let mut addresses = vec![0; self.lanes.len()];
        for lane in lanes_of(active) {
            let element = self.evaluate(&instruction.element, lane)?.checked_add(field.offset);
            let address = element.and_then(|e| e.checked_mul(field.dtype.bytes)).ok_or(Fault::Overflow)?;
            addresses[lane] = address;
        }
        tally.access(self.program, position, Lanes { addresses: &addresses, active }, weight);
        Ok(())
    }

    /// All lanes begin at their own first value and go on until the last has reached its end.
    fn repeat(
        &mut self,
        id: LoopId,
        body: &'a [Step],
        active: u64,
        weight: f64,
        tally: &mut Tally,
    ) -> Result<(), Fault> {
        let number = usize::from(id.0);
        let range = &self.program.loops[number];
        spend_on(range.from.size() + range.to.size(), STEPS_OF_PART * u64::from(active.count_ones()))?;
        let mut values = vec![0; self.lanes.len()];
        let mut counts = vec![0; self.lanes.len()];
        for lane in lanes_of(active) {
            let (from, to) = (self.evaluate(&range.from, lane)?, self.evaluate(&range.to, lane)?);
            let span = if range.step > 0 { to.checked_sub(from) } else { from.checked_sub(to) };
            let span = span.ok_or(Fault::Overflow)?;
            let step = range.step.checked_abs().ok_or(Fault::Overflow)?;
            let count = if span < 0 { 0 } else { (span / step).saturating_add(1) };
            (values[lane], counts[lane]) = (from, count);
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        let run = most.min(MOST_ITERATIONS);
        tally.counts.sampled |= run < most;
        let weight = if run < most { weight * most as f64 / run as f64 } else { weight };
        for iteration in 0..run {
            self.left = self.left.checked_sub(1).ok_or(Fault::Stopped(MOST_OF_WARP))?;
            let running = |lane: &usize| iteration < counts[*lane];
            let active = lanes_of(active).filter(running).fold(0, |mask, lane| mask | 1 << lane);
            self.loops[number].clone_from(&values);
            tally.end_of_iteration();
            self.steps(body, active, weight, tally)?;
            for value in &mut values {
                *value = value.saturating_add(range.step);
            }
        }
        tally.end_of_iteration();
        self.loops[number].clear();
        Ok(())
    }
}

/// The lanes of a mask.
fn lanes_of(mask: u64) -> impl Iterator<Item = usize> {
    (0..MOST_LANES).filter(move |lane| mask >> lane & 1 == 1)
}

/// Runs of adjacent sectors; sectors ascend.
fn runs(sectors: &[i64]) -> f64 {
    let gaps = sectors.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
    if sectors.is_empty() { 0.0 } else { gaps as f64 + 1.0 }
}
