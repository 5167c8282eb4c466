//! The launches that a question is about, where it names only some.

use crate::kernel::Kernel;
use crate::launch::{Chosen, Shapes};
use crate::space::{Block, Fold};

/// Block and fold of the one launch that is meant, as far as they were given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OneLaunch {
    /// Threads of a block; those of the first launch of the document otherwise.
    pub block: Option<Block>,
    /// Work items of a thread.
    pub fold: Option<Fold>,
}

impl OneLaunch {
    /// The launch of a kernel, and why it is this one.
    pub fn chosen(self, kernel: &Kernel) -> Chosen {
        Chosen::new(kernel, self.block, self.fold)
    }

    /// The kernels that say something of it: of code that was read for each block apart the one that was read for this.
    pub(super) fn meant(self, kernels: &[Kernel]) -> impl Iterator<Item = &Kernel> {
        let says = move |kernel: &Kernel| self.block.is_none_or(|block| kernel.covers(block));
        let known = kernels.iter().any(says);
        kernels.iter().filter(move |kernel| !known || says(kernel))
    }
}

/// The blocks and folds that were given: for each fold all blocks. A block alone has the fold that `predict` takes,
/// and without any block the first launch of the document is meant.
pub(super) fn few(shapes: &Shapes, kernel: &Kernel) -> Vec<Chosen> {
    let has_blocks = !shapes.blocks.is_empty() || !shapes.threads.is_empty();
    let blocks =
        if has_blocks { shapes.read_blocks(kernel).into_iter().map(Some).collect() } else { vec![None] };
    let folds =
        if shapes.folds.is_empty() { vec![None] } else { shapes.folds.iter().copied().map(Some).collect() };
    let of = |&fold: &Option<Fold>| blocks.iter().map(move |&block| Chosen::new(kernel, block, fold));
    folds.iter().flat_map(of).collect()
}
