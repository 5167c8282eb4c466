//! The accesses of a program whose addresses are affine, one by one.

use super::blocks::{Interior, Phases};
use super::inside::Inside;
use super::iterations::choose;
use super::uniform;
use crate::effort::spend_on;
use crate::expr::{Cond, Coord, Form, LoopId, Term};
use crate::kernel::{Kernel, Space};
use crate::launch::{Instruction, Launch, Program, Step};
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
    /// Its iterations where there are loops around it.
    many: Vec<Iteration>,
    /// The one that there is otherwise.
    one: [Iteration; 1],
    /// Whether they stand for more than themselves.
    pub cut: bool,
}

impl PlannedAccess<'_> {
    /// Its iterations.
    pub fn iterations(&self) -> &[Iteration] {
        if self.loops.is_empty() { &self.one } else { &self.many }
    }

    /// The access in the middle iteration of its loops only.
    pub fn middle(&self) -> Self {
        let moved = self.loops.iter().map(|&(_, count, stride)| stride.wrapping_mul(count / 2));
        let first = moved.fold(self.first, i64::wrapping_add);
        let (one, many) = ([Iteration { address: first, weight: 1.0 }], Vec::new());
        PlannedAccess { loops: Vec::new(), first, many, one, cut: false, ..*self }
    }
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

/// First value, distance and number of iterations of a loop.
#[derive(Debug, Clone, Copy)]
struct Range {
    from: i64,
    step: i64,
    count: i64,
}

/// An access that is not yet known to be done.
pub struct Found<'a> {
    /// Its pattern.
    pub pattern: AddressPattern,
    /// The access.
    pub access: PlannedAccess<'a>,
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

/// Reads a program.
pub struct Reader<'a> {
    kernel: &'a Kernel,
    launch: &'a Launch,
    program: &'a Program<i64>,
    period: i64,
    ranges: Vec<Option<Range>>,
    /// The accesses that were found.
    pub found: Vec<Found<'a>>,
}

impl<'a> Reader<'a> {
    /// A reader that has found nothing yet. Alignments repeat after `period` bytes.
    pub fn new(kernel: &'a Kernel, launch: &'a Launch, program: &'a Program<i64>, period: i64) -> Self {
        let found = Vec::with_capacity(program.instructions.len());
        Self { kernel, launch, program, period, ranges: ranges(program), found }
    }

    /// Reads steps inside of some loops; `None` if something is not affine or too large.
    pub fn steps(&mut self, steps: &[Step], loops: &mut Vec<LoopId>) -> Option<()> {
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
        let (many, cut) =
            if loops.is_empty() { (Vec::new(), false) } else { self.iterations(address, loops, &strides)? };
        let around = |(&id, &stride)| Some((id, self.range(id)?.count, stride));
        let loops = loops.iter().zip(&strides).map(around).collect::<Option<_>>()?;
        let one = [Iteration { address, weight: 1.0 }];
        let access = PlannedAccess { position, instruction, loops, first: address, many, one, cut };
        self.found.push(Found { pattern, access });
        Some(())
    }

    /// The threads whose work item at this place of the fold lies in the domain.
    pub fn limit(&self, offset: ItemOffset, interior: Interior) -> Extents {
        let inside = Inside::new(self.kernel, self.launch, self.program).threads(offset, interior.from);
        Extents::along(|d| if interior.cut[d] { inside[d] } else { self.launch.candidate.block()[d] })
    }

    /// Whether no address of the launch leaves 62 bits, so that sums of its parts may wrap on the way.
    fn fits(&self, element: &Form<i64>, size: i64) -> Option<()> {
        if self.is_small(element, size) == Some(true) {
            return Some(());
        }
        let (low, high) = element.interval(&|c| match c {
            Coord::ThreadIdx(d) => Some((0, self.launch.sizes.block[d.index()] - 1)),
            Coord::BlockIdx(d) => Some((0, self.launch.sizes.grid[d.index()] - 1)),
            Coord::Loop(id) => self.values(id),
            Coord::Axis(_) | Coord::Thread(_) => None,
        })?;
        let fits = |n: i64| n.checked_mul(size).is_some_and(|n| n.unsigned_abs() < 1 << 62);
        (fits(low) && fits(high)).then_some(())
    }

    /// Whether all parts of an address together are small; otherwise they may still make up for each other.
    fn is_small(&self, element: &Form<i64>, size: i64) -> Option<bool> {
        let mut sum = element.constant().unsigned_abs();
        for (term, factor) in element.terms() {
            let Term::Coord(coord) = term else { return None };
            let most = match coord {
                Coord::ThreadIdx(d) => self.launch.sizes.block[d.index()].unsigned_abs(),
                Coord::BlockIdx(d) => self.launch.sizes.grid[d.index()].unsigned_abs(),
                Coord::Loop(id) => {
                    let (low, high) = self.values(*id)?;
                    low.unsigned_abs().max(high.unsigned_abs())
                }
                Coord::Axis(_) | Coord::Thread(_) => return None,
            };
            sum = sum.checked_add(most.checked_mul(factor.unsigned_abs())?)?;
        }
        Some(sum.checked_mul(size.unsigned_abs())? < 1 << 62)
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
    pub fn decided(&self, cond: Option<&Cond<i64>>, limit: Extents, phases: &Phases) -> Option<bool> {
        let Some(cond) = cond else { return Some(true) };
        spend_on(cond.size(), STEPS_OF_PART).ok()?;
        let by_intervals = cond.decided(&|c| self.looked_at(c, phases));
        by_intervals.or_else(|| uniform::held(cond, limit, &phases.blocks()))
    }

    /// Which work items of a thread work.
    pub fn working_items(&self, limits: &[Extents], phases: &Phases) -> Option<Vec<bool>> {
        let clipped = self.program.instructions.iter().all(|i| i.clipped);
        let whole = Extents::from(*self.launch.candidate.block());
        let asked = |limit: &Extents| if clipped { *limit } else { whole };
        let items = self.program.items.iter().zip(limits);
        items.map(|(item, limit)| self.decided(item.guard.as_ref(), asked(limit), phases)).collect()
    }
}
