//! Which waves of a launch are simulated, and what of an earlier launch.

use crate::predict::Prediction;
use crate::traffic::{Caches, MemoryVolumes};

/// Most waves of an earlier launch that are simulated for what it leaves behind.
const MOST_EARLIER: u64 = 64;
/// An earlier launch that saves a smaller share of the loads and stores is not simulated.
const LITTLE: f64 = 0.005;

/// What becomes of an earlier launch in the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Earlier {
    /// It leaves next to nothing, or the caches are to be cold.
    Nothing,
    /// It is simulated, whole.
    Simulated,
    /// It would take too long.
    TooLong,
}

pub(super) fn earlier_launch(caches: Caches, prediction: &Prediction, blocks: u64, wave: u64) -> Earlier {
    let v = &prediction.volumes;
    // Of a last-level cache, too.
    let saves = |level: &MemoryVolumes| {
        let kept = level.load.reuse_launch + level.store.kept;
        let all = level.load.compulsory + level.store.compulsory + level.store.kept;
        kept > all * LITTLE
    };
    match caches {
        Caches::Warm if saves(&v.dram) || v.llc.as_ref().is_some_and(saves) => {
            let short = blocks <= wave.saturating_mul(MOST_EARLIER);
            if short { Earlier::Simulated } else { Earlier::TooLong }
        }
        _ => Earlier::Nothing,
    }
}

/// Where a wave begins that lies in the middle of a plane in the middle of the grid: one over the end of a
/// plane would find nothing of the rows before it. Of a plane with one row it is the middle of the row.
pub(super) fn middle([nx, ny, nz]: [u64; 3], wave: u64) -> u64 {
    let plane = nx.saturating_mul(ny);
    let row = if ny == 1 { nx / 2 } else { ny / 2 * nx };
    let centre = (nz / 2).saturating_mul(plane).saturating_add(row);
    let start = centre.saturating_sub(wave / 2);
    start.min(plane.saturating_mul(nz).saturating_sub(wave))
}

#[cfg(test)]
mod tests {
    use super::middle;

    #[test]
    fn the_wave_lies_in_the_middle_of_a_plane() {
        // Four planes of 10 x 20 blocks: plane 2 begins at 400, its middle row at 500.
        assert_eq!(middle([10, 20, 4], 40), 480);
        assert_eq!(middle([10, 20, 1], 40), 80);
        assert_eq!(middle([4, 1, 1], 4), 0);
        assert_eq!(middle([1000, 1, 1], 40), 480);
        assert_eq!(middle([2, 2, 2], 100), 0);
    }
}
