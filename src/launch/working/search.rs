//! Whether blocks of a box may have work: conditions decided for many blocks at a time.

use crate::effort::spend_on;
use crate::expr::{Cond, Coord, Form, PartedCond, Term};
use crate::launch::geometry::Launch;
use crate::launch::program::Program;
use crate::launch::wave::BlockBox;
use crate::space::BlockIndex;

/// Most different conditions of instructions that are looked at.
const MOST_CONDITIONS: usize = 64;
/// Steps for a part of a condition.
const STEPS_OF_PART: u64 = 3;

/// Looks for blocks with work.
#[derive(Debug, Clone)]
pub(super) struct Search<'a> {
    launch: &'a Launch,
    conditions: Vec<[Option<SizedCond<'a>>; 2]>,
    /// Threads along each dimension that have a work item inside the domain, where others do nothing.
    threads: Option<[i64; 3]>,
}

impl<'a> Search<'a> {
    /// Of a launch; `threads` along each dimension have a work item inside the domain, where others do nothing. `None` if
    /// something is done in every block.
    pub(super) fn new(
        launch: &'a Launch,
        program: &'a Program<i64>,
        threads: Option<[i64; 3]>,
    ) -> Option<Self> {
        Some(Self { launch, conditions: conditions(program)?, threads })
    }
}

impl Search<'_> {
    /// Whether a condition may hold again and again, as those on remainders do.
    pub(super) fn may_repeat(&self) -> bool {
        self.conditions.iter().flatten().flatten().any(|cond| cond.parted.is_some())
    }

    /// Whether a block of a box may have work.
    pub(super) fn may_work(&self, blocks: &BlockBox) -> bool {
        let within = |coord| self.within(coord, blocks);
        // What cannot be found out may be.
        let may_hold =
            |cond: &Option<SizedCond>| cond.as_ref().is_none_or(|c| c.decided(&within) != Some(false));
        self.conditions.iter().any(|both| both.iter().all(may_hold))
    }

    /// How many blocks of a box may have work, if few decisions tell that.
    pub(super) fn count(&self, within: BlockBox, left: &mut u32) -> Option<i64> {
        *left = left.checked_sub(1)?;
        match self.decided(&within) {
            Some(false) => return Some(0),
            Some(true) => return Some(within.count()),
            None => {}
        }
        if within.count() == 1 {
            return Some(i64::from(self.may_work(&within)));
        }
        let [lower, upper] = halves(within);
        Some(self.count(lower, left)? + self.count(upper, left)?)
    }

    /// How many of some blocks of a box may have work: where a part of the box is decided, so are all in it.
    pub(super) fn with_work(&self, within: BlockBox, some: &mut [BlockIndex]) -> usize {
        if some.len() <= 2 || within.count() == 1 {
            return some.iter().filter(|b| self.may_work(&BlockBox::one(**b))).count();
        }
        match self.decided(&within) {
            Some(false) => return 0,
            Some(true) => return some.len(),
            None => {}
        }
        let parts = halves(within);
        let mut below = 0;
        for i in 0..some.len() {
            if (0..3).all(|d| some[i][d] < parts[0].to[d]) {
                some.swap(below, i);
                below += 1;
            }
        }
        let (lower, upper) = some.split_at_mut(below);
        self.with_work(parts[0], lower) + self.with_work(parts[1], upper)
    }

    /// Whether every block of a box may have work, or none.
    fn decided(&self, blocks: &BlockBox) -> Option<bool> {
        let within = |coord| self.within(coord, blocks);
        let mut may = false;
        for both in &self.conditions {
            let mut here = Some(true);
            for cond in both.iter().flatten() {
                match cond.decided(&within) {
                    Some(true) => {}
                    Some(false) => {
                        here = Some(false);
                        break;
                    }
                    None => here = here.filter(|_| self.may_in_each(cond.cond, blocks)),
                }
            }
            match here {
                Some(true) => return Some(true),
                Some(false) => {}
                None => may = true,
            }
        }
        if may { None } else { Some(false) }
    }

    /// Whether a condition may hold in each block of a box: at its border, where it holds for some threads of each.
    fn may_in_each(&self, cond: &Cond<i64>, blocks: &BlockBox) -> bool {
        match cond {
            Cond::Const(held) => *held,
            Cond::NonNegative(form) => self.ends_in_each(form, blocks).is_some_and(|(_, high)| high >= 0),
            Cond::Zero(form) => {
                self.ends_in_each(form, blocks).is_some_and(|(low, high)| low <= 0 && high >= 0)
            }
            Cond::All(parts) => parts.iter().all(|part| self.may_in_each(part, blocks)),
            Cond::Any(parts) => parts.iter().any(|part| self.may_in_each(part, blocks)),
        }
    }

    /// What the least value of an affine form is at most, and its greatest at least, in each block of a box.
    fn ends_in_each(&self, form: &Form<i64>, blocks: &BlockBox) -> Option<(i64, i64)> {
        let last = BlockIndex::along(|d| blocks.to[d] - 1);
        let (mut low, mut high) = (*form.constant(), *form.constant());
        for (term, factor) in form.terms() {
            let (to_low, to_high) = match term {
                Term::Coord(Coord::ThreadIdx(d)) => {
                    // The last block may have the fewest threads with work.
                    let reach = factor.checked_mul(self.last_thread(d.index(), &BlockBox::one(last)))?;
                    (reach.min(0), reach.max(0))
                }
                Term::Coord(Coord::BlockIdx(d)) => {
                    let ends = [blocks.from[d.index()], last[d.index()]];
                    let [one, other] = [factor.checked_mul(ends[0])?, factor.checked_mul(ends[1])?];
                    (one.max(other), one.min(other))
                }
                _ => return None,
            };
            low = low.checked_add(to_low)?;
            high = high.checked_add(to_high)?;
        }
        Some((low, high))
    }

    /// Whether all conditions hold in every block of a box.
    pub(super) fn all_work(&self, blocks: &BlockBox) -> bool {
        let within = |coord| self.within(coord, blocks);
        self.conditions.iter().flatten().flatten().all(|c| c.decided(&within) == Some(true))
    }

    /// The values of a coordinate in the threads of a box of blocks.
    fn within(&self, coord: Coord, blocks: &BlockBox) -> Option<(i64, i64)> {
        match coord {
            Coord::ThreadIdx(d) => Some((0, self.last_thread(d.index(), blocks))),
            Coord::BlockIdx(d) => Some((blocks.from[d.index()], blocks.to[d.index()] - 1)),
            Coord::Axis(_) | Coord::Thread(_) | Coord::Loop(_) => None,
        }
    }

    /// The last thread along a dimension that may do anything in some block of a box.
    fn last_thread(&self, d: usize, blocks: &BlockBox) -> i64 {
        let shape = self.launch.sizes.block[d];
        let Some(threads) = &self.threads else { return shape - 1 };
        let of_first = (threads[d] - 1).saturating_sub(blocks.from[d].saturating_mul(shape));
        of_first.clamp(0, shape - 1)
    }

    /// The first or last place along a dimension at which a block of the box may have work.
    pub(super) fn edge(&self, blocks: BlockBox, d: usize, last: bool, left: &mut u32) -> Option<i64> {
        *left = left.saturating_sub(1);
        if *left > 0 && !self.may_work(&blocks) {
            return None;
        }
        let (from, to) = (blocks.from[d], blocks.to[d]);
        if *left == 0 || to - from == 1 {
            return Some(if last { to - 1 } else { from });
        }
        let (mut lower, mut upper) = (blocks, blocks);
        (lower.to[d], upper.from[d]) = (from + (to - from) / 2, from + (to - from) / 2);
        let [first, second] = if last { [upper, lower] } else { [lower, upper] };
        self.edge(first, d, last, left).or_else(|| self.edge(second, d, last, left))
    }
}

/// The conditions under which anything is done, one of which has to hold; `None` if something is always
/// done, or if they are too many.
fn conditions(program: &Program<i64>) -> Option<Vec<[Option<SizedCond<'_>>; 2]>> {
    let mut found = Vec::new();
    for instruction in &program.instructions {
        for item in instruction.items.iter() {
            let guard = program.items.get(usize::from(item)).and_then(|i| i.guard.as_ref());
            let both = [instruction.when.as_ref(), guard];
            if both == [None, None] || found.len() > MOST_CONDITIONS {
                return None;
            }
            // What cannot be found out is taken as done.
            spend_on(1 + found.len(), 4).ok()?;
            if !found.contains(&both) {
                found.push(both);
            }
        }
    }
    Some(found.into_iter().map(|both| both.map(|cond| cond.map(SizedCond::new))).collect())
}

/// A condition that is decided for many boxes, and its size.
#[derive(Debug, Clone)]
struct SizedCond<'a> {
    cond: &'a Cond<i64>,
    /// With its forms taken apart, where some are not affine.
    parted: Option<PartedCond>,
    size: usize,
}

impl<'a> SizedCond<'a> {
    fn new(cond: &'a Cond<i64>) -> Self {
        let parted = if cond.is_affine() { None } else { PartedCond::new(cond) };
        Self { cond, parted, size: cond.size() }
    }

    /// Whether it holds for all values of coordinates, or for none; `None` if that cannot be found out.
    fn decided(&self, within: &dyn Fn(Coord) -> Option<(i64, i64)>) -> Option<bool> {
        spend_on(1 + self.size, STEPS_OF_PART).ok()?;
        match &self.parted {
            Some(parted) => parted.decided(within),
            None => self.cond.decided(within),
        }
    }
}

/// The halves of a box of several blocks, along the dimension in which it is longest.
fn halves(within: BlockBox) -> [BlockBox; 2] {
    let size = |d: usize| within.to[d] - within.from[d];
    let longer = |a: usize, b: usize| if size(b) > size(a) { b } else { a };
    let d = longer(longer(0, 1), 2);
    let middle = within.from[d] + size(d) / 2;
    let mut halves = [within; 2];
    (halves[0].to[d], halves[1].from[d]) = (middle, middle);
    halves
}
