//! A reuse-distance profile (N 3.3).

/// How often each distance occurs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    counts: Vec<u64>,
    /// Ascending distances beyond those of `counts`, of profiles that are known at few places only.
    few: Vec<(u64, u64)>,
    infinite: u64,
}

/// Distances beyond which they are counted together.
const MOST: u64 = 1 << 26;

impl Profile {
    /// Of distances that occur so many times, each once and in any order.
    pub(super) fn sparse(distances: impl Iterator<Item = (u64, u64)>, infinite: u64) -> Self {
        let mut few: Vec<(u64, u64)> = distances.filter(|d| d.1 > 0).collect();
        few.sort_unstable();
        Self { counts: Vec::new(), few, infinite }
    }

    /// Counts a distance; `None` is infinite.
    #[inline]
    pub fn add(&mut self, distance: Option<u64>) {
        self.add_many(distance, 1);
    }

    /// Counts a distance that occurs several times.
    #[inline]
    pub fn add_many(&mut self, distance: Option<u64>, times: u64) {
        let Some(distance) = distance else {
            self.infinite += times;
            return;
        };
        let place = distance.min(MOST) as usize;
        if place >= self.counts.len() {
            self.counts.resize((place + 1).next_power_of_two(), 0);
        }
        self.counts[place] += times;
    }

    /// Accesses without an earlier one to their line.
    pub fn infinite(&self) -> u64 {
        self.infinite
    }

    /// All accesses.
    pub fn accesses(&self) -> u64 {
        self.infinite + self.distances().map(|d| d.1).sum::<u64>()
    }

    /// Distances that occur and how often, ascending; without infinite ones.
    pub fn distances(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let near = self.counts.iter().enumerate().filter(|c| c.1 > &0).map(|(d, &n)| (d as u64, n));
        near.chain(self.few.iter().copied())
    }

    /// Accesses with a finite distance of `ways` or more.
    pub fn at_least(&self, ways: u64) -> u64 {
        self.distances().filter(|d| d.0 >= ways).map(|d| d.1).sum()
    }

    /// Misses of a set of so many lines with least-recently-used replacement (N 3.3: d >= n).
    pub fn misses(&self, ways: u64) -> u64 {
        self.infinite + self.at_least(ways)
    }

    /// Adds another profile.
    pub fn merge(&mut self, other: &Self) {
        for (distance, times) in other.distances() {
            self.add_many(Some(distance), times);
        }
        self.infinite += other.infinite;
    }
}
