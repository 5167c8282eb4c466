//! Which blocks and which wave stand for all of them.

use crate::footprint::Threads;
use crate::launch::{BlockBox, Working, blocks_of_wave, work_items};

/// Most blocks side by side that are looked at where blocks differ in more than how they lie relative to lines.
const MOST_DIFFERENT: i64 = 4;
/// A kind of block with a smaller share of all blocks is left to the others.
const SMALL_SHARE: f64 = 0.03;

/// Most waves before a wave, in its row of blocks, that are looked at for what it uses again.
const WAVES_IN_ROW: i64 = 4;

/// A block that stands for a share of all blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Representative {
    pub(super) block: BlockBox,
    /// The blocks that do the same, though they may lie otherwise relative to lines.
    pub(super) alike: BlockBox,
    /// Share of the blocks of the grid.
    pub(super) share: f64,
    /// Work items of the block.
    pub(super) items: f64,
    /// Whether it is of the usual kind, which the domain does not cut if there is one.
    pub(super) whole: bool,
}

impl Representative {
    /// Some of the blocks that do the same, side by side.
    pub(super) fn some(&self) -> Vec<[i64; 3]> {
        diagonal(&self.alike, MOST_DIFFERENT)
    }
}

/// Blocks that stand for all of those that have work: one from the middle of those that the domain does
/// not cut, and one for the last ones along each dimension if it cuts them. Where a condition chooses among
/// blocks, several from the middle that follow each other diagonally. Their work items count `factor` each.
pub(super) fn representatives(
    threads: &Threads<'_>,
    working: &Working<'_>,
    factor: f64,
) -> Vec<Representative> {
    let inside = &working.blocks;
    let Threads { kernel, launch, program } = *threads;
    let clipped = program.instructions.iter().all(|i| i.clipped);
    let extents = kernel.extents();
    let all: [i64; 3] = std::array::from_fn(|d| inside.to[d] - inside.from[d]);
    // Where no block is whole, the cut ones are what there is.
    let usual: [i64; 3] = std::array::from_fn(|d| {
        let size = launch.candidate.block[d] * launch.candidate.fold[d];
        let whole = if clipped { extents[d] / size - inside.from[d] } else { all[d] };
        if whole <= 0 { all[d] } else { whole.min(all[d]) }
    });
    let cut: [f64; 3] = std::array::from_fn(|d| (all[d] - usual[d]) as f64 / all[d] as f64);
    let even = working.is_even();
    let one = |block: [i64; 3], alike: BlockBox, share: f64, whole: bool| {
        let block = BlockBox::one(block);
        let items = factor * work_items(kernel, launch, program, &[block]);
        Representative { block, alike, share, items, whole }
    };
    let mut found = Vec::new();
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
            found.push(one(middle(&alike), alike, share, whole));
            continue;
        }
        let places = diagonal(&alike, if whole { MOST_DIFFERENT } else { 1 });
        let each = share / places.len() as f64;
        found.extend(places.into_iter().map(|place| {
            let block = if whole { working.near(place) } else { place };
            one(block, BlockBox::one(block), each, whole)
        }));
    }
    found
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

fn middle(of: &BlockBox) -> [i64; 3] {
    std::array::from_fn(|d| of.from[d] + (of.to[d] - of.from[d]) / 2)
}

/// At most `most` blocks around the middle that follow each other diagonally.
fn diagonal(of: &BlockBox, most: i64) -> Vec<[i64; 3]> {
    let counts: [i64; 3] = std::array::from_fn(|d| of.to[d] - of.from[d]);
    let longest = counts.iter().copied().max().unwrap_or(1).clamp(1, most);
    let at = |d: usize, i: i64| of.from[d] + (counts[d] / 2 + i - longest / 2).rem_euclid(counts[d]);
    (0..longest).map(|i| [at(0, i), at(1, i), at(2, i)]).collect()
}

/// A wave of blocks and the blocks that ran before it, as far as they matter for reuse.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wave {
    /// The blocks of the wave.
    pub(super) blocks: Vec<BlockBox>,
    /// The blocks of the wave that follows it, as far as there is one.
    pub(super) beside: Vec<BlockBox>,
    /// Blocks before it: back to the start of their row, one row back, one plane back. Each holds
    /// those before it; empty where nothing is added. The reuse sets of the paper's section 4.4.2.
    pub(super) before: [Past; 3],
}

/// Blocks that ran before a wave.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Past {
    /// These blocks; empty if the set adds nothing to the nearer one.
    pub(super) blocks: Vec<BlockBox>,
    /// These blocks and those of the wave.
    pub(super) with_wave: Vec<BlockBox>,
}

/// A wave in the middle of the blocks that have work, which crosses a row or plane only if most waves do.
/// Blocks start in x-y-z order (section 4.4), so that waves and what came before them are consecutive
/// blocks; those without work end at once.
pub(super) fn middle_wave(working: &Working<'_>, resident: i64) -> Wave {
    let BlockBox { from, to } = working.blocks;
    let grid: [i64; 3] = std::array::from_fn(|d| to[d] - from[d]);
    let all = working.blocks.count();
    #[expect(clippy::cast_possible_truncation, reason = "no more blocks than there are")]
    let with_idle = (resident as f64 / working.share).min(all as f64).ceil() as i64;
    let size = with_idle.clamp(1, all);
    let [row, plane] = [grid[0], grid[0] * grid[1]];
    // The middle block of the grid may be the first of a plane: go on to the middle of that plane, and
    // of the row unless waves hold whole rows: then little depends on where in a row they start.
    let along = if size >= row { 0 } else { (row - size) / 2 };
    let middle = grid[2] / 2 * plane + grid[1] / 2 * row + along;
    let start = (middle - (size.min(plane) - size.min(row)) / row / 2 * row).clamp(0, all - size);
    wave_from(from, grid, start, size)
}

/// The wave that starts with a block of a grid whose first block lies at `origin`.
fn wave_from(origin: [i64; 3], grid: [i64; 3], start: i64, size: i64) -> Wave {
    let [row, plane] = [grid[0], grid[0] * grid[1]];
    let blocks_from = |start: i64, size: i64| -> Vec<BlockBox> {
        let there = |at: [i64; 3]| std::array::from_fn(|d| origin[d] + at[d]);
        let boxes = blocks_of_wave(grid, start, size).into_iter();
        boxes.map(|b| BlockBox { from: there(b.from), to: there(b.to) }).collect()
    };
    // In a long row only the last waves matter: what is older has left the L2 or is in them as well.
    let in_row = (start % row).min(size.saturating_mul(WAVES_IN_ROW));
    let row_back = if start < row { in_row } else { row };
    let mut nearer = 0;
    let before = [in_row, row_back, plane].map(|distance| {
        let distance = if grid[1] * grid[2] == 1 { in_row } else { distance.min(start) };
        if distance <= nearer {
            return Past::default();
        }
        nearer = distance;
        Past {
            blocks: blocks_from(start - distance, distance),
            with_wave: blocks_from(start - distance, distance + size),
        }
    });
    let last = grid.iter().product::<i64>() - size;
    Wave { blocks: blocks_from(start, size), beside: blocks_from((start + size).min(last), size), before }
}
