//! What will take effect when: a bucket for each time stamp to come.

/// A line and whether it returns from memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Effect(u32);

impl Effect {
    pub(super) fn new(line: u32, miss: bool) -> Self {
        Self(line << 1 | u32::from(miss))
    }

    pub(super) fn line(self) -> u32 {
        self.0 >> 1
    }

    pub(super) fn is_miss(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Buckets in a ring; within a bucket, effects are in the order of their issue.
#[derive(Debug)]
pub(super) struct Wheel {
    buckets: Vec<Vec<Effect>>,
    mask: u64,
}

impl Wheel {
    /// For delays up to `most`.
    pub(super) fn new(most: u32) -> Self {
        let size = (most as usize + 2).next_power_of_two();
        Self { buckets: vec![Vec::new(); size], mask: size as u64 - 1 }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "less than the number of buckets")]
    fn slot(&self, time: u64) -> usize {
        (time & self.mask) as usize
    }

    #[inline]
    pub(super) fn add(&mut self, time: u64, effect: Effect) {
        let slot = self.slot(time);
        self.buckets[slot].push(effect);
    }

    /// Takes a bucket out; give it back with [`put_back`](Self::put_back), so that its memory is kept.
    #[inline]
    pub(super) fn take(&mut self, time: u64) -> Option<Vec<Effect>> {
        let slot = self.slot(time);
        let bucket = &mut self.buckets[slot];
        if bucket.is_empty() { None } else { Some(std::mem::take(bucket)) }
    }

    pub(super) fn put_back(&mut self, time: u64, mut bucket: Vec<Effect>) {
        bucket.clear();
        let slot = self.slot(time);
        self.buckets[slot] = bucket;
    }

    /// Drops everything; calls `drop` for what was to come.
    pub(super) fn clear(&mut self, mut drop: impl FnMut(Effect)) {
        for bucket in &mut self.buckets {
            bucket.drain(..).for_each(&mut drop);
        }
    }
}
