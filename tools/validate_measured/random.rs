//! Seeded shuffles: the same halves in every run.

/// Splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Numbers below `count` in two halves of equal size; of an odd count the second is larger.
    pub fn halves(&mut self, count: usize) -> (Vec<usize>, Vec<usize>) {
        let mut all: Vec<usize> = (0..count).collect();
        for i in (1..count).rev() {
            let other = usize::try_from(self.next() % (i as u64 + 1)).unwrap_or(0);
            all.swap(i, other);
        }
        let second = all.split_off(count / 2);
        (all, second)
    }
}
