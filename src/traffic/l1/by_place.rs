//! What decides along each dimension of the grid what blocks do, where that follows from their places there: conditions,
//! bounds of loops, and the ends of the domain. Places at which all of it is decided alike are of one kind.

use std::collections::BTreeMap;

use super::prepared::{CondParts, Prepared, PreparedForm};
use super::repeated;
use crate::expr::Coord;
use crate::kernel::Kernel;
use crate::launch::{BlockBox, Launch, Program};
use crate::random::Digest;

/// Most kinds that are told apart.
const MOST_KINDS: usize = 32;
/// Most places along a dimension that are looked at.
const MOST_LOOKS: usize = 256;

/// Places along a dimension at which all is decided alike.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SamePlaces {
    /// From each first to before each last.
    ranges: Vec<[i64; 2]>,
}

impl SamePlaces {
    pub(super) fn count(&self) -> i64 {
        self.ranges.iter().map(|[from, to]| to - from).sum()
    }

    /// The longest range of them.
    pub(super) fn longest(&self) -> [i64; 2] {
        *self.ranges.iter().max_by_key(|[from, to]| to - from).expect("there is a range in each")
    }

    /// The `i`-th of them.
    pub(super) fn at(&self, mut i: i64) -> i64 {
        for &[from, to] in &self.ranges {
            if i < to - from {
                return from + i;
            }
            i -= to - from;
        }
        self.ranges[0][0]
    }
}

/// Something follows from several dimensions together, or in another way than by a multiple, or is too large.
#[derive(Debug)]
pub(super) struct Entangled;

/// The dimension along which a form moves, if it does.
type Along = Option<(usize, Moving)>;

/// A form along one dimension of the grid: in each block it lies between two numbers, which move along with it.
#[derive(Debug, Clone, Copy)]
struct Moving {
    low: i64,
    high: i64,
    by: i64,
    /// Whether it follows from loops, too, and not from the thread alone.
    in_loops: bool,
    /// Whether it is asked if it is zero, and not if it is negative.
    is_zero: bool,
}

impl Moving {
    fn at(self, block: i64) -> Option<[i64; 2]> {
        let moved = self.by.checked_mul(block)?;
        Some([self.low.checked_add(moved)?, self.high.checked_add(moved)?])
    }

    /// What it is in all threads of a block; `None` where that differs.
    fn decided(self, block: i64) -> Result<Option<bool>, Entangled> {
        let [low, high] = self.at(block).ok_or(Entangled)?;
        Ok(match (low, high) {
            (0, 0) => Some(true),
            (1.., _) => Some(!self.is_zero),
            (_, ..0) => Some(false),
            (0, _) if !self.is_zero => Some(true),
            _ => None,
        })
    }

    fn is_above(self, block: i64) -> bool {
        self.at(block).is_some_and(|[low, _]| low > 0)
    }

    /// In which share of the threads of a block it holds, if each number between the two is as frequent; `None` where that
    /// is not known.
    fn share(self, block: i64) -> Option<f64> {
        if let Some(held) = self.decided(block).ok()? {
            return Some(f64::from(u8::from(held)));
        }
        if self.in_loops {
            return None;
        }
        let [low, high] = self.at(block)?.map(|end| end as f64);
        let holds = if self.is_zero { 1.0 } else { high + 1.0 };
        Some(holds / (high - low + 1.0))
    }
}

/// What decides along one dimension.
#[derive(Debug, Default)]
struct AlongOne {
    /// Forms that are compared with zero.
    compared: Vec<Moving>,
    /// First and last values of loops, and their steps.
    loops: Vec<([Moving; 2], i64)>,
}

/// What decides what a block does, by dimension.
pub(super) struct ByPlace {
    along: [AlongOne; 3],
}

impl ByPlace {
    pub(super) fn new(
        kernel: &Kernel,
        launch: &Launch,
        program: &Program<i64>,
        prepared: &Prepared,
    ) -> Result<Self, Entangled> {
        let mut found = Self::of_conditions(launch, program, prepared)?;
        found.add_ends(kernel, launch, program)?;
        Ok(found)
    }

    /// Adds that the domain ends somewhere.
    pub(super) fn add_ends(
        &mut self,
        kernel: &Kernel,
        launch: &Launch,
        program: &Program<i64>,
    ) -> Result<(), Entangled> {
        let shape = launch.candidate.block();
        let clipped = program.instructions.iter().any(|i| i.clipped);
        for item in program.items.iter().filter(|_| clipped) {
            for d in 0..3 {
                // (block * shape + thread) * fold + offset < extent
                let fold = program.fold[d];
                let rest = kernel.extents()[d] - 1 - item.offset[d];
                let step = shape[d].checked_mul(fold).ok_or(Entangled)?;
                let least = rest.checked_sub(step - fold).ok_or(Entangled)?;
                self.along[d].compared.push(Moving {
                    low: least,
                    high: rest,
                    by: -step,
                    in_loops: false,
                    is_zero: false,
                });
            }
        }
        Ok(())
    }

    /// What conditions and bounds of loops decide.
    pub(super) fn of_conditions(
        launch: &Launch,
        program: &Program<i64>,
        prepared: &Prepared,
    ) -> Result<Self, Entangled> {
        let mut found = Self { along: Default::default() };
        let moving = |form: &PreparedForm| moving(form, launch, prepared);
        for cond in prepared.guards.iter().flatten().chain(&prepared.conditions) {
            found.compare(&cond.parts, &moving)?;
        }
        for (range, ends) in program.loops.iter().zip(&prepared.loops) {
            let [from, to] = [moving(&ends[0])?, moving(&ends[1])?];
            let d = match (from, to) {
                (None, None) => continue,
                (Some((d, _)), None) | (None, Some((d, _))) => d,
                (Some((d, _)), Some((other, _))) if d == other => d,
                (Some(_), Some(_)) => return Err(Entangled),
            };
            let still = |form: &PreparedForm| {
                let (low, high) = interval(form, launch, prepared).ok_or(Entangled)?;
                Ok(Moving { low, high, by: 0, in_loops: true, is_zero: false })
            };
            let ends = [
                from.map_or_else(|| still(&ends[0]), |(_, moving)| Ok(moving))?,
                to.map_or_else(|| still(&ends[1]), |(_, moving)| Ok(moving))?,
            ];
            found.along[d].loops.push((ends, range.step));
        }
        Ok(found)
    }

    fn compare(
        &mut self,
        cond: &CondParts,
        moving: &dyn Fn(&PreparedForm) -> Result<Along, Entangled>,
    ) -> Result<(), Entangled> {
        match cond {
            CondParts::Const(_) => Ok(()),
            CondParts::NonNegative(form) | CondParts::Zero(form) => {
                if let Some((d, moving)) = moving(form)? {
                    let is_zero = matches!(cond, CondParts::Zero(_));
                    self.along[d].compared.push(Moving { is_zero, ..moving });
                }
                Ok(())
            }
            CondParts::All(parts) | CondParts::Any(parts) => {
                parts.iter().try_for_each(|part| self.compare(part, moving))
            }
        }
    }

    /// The kinds of blocks along each dimension; `None` where there are more than may be told apart.
    pub(super) fn kinds(&self, blocks: &BlockBox) -> Option<[Vec<SamePlaces>; 3]> {
        let mut kinds = [const { Vec::new() }; 3];
        for (d, kinds) in kinds.iter_mut().enumerate() {
            *kinds = self.along[d].kinds(blocks.from[d], blocks.to[d])?;
        }
        let number: usize = kinds.iter().map(Vec::len).product();
        (number <= MOST_KINDS).then_some(kinds)
    }

    /// The share of a block's threads, about and at most, that do something else at one place along a dimension than at
    /// another; `None` where loops make that another than can be told.
    pub(super) fn difference(&self, d: usize, [one, other]: [i64; 2]) -> Option<f64> {
        let along = &self.along[d];
        let iterations = |place: i64| along.loops.iter().map(move |of_loop| longest(of_loop, place));
        if !iterations(one).eq(iterations(other)) {
            return None;
        }
        let of_form = |moving: &Moving| Some((moving.share(one)? - moving.share(other)?).abs());
        along.compared.iter().map(of_form).try_fold(0.0, |most, share| Some(f64::max(most, share?)))
    }
}

/// How often a loop runs at a place, in the threads in which it runs longest.
fn longest(([from, to], step): &([Moving; 2], i64), place: i64) -> Option<i64> {
    repeated::iterations(from.at(place)?[0], to.at(place)?[1], *step)
}

impl AlongOne {
    fn kinds(&self, from: i64, to: i64) -> Option<Vec<SamePlaces>> {
        let mut looks = MOST_LOOKS;
        let mut ranges = Vec::new();
        self.split(from, to, &mut looks, &mut ranges)?;
        // Those in which all is decided are alike wherever they are; of the others each is by itself.
        let mut kinds: Vec<SamePlaces> = Vec::new();
        let mut known: BTreeMap<u64, usize> = BTreeMap::new();
        for (range, decided) in ranges {
            if let Some(&kind) = decided.and_then(|key| known.get(&key)) {
                kinds[kind].ranges.push(range);
            } else {
                known.extend(decided.map(|key| (key, kinds.len())));
                kinds.push(SamePlaces { ranges: vec![range] });
            }
        }
        (kinds.len() <= MOST_KINDS).then_some(kinds)
    }

    /// Splits a range until each part is of one kind.
    fn split(
        &self,
        from: i64,
        to: i64,
        looks: &mut usize,
        found: &mut Vec<([i64; 2], Option<u64>)>,
    ) -> Option<()> {
        *looks = looks.checked_sub(1)?;
        let (first, last) = (self.decided(from).ok()?, self.decided(to - 1).ok()?);
        // Everything moves one way only.
        if to - from == 1 || first.is_some() && first == last {
            found.push(([from, to], first));
            return Some(());
        }
        let middle = from + (to - from) / 2;
        self.split(from, middle, looks, found)?;
        self.split(middle, to, looks, found)
    }

    /// How everything is decided in all threads at one place alike, as one number; within, `None` where it is not.
    fn decided(&self, place: i64) -> Result<Option<u64>, Entangled> {
        let mut digest = Digest::default();
        let mut is_decided = true;
        for moving in &self.compared {
            match moving.decided(place)? {
                // What is not zero on both sides of some places is so in another way on either.
                Some(false) if moving.is_zero && moving.is_above(place) => digest.add(2),
                Some(held) => digest.add(u64::from(held)),
                None => is_decided = false,
            }
        }
        for ([from, to], step) in &self.loops {
            let (from, to) = (from.at(place).ok_or(Entangled)?, to.at(place).ok_or(Entangled)?);
            let least = repeated::iterations(from[1], to[0], *step).ok_or(Entangled)?;
            is_decided &= least == repeated::iterations(from[0], to[1], *step).ok_or(Entangled)?;
            digest.add_signed(least);
        }
        Ok(is_decided.then(|| digest.get()))
    }
}

/// The dimension along which a form follows from the place of the block, if it does.
fn moving(form: &PreparedForm, launch: &Launch, prepared: &Prepared) -> Result<Along, Entangled> {
    let Some(affine) = &form.affine else {
        let begins_there = |loop_ends: &[PreparedForm; 2]| loop_ends.iter().any(|end| of_block(end));
        let follows = form.form.mentions(&|coord| match coord {
            Coord::BlockIdx(_) => true,
            Coord::Loop(id) => begins_there(&prepared.loops[usize::from(id.0)]),
            Coord::ThreadIdx(_) | Coord::Axis(_) | Coord::Thread(_) => false,
        });
        return if follows { Err(Entangled) } else { Ok(None) };
    };
    let block = affine.block;
    let mut along = (0..3).filter(|&d| block[d] != 0);
    let Some(d) = along.next() else { return Ok(None) };
    if along.next().is_some() {
        return Err(Entangled);
    }
    let (low, high) = interval(form, launch, prepared).ok_or(Entangled)?;
    let in_loops = form.form.mentions(&|coord| matches!(coord, Coord::Loop(_)));
    Ok(Some((d, Moving { low, high, by: block[d], in_loops, is_zero: false })))
}

fn of_block(form: &PreparedForm) -> bool {
    form.form.mentions(&|coord| matches!(coord, Coord::BlockIdx(_)))
}

/// Between which numbers a form lies in the first block; `None` where that is not known, or depends on loops that begin or
/// end elsewhere in other blocks.
fn interval(form: &PreparedForm, launch: &Launch, prepared: &Prepared) -> Option<(i64, i64)> {
    let shape = launch.candidate.block();
    form.form.interval(&|coord| match coord {
        Coord::ThreadIdx(d) => Some((0, shape[d.index()] - 1)),
        Coord::BlockIdx(_) => Some((0, 0)),
        Coord::Loop(id) => {
            let [from, to] = &prepared.loops[usize::from(id.0)];
            if of_block(from) || of_block(to) {
                return None;
            }
            // Loops come after those around them.
            let (from, to) = (interval(from, launch, prepared)?, interval(to, launch, prepared)?);
            Some((from.0.min(to.0), from.1.max(to.1)))
        }
        Coord::Axis(_) | Coord::Thread(_) => None,
    })
}
