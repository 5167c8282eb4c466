//! An access before blocks are chosen: what the threads of any block touch through it.

use std::sync::Arc;

use super::addresses::Addresses;
use super::query::{CoordRange, CoordRanges, Refusal};
use super::reached::reached;
use crate::expr::{Cond, Coord, Dim, Excess, Form, LoopId, Term};
use crate::kernel::AccessKind;
use crate::launch::{BlockBox, Launch, Program};
use crate::space::{Block, Extents};

/// An access of one work item of a thread.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub(super) kind: AccessKind,
    /// Which instruction of the program makes it.
    pub(super) position: usize,
    /// How many loops stand around the first one of which threads do differently many iterations.
    pub(super) even: usize,
    /// Number of its [`Frame`].
    pub(super) frame: usize,
    pub(super) when: Arc<[Cond<i64>]>,
    pub(super) addresses: Addresses,
    pub(super) width: i64,
}

/// Which points make an access: how its boxes follow from blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    /// Iterations of the loops around it.
    pub(super) loops: Vec<CoordRange>,
    /// Along which dimensions block and thread are one coordinate.
    pub(super) joined: [bool; 3],
    /// Threads along each dimension that do it; `i64::MAX` where the domain sets no end.
    pub(super) threads: Extents,
}

/// Ranges of block and thread along a dimension, or of both as one coordinate.
type Along = [Option<CoordRange>; 2];

impl Frame {
    /// The boxes of points of some boxes of blocks of a shape.
    pub(super) fn placed(&self, shape: Block, blocks: &[BlockBox]) -> Result<Vec<CoordRanges>, Refusal> {
        let mut boxes = Vec::with_capacity(blocks.len());
        let mut ranges = Vec::with_capacity(self.loops.len() + 6);
        for block in blocks {
            let [along_x, along_y, along_z] = [Dim::X, Dim::Y, Dim::Z].map(|d| self.along(d, shape, block));
            let [along_x, along_y, along_z] = [along_x?, along_y?, along_z?];
            for x in along_x.iter().flatten() {
                for y in along_y.iter().flatten() {
                    for z in along_z.iter().flatten() {
                        ranges.clear();
                        ranges.extend_from_slice(&self.loops);
                        ranges.extend([x, y, z].into_iter().flatten().flatten());
                        boxes.push(CoordRanges::from(ranges.as_slice()));
                    }
                }
            }
        }
        Ok(boxes)
    }

    /// The ranges along a dimension: of blocks that lie inside the domain, and of one that it cuts.
    fn along(&self, d: Dim, shape: Block, block: &BlockBox) -> Result<[Option<Along>; 2], Refusal> {
        let i = d.index();
        let (shape, threads) = (shape[i], self.threads[i]);
        let (from, to) = (block.from[i], block.to[i]);
        let there = |along: Along| along.iter().flatten().all(|r| r.1 <= r.2).then_some(along);
        if self.joined[i] {
            let last = to.checked_mul(shape).ok_or(Refusal::Overflow)?.min(threads) - 1;
            return Ok([there([Some((Coord::Thread(d), from * shape, last)), None]), None]);
        }
        let whole = threads / shape;
        let in_blocks = |from, to, last| {
            there([Some((Coord::BlockIdx(d), from, to)), Some((Coord::ThreadIdx(d), 0, last))])
        };
        let inside = in_blocks(from, to.min(whole) - 1, shape - 1);
        let cut = (from..to).contains(&whole).then(|| in_blocks(whole, whole, threads % shape - 1));
        Ok([inside, cut.flatten()])
    }
}

/// A form in terms of blocks of a shape and threads in them, along all dimensions.
pub(super) fn by_block(form: &Form<i64>, shape: Block) -> Result<Form<i64>, Excess> {
    if !form.mentions(&|c| matches!(c, Coord::Thread(_))) {
        return Ok(form.clone());
    }
    let thread = |d: Dim| {
        let block = Form::coord(Coord::BlockIdx(d)).times(&shape[d.index()])?;
        block.plus(&Form::coord(Coord::ThreadIdx(d)))
    };
    let [x, y, z] = [thread(Dim::X)?, thread(Dim::Y)?, thread(Dim::Z)?];
    form.substitute(&|c| match c {
        Coord::Thread(Dim::X) => Some(x.clone()),
        Coord::Thread(Dim::Y) => Some(y.clone()),
        Coord::Thread(Dim::Z) => Some(z.clone()),
        _ => None,
    })
}

/// An access while it is being made ready.
pub(super) struct Draft {
    pub(super) loops: Vec<CoordRange>,
    /// How many of them, from the outermost, have the same iterations in all threads.
    pub(super) even: usize,
    pub(super) when: Vec<Cond<i64>>,
    pub(super) forms: Vec<Form<i64>>,
}

impl Draft {
    /// Writes loop variables as first value plus step times iteration. `false` if a loop has no iterations
    /// in any thread.
    pub(super) fn unroll(
        &mut self,
        program: &Program<i64>,
        launch: &Launch,
        loops: &[LoopId],
    ) -> Result<bool, Refusal> {
        let mut around: Vec<(Coord, Form<i64>)> = Vec::new();
        for &id in loops {
            let l = &program.loops[usize::from(id.0)];
            let variable = Coord::Loop(id);
            // Bounds may name the loops around, outermost first, whose variables are iterations by now.
            let outer = |c: Coord| around.iter().find(|o| o.0 == c).map(|o| o.1.clone());
            let (from, to) = (l.from.substitute(&outer)?, l.to.substitute(&outer)?);
            // Iterations that some thread does; those that this thread does not are cut by a condition.
            let span = if l.step > 0 { to.minus(&from)? } else { from.minus(&to)? };
            // A remainder of a coordinate has an interval even where the coordinate means nothing here.
            if span.mentions(&|c| self.whole(c, launch).is_none()) {
                return Err(Refusal::NotAffine);
            }
            let (low, high) = span.interval(&|c| self.whole(c, launch)).ok_or(Refusal::Overflow)?;
            let distance = l.step.checked_abs().ok_or(Refusal::Overflow)?;
            let most = high.div_euclid(distance).checked_add(1).ok_or(Refusal::Overflow)?;
            if most < 1 {
                return Ok(false);
            }
            let least = low.div_euclid(distance) + 1;
            self.loops.push((variable, 0, most - 1));
            let iteration = Form::coord(variable).times(&l.step)?.plus(&from)?;
            self.substitute(variable, &iteration)?;
            around.push((variable, iteration));
            if least >= most {
                if self.even + 1 == self.loops.len() {
                    self.even += 1;
                }
            } else {
                let left = span.minus(&Form::coord(variable).times(&distance)?)?;
                self.when.push(reached(&left, &|c| self.whole(c, launch))?);
            }
        }
        Ok(true)
    }

    /// The interval of a coordinate over the whole launch.
    fn whole(&self, coord: Coord, launch: &Launch) -> Option<(i64, i64)> {
        match coord {
            Coord::ThreadIdx(d) => Some((0, launch.sizes.block[d.index()] - 1)),
            Coord::BlockIdx(d) => Some((0, launch.sizes.grid[d.index()] - 1)),
            Coord::Loop(_) => self.loops.iter().find(|r| r.0 == coord).map(|r| (r.1, r.2)),
            _ => None,
        }
    }

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
    pub(super) fn join_threads(&mut self, shape: Block) -> Result<[bool; 3], Refusal> {
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
}

/// Whether block and thread occur along `d` only as block * size + thread.
fn is_whole(form: &Form<i64>, d: Dim, size: i64) -> bool {
    let factor = |coord| form.terms().iter().find(|t| t.0 == Term::Coord(coord)).map_or(0, |t| t.1);
    factor(Coord::ThreadIdx(d)).checked_mul(size) == Some(factor(Coord::BlockIdx(d)))
        && form.terms().iter().all(|(term, _)| term.parts().all(|part| is_whole(part, d, size)))
}

fn cond_forms(cond: &Cond<i64>, test: &dyn Fn(&Form<i64>) -> bool) -> bool {
    match cond {
        Cond::Const(_) => true,
        Cond::NonNegative(form) | Cond::Zero(form) => test(form),
        Cond::All(parts) | Cond::Any(parts) => parts.iter().all(|p| cond_forms(p, test)),
    }
}
