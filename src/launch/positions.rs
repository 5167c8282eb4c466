//! For which work items of a thread an instruction is done.

/// Work items as positions in [`Program::items`](super::Program::items), ascending; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Items {
    pub(super) first: u16,
    /// Seldom needed, and an empty vector allocates nothing.
    pub(super) more: Vec<u16>,
}

impl Items {
    pub(super) fn one(first: u16) -> Self {
        Self { first, more: Vec::new() }
    }

    /// The positions.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        std::iter::once(self.first).chain(self.more.iter().copied())
    }

    pub(super) fn contains(&self, item: u16) -> bool {
        item == self.first || self.more.binary_search(&item).is_ok()
    }

    pub(super) fn insert(&mut self, item: u16) {
        let rest = if item < self.first { std::mem::replace(&mut self.first, item) } else { item };
        if rest != self.first
            && let Err(place) = self.more.binary_search(&rest)
        {
            self.more.insert(place, rest);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        // They mostly come one by one, and many may be merged.
        if other.more.is_empty() {
            return self.insert(other.first);
        }
        let mut all: Vec<u16> = self.iter().chain(other.iter()).collect();
        all.sort_unstable();
        all.dedup();
        self.more = all.split_off(1);
        self.first = all[0];
    }

    /// Keeps the positions for which `test` holds, if there are any.
    pub(super) fn retain(&mut self, test: impl Fn(u16) -> bool) {
        let mut kept: Vec<u16> = self.iter().filter(|&i| test(i)).collect();
        if !kept.is_empty() {
            self.more = kept.split_off(1);
            self.first = kept[0];
        }
    }
}
