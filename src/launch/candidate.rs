//! The launches a kernel could have.

use schemars::JsonSchema;
use serde::Serialize;

use crate::kernel::{BlockRule, Kernel};

/// A block shape and a fold, none of whose extents is less than 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct Candidate {
    /// Threads of a block along x, y, z.
    block: [i64; 3],
    /// Work items of a thread along x, y, z.
    fold: [i64; 3],
}

/// A block or a fold with an extent below 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the {what} {}x{}x{} has an extent below 1", .extents[0], .extents[1], .extents[2])]
pub struct EmptyExtent {
    /// `block` or `fold`.
    pub what: &'static str,
    /// Its extents.
    pub extents: [i64; 3],
}

impl Candidate {
    /// Blocks of so many threads along x, y, z, each of which has so many work items along x, y, z.
    pub fn new(block: [i64; 3], fold: [i64; 3]) -> Result<Self, EmptyExtent> {
        for (what, extents) in [("block", block), ("fold", fold)] {
            if extents.iter().any(|&extent| extent < 1) {
                return Err(EmptyExtent { what, extents });
            }
        }
        Ok(Self { block, fold })
    }

    /// The same of extents that were checked where they were read.
    pub(crate) fn known(block: [i64; 3], fold: [i64; 3]) -> Self {
        debug_assert!(block.iter().chain(&fold).all(|&extent| extent >= 1), "{block:?} {fold:?}");
        Self { block, fold }
    }

    /// Threads of a block along x, y, z.
    pub fn block(&self) -> [i64; 3] {
        self.block
    }

    /// Work items of a thread along x, y, z.
    pub fn fold(&self) -> [i64; 3] {
        self.fold
    }

    /// Threads of a block.
    pub fn threads(&self) -> i64 {
        self.block.iter().product()
    }
}

/// All candidates of a kernel: for each fold, the blocks in the order of the document.
pub fn candidates(kernel: &Kernel) -> impl Iterator<Item = Candidate> + '_ {
    kernel
        .launch
        .folds
        .iter()
        .flat_map(|&fold| blocks(&kernel.launch.blocks).map(move |block| Candidate { block, fold }))
}

fn blocks(rule: &BlockRule) -> Box<dyn Iterator<Item = [i64; 3]> + '_> {
    match rule {
        BlockRule::List(shapes) => Box::new(shapes.iter().copied()),
        BlockRule::Product { along: [xs, ys, zs], threads } => Box::new(zs.iter().flat_map(move |&z| {
            ys.iter().flat_map(move |&y| {
                let shapes = xs.iter().map(move |&x| [x, y, z]);
                shapes
                    .filter(move |s| threads.is_empty() || threads.binary_search(&s.iter().product()).is_ok())
            })
        })),
    }
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
