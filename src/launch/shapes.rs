//! Launches that somebody asked for instead of those of the document.

use super::candidate::{Candidate, candidates};
use super::folding::length;
use crate::kernel::Kernel;
use crate::space::{Block, Fold};

/// Most accesses that all folds together may unroll to.
const MOST_UNROLLED: usize = 5_000_000;

/// Blocks and folds to consider; empty lists leave it to the document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shapes {
    /// These blocks.
    pub blocks: Vec<Block>,
    /// All blocks of so many threads whose extents are powers of two.
    pub threads: Vec<i64>,
    /// These folds.
    pub folds: Vec<Fold>,
}

impl Shapes {
    /// The launches of a kernel to consider: for each fold all blocks.
    pub fn candidates(&self, kernel: &Kernel) -> Vec<Candidate> {
        let (blocks, folds) = self.lists(kernel);
        let of = |&fold: &Fold| blocks.iter().map(move |&block| Candidate::shaped(block, fold));
        folds.iter().flat_map(of).collect()
    }

    /// The blocks and folds of these launches: each fold goes with all blocks.
    pub fn lists(&self, kernel: &Kernel) -> (Vec<Block>, Vec<Fold>) {
        if self.blocks.is_empty() && self.threads.is_empty() && self.folds.is_empty() {
            return (kernel.launch.blocks.blocks().collect(), kernel.launch.folds.clone());
        }
        let folds = if self.folds.is_empty() { &kernel.launch.folds } else { &self.folds };
        (self.read_blocks(kernel), folds.clone())
    }

    /// Why these folds are too many for a kernel: each of them unrolls its accesses once more.
    pub fn too_long(&self, kernel: &Kernel) -> Option<String> {
        let accesses = length(&kernel.body);
        let unrolled = |fold: &Fold| {
            let items = fold.iter().map(|&f| usize::try_from(f).unwrap_or(usize::MAX));
            items.fold(accesses, usize::saturating_mul)
        };
        let count = self.folds.iter().map(unrolled).fold(0, usize::saturating_add);
        (self.folds.len() > 1 && count > MOST_UNROLLED).then(|| {
            format!("the folds unroll to {count} accesses in all; at most {MOST_UNROLLED} are considered")
        })
    }

    /// The same without those that the kernel's code was not read for: it is one of several that were read for other
    /// blocks.
    pub fn read_blocks(&self, kernel: &Kernel) -> Vec<Block> {
        let all = self.blocks(kernel);
        if all.iter().any(|b| kernel.covers(*b)) {
            all.into_iter().filter(|b| kernel.covers(*b)).collect()
        } else {
            all
        }
    }

    /// The blocks that were given; those of the document otherwise.
    pub fn blocks(&self, kernel: &Kernel) -> Vec<Block> {
        if !self.blocks.is_empty() {
            self.blocks.clone()
        } else if self.threads.is_empty() {
            let fold = kernel.launch.folds.first();
            candidates(kernel).filter(|c| Some(&c.fold()) == fold).map(|c| c.block()).collect()
        } else {
            self.threads.iter().flat_map(|&n| shapes(n, kernel.axes.len())).collect()
        }
    }
}

/// Blocks of `threads` threads over so many axes, all extents but the first powers of two, x longest
/// first.
fn shapes(threads: i64, axes: usize) -> Vec<Block> {
    let powers = |most: i64, has: bool| {
        (0..=16).map(|i| 1_i64 << i).take_while(move |&n| n <= if has { most } else { 1 })
    };
    let mut all = Vec::new();
    for z in powers(64, axes > 2) {
        for y in powers(1024, axes > 1) {
            if threads % (y * z) == 0 {
                all.push(Block::known([threads / (y * z), y, z]));
            }
        }
    }
    all
}
