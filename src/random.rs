//! Random numbers from a seed: the same in every run, on every machine.

/// Steele, Lea and Flood's `SplitMix64` ("Fast splittable pseudorandom number generators", 2014).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// From 0 to `limit`, excluded; 0 if that is 0. The bias of the product is far below what matters.
    #[expect(clippy::cast_possible_truncation, reason = "less than a usize")]
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }

    /// One of so many positions. Fitted files hold what this drew, so it stays a remainder.
    pub(crate) fn position(&mut self, length: usize) -> usize {
        let most = u64::try_from(length.max(1)).expect("a length fits into 64 bits");
        usize::try_from(self.next() % most).expect("less than a usize")
    }

    /// The same among more than a machine can hold.
    pub(crate) fn remainder(&mut self, limit: u128) -> u128 {
        u128::from(self.next()) % limit.max(1)
    }

    /// Puts values in random order.
    pub(crate) fn shuffle<T>(&mut self, all: &mut [T]) {
        for i in (1..all.len()).rev() {
            let other = self.position(i + 1);
            all.swap(i, other);
        }
    }

    /// Above 0, up to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// The absolute value of a normal distribution with mean 0 (Nugteren et al. 4.2), by Box and Muller; below
    /// 8.6.
    pub(crate) fn half_normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        (radius * (std::f64::consts::TAU * self.unit()).cos()).abs()
    }
}

/// Many values as one number, the same on machines of 32 and of 64 bits: what takes different hashes for different things
/// must not depend on how wide a word is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Digest(u64);

impl Digest {
    pub(crate) fn add(&mut self, value: u64) {
        self.0 = mixed(self.0.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ value);
    }

    pub(crate) fn add_signed(&mut self, value: i64) {
        self.add(value.cast_unsigned());
    }

    pub(crate) fn get(self) -> u64 {
        self.0
    }
}

/// The `i`-th of numbers below another that are spread evenly, however they are taken together: multiples of the golden
/// ratio leave fractions that are (Knuth, The Art of Computer Programming, volume 3, 6.4).
pub(crate) fn spread(below: u64, i: u64) -> u64 {
    let fraction = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    u64::try_from((u128::from(fraction) * u128::from(below)) >> 64).expect("it is below")
}

/// All bits depend on all bits.
pub(crate) fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of any twelve in a row, each quarter has two at least; and every third of them is spread as well.
    #[test]
    fn numbers_are_spread_evenly() {
        for (step, from) in [(1, 0), (1, 500), (3, 7), (16, 1)] {
            let mut quarters = [0; 4];
            for i in 0..12 {
                quarters[usize::try_from(spread(100, from + step * i) / 25).unwrap()] += 1;
            }
            assert!(quarters.iter().all(|&number| number >= 2), "{step} {from}: {quarters:?}");
        }
    }

    #[test]
    fn the_half_normal_distribution_has_its_mean() {
        let mut random = Random::new(7);
        let mean = (0..100_000).map(|_| random.half_normal()).sum::<f64>() / 100_000.0;
        assert!((mean - (2.0 / std::f64::consts::PI).sqrt()).abs() < 0.01, "{mean}");
        assert!((0..1000).all(|_| random.below(7) < 7 && random.position(7) < 7));
        assert_eq!((random.below(0), random.position(0)), (0, 0));
    }
    #[test]
    fn masks_of_lanes_have_different_digests() {
        let of = |values: &[u64]| {
            let mut digest = Digest::default();
            for &value in values {
                digest.add(value);
            }
            digest.get()
        };
        // The first and the last lanes, on both sides of a condition: what hashes that add up take for one another.
        let masks: Vec<u64> = (0..64).flat_map(|n| [u64::MAX >> n, u64::MAX << n, 1 << n]).collect();
        let pairs = masks.iter().flat_map(|&a| masks.iter().map(move |&b| [a, b]));
        let different: std::collections::BTreeSet<[u64; 2]> = pairs.collect();
        let digests: std::collections::BTreeSet<u64> = different.iter().map(|pair| of(pair)).collect();
        assert_eq!(digests.len(), different.len());
        // The same wherever it is built.
        assert_eq!(of(&[1, u64::MAX]), 2_031_997_715_107_867_318);
    }
}
