//! Which launches are considered.

use clap::Args;

use super::input::{parse_block, parse_fold};
use crate::ask::OneLaunch;
use crate::kernel::Kernel;
use crate::launch::{Candidate, Shapes};
use crate::space::{Block, Fold};

/// The one launch that a command is about.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(super) struct LaunchArguments {
    /// Threads of a block; the first candidate of the file by default
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_block)]
    block: Option<Block>,
    /// Work items per thread along x, y, z; by default the fold of the file, or 1,1,1 if it has several
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_fold)]
    fold: Option<Fold>,
}

impl LaunchArguments {
    /// The launch of a kernel.
    pub(super) fn launch(&self) -> OneLaunch {
        one_launch(self.block, self.fold)
    }
}

/// The launch with this block and fold, as far as they were given.
pub(super) fn one_launch(block: Option<Block>, fold: Option<Fold>) -> OneLaunch {
    OneLaunch { block, fold }
}

/// Launches given on the command line; those of the file otherwise.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(super) struct ShapeArguments {
    /// Consider this thread block instead of those of the file (repeatable)
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_block, conflicts_with = "threads")]
    block: Vec<Block>,
    /// Consider all blocks of so many threads whose extents are powers of two (repeatable)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=65_536))]
    threads: Vec<i64>,
    /// Consider this number of work items per thread instead of those of the file (repeatable)
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_fold)]
    fold: Vec<Fold>,
}

impl ShapeArguments {
    /// What was asked for.
    pub(super) fn shapes(&self) -> Shapes {
        Shapes { blocks: self.block.clone(), threads: self.threads.clone(), folds: self.fold.clone() }
    }

    /// The launches of a kernel to consider: for each fold all blocks.
    pub(super) fn candidates(&self, kernel: &Kernel) -> Vec<Candidate> {
        self.shapes().candidates(kernel)
    }
}
