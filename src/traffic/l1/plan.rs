//! Programs whose addresses are affine and whose lanes are all active: what they come down to.

use super::blocks::{Interior, Phases};
use super::iterations::choose;
use super::pipe::Pipe;
use super::uniform;
use super::warps::{self, WarpClass};
use crate::effort::spend_on;
use crate::expr::{Cond, Coord, Form, LoopId, Term};
use crate::kernel::{Kernel, Space};
use crate::launch::{Instruction, Launch, Program, Step, stretches};
use crate::quantity::{ItemCount, PerBlock, Times};
use crate::space::{Extents, ItemOffset, Strides};

/// Most iterations of a loop nest that are looked at.
const MOST_OF_NEST: usize = 1024;

/// Steps for an iteration of a loop, and for a part of a condition.
const STEPS_OF_ITERATION: u64 = 8;
const STEPS_OF_PART: u64 = 4;

/// An access at some iterations of the loops around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Iteration {
    /// Byte address for thread 0 of block 0.
    pub address: i64,
    /// For how many iterations it stands.
    pub(crate) weight: f64,
}

/// An instruction of a stream.
#[derive(Debug, Clone)]
pub struct PlannedAccess<'a> {
    /// Position in the program.
    pub position: usize,
    /// The instruction.
    pub instruction: &'a Instruction<i64>,
    /// The loops around it, with their iterations and the bytes from one to the next.
    pub loops: Vec<(LoopId, i64, i64)>,
    /// Byte address for thread 0 of block 0 in the first iteration.
    pub first: i64,
    /// Its iterations.
    pub iterations: Vec<Iteration>,
    /// Whether they stand for more than themselves.
    pub cut: bool,
}

/// What instructions that touch memory in the same pattern have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressPattern {
    /// Whether it is shared memory.
    pub shared: bool,
    /// Bytes per lane.
    pub width: i64,
    /// Bytes from thread to thread.
    pub thread: Strides,
    /// Bytes from block to block.
    pub block: Strides,
    /// Which of the plan's limits says what threads are active.
    pub limit: usize,
}

/// Instructions with the same pattern: their addresses differ by constants.
#[derive(Debug, Clone)]
pub struct Stream<'a> {
    /// The pattern.
    pub pattern: AddressPattern,
    /// The instructions.
    pub accesses: Vec<PlannedAccess<'a>>,
}

/// A block whose lanes are all active and whose addresses are affine.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The program.
    pub program: &'a Program<i64>,
    /// Block and grid.
    pub launch: &'a Launch,
    /// Instructions by pattern.
    pub streams: Vec<Stream<'a>>,
    /// Threads below such a limit along every dimension are active.
    pub limits: Vec<Extents>,
    /// The stretch of the program in which each instruction stands.
    pub stretches: Vec<u32>,
    /// The warps of a block.
    pub classes: Vec<WarpClass>,
    /// The blocks to look at.
    pub phases: Phases,
    /// Alignments repeat after so many bytes.
    pub period: i64,
    /// Work items of a block.
    pub work_items: ItemCount<PerBlock>,
    /// Warps of a block with an active lane.
    pub warps: Times<PerBlock>,
}

/// First value, distance and number of iterations of a loop.
#[derive(Debug, Clone, Copy)]
struct Range {
    from: i64,
    step: i64,
    count: i64,
}

/// An access that is not yet known to be done.
struct Found<'a> {
    pattern: AddressPattern,
    access: PlannedAccess<'a>,
}

impl<'a> Plan<'a> {
    /// The plan of a launch; `None` if something is not affine, conditional or too large.
    pub fn new(
        kernel: &'a Kernel,
        launch: &'a Launch,
        program: &'a Program<i64>,
        pipe: &Pipe,
    ) -> Option<Self> {
        let interior = Interior::find(kernel, launch, program)?;
        let period = pipe.period()?;
        let mut reader =
            Reader { kernel, launch, program, period, ranges: ranges(program), found: Vec::new() };
        reader.steps(&program.steps, &mut Vec::new())?;
        let steps = reader.found.iter().filter(|f| !f.pattern.shared).map(|f| f.pattern.block);
        let phases = Phases::new(interior, steps, period);
        let limits_of_items: Vec<_> =
            program.items.iter().map(|i| reader.limit(i.offset, interior)).collect();
        let works = reader.working_items(&limits_of_items, &phases)?;
        let mut streams: Vec<Stream> = Vec::new();
        let mut limits = Vec::new();
        for Found { mut pattern, access } in std::mem::take(&mut reader.found) {
            let instruction = access.instruction;
            let items = instruction.items.iter().map(usize::from);
            let working: Vec<usize> = items.filter(|&i| works[i]).collect();
            if working.is_empty() {
                continue;
            }
            let limit = if instruction.clipped {
                widest(working.iter().map(|&i| &limits_of_items[i]))?
            } else {
                Extents::from(*launch.candidate.block())
            };
            if !reader.decided(instruction.when.as_ref(), limit, &phases)? {
                continue;
            }
            pattern.limit = limits.iter().position(|l| *l == limit).unwrap_or(limits.len());
            if pattern.limit == limits.len() {
                limits.push(limit);
            }
            spend_on(1 + streams.len(), 1).ok()?;
            match streams.iter_mut().find(|s| s.pattern == pattern) {
                Some(stream) => stream.accesses.push(access),
                None => streams.push(Stream { pattern, accesses: vec![access] }),
            }
        }
        // Work items for which the guard does not hold are work items of the launch, too.
        let items = limits_of_items.iter().map(|limit| limit.iter().map(|&n| n as f64).product::<f64>());
        let work_items = ItemCount::new(items.sum());
        let classes = warps::classes(launch.candidate.block(), pipe.warp, &limits);
        if streams.is_empty() {
            // These blocks have no work, or nothing is to be done at all.
            return None;
        }
        let any_active = |c: &&WarpClass| c.active.iter().any(|&lanes| lanes != 0);
        let warps = Times::new(classes.iter().filter(any_active).map(|c| c.firsts.len() as f64).sum());
        let stretches = stretches(&program.parts(kernel), program.instructions.len());
        Some(Self {
            kernel,
            program,
            launch,
            streams,
            limits,
            stretches,
            classes,
            phases,
            period,
            work_items,
            warps,
        })
    }
}

/// The box of threads that contains all others; `None` if their union is no box.
fn widest<'l>(limits: impl Iterator<Item = &'l Extents>) -> Option<Extents> {
    let mut widest = Extents::ZERO;
    for limit in limits {
        let larger = Extents::along(|d| limit[d].max(widest[d]));
        if larger != widest && larger != *limit {
            return None;
        }
        widest = larger;
    }
    Some(widest)
}

/// The loops whose bounds are numbers.
fn ranges(program: &Program<i64>) -> Vec<Option<Range>> {
    let one = |l: &crate::launch::ProgramLoop<i64>| {
        let (from, to) = (l.from.as_constant()?, l.to.as_constant()?);
        let span = if l.step > 0 { to.checked_sub(from)? } else { from.checked_sub(to)? };
        let count = if span < 0 { 0 } else { span / l.step.checked_abs()? + 1 };
        // The last value fits, too.
        from.checked_add(l.step.checked_mul((count - 1).max(0))?)?;
        Some(Range { from, step: l.step, count })
    };
    program.loops.iter().map(one).collect()
}

struct Reader<'a> {
    kernel: &'a Kernel,
    launch: &'a Launch,
    program: &'a Program<i64>,
    period: i64,
    ranges: Vec<Option<Range>>,
    found: Vec<Found<'a>>,
}

impl Reader<'_> {
    fn steps(&mut self, steps: &[Step], loops: &mut Vec<LoopId>) -> Option<()> {
        for step in steps {
            match step {
                Step::Sync => {}
                Step::Access(position) => self.access(*position, loops)?,
                Step::Loop(id, inner) => {
                    if self.range(*id)?.count > 0 {
                        loops.push(*id);
                        self.steps(inner, loops)?;
                        loops.pop();
                    }
                }
            }
        }
        Some(())
    }

    fn range(&self, id: LoopId) -> Option<Range> {
        self.ranges[usize::from(id.0)]
    }

    fn access(&mut self, position: usize, loops: &[LoopId]) -> Option<()> {
        let instruction = &self.program.instructions[position];
        let field = self.kernel.field(instruction.field);
        let size = field.dtype.bytes;
        self.fits(&instruction.element, size)?;
        let mut pattern = AddressPattern {
            shared: field.space == Space::Shared,
            width: instruction.width,
            thread: Strides::ZERO,
            block: Strides::ZERO,
            limit: 0,
        };
        let mut address = instruction.element.constant().checked_add(field.offset)?.checked_mul(size)?;
        let mut strides = vec![0; loops.len()];
        for (term, factor) in instruction.element.terms() {
            let Term::Coord(coord) = term else { return None };
            let bytes = factor.checked_mul(size)?;
            match coord {
                Coord::ThreadIdx(d) => pattern.thread[d.index()] = bytes,
                Coord::BlockIdx(d) => pattern.block[d.index()] = bytes,
                Coord::Loop(id) => {
                    let Range { from, step, .. } = self.range(*id)?;
                    address = address.checked_add(bytes.checked_mul(from)?)?;
                    *strides.get_mut(loops.iter().position(|l| l == id)?)? = bytes.checked_mul(step)?;
                }
                Coord::Axis(_) | Coord::Thread(_) => return None,
            }
        }
        let (iterations, cut) = self.iterations(address, loops, &strides)?;
        let around = |(&id, &stride)| Some((id, self.range(id)?.count, stride));
        let loops = loops.iter().zip(&strides).map(around).collect::<Option<_>>()?;
        let access = PlannedAccess { position, instruction, loops, first: address, iterations, cut };
        self.found.push(Found { pattern, access });
        Some(())
    }

    /// The threads whose work item at this place of the fold lies in the domain.
    fn limit(&self, offset: ItemOffset, interior: Interior) -> Extents {
        let extents = self.kernel.extents();
        Extents::along(|d| {
            let all = self.launch.candidate.block()[d];
            if !interior.cut[d] {
                return all;
            }
            // fold * thread + offset < extent
            let before = interior.from[d].saturating_mul(all).saturating_mul(self.program.fold[d]);
            let left = extents[d].saturating_sub(before).saturating_sub(offset[d]);
            let fold = self.program.fold[d].max(1);
            (left / fold + i64::from(left % fold > 0)).clamp(0, all)
        })
    }

    /// Whether no address of the launch leaves 62 bits, so that sums of its parts may wrap on the way.
    fn fits(&self, element: &Form<i64>, size: i64) -> Option<()> {
        let (low, high) = element.interval(&|c| match c {
            Coord::ThreadIdx(d) => Some((0, self.launch.sizes.block[d.index()] - 1)),
            Coord::BlockIdx(d) => Some((0, self.launch.sizes.grid[d.index()] - 1)),
            Coord::Loop(id) => self.values(id),
            Coord::Axis(_) | Coord::Thread(_) => None,
        })?;
        let fits = |n: i64| n.checked_mul(size).is_some_and(|n| n.unsigned_abs() < 1 << 62);
        (fits(low) && fits(high)).then_some(())
    }

    /// Smallest and largest value of a loop's variable.
    fn values(&self, id: LoopId) -> Option<(i64, i64)> {
        let Range { from, step, count } = self.range(id)?;
        let last = from + step * (count - 1).max(0);
        Some((from.min(last), from.max(last)))
    }

    /// The iterations of a nest, or enough of them that every alignment is among them as often as it
    /// should be.
    fn iterations(&self, address: i64, loops: &[LoopId], strides: &[i64]) -> Option<(Vec<Iteration>, bool)> {
        let mut all = vec![Iteration { address, weight: 1.0 }];
        let mut cut = false;
        for (&id, &stride) in loops.iter().zip(strides) {
            let count = self.range(id)?.count;
            let (chosen, some) = choose(count, stride, self.period);
            cut |= some;
            if all.len().checked_mul(chosen.len())? > MOST_OF_NEST {
                return None;
            }
            spend_on(all.len() * chosen.len(), STEPS_OF_ITERATION).ok()?;
            all = all
                .iter()
                .flat_map(|i| {
                    chosen.iter().map(|&(k, weight)| Iteration {
                        address: i.address.wrapping_add(stride.wrapping_mul(k)),
                        weight: i.weight * weight,
                    })
                })
                .collect();
        }
        Some((all, cut))
    }

    /// The interval of a coordinate over the blocks that are looked at.
    fn looked_at(&self, coord: Coord, phases: &Phases) -> Option<(i64, i64)> {
        match coord {
            Coord::ThreadIdx(d) => Some((0, self.launch.sizes.block[d.index()] - 1)),
            Coord::BlockIdx(d) => {
                let from = phases.from[d.index()];
                Some((from, from + phases.count[d.index()] - 1))
            }
            Coord::Loop(id) => self.values(id),
            Coord::Axis(_) | Coord::Thread(_) => None,
        }
    }

    /// Whether a condition holds for all lanes below `limit` of the blocks that are looked at, or for none;
    /// `None` if it differs. Where intervals do not tell, lanes are asked one by one: what is looked at must
    /// not depend on how a condition is written.
    fn decided(&self, cond: Option<&Cond<i64>>, limit: Extents, phases: &Phases) -> Option<bool> {
        let Some(cond) = cond else { return Some(true) };
        spend_on(cond.size(), STEPS_OF_PART).ok()?;
        let by_intervals = cond.decided(&|c| self.looked_at(c, phases));
        by_intervals.or_else(|| uniform::held(cond, limit, &phases.blocks()))
    }

    /// Which work items of a thread work.
    fn working_items(&self, limits: &[Extents], phases: &Phases) -> Option<Vec<bool>> {
        let clipped = self.program.instructions.iter().all(|i| i.clipped);
        let whole = Extents::from(*self.launch.candidate.block());
        let asked = |limit: &Extents| if clipped { *limit } else { whole };
        let items = self.program.items.iter().zip(limits);
        items.map(|(item, limit)| self.decided(item.guard.as_ref(), asked(limit), phases)).collect()
    }
}
