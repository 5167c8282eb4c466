//! The launches a kernel could have.

use crate::kernel::{BlockRule, Kernel};

/// A block shape and a fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// Threads of a block along x, y, z.
    pub block: [i64; 3],
    /// Work items of a thread along x, y, z.
    pub fold: [i64; 3],
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
