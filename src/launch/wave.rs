//! Waves: consecutive blocks in x-y-z order, exactly, as a union of boxes in block space.

use crate::space::{BlockIndex, Extents, Grid};

/// Blocks from `from` (included) to `to` (excluded) along x, y, z. Never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockBox {
    /// First block along each dimension.
    pub from: BlockIndex,
    /// One past the last block along each dimension.
    pub to: BlockIndex,
}

impl BlockBox {
    /// One block.
    pub fn one(block: BlockIndex) -> Self {
        Self { from: block, to: block.map(|n| n.saturating_add(1)).into() }
    }

    /// All blocks of a grid.
    pub fn whole(grid: Grid) -> Self {
        Self { from: BlockIndex::ZERO, to: BlockIndex::from(*grid) }
    }

    /// How many along each dimension.
    pub fn counts(&self) -> Extents {
        Extents::along(|d| self.to[d] - self.from[d])
    }

    /// The block in the middle.
    pub fn middle(&self) -> BlockIndex {
        BlockIndex::along(|d| self.from[d] + (self.to[d] - self.from[d]) / 2)
    }

    /// Each of the blocks, along x first.
    pub fn each(&self) -> impl Iterator<Item = BlockIndex> {
        let Self { from, to } = *self;
        let row = move |y, z| (from[0]..to[0]).map(move |x| [x, y, z].into());
        (from[2]..to[2]).flat_map(move |z| (from[1]..to[1]).flat_map(move |y| row(y, z)))
    }

    /// Number of blocks.
    pub fn count(&self) -> i64 {
        self.counts().iter().product()
    }
}

/// The `count` blocks that follow block number `start` in x-y-z order, cut off at the end of the grid:
/// at most five boxes (rest of a row, rest of a plane, whole planes, whole rows, part of a row), in
/// the order in which their blocks run.
pub fn blocks_of_wave(grid: Grid, start: i64, count: i64) -> Vec<BlockBox> {
    let [nx, ny, nz] = *grid;
    let plane = nx.saturating_mul(ny);
    let end = start.saturating_add(count).min(plane.saturating_mul(nz));
    let mut boxes = Vec::with_capacity(5);
    let mut at = start.max(0);
    while at < end {
        let (x, y, z) = (at % nx, at / nx % ny, at / plane);
        let left = end - at;
        let (from, to) = if x > 0 || left < nx {
            // Part of a row.
            ([x, y, z], [nx.min(x + left), y + 1, z + 1])
        } else if y > 0 || left < plane {
            // Whole rows of a plane.
            ([0, y, z], [nx, ny.min(y + left / nx), z + 1])
        } else {
            ([0, 0, z], [nx, ny, z + left / plane])
        };
        let piece = BlockBox { from: from.into(), to: to.into() };
        at += piece.count();
        boxes.push(piece);
    }
    boxes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_is_row_rest_plane_rest_planes_rows_and_a_part() {
        // Grid 4 x 3 x 5; from block (2, 1, 0) on, 45 blocks.
        let boxes = blocks_of_wave(Grid::known([4, 3, 5]), 6, 45);
        let expected =
            [([2, 1, 0], [4, 2, 1]), ([0, 2, 0], [4, 3, 1]), ([0, 0, 1], [4, 3, 4]), ([0, 0, 4], [3, 1, 5])];
        assert_eq!(boxes, expected.map(|(from, to)| BlockBox { from: from.into(), to: to.into() }));
        assert_eq!(boxes.iter().map(BlockBox::count).sum::<i64>(), 45);
    }

    #[test]
    fn a_wave_ends_with_the_grid() {
        assert_eq!(
            blocks_of_wave(Grid::known([2, 2, 2]), 0, i64::MAX),
            [BlockBox::whole(Grid::known([2; 3]))]
        );
        assert_eq!(blocks_of_wave(Grid::known([2, 2, 2]), 8, 5), []);
        assert_eq!(blocks_of_wave(Grid::known([2, 2, 2]), 3, 0), []);
    }
}
