//! Blocks that do something else than others: conditions on the place in the grid hold in some of them, and loops run longer.
//! Then none stands for all.

use super::by_place::{ByPlace, SamePlaces};
use super::prepared::Prepared;
use super::told_apart::{self, AlikeBlocks, Asked};
use super::uniform;
use crate::expr::{Cond, Coord, Form};
use crate::kernel::Kernel;
use crate::launch::{BlockBox, Launch, Program, Working};
use crate::quantity::Share;
use crate::space::{BlockIndex, Extents};

/// Blocks of which so small a share does something else are left to the others, where it is not known how much else.
const LITTLE: f64 = 0.03;
/// A kind of blocks is left to the others where so small a share of all threads does something else for it.
const LITTLE_DONE: f64 = 0.005;
/// Of so many blocks those with work stand for all where kinds of them cannot be told apart.
const MOST_SAMPLED: i64 = 32;

/// Blocks that stand for all of a launch in which not all do the same.
#[derive(Debug, Clone, PartialEq)]
pub enum Differing {
    /// Boxes of blocks that do the same, and the shares of all blocks that do what those of each box do.
    Boxes(Vec<(BlockBox, Share)>),
    /// Some from all of the grid, and the share of all for which each stands; and whether that is not all of them.
    Sampled(Vec<(BlockIndex, Share)>, bool),
}

/// Which blocks differ in more than how the domain cuts them; `None` if one from the middle does what nearly all do.
pub fn differing(
    kernel: &Kernel,
    launch: &Launch,
    program: &Program<i64>,
    working: &Working<'_>,
) -> Option<Differing> {
    if !follows_from_place(program) {
        return None;
    }
    let prepared = Prepared::new(program);
    let by_place = ByPlace::of_conditions(launch, program, &prepared);
    let inside = inside(kernel, launch, program, &working.blocks);
    let Some((kinds, mut by_place)) =
        by_place.ok().and_then(|by_place| Some((by_place.kinds(&inside)?, by_place)))
    else {
        return sampled(kernel, launch, program, working);
    };
    // Where most blocks do nothing, it is the few that matter.
    let least = if is_busy(launch, program, usual(&kinds)) { LITTLE_DONE } else { 0.0 };
    if (0..3).all(|d| large(&by_place, d, &kinds[d], least).len() == 1) {
        return None;
    }
    let with_ends =
        by_place.add_ends(kernel, launch, program).ok().and_then(|()| by_place.kinds(&working.blocks));
    let boxes = with_ends.map_or_else(Vec::new, |kinds| boxes(&by_place, &kinds, working, least));
    // Of more kinds than may be told apart some blocks stand for all.
    Some(if boxes.is_empty() { all_over(working) } else { Differing::Boxes(boxes) })
}

/// A block of the kind of which there are most.
fn usual(kinds: &[Vec<SamePlaces>; 3]) -> BlockIndex {
    BlockIndex::along(|d| {
        let most = kinds[d].iter().max_by_key(|kind| kind.count());
        most.map_or(0, |kind| middle(kind.longest()))
    })
}

fn middle([from, to]: [i64; 2]) -> i64 {
    i64::midpoint(from, to - 1)
}

/// Whether a block may access anything.
fn is_busy(launch: &Launch, program: &Program<i64>, block: BlockIndex) -> bool {
    let may = |cond: Option<&Cond<i64>>| cond.is_none_or(|cond| decided(launch, block, cond) != Some(false));
    program.items.iter().any(|item| may(item.guard.as_ref()))
        && program.instructions.iter().any(|instruction| may(instruction.when.as_ref()))
}

/// The blocks that the domain does not cut, or all where it cuts even the first.
fn inside(kernel: &Kernel, launch: &Launch, program: &Program<i64>, blocks: &BlockBox) -> BlockBox {
    let mut inside = *blocks;
    if program.instructions.iter().all(|i| i.clipped) {
        for (d, extent) in kernel.extents().into_iter().enumerate() {
            let whole = extent / launch.candidate.block()[d].saturating_mul(program.fold[d]).max(1);
            if whole > blocks.from[d] {
                inside.to[d] = inside.to[d].min(whole);
            }
        }
    }
    inside
}

/// Whether a condition or the bound of a loop names the block.
fn follows_from_place(program: &Program<i64>) -> bool {
    let by_block = |form: &Form<i64>| form.mentions(&|c| matches!(c, Coord::BlockIdx(_)));
    let conditions = conditions(program);
    conditions.into_iter().any(|cond| cond.mentions(&|c| matches!(c, Coord::BlockIdx(_))))
        || program.loops.iter().any(|of_loop| by_block(&of_loop.from) || by_block(&of_loop.to))
}

/// The conditions of work items and of instructions, each that follows itself once.
fn conditions(program: &Program<i64>) -> Vec<&Cond<i64>> {
    let guards = program.items.iter().filter_map(|item| item.guard.as_ref());
    let mut all: Vec<&Cond<i64>> =
        guards.chain(program.instructions.iter().filter_map(|i| i.when.as_ref())).collect();
    all.dedup();
    all
}

/// The kinds along a dimension for which the usual one does not do, as the share of the blocks and of their threads that do
/// something else is as large at least, and the usual one; and their shares: those of others are theirs.
fn large(by_place: &ByPlace, d: usize, kinds: &[SamePlaces], least: f64) -> Vec<([i64; 2], f64)> {
    let all: i64 = kinds.iter().map(SamePlaces::count).sum();
    let share = |kind: &SamePlaces| kind.count() as f64 / all.max(1) as f64;
    let Some(usual) = kinds.iter().max_by_key(|kind| kind.count()) else { return Vec::new() };
    let difference = |kind: &SamePlaces| {
        let places = [middle(kind.longest()), middle(usual.longest())];
        if kind == usual { Some(0.0) } else { by_place.difference(d, places) }
    };
    let unknown: f64 = kinds.iter().filter(|kind| difference(kind).is_none()).map(share).sum();
    let matters = |kind: &&SamePlaces| {
        least <= 0.0
            || *kind == usual
            || difference(kind).map_or(unknown >= LITTLE, |difference| share(kind) * difference >= least)
    };
    let mut large: Vec<_> = kinds.iter().filter(matters).map(|k| (k.longest(), share(k))).collect();
    let sum: f64 = large.iter().map(|kind| kind.1).sum();
    for kind in &mut large {
        kind.1 /= sum;
    }
    large
}

/// Boxes of blocks that do the same and have work, those first of which there are most.
fn boxes(
    by_place: &ByPlace,
    kinds: &[Vec<SamePlaces>; 3],
    working: &Working<'_>,
    least: f64,
) -> Vec<(BlockBox, Share)> {
    let [along_x, along_y, along_z] = [0, 1, 2].map(|d| large(by_place, d, &kinds[d], least));
    let mut found: Vec<(BlockBox, f64)> = Vec::new();
    for z in &along_z {
        for y in &along_y {
            for x in &along_x {
                let along = [x, y, z];
                let blocks = BlockBox {
                    from: BlockIndex::along(|d| along[d].0[0]),
                    to: BlockIndex::along(|d| along[d].0[1]),
                };
                let share = along.iter().map(|kind| kind.1).product();
                if working.works(blocks.middle()) {
                    found.push((blocks, share));
                }
            }
        }
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    let sum: f64 = found.iter().map(|one| one.1).sum();
    found.into_iter().map(|(blocks, share)| (blocks, Share::new(share / sum))).collect()
}

/// Some blocks of each kind, as many as there are; `None` if so few do something else that it does not matter.
fn sampled(
    kernel: &Kernel,
    launch: &Launch,
    program: &Program<i64>,
    working: &Working<'_>,
) -> Option<Differing> {
    let most = usize::try_from(MOST_SAMPLED).expect("it is a small number");
    let of = |asked| told_apart::kinds(kernel, launch, program, working, (asked, most));
    // One of some may be one of few.
    let all = working.blocks.count();
    let found =
        of(Asked::Intervals).filter(|kinds| others(kinds, 0) >= LITTLE || unlike(kinds) >= LITTLE_DONE);
    let kinds = found.or_else(|| {
        of(Asked::Threads).filter(|kinds| others(kinds, usize::from(all > MOST_SAMPLED)) >= LITTLE)
    })?;
    let some = told_apart::standing(&kinds, most);
    let number: f64 = some.iter().map(|standing| standing.1).sum();
    let not_all = all > i64::try_from(some.len()).unwrap_or(0);
    let some = some.into_iter().map(|(block, standing)| (block, Share::new(standing / number))).collect();
    Some(Differing::Sampled(some, not_all))
}

/// Which share of the blocks that the domain does not cut are not of the usual kind, less some of them.
fn others(kinds: &[AlikeBlocks], less: usize) -> f64 {
    let whole = || kinds.iter().filter(|kind| kind.whole).map(|kind| kind.blocks.len());
    let (all, usual) = (whole().sum::<usize>(), whole().max().unwrap_or(0));
    if all == usual { 0.0 } else { (all - usual).saturating_sub(less) as f64 / all as f64 }
}

/// In which share of them all threads do something else than in the usual kind.
fn unlike(kinds: &[AlikeBlocks]) -> f64 {
    let whole = || kinds.iter().filter(|kind| kind.whole);
    let Some(usual) = whole().max_by_key(|kind| kind.blocks.len()) else { return 0.0 };
    let number = |kind: &AlikeBlocks| kind.blocks.len() as f64;
    let unlike: f64 = whole().filter(|kind| kind.is_unlike(usual)).map(number).sum();
    unlike / whole().map(number).sum::<f64>()
}

/// Blocks with work from all of the grid.
fn all_over(working: &Working<'_>) -> Differing {
    let some = working.evenly(MOST_SAMPLED);
    let each = Share::new(1.0 / some.len().max(1) as f64);
    let some = some.into_iter().map(|block| (block, each)).collect();
    Differing::Sampled(some, working.blocks.count() > MOST_SAMPLED)
}

/// Whether a condition holds in all threads of a block or in none. What is decided must not depend on how it is written:
/// where intervals do not tell, threads are asked.
fn decided(launch: &Launch, block: BlockIndex, cond: &Cond<i64>) -> Option<bool> {
    let within = |coord| match coord {
        Coord::ThreadIdx(d) => Some((0, launch.candidate.block()[d.index()] - 1)),
        Coord::BlockIdx(d) => Some((block[d.index()], block[d.index()])),
        Coord::Loop(_) | Coord::Axis(_) | Coord::Thread(_) => None,
    };
    let by_intervals = cond.decided(&within);
    by_intervals.or_else(|| uniform::held(cond, Extents::from(*launch.candidate.block()), &[block]))
}
