//! Which blocks stand for all blocks of a grid.

use crate::footprint::gcd;
use crate::kernel::Kernel;
use crate::launch::{Launch, Program, Working};
use crate::space::{BlockIndex, Extents, Strides};

/// Most threads of a block.
pub const MOST_THREADS: i64 = 1 << 16;
/// Most blocks that are looked at.
pub const MOST_BLOCKS: i64 = 128;

/// So few blocks are all looked at where conditions tell some from others.
const FEW_IN_ALL: i64 = 16;
/// So many blocks between the ends of a grid stand for these, too.
const MANY_BETWEEN: i64 = 12;

/// A block, and for how many it stands.
pub(super) type Standing = (BlockIndex, f64);

/// Blocks all of whose work items lie in the domain, of those that have work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interior {
    /// The first of them along each dimension.
    pub from: BlockIndex,
    /// Number of them along each dimension; 1 where even the first is cut.
    pub blocks: Extents,
    /// Along which dimensions the first block is cut by the end of the domain.
    pub cut: [bool; 3],
}

impl Interior {
    /// The interior of a grid; `None` if a number leaves 64 bits.
    pub fn find(
        kernel: &Kernel,
        launch: &Launch,
        program: &Program<i64>,
        working: &Working<'_>,
    ) -> Option<Self> {
        let working = working.blocks;
        let from = working.from;
        if program.instructions.iter().all(|i| !i.clipped) {
            let blocks = working.counts();
            return Some(Self { from, blocks, cut: [false; 3] });
        }
        let mut interior = Self { from, blocks: Extents::from([1; 3]), cut: [false; 3] };
        for (d, extent) in kernel.extents().into_iter().enumerate() {
            let items = launch.sizes.block[d].checked_mul(program.fold[d])?;
            let whole = (extent / items).min(working.to[d]) - from[d];
            interior.blocks[d] = whole.max(1);
            interior.cut[d] = whole <= 0;
        }
        Some(interior)
    }
}

/// Blocks that show every alignment: a box of them in the middle of the interior.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phases {
    /// The first.
    pub from: BlockIndex,
    /// How many along each dimension.
    pub count: Extents,
    /// Whether more would be needed to show all.
    pub cut: bool,
}

impl Phases {
    /// Blocks in which addresses that move by `steps` bytes from block to block take all alignments
    /// modulo `period`, for each of several `steps`.
    ///
    /// Multiples of steps form subgroups of the cyclic group of alignments. Where the period is a power
    /// of two they are nested, so that the dimension with the most alignments has those of the others.
    pub fn new(interior: Interior, steps: impl Iterator<Item = Strides>, period: i64) -> Self {
        let Interior { from, blocks: interior, .. } = interior;
        let mut count = Extents::from([1; 3]);
        let mut last = None;
        for step in steps {
            // Most move as the last one does.
            if last.replace(step) == Some(step) {
                continue;
            }
            let periods = step.map(|s| period / gcd(s, period));
            let mut best = 0;
            for d in 1..3 {
                if periods[d] > periods[best] {
                    best = d;
                }
            }
            if period.count_ones() == 1 && periods[best] <= interior[best] {
                count[best] = count[best].max(periods[best]);
            } else {
                for d in 0..3 {
                    count[d] = count[d].max(periods[d].min(interior[d]));
                }
            }
        }
        let cut = count[0].saturating_mul(count[1]).saturating_mul(count[2]) > MOST_BLOCKS;
        while count[0].saturating_mul(count[1]).saturating_mul(count[2]) > MOST_BLOCKS {
            let longest = if count[2] > 1 { 2 } else { usize::from(count[1] > 1) };
            count[longest] = (count[longest] / 2).max(1);
        }
        let from = BlockIndex::along(|d| from[d] + ((interior[d] - count[d]) / 2).max(0));
        Self { from, count, cut }
    }

    /// The same without the first and the last blocks of the grid, if there are some of these among them and there are
    /// many others; of few blocks the ends matter.
    pub fn between_ends(&self, of: &Interior, all: i64) -> Option<Self> {
        if all <= FEW_IN_ALL {
            return None;
        }
        let (mut between, mut is_less) = (*self, false);
        for d in 0..3 {
            let first = i64::from(self.from[d] == of.from[d]);
            let last = i64::from(self.from[d] + self.count[d] == of.from[d] + of.blocks[d]);
            let left = self.count[d] - first - last;
            if first + last > 0 && left >= MANY_BETWEEN {
                (between.from[d], between.count[d]) = (self.from[d] + first, left);
                is_less = true;
            }
        }
        // Not all alignments are shown.
        is_less.then_some(Self { cut: true, ..between })
    }

    /// The blocks, x fastest.
    pub fn blocks(&self) -> Vec<BlockIndex> {
        let ([nx, ny, nz], [x, y, z]) = (*self.count, *self.from);
        (0..nx * ny * nz).map(|i| [x + i % nx, y + i / nx % ny, z + i / nx / ny].into()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_dimension_shows_all_alignments_if_it_can() {
        let of =
            |blocks: [i64; 3]| Interior { from: BlockIndex::ZERO, blocks: blocks.into(), cut: [false; 3] };
        // Steps of 32 bytes along x, of 8 along y: all 16 alignments along y.
        let phases = Phases::new(of([100, 100, 1]), std::iter::once([32, 8, 0].into()), 128);
        assert_eq!((phases.count, phases.cut), ([1, 16, 1].into(), false));
        let phases = Phases::new(of([100, 3, 1]), std::iter::once([32, 8, 0].into()), 128);
        assert_eq!(phases.count, [4, 3, 1]);
        assert_eq!(phases.from, [48, 0, 0]);
        assert!(
            Phases::new(of([1000, 1000, 1000]), [[1, 0, 0], [0, 1, 0]].into_iter().map(Strides::from), 128)
                .cut
        );
    }

    #[test]
    fn many_blocks_stand_for_those_at_the_ends_of_a_grid() {
        let of = |blocks: [i64; 3]| Interior { from: [0; 3].into(), blocks: blocks.into(), cut: [false; 3] };
        let between = |blocks: [i64; 3]| {
            let phases = Phases::new(of(blocks), std::iter::once([12, 128, 0].into()), 128);
            phases.between_ends(&of(blocks), blocks.iter().product())
        };
        // 32 blocks along x show all alignments, of which there are fewer here.
        let found = between([31, 500, 2]).unwrap();
        assert_eq!((*found.from, *found.count, found.cut), ([1, 249, 0], [29, 1, 1], true));
        assert_eq!(between([100, 500, 2]), None, "they lie in the middle anyway");
        assert_eq!(between([13, 500, 1]), None, "the ends are too much of it");
        assert_eq!(between([15, 1, 1]), None, "all of few blocks are looked at");
    }
}
