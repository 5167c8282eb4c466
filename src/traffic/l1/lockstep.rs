//! Running warps lane by lane: any address, any condition.

use super::blocks::Phases;
use super::counts::L1Counts;
use super::pipe::Pipe;
use super::prepared::Prepared;
use super::running::ThreadParts;
use super::tally::WarpTally;
use super::warp::RunningWarp;
use super::warps::{self, WarpClass};
use crate::effort::left;
use crate::kernel::Kernel;
use crate::launch::{Launch, NotRun, Program, Working};
use crate::space::{Block, BlockIndex, Thread};

/// Most blocks that are looked at.
pub(super) const MOST_BLOCKS: i64 = 16;
/// Most accesses of lanes that are evaluated; at least one warp is.
pub(super) const MOST_ACCESSES: usize = 1 << 15;

/// Most parts of forms that are kept for the warps of other blocks.
const MOST_KEPT: usize = 1 << 12;

/// Counts warps of blocks that are spread over the grid, as many as the budget allows.
pub fn count(
    kernel: &Kernel,
    launch: &Launch,
    program: &Program<i64>,
    pipe: &Pipe,
) -> Result<L1Counts, NotRun> {
    let mut counts = run_once(kernel, launch, program, pipe)?;
    counts.add_up(kernel, program, pipe);
    Ok(counts)
}

/// The same without totals and sums per field.
pub fn run_once(
    kernel: &Kernel,
    launch: &Launch,
    program: &Program<i64>,
    pipe: &Pipe,
) -> Result<L1Counts, NotRun> {
    let working = Working::new(kernel, launch, program);
    let blocks = working.some(MOST_BLOCKS);
    let mut tally = WarpTally::new(kernel, program, pipe, &blocks);
    tally.counts.sampled = working.blocks.count() > MOST_BLOCKS;
    run(tally, launch, program, &blocks, MOST_ACCESSES)
}

/// Counts all warps of given blocks.
pub fn count_blocks(
    kernel: &Kernel,
    launch: &Launch,
    program: &Program<i64>,
    pipe: &Pipe,
    phases: Phases,
) -> Result<L1Counts, NotRun> {
    let blocks = phases.blocks();
    let mut tally = WarpTally::new(kernel, program, pipe, &blocks);
    tally.counts.sampled = phases.cut;
    let mut counts = run(tally, launch, program, &blocks, usize::MAX)?;
    counts.add_up(kernel, program, pipe);
    Ok(counts)
}

/// Lanes of the warps of a block.
fn warps_of(block: Block, warp: usize) -> Vec<Vec<Thread>> {
    let classes = warps::classes(block, warp, &[]);
    let of = |c: &WarpClass| -> Vec<Vec<Thread>> {
        let around = c.arrangement.lanes();
        let lanes = |f: &Thread| around.iter().map(|l| Thread::along(|d| f[d] + l[d])).collect();
        c.firsts.iter().map(lanes).collect()
    };
    classes.iter().flat_map(of).collect()
}

/// The `i`-th pair of block and warp, so that any first few are spread over both.
fn spread(i: usize, blocks: usize, warps: usize) -> (usize, usize) {
    // Block by block in turn; within a block warps by steps that share no divisor with their number.
    let gcd = |a: usize, b: usize| {
        let (mut a, mut b) = (a, b);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let near_golden = (warps * 5 / 8).max(1);
    let step = (near_golden..near_golden + warps).find(|&s| gcd(s, warps) == 1).unwrap_or(1);
    let (block, turn) = (i % blocks, i / blocks);
    (block, (turn * step + block) % warps)
}

/// Runs warps of some blocks until so many accesses of lanes were evaluated, at least one warp.
fn run(
    mut tally: WarpTally<'_>,
    launch: &Launch,
    program: &Program<i64>,
    blocks: &[BlockIndex],
    most: usize,
) -> Result<L1Counts, NotRun> {
    let warps = warps_of(launch.candidate.block(), tally.pipe.warp);
    let prepared = Prepared::new(program);
    // What threads contribute to forms is the same in all blocks, and kept if it is not too much.
    let is_kept = warps.len().saturating_mul(prepared.gains) <= MOST_KEPT;
    let mut thread_parts: Vec<ThreadParts> = Vec::new();
    thread_parts.resize_with(if is_kept { warps.len() } else { 1 }, Vec::new);
    let all = blocks.len() * warps.len();
    // Steps of the warp that took most: where no more are left, those before it stand for the next ones.
    let (mut done, mut dearest) = (0, 0);
    while done < all && (done == 0 || (tally.spent < most && left() / 2 > dearest)) {
        let (block, warp) = spread(done, blocks.len(), warps.len());
        let before = left();
        let parts = &mut thread_parts[if is_kept { warp } else { 0 }];
        if !is_kept {
            parts.clear();
        }
        let read = (program, &prepared);
        RunningWarp::new(tally.kernel, launch, read, blocks[block], &warps[warp], parts).run(&mut tally)?;
        dearest = dearest.max(before - left());
        done += 1;
    }
    Ok(tally.finish(done, all, blocks.len()))
}
