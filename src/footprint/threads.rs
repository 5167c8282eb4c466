//! From the program of a thread and the blocks of a wave to the boxes that are counted.

use super::query::{Piece, Query, Refusal};
use crate::expr::{Coefficient, Cond, Coord, Dim, Excess, Form, LoopId, Term};
use crate::kernel::{AccessKind, FieldId, Kernel};
use crate::launch::{BlockBox, Instruction, Launch, Program, Step};

/// What counts as the same address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Addressing {
    /// The exact byte.
    Linear,
    /// The indices of an array as a tuple, as in the paper's section 4.4.1: neither alignment nor
    /// wrap-around between rows is seen.
    Grid,
}

/// The threads of a launch and what they do.
#[derive(Debug, Clone, Copy)]
pub struct Threads<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Block and grid.
    pub launch: &'a Launch,
    /// What each thread does.
    pub program: &'a Program<i64>,
}

impl From<Excess> for Refusal {
    fn from(_: Excess) -> Self {
        Refusal::Overflow
    }
}

impl Threads<'_> {
    /// What the threads of `blocks` touch of a field through instructions of some kinds, in lines of
    /// `line` bytes.
    pub fn query(
        &self,
        blocks: &[BlockBox],
        field: FieldId,
        kinds: &[AccessKind],
        line: i64,
        addressing: Addressing,
    ) -> Result<Query, Refusal> {
        let mut around = vec![Vec::new(); self.program.instructions.len()];
        loops_around(&self.program.steps, &mut Vec::new(), &mut around);
        let mut boxes = Vec::new();
        for (instruction, loops) in self.program.instructions.iter().zip(&around) {
            if instruction.field == field && kinds.contains(&instruction.kind) {
                self.boxes(instruction, loops, blocks, addressing, &mut boxes)?;
            }
        }
        let size = self.kernel.field(field).dtype.bytes;
        let pieces = match addressing {
            Addressing::Linear => boxes.into_iter().map(|b| b.piece(0)).collect(),
            Addressing::Grid => embed(boxes, size, line)?,
        };
        Ok(Query { pieces, line })
    }

    /// The boxes of one instruction: per box of blocks and per work item that needs it.
    fn boxes(
        &self,
        instruction: &Instruction<i64>,
        loops: &[LoopId],
        blocks: &[BlockBox],
        addressing: Addressing,
        out: &mut Vec<Region>,
    ) -> Result<(), Refusal> {
        let field = self.kernel.field(instruction.field);
        let forms = match addressing {
            Addressing::Linear => {
                vec![instruction.element.plus(&Form::int(field.offset))?.times(&field.dtype.bytes)?]
            }
            Addressing::Grid => {
                let mut indices =
                    instruction.indices(self.program.fold, self.launch).ok_or(Refusal::NotGrid)??;
                // Fastest first.
                let mut order: Vec<usize> = (0..indices.len()).collect();
                order.sort_by_key(|&i| field.strides[i].as_int());
                indices = order.iter().map(|&i| indices[i].clone()).collect();
                indices
            }
        };
        for position in instruction.items.iter() {
            let item = &self.program.items[usize::from(position)];
            let conditions: Vec<&Cond<i64>> = instruction.when.iter().chain(&item.guard).collect();
            let mut start = Region {
                ranges: Vec::with_capacity(6),
                when: conditions.into_iter().cloned().collect(),
                forms: forms.clone(),
                width: instruction.width,
            };
            self.unroll(&mut start, loops)?;
            let joined = start.join_threads(self.launch.sizes.block)?;
            for block in blocks {
                self.place(&start, joined, block, item.offset, instruction.clipped, out)?;
            }
        }
        Ok(())
    }

    /// Writes loop variables as first value plus step times iteration.
    fn unroll(&self, region: &mut Region, loops: &[LoopId]) -> Result<(), Refusal> {
        for &id in loops {
            let l = &self.program.loops[usize::from(id.0)];
            let variable = Coord::Loop(id);
            // Iterations that some thread does; those that this thread does not are cut by a condition.
            let span = if l.step > 0 { l.to.minus(&l.from)? } else { l.from.minus(&l.to)? };
            let (low, high) = span.interval(&|c| self.whole(c)).ok_or(Refusal::Overflow)?;
            let distance = l.step.checked_abs().ok_or(Refusal::Overflow)?;
            let sampled = |n: i64| l.sample.map_or(n, |s| n.min(s));
            let most = sampled(high.div_euclid(distance).checked_add(1).ok_or(Refusal::Overflow)?);
            let least = sampled(low.div_euclid(distance) + 1);
            region.ranges.push((variable, 0, most - 1));
            let iteration = Form::coord(variable).times(&l.step)?.plus(&l.from)?;
            region.substitute(variable, &iteration)?;
            if least < most {
                let reached = span.minus(&Form::coord(variable).times(&distance)?)?;
                region.when.push(Cond::non_negative(reached));
            }
        }
        Ok(())
    }

    /// The interval of a coordinate over the whole launch.
    fn whole(&self, coord: Coord) -> Option<(i64, i64)> {
        match coord {
            Coord::ThreadIdx(d) => Some((0, self.launch.sizes.block[d.index()] - 1)),
            Coord::BlockIdx(d) => Some((0, self.launch.sizes.grid[d.index()] - 1)),
            _ => None,
        }
    }

    /// Adds the regions of a box of blocks, clipped to the domain.
    fn place(
        &self,
        start: &Region,
        joined: [bool; 3],
        block: &BlockBox,
        offset: [i64; 3],
        clipped: bool,
        out: &mut Vec<Region>,
    ) -> Result<(), Refusal> {
        let mut regions = vec![start.clone()];
        for d in Dim::ALL {
            let i = d.index();
            let shape = self.launch.sizes.block[i];
            let (from, to) = (block.from[i], block.to[i]);
            // Threads along this dimension whose work item lies in the domain.
            let threads = if clipped {
                let room = self.kernel.extents()[i] - offset[i];
                (room + self.program.fold[i] - 1).div_euclid(self.program.fold[i]).max(0)
            } else {
                i64::MAX
            };
            let mut choices: Vec<Vec<(Coord, i64, i64)>> = Vec::with_capacity(2);
            if joined[i] {
                let last = to.checked_mul(shape).ok_or(Refusal::Overflow)?.min(threads) - 1;
                choices.push(vec![(Coord::Thread(d), from * shape, last)]);
            } else {
                let whole = threads / shape;
                choices.push(vec![
                    (Coord::BlockIdx(d), from, to.min(whole) - 1),
                    (Coord::ThreadIdx(d), 0, shape - 1),
                ]);
                if (from..to).contains(&whole) {
                    let part = (Coord::ThreadIdx(d), 0, threads % shape - 1);
                    choices.push(vec![(Coord::BlockIdx(d), whole, whole), part]);
                }
            }
            choices.retain(|ranges| ranges.iter().all(|r| r.1 <= r.2));
            regions = regions
                .into_iter()
                .flat_map(|region| {
                    choices.iter().map(move |ranges| {
                        let mut with = region.clone();
                        with.ranges.extend(ranges.iter().copied());
                        with
                    })
                })
                .collect();
        }
        out.extend(regions.into_iter().filter_map(Region::restricted));
        Ok(())
    }
}

/// Which loops stand around each instruction, outermost first.
fn loops_around(steps: &[Step], stack: &mut Vec<LoopId>, out: &mut [Vec<LoopId>]) {
    for step in steps {
        match step {
            Step::Access(position) => out[*position].clone_from(stack),
            Step::Sync => {}
            Step::Loop(id, body) => {
                stack.push(*id);
                loops_around(body, stack, out);
                stack.pop();
            }
        }
    }
}

/// A box of points and the forms that make up their address.
#[derive(Debug, Clone)]
struct Region {
    ranges: Vec<(Coord, i64, i64)>,
    when: Vec<Cond<i64>>,
    forms: Vec<Form<i64>>,
    width: i64,
}

impl Region {
    fn substitute(&mut self, variable: Coord, by: &Form<i64>) -> Result<(), Refusal> {
        let with = |c| (c == variable).then(|| by.clone());
        for form in &mut self.forms {
            if form.mentions(&|c| c == variable) {
                *form = form.substitute(&with)?;
            }
        }
        for cond in &mut self.when {
            *cond = cond.substitute(&with)?;
        }
        Ok(())
    }

    /// Writes block * B + thread as one coordinate along every dimension in which all forms allow
    /// it; says along which.
    fn join_threads(&mut self, shape: [i64; 3]) -> Result<[bool; 3], Refusal> {
        let mut joined = [false; 3];
        for d in Dim::ALL {
            let size = shape[d.index()];
            let whole = |form: &Form<i64>| is_whole(form, d, size);
            if self.forms.iter().all(whole) && self.when.iter().all(|c| cond_forms(c, &whole)) {
                joined[d.index()] = true;
            }
        }
        let rename = |coord| match coord {
            Coord::BlockIdx(d) if joined[d.index()] => None,
            Coord::ThreadIdx(d) if joined[d.index()] => Some(Coord::Thread(d)),
            other => Some(other),
        };
        for form in &mut self.forms {
            *form = form.rename(&rename)?;
        }
        for cond in &mut self.when {
            *cond = cond.rename(&rename)?;
        }
        Ok(joined)
    }

    /// The region with simple conditions turned into bounds; `None` if nothing is left.
    fn restricted(mut self) -> Option<Self> {
        let conditions = std::mem::take(&mut self.when);
        for cond in conditions {
            self.restrict(cond)?;
        }
        self.ranges.iter().all(|r| r.1 <= r.2).then_some(self)
    }

    fn restrict(&mut self, cond: Cond<i64>) -> Option<()> {
        match cond {
            Cond::Const(true) => {}
            Cond::Const(false) => return None,
            Cond::All(parts) => {
                for part in parts {
                    self.restrict(part)?;
                }
            }
            Cond::NonNegative(form) => match self.interval(&form) {
                Some((low, _)) if low >= 0 => {}
                Some((_, high)) if high < 0 => return None,
                _ => match form.terms() {
                    [(Term::Coord(coord), factor)] => self.bound(*coord, *factor, *form.constant())?,
                    _ => self.when.push(Cond::NonNegative(form)),
                },
            },
            Cond::Zero(form) => match form.terms() {
                [(Term::Coord(coord), factor)] => {
                    if form.constant() % factor != 0 {
                        return None;
                    }
                    let value = -(form.constant() / factor);
                    self.bound(*coord, 1, -value)?;
                    self.bound(*coord, -1, value)?;
                }
                _ => self.when.push(Cond::Zero(form)),
            },
            any @ Cond::Any(_) => self.when.push(any),
        }
        Some(())
    }

    fn interval(&self, form: &Form<i64>) -> Option<(i64, i64)> {
        form.interval(&|c| self.ranges.iter().find(|r| r.0 == c).map(|r| (r.1, r.2)))
    }

    /// Keeps the values of a coordinate for which factor * value + constant >= 0.
    fn bound(&mut self, coord: Coord, factor: i64, constant: i64) -> Option<()> {
        let range = self.ranges.iter_mut().find(|r| r.0 == coord)?;
        if factor > 0 {
            // value >= -constant / factor, rounded up.
            range.1 = range.1.max(-constant.div_euclid(factor));
        } else {
            range.2 = range.2.min(constant.div_euclid(-factor));
        }
        (range.1 <= range.2).then_some(())
    }

    fn piece(self, array: usize) -> Piece {
        let when = if self.when.is_empty() { None } else { Some(Cond::all(self.when)) };
        let address = self.forms.into_iter().next().unwrap_or_else(|| Form::int(0));
        Piece { array, ranges: self.ranges, when, address, width: self.width }
    }
}

/// Whether block and thread occur along `d` only as block * size + thread.
fn is_whole(form: &Form<i64>, d: Dim, size: i64) -> bool {
    let factor = |coord| form.terms().iter().find(|t| t.0 == Term::Coord(coord)).map_or(0, |t| t.1);
    factor(Coord::ThreadIdx(d)).checked_mul(size) == Some(factor(Coord::BlockIdx(d)))
        && form.terms().iter().all(|(term, _)| term.parts().iter().all(|part| is_whole(part, d, size)))
}

fn cond_forms(cond: &Cond<i64>, test: &dyn Fn(&Form<i64>) -> bool) -> bool {
    match cond {
        Cond::Const(_) => true,
        Cond::NonNegative(form) | Cond::Zero(form) => test(form),
        Cond::All(parts) | Cond::Any(parts) => parts.iter().all(|p| cond_forms(p, test)),
    }
}

/// Lays index tuples into a line of bytes so wide that no tuples meet which are not equal, and rows
/// begin on lines.
fn embed(regions: Vec<Region>, size: i64, line: i64) -> Result<Vec<Piece>, Refusal> {
    let rank = regions.iter().map(|r| r.forms.len()).max().unwrap_or(0);
    let mut lows = vec![i64::MAX; rank];
    let mut highs = vec![i64::MIN; rank];
    for region in &regions {
        for (i, form) in region.forms.iter().enumerate() {
            let (low, high) = region.interval(form).ok_or(Refusal::Overflow)?;
            lows[i] = lows[i].min(low);
            highs[i] = highs[i].max(high);
        }
    }
    let widest = regions.iter().map(|r| r.width).max().unwrap_or(0);
    let mut factors = vec![size];
    for i in 1..rank {
        let extent =
            highs[i - 1].checked_sub(lows[i - 1]).and_then(|n| n.checked_add(2)).ok_or(Refusal::Overflow)?;
        let bytes = extent.checked_mul(factors[i - 1]).ok_or(Refusal::Overflow)?;
        let room = if i == 1 { widest + 2 * line } else { 0 };
        let bytes = bytes.checked_add(room).ok_or(Refusal::Overflow)?;
        let step = if i == 1 { line } else { factors[i - 1] };
        factors.push(bytes.checked_add(step - 1).ok_or(Refusal::Overflow)? / step * step);
    }
    regions
        .into_iter()
        .map(|mut region| {
            let mut address = Form::int(0);
            for (i, form) in region.forms.iter().enumerate() {
                let bytes = form.times(&factors[i])?;
                // Along the first index only whole lines may be shifted away.
                let start = lows[i].checked_mul(factors[i]).ok_or(Refusal::Overflow)?;
                let shift = if i == 0 { start.div_euclid(line) * line } else { start };
                address = address.plus(&bytes.plus(&Form::int(-shift))?)?;
            }
            region.forms = vec![address];
            Ok(region.piece(0))
        })
        .collect()
}
