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

/// Sectors of one word.
const BITS: i64 = 64;

/// Counts distinct sectors of many short runs: a bit for each, in words that are found by their number.
#[derive(Debug, Default)]
pub struct SectorBits {
    /// Number and bits of a word; no bits where there is none.
    words: Vec<(i64, u64)>,
    count: i64,
}

impl SectorBits {
    /// Begins anew, for so many runs.
    pub fn begin(&mut self, runs: usize) {
        self.words.clear();
        self.words.resize((2 * runs).next_power_of_two().max(4), (0, 0));
        self.count = 0;
    }

    /// Adds a run of at most so many sectors as a word has.
    pub fn add(&mut self, run: UnitRun) {
        let (from, to) = (run.first >> BITS.trailing_zeros(), run.last >> BITS.trailing_zeros());
        let (low, high) = (run.first & (BITS - 1), run.last & (BITS - 1));
        let (upper, lower) = (u64::MAX << low, u64::MAX >> (BITS - 1 - high));
        if from == to {
            self.put(from, upper & lower, run.last - run.first + 1);
        } else {
            self.put(from, upper, BITS - low);
            self.put(to, lower, high + 1);
        }
    }

    fn put(&mut self, word: i64, bits: u64, number: i64) {
        let last = self.words.len() - 1;
        // A multiplicative hash (Knuth, The Art of Computer Programming, volume 3, 6.4).
        let mut place = (word.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & last;
        loop {
            let (known, there) = &mut self.words[place];
            if *there == 0 {
                (*known, *there) = (word, bits);
                self.count += number;
                return;
            }
            if *known == word {
                let new = bits & !*there;
                self.count += if new == bits { number } else { i64::from(new.count_ones()) };
                *there |= bits;
                return;
            }
            place = (place + 1) & last;
        }
    }

    /// How many sectors there are.
    pub fn count(&self) -> i64 {
        self.count
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

    #[test]
    fn bits_are_as_many_as_their_sectors() {
        let mut random = Random::new(11);
        let mut bits = SectorBits::default();
        for round in 0..400 {
            let runs = random.below(300);
            bits.begin(runs);
            let mut expected = std::collections::BTreeSet::new();
            let reach = 1 << (2 + round % 12);
            for _ in 0..runs {
                let first = i64::try_from(random.below(reach)).unwrap() * 61 - 3000;
                let last = first + i64::try_from(random.below(64)).unwrap();
                bits.add(UnitRun { first, last });
                expected.extend(first..=last);
            }
            assert_eq!(usize::try_from(bits.count()).unwrap(), expected.len());
        }
    }
}
