//! A small deterministic generator (splitmix64).

pub struct Random(u64);

impl Random {
    /// Another sequence for each case of each seed.
    pub fn new(seed: u64, case: u64) -> Self {
        Self(seed.wrapping_mul(0x1_0000_0000).wrapping_add(case))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From `low` to `high`, both included.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.next() % (high - low + 1).unsigned_abs()).unwrap()
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: i64) -> bool {
        self.within(1, n) == 1
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.next() % from.len() as u64).unwrap()]
    }
}
