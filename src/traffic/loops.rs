//! Loops: what a block touches in single iterations. What is used again in the next iteration of a loop
//! is still in the L1 if what lies in between fits, which is one iteration of the loop with all loops
//! inside it. So the allocation that counts is that of an iteration, and not of the whole loop.

use super::fields::{Sizes, TouchedField};
use super::footprints::Counts;
use super::places::Representative;
use crate::footprint::{Touched, Uncounted};
use crate::launch::BlockBox;

/// Bytes of one field by depth: in an iteration of the outermost loops, of those in them, and so on.
#[derive(Default)]
pub(super) struct OfLoops {
    /// Sectors that are loaded, each iteration by itself, added up over iterations; per work item.
    pub(super) loads: Vec<f64>,
    /// Lines of an iteration that are loaded.
    pub(super) alloc: Vec<f64>,
    /// Pages of an iteration of the innermost loops.
    pub(super) pages: f64,
}

impl Counts<'_> {
    /// Counts iterations of loops that are `depth` deep in a block.
    pub(super) fn iterations(
        &mut self,
        field: &TouchedField<'_>,
        depth: usize,
        block: Option<&Representative>,
        sizes: &Sizes,
    ) -> Result<OfLoops, Uncounted> {
        let mut found = OfLoops::default();
        let Some(block) = block else { return Ok(found) };
        let at = [block.block];
        for depth in 1..=depth {
            let (mut loads, mut alloc) = (0.0, 0.0);
            for iteration in field.loads.iterations(depth) {
                loads += iteration.count * self.bytes(&iteration.touched, &at, sizes.sector)?;
                alloc += self.bytes(&iteration.touched, &at, sizes.line)?;
            }
            found.loads.push(loads * field.times() / block.items.max(1e-9));
            found.alloc.push(alloc * field.times());
        }
        if depth > 0 {
            found.pages = self.pages_of_iteration(&field.all, depth, &at, sizes)? * field.times();
        }
        Ok(found)
    }

    /// Pages of an iteration, of the nest that has most.
    fn pages_of_iteration(
        &mut self,
        touched: &Touched,
        depth: usize,
        at: &[BlockBox],
        sizes: &Sizes,
    ) -> Result<f64, Uncounted> {
        let mut most = 0.0_f64;
        for iteration in touched.iterations(depth) {
            most = most.max(self.bytes(&iteration.touched, at, sizes.page)? / sizes.page as f64);
        }
        Ok(most)
    }
}
