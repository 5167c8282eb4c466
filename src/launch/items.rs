//! Work items: what volumes and rates are divided by.

use super::domain::follows_fold;
use super::geometry::Launch;
use super::program::Program;
use super::wave::BlockBox;
use crate::kernel::Kernel;

/// Work items that the threads of these blocks do. Those of all blocks together are the domain.
pub fn work_items(kernel: &Kernel, launch: &Launch, program: &Program<i64>, blocks: &[BlockBox]) -> f64 {
    let by_domain = kernel.launch.grid.is_none() || program.instructions.iter().any(|i| i.clipped);
    if by_domain && are_points(kernel, launch) {
        return blocks.iter().map(|b| inside(kernel, launch, b)).sum();
    }
    // Threads with a grid of their own share the domain evenly.
    let domain: f64 = kernel.extents().iter().map(|&n| n as f64).product();
    domain * count(blocks) / launch.blocks() as f64
}

/// Whether each thread does the work items of its fold, so that those of a block are points of the domain.
pub fn are_points(kernel: &Kernel, launch: &Launch) -> bool {
    follows_fold(kernel, launch.candidate, &launch.sizes)
}

fn count(blocks: &[BlockBox]) -> f64 {
    blocks.iter().map(|b| b.count() as f64).sum()
}

/// Work items of a box of blocks that lie in the domain.
fn inside(kernel: &Kernel, launch: &Launch, block: &BlockBox) -> f64 {
    let extents = kernel.extents();
    let along = |d: usize| {
        let size = launch.candidate.block()[d].saturating_mul(launch.candidate.fold()[d]);
        let end = |b: i64| b.saturating_mul(size).min(extents[d]);
        (end(block.to[d]) - end(block.from[d])).max(0) as f64
    };
    (0..3).map(along).product()
}
