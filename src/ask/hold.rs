//! Kernel documents that were read from PTX, held against the PTX as it runs.

use std::collections::BTreeSet;

use super::asker::fault;
use crate::kernel::{Options, load};
use crate::launch::{Launch, candidates};
use crate::ptx::Compiled;
use crate::ptx::agreement::{Agreement, Undecided, agreement};
use crate::ptx::run::{Machine, Sizes, given};
use crate::random::Random;
use crate::space::{Block, BlockIndex, Grid, Thread};
use crate::text::Fault;

/// Launches of a document that are looked at.
const MOST_LAUNCHES: usize = 16;
/// More than any GPU gives a block.
const SHARED: u64 = 1 << 19;

/// Compares, for the first launches of a document, what so many threads access, chosen at random, with what they do when
/// the entry runs with these arguments. Of what is undecided the document may say too much.
pub fn hold(
    compiled: &Compiled,
    entry: &str,
    arguments: &[String],
    document: &str,
    threads: usize,
    undecided: &Undecided,
) -> Result<Vec<(Block, Agreement)>, Fault> {
    let wrong = |why: &dyn std::fmt::Display| fault("not-compared", format!("{entry}: {why}"), None);
    let loaded = load("the document", document, &Options::default())?;
    let function = compiled.entry(Some(entry))?;
    let (values, fields) = given(function, arguments).map_err(|e| wrong(&e))?;
    let mut all = Vec::new();
    for kernel in &loaded.kernels {
        for candidate in candidates(kernel).take(MOST_LAUNCHES) {
            let Ok(launch) = Launch::new(kernel, candidate) else { continue };
            let sizes = Sizes { block: launch.sizes().block, grid: launch.sizes().grid, shared: SHARED };
            let machine = Machine::new(&compiled.module, entry, &values, fields.clone(), &sizes);
            let machine = machine.map_err(|e| wrong(&e))?;
            let chosen = chosen(sizes.block, sizes.grid, threads);
            let found = agreement(kernel, &launch, &machine, &chosen, undecided).map_err(|e| wrong(&e))?;
            all.push((sizes.block, found));
        }
    }
    Ok(all)
}

/// Threads at random, of a few blocks, the first and the last among them.
fn chosen(block: Block, grid: Grid, threads: usize) -> Vec<(BlockIndex, Thread)> {
    let mut random = Random::new(17);
    // Without its sign a number of 64 bits is a place.
    let mut below = |n: i64| (random.next() >> 1).cast_signed() % n;
    let mut blocks = vec![[0; 3], grid.map(|n| n - 1)];
    blocks.extend((0..6).map(|_| grid.map(&mut below)));
    let mut all = BTreeSet::new();
    for number in 0..threads {
        let at = blocks[number % blocks.len()];
        let thread = match number / blocks.len() {
            0 => [0; 3],
            1 => block.map(|n| n - 1),
            _ => block.map(&mut below),
        };
        all.insert((BlockIndex::from(at), Thread::from(thread)));
    }
    all.into_iter().collect()
}
