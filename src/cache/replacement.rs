//! Which line of a set gives way.

use crate::named::named;
use crate::random::Random;

named! {
    /// Replacement policies: those of C 6 (LRU, MFU, LFU, random) and others.
    #[cfg_attr(test, schemars(inline))]
    pub enum Replacement {
        /// Least recently used.
        Lru = "lru",
        /// First in, first out.
        Fifo = "fifo",
        /// Least frequently used since it was brought in; of equals, the least recently used.
        Lfu = "lfu",
        /// Most frequently used.
        Mfu = "mfu",
        /// Any.
        Random = "random",
        /// A binary tree of the less recently used halves; a power of two of ways.
        TreePlru = "plru",
    }
}

/// What a policy remembers of all ways.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    policy: Replacement,
    ways: usize,
    /// When each way was used, or brought in.
    times: Vec<u64>,
    /// How often each way was used.
    uses: Vec<u32>,
    /// Bits of each set's tree, from the root on.
    trees: Vec<u64>,
    clock: u64,
    random: Random,
}

impl Memory {
    pub(super) fn new(policy: Replacement, sets: usize, ways: usize, seed: u64) -> Self {
        let counts = matches!(policy, Replacement::Lfu | Replacement::Mfu);
        let tree = policy == Replacement::TreePlru;
        Self {
            policy,
            ways,
            times: vec![0; sets * ways],
            uses: vec![0; if counts { sets * ways } else { 0 }],
            // A tree of up to 64 ways has its nodes in one word.
            trees: vec![0; if tree { sets } else { 0 }],
            clock: 0,
            random: Random::new(seed),
        }
    }

    /// A line is used, or brought in.
    #[inline]
    pub(super) fn used(&mut self, set: usize, way: usize, new: bool) {
        self.clock += 1;
        let at = set * self.ways + way;
        match self.policy {
            Replacement::Lru => self.times[at] = self.clock,
            Replacement::Fifo => {
                if new {
                    self.times[at] = self.clock;
                }
            }
            Replacement::Lfu | Replacement::Mfu => {
                self.times[at] = self.clock;
                self.uses[at] = if new { 1 } else { self.uses[at].saturating_add(1) };
            }
            Replacement::Random => {}
            Replacement::TreePlru => self.point_away(set, way),
        }
    }

    /// Lets every node on the way to `way` point to its other half.
    fn point_away(&mut self, set: usize, way: usize) {
        let (mut node, mut half) = (1, self.ways / 2);
        while half > 0 {
            let right = way & half != 0;
            let bit = 1_u64 << (node & 63);
            let tree = &mut self.trees[set];
            *tree = if right { *tree & !bit } else { *tree | bit };
            node = node * 2 + usize::from(right);
            half /= 2;
        }
    }

    /// The way that gives way in a full set.
    pub(super) fn victim(&mut self, set: usize) -> usize {
        let range = set * self.ways..(set + 1) * self.ways;
        let times = &self.times[range.clone()];
        let of = |best: Option<(usize, &u64)>| best.map_or(0, |b| b.0);
        match self.policy {
            Replacement::Lru | Replacement::Fifo => of(times.iter().enumerate().min_by_key(|t| t.1)),
            Replacement::Lfu | Replacement::Mfu => {
                let uses = &self.uses[range];
                let most = self.policy == Replacement::Mfu;
                let key = |i: usize| if most { u32::MAX - uses[i] } else { uses[i] };
                of(times.iter().enumerate().min_by_key(|t| (key(t.0), t.1)))
            }
            Replacement::Random => self.random.below(self.ways),
            Replacement::TreePlru => {
                let (mut node, mut half, mut way) = (1, self.ways / 2, 0);
                while half > 0 {
                    let right = self.trees[set] >> (node & 63) & 1 == 1;
                    way += if right { half } else { 0 };
                    node = node * 2 + usize::from(right);
                    half /= 2;
                }
                way
            }
        }
    }
}
