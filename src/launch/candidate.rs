//! The launches a kernel could have.

use serde::Serialize;

use crate::kernel::Kernel;
use crate::space::{Block, EmptyExtent, Fold};

/// A block shape and a fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Candidate {
    /// Threads of a block along x, y, z.
    block: Block,
    /// Work items of a thread along x, y, z.
    fold: Fold,
}

impl Candidate {
    /// Blocks of so many threads along x, y, z, each of which has so many work items along x, y, z.
    pub fn new(block: [i64; 3], fold: [i64; 3]) -> Result<Self, EmptyExtent> {
        Ok(Self { block: Block::new(block)?, fold: Fold::new(fold)? })
    }

    /// The first of a kernel; blocks of 256 threads if its rules leave none.
    pub fn first(kernel: &Kernel) -> Self {
        let default = Self { block: Block::known([256, 1, 1]), fold: Fold::ONE };
        candidates(kernel).next().unwrap_or(default)
    }

    /// Blocks of this shape with this fold.
    pub fn shaped(block: Block, fold: Fold) -> Self {
        Self { block, fold }
    }

    /// Threads of a block along x, y, z.
    pub fn block(&self) -> Block {
        self.block
    }

    /// Work items of a thread along x, y, z.
    pub fn fold(&self) -> Fold {
        self.fold
    }

    /// Threads of a block.
    pub fn threads(&self) -> i64 {
        self.block.volume()
    }
}

/// All candidates of a kernel: for each fold, the blocks in the order of the document.
pub fn candidates(kernel: &Kernel) -> impl Iterator<Item = Candidate> + '_ {
    kernel
        .launch
        .folds
        .iter()
        .flat_map(|&fold| kernel.launch.blocks.blocks().map(move |block| Candidate { block, fold }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_blocks_and_folds_cannot_be_made() {
        assert!(Candidate::new([32, 1, 1], [1, 2, 1]).is_ok());
        let why = |block, fold| Candidate::new(block, fold).unwrap_err().to_string();
        assert_eq!(why([32, 0, 1], [1; 3]), "the block 32x0x1 has an extent below 1");
        assert_eq!(why([32, 1, 1], [1, -2, 1]), "the fold 1x-2x1 has an extent below 1");
    }
}
