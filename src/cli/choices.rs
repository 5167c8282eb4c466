//! Which launches are considered.

use clap::Args;

use super::failure::Failure;
use super::input::{Shape, parse_fold, parse_shape};
use crate::kernel::Kernel;
use crate::launch::{Candidate, Chosen, Shapes};
use crate::space::{Block, Fold};

/// The one launch that a command is about.
#[derive(Debug, Clone, Args)]
pub(super) struct LaunchArguments {
    /// Threads of a block; the first candidate of the file by default
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_shape)]
    block: Option<Shape>,
    /// Work items per thread along x, y, z; by default the fold of the file, or 1,1,1 if it has several
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_fold)]
    fold: Option<Shape>,
}

impl LaunchArguments {
    /// The launch of a kernel, and why it is this one.
    pub(super) fn chosen(&self, kernel: &Kernel) -> Chosen {
        chosen(kernel, self.block, self.fold)
    }
}

/// The launch of a kernel with this block and fold, as far as they were given.
pub(super) fn chosen(kernel: &Kernel, block: Option<Shape>, fold: Option<Shape>) -> Chosen {
    Chosen::new(kernel, block.map(|b| Block::known(b.0)), fold.map(|f| Fold::known(f.0)))
}

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
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_fold)]
    pub fold: Vec<Shape>,
}

impl ShapeArguments {
    /// What was asked for.
    fn shapes(&self) -> Shapes {
        Shapes {
            blocks: self.block.iter().map(|s| Block::known(s.0)).collect(),
            threads: self.threads.clone(),
            folds: self.fold.iter().map(|s| Fold::known(s.0)).collect(),
        }
    }

    /// The launches of a kernel to consider: for each fold all blocks.
    pub(super) fn candidates(&self, kernel: &Kernel) -> Vec<Candidate> {
        self.shapes().candidates(kernel)
    }

    /// Refuses folds that unroll to too much.
    pub(super) fn check(&self, kernel: &Kernel, json: bool) -> Result<(), Failure> {
        self.shapes().too_long(kernel).map_or(Ok(()), |message| {
            let help = "give fewer or smaller folds at a time";
            Err(Failure::message("too-many-folds", message, Some(help)).for_json(json))
        })
    }

    /// The blocks that were given; those of the file otherwise.
    pub(super) fn blocks(&self, kernel: &Kernel) -> Vec<Block> {
        self.shapes().blocks(kernel)
    }
}
