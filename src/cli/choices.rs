//! Which launches are considered.

use clap::Args;

use super::input::{Shape, parse_shape};
use wavecast::kernel::Kernel;
use wavecast::launch::{Candidate, candidates};

/// Launches given on the command line; those of the file otherwise.
#[derive(Debug, Clone, Args)]
pub(super) struct ShapeArguments {
    /// Consider this thread block instead of those of the file (repeatable)
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_shape, conflicts_with = "threads")]
    pub block: Vec<Shape>,
    /// Consider all blocks of so many threads whose extents are powers of two (repeatable)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=65_536))]
    pub threads: Vec<i64>,
    /// Consider this number of work items per thread instead of those of the file (repeatable)
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_shape)]
    pub fold: Vec<Shape>,
}

impl ShapeArguments {
    /// The launches of a kernel to consider: for each fold all blocks.
    pub(super) fn candidates(&self, kernel: &Kernel) -> Vec<Candidate> {
        if self.block.is_empty() && self.threads.is_empty() && self.fold.is_empty() {
            return candidates(kernel).collect();
        }
        let blocks = self.blocks(kernel);
        let folds = if self.fold.is_empty() {
            kernel.launch.folds.clone()
        } else {
            self.fold.iter().map(|s| s.0).collect()
        };
        let of =
            |&fold: &[i64; 3]| blocks.iter().map(move |&block| Candidate { block, fold }).collect::<Vec<_>>();
        folds.iter().flat_map(of).collect()
    }

    /// The blocks that were given; those of the file otherwise.
    pub(super) fn blocks(&self, kernel: &Kernel) -> Vec<[i64; 3]> {
        if !self.block.is_empty() {
            self.block.iter().map(|s| s.0).collect()
        } else if self.threads.is_empty() {
            let fold = kernel.launch.folds.first();
            candidates(kernel).filter(|c| Some(&c.fold) == fold).map(|c| c.block).collect()
        } else {
            self.threads.iter().flat_map(|&n| shapes(n, kernel.axes.len())).collect()
        }
    }
}

/// Blocks of `threads` threads over so many axes, all extents but the first powers of two, x longest
/// first.
fn shapes(threads: i64, axes: usize) -> Vec<[i64; 3]> {
    let powers = |most: i64, has: bool| {
        (0..=16).map(|i| 1_i64 << i).take_while(move |&n| n <= if has { most } else { 1 })
    };
    let mut all = Vec::new();
    for z in powers(64, axes > 2) {
        for y in powers(1024, axes > 1) {
            if threads % (y * z) == 0 {
                all.push([threads / (y * z), y, z]);
            }
        }
    }
    all
}
