//! Sectors that a warp touches, as runs of adjacent ones.

use super::spans::UnitRun;

/// Runs beyond which those that touch each other are put together.
const MOST_LOOSE: usize = 1 << 10;

/// A set of sectors.
#[derive(Debug, Clone, Default)]
pub struct SectorSet {
    /// Runs, of which the first `apart` ascend and do not touch each other.
    runs: Vec<UnitRun>,
    apart: usize,
}

impl SectorSet {
    /// Adds runs.
    pub fn extend(&mut self, runs: impl Iterator<Item = UnitRun>) {
        self.runs.extend(runs);
        if self.runs.len() > MOST_LOOSE + 2 * self.apart {
            self.put_together();
        }
    }

    fn put_together(&mut self) {
        self.runs.sort_unstable();
        self.runs.dedup_by(|next, run| {
            let touch = next.first <= run.last.saturating_add(1);
            if touch {
                run.last = run.last.max(next.last);
            }
            touch
        });
        self.apart = self.runs.len();
    }

    /// How many sectors there are.
    pub fn count(&mut self) -> f64 {
        if self.apart < self.runs.len() {
            self.put_together();
        }
        self.runs.iter().map(|run| run.last - run.first + 1).sum::<i64>() as f64
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.runs.clear();
        self.apart = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn runs_are_as_many_as_their_sectors() {
        let mut random = Random::new(5);
        for _ in 0..200 {
            let (mut set, mut expected) = (SectorSet::default(), std::collections::BTreeSet::new());
            for _ in 0..random.below(4000) {
                let first = i64::try_from(random.below(5000)).unwrap() - 2000;
                let last = first + i64::try_from(random.below(4)).unwrap();
                set.extend(std::iter::once(UnitRun { first, last }));
                expected.extend(first..=last);
                if random.below(500) == 0 {
                    assert!((set.count() - expected.len() as f64).abs() < 0.5);
                }
            }
            assert!((set.count() - expected.len() as f64).abs() < 0.5);
        }
    }
}
