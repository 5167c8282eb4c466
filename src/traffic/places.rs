//! Which blocks stand for all of them.

use super::l1::{Differing, differing};
use crate::footprint::Threads;
use crate::launch::{BlockBox, Working, work_items};
use crate::quantity::{ItemCount, PerBlock, Share};
use crate::space::{BlockIndex, Extents};

/// Most blocks side by side that are looked at where blocks differ in more than how they lie relative to lines.
const MOST_DIFFERENT: i64 = 4;
/// So few blocks are all looked at.
const MOST_OF_FEW: i64 = 2 * MOST_DIFFERENT;
/// A kind of block with a smaller share of all blocks is left to the others.
const SMALL_SHARE: f64 = 0.03;

/// A block that stands for a share of all blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Representative {
    pub(super) block: BlockBox,
    /// The blocks that do the same, though they may lie otherwise relative to lines.
    pub(super) alike: BlockBox,
    /// Share of the blocks of the grid.
    pub(super) share: f64,
    /// Work items of the block.
    pub(super) items: ItemCount<PerBlock>,
    /// Whether it is of the usual kind, which the domain does not cut if there is one.
    pub(super) whole: bool,
}

impl Representative {
    /// Some of the blocks that do the same, side by side.
    pub(super) fn some(&self) -> Vec<BlockIndex> {
        diagonal(&self.alike, MOST_DIFFERENT)
    }
}

/// The blocks that stand for all of those that have work.
#[derive(Debug)]
pub(super) struct Representatives {
    pub(super) blocks: Vec<Representative>,
    /// Whether not all blocks do the same, or only those do not that the domain cuts.
    pub(super) differ: bool,
    /// Whether others do something else than those that stand for them.
    pub(super) sampled: bool,
}

/// One block from the middle of those that the domain does not cut, and one for the last ones along each dimension if it cuts
/// them; of blocks that differ in what they do, one of each kind, or some of all where kinds cannot be told apart. Where a
/// condition chooses among blocks, several from the middle that follow each other diagonally. Their work items count `factor`
/// each.
pub(super) fn representatives(threads: &Threads<'_>, working: &Working<'_>, factor: f64) -> Representatives {
    let inside = &working.blocks;
    let Threads { kernel, launch, program } = *threads;
    let clipped = program.instructions.iter().all(|i| i.clipped);
    let extents = kernel.extents();
    let all = inside.counts();
    // Where no block is whole, the cut ones are what there is.
    let usual = Extents::along(|d| {
        let size = launch.candidate.block()[d] * launch.candidate.fold()[d];
        let whole = if clipped { extents[d] / size - inside.from[d] } else { all[d] };
        if whole <= 0 { all[d] } else { whole.min(all[d]) }
    });
    let cut: [f64; 3] = std::array::from_fn(|d| (all[d] - usual[d]) as f64 / all[d] as f64);
    let even = working.is_even();
    let one = |block: BlockIndex, alike: BlockBox, share: f64, whole: bool| {
        let block = BlockBox::one(block);
        let items = ItemCount::new(factor * work_items(kernel, launch, program, &[block]));
        Representative { block, alike, share, items, whole }
    };
    let is_whole = |block: BlockIndex| (0..3).all(|d| block[d] < inside.from[d] + usual[d]);
    let mut found = Vec::new();
    match differing(kernel, launch, program, working) {
        Some(Differing::Boxes(boxes)) => {
            let of_box = |(alike, share): (BlockBox, Share)| {
                let block = alike.middle();
                one(block, alike, share.get(), is_whole(block))
            };
            let blocks = usual_first(boxes.into_iter().map(of_box).collect());
            return Representatives { blocks, differ: true, sampled: false };
        }
        Some(Differing::Sampled(some, sampled)) => {
            let of_block =
                |(block, share): (_, Share)| one(block, BlockBox::one(block), share.get(), is_whole(block));
            let blocks = usual_first(some.into_iter().map(of_block).collect());
            return Representatives { blocks, differ: true, sampled };
        }
        None => {}
    }
    for (ends, share) in kinds(cut) {
        let mut alike = *inside;
        for d in 0..3 {
            if ends[d] {
                alike.from[d] = inside.to[d] - 1;
            } else {
                alike.to[d] = inside.from[d] + usual[d];
            }
        }
        let whole = ends == [false; 3];
        if even {
            found.push(one(alike.middle(), alike, share, whole));
            continue;
        }
        let places = some_with_work(working, &alike, if whole { MOST_DIFFERENT } else { 1 });
        let each = share / places.len() as f64;
        found.extend(places.into_iter().map(|block| one(block, BlockBox::one(block), each, whole)));
    }
    Representatives { blocks: found, differ: false, sampled: false }
}

/// Blocks of a box that have work: all, if the box has few, or at most `most` that follow each other diagonally.
fn some_with_work(working: &Working<'_>, of: &BlockBox, most: i64) -> Vec<BlockIndex> {
    if of.count() <= MOST_OF_FEW {
        let with_work: Vec<BlockIndex> = of.each().filter(|&block| working.works(block)).collect();
        if !with_work.is_empty() {
            return with_work;
        }
    }
    let is_in = |block: &BlockIndex| (0..3).all(|d| (of.from[d]..of.to[d]).contains(&block[d]));
    let near = |place| Some(working.near(place)).filter(is_in).unwrap_or(place);
    diagonal(of, most).into_iter().map(near).collect()
}

/// Those first that the domain does not cut; all are usual where it cuts each.
fn usual_first(mut blocks: Vec<Representative>) -> Vec<Representative> {
    if blocks.iter().all(|block| !block.whole) {
        for block in &mut blocks {
            block.whole = true;
        }
    }
    blocks.sort_by_key(|block| !block.whole);
    blocks
}

/// Kinds of blocks, by whether they are the last along each dimension, which the domain cuts, with their
/// shares: those with a share that matters.
fn kinds(cut: [f64; 3]) -> Vec<([bool; 3], f64)> {
    let mut found = vec![([false; 3], 1.0)];
    for (d, &cut) in cut.iter().enumerate().filter(|c| *c.1 >= SMALL_SHARE) {
        let (mut ends, mut left) = (Vec::new(), 0.0);
        for (kind, share) in &mut found {
            let mut end = *kind;
            end[d] = true;
            // Those of several ends may be few: they count for those of this end alone.
            if *share * cut >= SMALL_SHARE || *kind == [false; 3] {
                ends.push((end, *share * cut));
            } else {
                left += *share * cut;
            }
            *share *= 1.0 - cut;
        }
        if let Some(first) = ends.first_mut() {
            first.1 += left;
        }
        found.extend(ends);
    }
    found
}

/// At most `most` blocks around [`aside`] that follow each other diagonally.
fn diagonal(of: &BlockBox, most: i64) -> Vec<BlockIndex> {
    let counts = of.counts();
    let longest = counts.into_iter().fold(1, i64::max).min(most);
    let at = |d: usize, i: i64| of.from[d] + (aside(d, counts[d]) + i - longest / 2).rem_euclid(counts[d]);
    (0..longest).map(|i| BlockIndex::along(|d| at(d, i))).collect()
}

/// A place in a row of so many blocks along a dimension, far from its ends. It lies at another part of one dimension than of
/// another, and not at its middle: what is transposed or mirrored coincides there as nowhere else.
pub(super) fn aside(d: usize, count: i64) -> i64 {
    const PARTS: [[i64; 2]; 3] = [[3, 8], [9, 16], [7, 16]];
    let [part, of_parts] = PARTS[d];
    if count >= of_parts { count / of_parts * part } else { count / 2 }
}
