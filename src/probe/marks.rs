//! How often each place of an array missed.

use super::clusters::Clusters;
use super::log::Run;

/// Places of an array that are looked at for each load, and those of any array.
const PLACES_PER_LOAD: u64 = 4;
const FEW_PLACES: u64 = 1 << 21;

/// Places beyond which a chase of so many loads says nothing of its array.
pub(super) fn most_places(loads: usize) -> u64 {
    (loads as u64).saturating_mul(PLACES_PER_LOAD).saturating_add(FEW_PLACES)
}

/// Visits and misses of the places of a run.
#[derive(Debug, Clone)]
pub(super) struct Marks {
    /// By place: loads that were no outliers, and those that missed.
    pub(super) places: Vec<(u32, u32)>,
}

impl Marks {
    /// Of a run, with places of so many elements; none if it has far more of them than loads.
    pub(super) fn new(run: &Run, clusters: &Clusters, elements: u64) -> Self {
        let elements = u32::try_from(elements.max(1)).unwrap_or(u32::MAX);
        let most = run.loads.iter().map(|l| l.index / elements).max().map_or(0, |m| m as usize + 1);
        let most = if most as u64 > most_places(run.loads.len()) { 0 } else { most };
        let mut places = vec![(0, 0); most];
        // Places are mostly powers of two: a shift is much faster than a division.
        let shift = elements.is_power_of_two().then(|| elements.trailing_zeros());
        for load in &run.loads {
            let place = shift.map_or_else(|| load.index / elements, |s| load.index >> s);
            if let (Some(missed), Some(counts)) =
                (clusters.missed(load.latency), places.get_mut(place as usize))
            {
                counts.0 += 1;
                counts.1 += u32::from(missed);
            }
        }
        Self { places }
    }

    /// Loads and misses of all places.
    pub(super) fn sum(&self) -> (u64, u64) {
        self.places.iter().fold((0, 0), |sum, p| (sum.0 + u64::from(p.0), sum.1 + u64::from(p.1)))
    }

    /// The most rounds that a place was visited.
    pub(super) fn rounds(&self) -> u32 {
        self.places.iter().map(|p| p.0).max().unwrap_or(0)
    }
}

/// Whether so many misses are more than the share `noise` of so many loads explains.
pub(super) fn significant(loads: u64, misses: u64, noise: f64) -> bool {
    let expected = loads as f64 * noise;
    misses as f64 > expected + 5.0 * expected.sqrt() + 1.5
}
