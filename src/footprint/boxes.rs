//! Boxes of threads under affine accesses that differ by constants only, as those of a stencil: the
//! closed form's common case, without a form or a query in between.
//!
//! Accesses whose addresses continue each other along a dimension are one access of more threads: the
//! 25 points of a star become three boxes.

use std::cell::Cell;

use super::arms::{Arms, Box3, Level};
use super::dense::Few;
use super::linear::count_progressions;
use super::pattern::{Frame, Pattern};
use super::placed;
use super::progression::Progression;
use super::query::Refusal;
use super::spread::Spread;
use crate::effort::spend_on;
use crate::expr::{Coord, Dim, Term};
use crate::launch::BlockBox;
use crate::space::{Block, Domain, Extents, Strides};

/// Steps for an access of a group.
const STEPS_OF_BASE: u64 = 16;

/// Accesses with equal strides and threads.
#[derive(Debug, Clone)]
pub(super) struct Group {
    frame: usize,
    /// Places that a thread has along x, y, z: more than one where its accesses lie as those of so many threads would.
    places: Extents,
    /// Bytes from a place to the next along x, y, z.
    strides: Strides,
    width: i64,
    /// First bytes for place 0, ascending.
    bases: Vec<i64>,
    /// The smallest distance between two of them.
    nearest: i64,
    /// The same accesses, those that continue each other joined.
    pub(super) arms: Option<Arms>,
}

/// The groups of some accesses; `None` if one of them is not so simple.
pub(super) fn groups(patterns: &[Pattern], frames: &[Frame]) -> Option<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    for pattern in patterns {
        let (strides, base) = simple(pattern, frames)?;
        spend_on(1 + groups.len() / 4, 1).ok()?;
        let like =
            |g: &&mut Group| g.frame == pattern.frame && g.strides == strides && g.width == pattern.width;
        if let Some(group) = groups.iter_mut().find(like) {
            group.bases.push(base);
        } else {
            let (frame, width) = (pattern.frame, pattern.width);
            let (bases, places) = (vec![base], Extents::from([1; 3]));
            groups.push(Group { frame, places, strides, width, bases, nearest: i64::MAX, arms: None });
        }
    }
    for group in &mut groups {
        group.bases.sort_unstable();
        group.bases.dedup();
        group.spread_out();
        let gaps = group.bases.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
        group.nearest = gaps.min().unwrap_or(i64::MAX);
        group.arms = Arms::new(group.strides, &group.bases, *group.places);
    }
    Some(groups)
}

/// Strides and first byte of an access in thread coordinates without loops and conditions.
fn simple(pattern: &Pattern, frames: &[Frame]) -> Option<(Strides, i64)> {
    let frame = &frames[pattern.frame];
    let [address] = &*pattern.addresses else { return None };
    if !pattern.when.is_empty() || !frame.loops.is_empty() || frame.joined != [true; 3] {
        return None;
    }
    let mut strides = Strides::ZERO;
    for (term, factor) in address.terms() {
        let Term::Coord(Coord::Thread(d)) = term else { return None };
        strides[d.index()] = *factor;
    }
    Some((strides, *address.constant()))
}

/// By how many bytes, modulo `line`, groups move from a block to the next along x, y and z, where there are several
/// blocks; `None` if some move otherwise than others.
pub(super) fn steps(groups: &[Group], shape: Block, blocks: &BlockBox, line: i64) -> Option<Strides> {
    let counts = blocks.counts();
    let mut all = groups.iter().map(|group| {
        let mut steps = Strides::ZERO;
        for d in 0..3 {
            if counts[d] > 1 {
                let places = group.places[d].checked_mul(shape[d])?;
                steps[d] = group.strides[d].checked_mul(places)?.rem_euclid(line);
            }
        }
        Some(steps)
    });
    let first = all.next().unwrap_or(Some(Strides::ZERO))?;
    all.all(|other| other == Some(first)).then_some(first)
}

/// How many blocks of a row lie between two that touch the same, at most; `None` if groups move in different ways.
pub(super) fn apart(groups: &[Group], shape: Block, blocks: &BlockBox) -> Option<i64> {
    let moves = steps(groups, shape, blocks, i64::MAX)?[0];
    let bases = || groups.iter().flat_map(|group| &group.bases);
    let (first, last) = (bases().min()?, bases().max()?);
    let mut of_thread = 0_i64;
    for group in groups {
        let along =
            |d: usize| group.strides[d].checked_abs()?.checked_mul(shape[d].checked_mul(group.places[d])?);
        let bytes = (0..3).try_fold(group.width, |sum, d| sum.checked_add(along(d)?))?;
        of_thread = of_thread.max(bytes);
    }
    let bytes = last.checked_sub(*first)?.checked_add(of_thread)?;
    (moves > 0).then(|| bytes / moves)
}

/// The last byte, counted from the beginning of the array in either direction, that work items of a domain touch through
/// groups; `None` if it leaves 64 bits.
pub(super) fn reach(groups: &[Group], domain: Domain) -> Option<i64> {
    let mut farthest = 0;
    for group in groups {
        let base =
            group.bases.iter().map(|base| base.checked_abs()).try_fold(0, |most, b| Some(b?.max(most)))?;
        let mut last = base.checked_add(group.width)?;
        for d in 0..3 {
            last = last.checked_add(group.strides[d].checked_abs()?.checked_mul(domain[d])?)?;
        }
        farthest = last.max(farthest);
    }
    Some(farthest)
}

/// How many arms groups have, if all lie in the same rows and planes, of which each has a whole number of the smaller ones.
pub(super) fn arms_in_planes(groups: &[Group]) -> Option<usize> {
    let mut number = 0;
    let mut levels = None;
    for group in groups {
        let arms = group.arms.as_ref()?;
        if *levels.get_or_insert(&arms.levels) != &arms.levels {
            return None;
        }
        number += arms.for_threads(1).all.len();
    }
    let nested = |pair: &[Level]| pair[1].stride % pair[0].stride == 0;
    levels.is_none_or(|levels| levels.windows(2).all(nested)).then_some(number)
}

/// Groups under blocks; each access touches so many bytes more than its width.
pub(super) struct Part<'p> {
    pub(super) groups: &'p [Group],
    pub(super) frames: &'p [Frame],
    /// Threads of a block.
    pub(super) shape: Block,
    pub(super) blocks: &'p [BlockBox],
    pub(super) wider: i64,
}

/// Distinct lines of groups, each under its blocks.
pub(super) fn count<'p>(parts: impl Iterator<Item = Part<'p>> + Clone, line: i64) -> Result<u128, Refusal> {
    if let Some(lines) = count_few(parts.clone(), line)? {
        return Ok(lines.into());
    }
    // The boxes of one count have the place of those of the count before.
    let mut boxes = BOXES.take();
    boxes.clear();
    let counted = count_arms(parts.clone(), &mut boxes, line);
    BOXES.set(boxes);
    match counted? {
        Some(lines) => Ok(lines.into()),
        None => count_one_by_one(parts, line),
    }
}

thread_local! {
    static BOXES: Cell<Vec<Box3>> = const { Cell::new(Vec::new()) };
}

/// The same of few arms under boxes that leave out no line: that needs no list.
fn count_few<'p>(parts: impl Iterator<Item = Part<'p>>, line: i64) -> Result<Option<u64>, Refusal> {
    let mut few = Few::new(line);
    for part in parts {
        for group in part.groups {
            let Some(arms) = &group.arms else { return Ok(None) };
            let width = group.width.saturating_add(part.wider);
            for block in part.blocks {
                let places = group.places_of(&part, block)?;
                if places.is_some_and(|places| few.add(arms, &places, width).is_none()) {
                    return Ok(None);
                }
            }
        }
    }
    few.count().map(Some)
}

/// The same, if all of it lies in rows and planes.
fn count_arms<'p>(
    parts: impl Iterator<Item = Part<'p>>,
    boxes: &mut Vec<Box3>,
    line: i64,
) -> Result<Option<u64>, Refusal> {
    // Mostly there is one, which needs no list.
    let (mut only, mut several) = (None, Vec::new());
    for part in parts {
        for group in part.groups {
            let Some(arms) = &group.arms else { return Ok(None) };
            let first = boxes.len();
            for block in part.blocks {
                let places = group.places_of(&part, block)?;
                boxes.extend(places.map(|places| Box3::new(places, &arms.levels)));
            }
            if boxes.len() > first {
                let width = group.width.saturating_add(part.wider);
                let spread = Spread::new(arms, boxes, first..boxes.len(), width)?;
                if only.is_none() && several.is_empty() {
                    only = Some(spread);
                } else {
                    several.extend(only.take());
                    several.push(spread);
                }
            }
        }
    }
    placed::count(if several.is_empty() { only.as_slice() } else { &several }, boxes, line)
}

/// The same, in whatever way boxes lie.
fn count_one_by_one<'p>(parts: impl Iterator<Item = Part<'p>>, line: i64) -> Result<u128, Refusal> {
    let mut progressions = Vec::with_capacity(16);
    let mut boxes = Vec::new();
    for part in parts {
        for group in part.groups {
            for block in part.blocks {
                if let Some(places) = group.places_of(&part, block)? {
                    group.place(places, part.wider, &mut boxes, &mut progressions)?;
                }
            }
        }
    }
    count_progressions(&mut progressions, line)
}

/// First thread and number of threads along each dimension; `None` if there are none.
fn threads(frame: &Frame, shape: Block, block: &BlockBox) -> Result<Option<[(i64, i64); 3]>, Refusal> {
    let mut ranges = [(0, 0); 3];
    for d in Dim::ALL {
        let i = d.index();
        let first = block.from[i].checked_mul(shape[i]).ok_or(Refusal::Overflow)?;
        let end = block.to[i].checked_mul(shape[i]).ok_or(Refusal::Overflow)?.min(frame.threads[i]);
        if end <= first {
            return Ok(None);
        }
        ranges[i] = (first, end - first);
    }
    Ok(Some(ranges))
}

/// An access under a box of threads: where it begins and how often each stride is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    counts: Extents,
    base: i64,
}

/// Most places of a thread along a dimension.
const MOST_PLACES: i64 = 16;

impl Group {
    /// Takes accesses of a thread that lie evenly between it and the next as one access of more threads: what two rows
    /// of a thread touch is what as many threads as there are rows would touch. The bytes are the same.
    fn spread_out(&mut self) {
        for d in 0..3 {
            let stride = self.strides[d];
            for places in (2..=MOST_PLACES).rev().filter(|places| stride != 0 && stride % places == 0) {
                if let Some(firsts) = evenly(&self.bases, stride / places, places) {
                    self.bases = firsts;
                    self.places[d] = places;
                    self.strides[d] = stride / places;
                    break;
                }
            }
        }
    }

    /// First place and number of places along each dimension; `None` if there are none.
    fn places_of(&self, part: &Part<'_>, block: &BlockBox) -> Result<Option<[(i64, i64); 3]>, Refusal> {
        let Some(mut ranges) = threads(&part.frames[self.frame], part.shape, block)? else { return Ok(None) };
        for (d, (first, count)) in ranges.iter_mut().enumerate() {
            *first = first.checked_mul(self.places[d]).ok_or(Refusal::Overflow)?;
            *count = count.checked_mul(self.places[d]).ok_or(Refusal::Overflow)?;
        }
        Ok(Some(ranges))
    }

    fn place(
        &self,
        threads: [(i64, i64); 3],
        wider: i64,
        boxes: &mut Vec<Placed>,
        out: &mut Vec<Progression>,
    ) -> Result<(), Refusal> {
        let mut shift = 0_i128;
        let mut strides = [0; 3];
        let mut counts = Extents::from([1; 3]);
        for d in 0..3 {
            let (first, count) = threads[d];
            let stride = self.strides[d];
            // A negative stride runs backwards from the other end.
            let start = if stride < 0 { first + count - 1 } else { first };
            shift += i128::from(start) * i128::from(stride);
            if stride != 0 {
                strides[d] = stride.checked_abs().ok_or(Refusal::Overflow)?;
                counts[d] = count;
            }
        }
        let shift = i64::try_from(shift).map_err(|_| Refusal::Overflow)?;
        spend_on(self.bases.len(), STEPS_OF_BASE)?;
        boxes.clear();
        for base in &self.bases {
            let base = base.checked_add(shift).ok_or(Refusal::Overflow)?;
            boxes.push(Placed { counts, base });
        }
        for d in 0..3 {
            // Nothing continues what lies further apart than all of its steps.
            if strides[d] != 0 && self.nearest <= strides[d].saturating_mul(counts[d]) {
                join(boxes, d, strides[d]);
            }
        }
        for placed in boxes.iter() {
            let steps = [0, 1, 2].map(|d| (strides[d], placed.counts[d]));
            out.push(Progression::new(placed.base, &steps, self.width.saturating_add(wider))?);
        }
        Ok(())
    }
}

/// The first of each `places` bases that lie `step` apart, if all bases are parts of such runs; the first is that of
/// place 0, from which `step` leads to the others.
fn evenly(bases: &[i64], step: i64, places: i64) -> Option<Vec<i64>> {
    if !usize::try_from(places).is_ok_and(|places| bases.len().is_multiple_of(places)) {
        return None;
    }
    let mut taken = vec![false; bases.len()];
    let mut firsts = Vec::with_capacity(bases.len());
    for i in 0..bases.len() {
        if taken[i] {
            continue;
        }
        // Bases ascend: the lowest that is left has all others of its run above it.
        let apart = step.checked_abs()?;
        for place in 1..places {
            let next = bases[i].checked_add(apart.checked_mul(place)?)?;
            let at = bases.binary_search(&next).ok().filter(|at| !taken[*at])?;
            taken[at] = true;
        }
        firsts.push(if step < 0 { bases[i].checked_add(apart.checked_mul(places - 1)?)? } else { bases[i] });
    }
    firsts.sort_unstable();
    Some(firsts)
}

/// Joins what continues along a dimension: n steps from b and m from b + k steps are k + m steps from b
/// if k <= n leaves no gap.
fn join(boxes: &mut Vec<Placed>, d: usize, stride: i64) {
    if boxes.len() < 2 {
        return;
    }
    let others = |p: &Placed| {
        let mut counts = p.counts;
        counts[d] = 0;
        (counts, p.base.rem_euclid(stride))
    };
    boxes.sort_unstable_by_key(|p| (others(p), p.base));
    let mut kept = 0;
    for i in 1..boxes.len() {
        let next = boxes[i];
        let last = &mut boxes[kept];
        let steps = (i128::from(next.base) - i128::from(last.base)) / i128::from(stride);
        match i64::try_from(steps) {
            Ok(k) if others(last) == others(&next) && k <= last.counts[d] => {
                last.counts[d] = last.counts[d].max(k.saturating_add(next.counts[d]));
            }
            _ => {
                kept += 1;
                boxes[kept] = next;
            }
        }
    }
    boxes.truncate(kept + 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs may be woven into each other; none is taken where a base is left over.
    #[test]
    fn bases_that_lie_evenly_are_one_access_of_more_threads() {
        assert_eq!(evenly(&[0, 8, 100, 108], 8, 2), Some(vec![0, 100]));
        assert_eq!(evenly(&[0, 4, 8, 12], 8, 2), Some(vec![0, 4]));
        assert_eq!(evenly(&[0, 8, 16, 24], -8, 4), Some(vec![24]));
        assert_eq!(evenly(&[0, 8, 16, 24, 32, 40], 8, 2), Some(vec![0, 16, 32]));
        assert_eq!(evenly(&[0, 8, 16], 8, 2), None);
        assert_eq!(evenly(&[0, 8, 20, 24], 8, 2), None);
    }
}
