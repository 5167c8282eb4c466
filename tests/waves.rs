//! The boxes of all waves, one wave after the other, are the blocks of the grid in x-y-z order, each
//! once, whatever the grid and the number of resident blocks; and no wave needs more than five boxes.

use proptest::prelude::*;
use wavecast::launch::{BlockBox, blocks_of_wave};
use wavecast::space::Grid;

/// The blocks of a box in the order in which they run.
fn blocks(of: BlockBox) -> impl Iterator<Item = [i64; 3]> {
    let along = move |d: usize| of.from[d]..of.to[d];
    along(2).flat_map(move |z| along(1).flat_map(move |y| along(0).map(move |x| [x, y, z])))
}

/// All blocks of a grid in the order in which they run.
fn all(grid: [i64; 3]) -> Vec<[i64; 3]> {
    blocks(BlockBox::whole(Grid::new(grid).unwrap())).collect()
}

/// The number of a block in that order.
fn number(grid: [i64; 3], block: [i64; 3]) -> i64 {
    block[0] + grid[0] * (block[1] + grid[1] * block[2])
}

/// Extents whose product stays below 2^62, small and large ones.
fn grids() -> impl Strategy<Value = [i64; 3]> {
    (0_u32..=60).prop_flat_map(|bits| {
        (0..=bits).prop_flat_map(move |a| {
            (0..=bits - a).prop_flat_map(move |b| {
                let extent = |bits: u32| 1_i64..=1 << bits;
                (extent(a), extent(b), extent(bits - a - b)).prop_map(|(x, y, z)| [x, y, z]).prop_shuffle()
            })
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn waves_partition_the_grid_in_order(grid in [1_i64..9, 1_i64..9, 1_i64..9], resident in 1_i64..200) {
        let expected = all(grid);
        let mut ran = Vec::new();
        let mut start = 0;
        while start < grid.iter().product() {
            let wave = blocks_of_wave(Grid::new(grid).unwrap(), start, resident);
            prop_assert!(wave.len() <= 5, "{wave:?}");
            prop_assert!(wave.iter().map(BlockBox::count).sum::<i64>() <= resident);
            ran.extend(wave.into_iter().flat_map(blocks));
            start += resident;
        }
        prop_assert_eq!(ran, expected);
    }

    #[test]
    fn any_run_of_blocks_is_exact(
        grid in [1_i64..7, 1_i64..7, 1_i64..7],
        start in 0_i64..250,
        count in prop_oneof![0_i64..250, Just(i64::MAX)],
    ) {
        let boxes = blocks_of_wave(Grid::new(grid).unwrap(), start, count);
        prop_assert!(boxes.len() <= 5, "{boxes:?}");
        prop_assert!(boxes.iter().all(|b| (0..3).all(|d| b.from[d] < b.to[d])), "{boxes:?}");
        let ran: Vec<_> = boxes.into_iter().flat_map(blocks).collect();
        let (skip, take) = (usize::try_from(start).unwrap(), usize::try_from(count).unwrap());
        let expected: Vec<_> = all(grid).into_iter().skip(skip).take(take).collect();
        prop_assert_eq!(ran, expected);
    }

    /// Where blocks are too many to be listed: each box begins where the one before ended, and is a
    /// piece of a row, whole rows of a plane, or whole planes, so that its blocks are consecutive.
    #[test]
    fn large_grids_are_no_different(grid in grids(), at in 0.0..1.0_f64, count in 1_i64..=1 << 61) {
        let blocks: i64 = grid.iter().product();
        #[expect(clippy::cast_possible_truncation, reason = "any block will do")]
        let start = ((blocks as f64 * at) as i64).min(blocks - 1);
        let boxes = blocks_of_wave(Grid::new(grid).unwrap(), start, count);
        prop_assert!(boxes.len() <= 5, "{boxes:?}");
        let mut next = start;
        for b in &boxes {
            prop_assert!((0..3).all(|d| 0 <= b.from[d] && b.from[d] < b.to[d] && b.to[d] <= grid[d]), "{b:?}");
            prop_assert_eq!(number(grid, *b.from), next);
            let whole = |d: usize| b.from[d] == 0 && b.to[d] == grid[d];
            let one = |d: usize| b.to[d] - b.from[d] == 1;
            prop_assert!((one(1) && one(2)) || (whole(0) && one(2)) || (whole(0) && whole(1)), "{b:?}");
            next += b.count();
        }
        prop_assert_eq!(next, start.saturating_add(count).min(blocks));
    }
}
