//! What a simulated cache is.

/// From lines to sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetMapping {
    /// The remainder by the number of sets.
    Bits,
    /// So many consecutive lines share a set (S 4.3).
    Spatial(u64),
    /// Bit `i` of the set is the parity of the line's bits under mask `i`.
    Xor(Vec<u64>),
    /// A table that repeats; not empty.
    Table(Vec<u32>),
}

impl SetMapping {
    /// The set of a line.
    #[expect(clippy::cast_possible_truncation, reason = "less than the number of sets")]
    pub fn set(&self, line: u64, sets: usize) -> u32 {
        let sets = sets.max(1) as u64;
        match self {
            SetMapping::Bits => (line % sets) as u32,
            SetMapping::Spatial(run) => (line / (*run).max(1) % sets) as u32,
            SetMapping::Xor(masks) => {
                let bit = |(i, mask): (usize, &u64)| ((line & mask).count_ones() & 1) << i;
                masks.iter().enumerate().map(bit).sum()
            }
            SetMapping::Table(table) => table[(line % table.len() as u64) as usize],
        }
    }
}

/// Which line of a set gives way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplacementRule {
    /// Least recently used.
    Lru,
    /// First in, first out.
    Fifo,
    /// Any.
    Random,
    /// A binary tree of the less recently used halves.
    TreePlru,
    /// Any way, with these relative chances.
    Weighted(Vec<u32>),
    /// The first that was not used of late: each way has a bit that a use sets, and all are cleared when every
    /// one is set and a way is needed.
    Nru,
    /// Re-reference interval prediction with two bits (Jaleel et al., ISCA 2010): a line comes in as one that is
    /// used late, a hit makes it one that is used soon, and the first of those that are used last gives way.
    Srrip,
}

/// When lines are prefetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// At a miss.
    Miss,
    /// At a miss and at the first use of a prefetched line (Smith, "Cache memories", 1982).
    Tagged,
}

/// A sequential prefetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefetch {
    /// Lines beyond the one needed.
    pub distance: u32,
    /// When.
    pub trigger: Trigger,
}

/// A cache or TLB.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheSpec {
    /// Bytes of a line.
    pub line: u64,
    /// Bytes of a line that a miss brings: those of the line, if it has no sectors.
    pub sector: u64,
    /// Lines of each set.
    pub ways: Vec<u32>,
    /// From lines to sets.
    pub mapping: SetMapping,
    /// Replacement.
    pub policy: ReplacementRule,
    /// Prefetch.
    pub prefetch: Option<Prefetch>,
    /// Cycles of a hit.
    pub hit_cycles: f64,
}

impl CacheSpec {
    /// Lines of all sets.
    pub fn lines(&self) -> u64 {
        self.ways.iter().map(|&w| u64::from(w)).sum()
    }

    /// The set of a line.
    pub fn set(&self, line: u64) -> u32 {
        self.mapping.set(line, self.ways.len())
    }
}

/// All that is simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeSpec {
    /// Its name.
    pub name: String,
    /// Bytes of an array element.
    pub element: u32,
    /// The levels, the nearest first; at least one.
    pub levels: Vec<CacheSpec>,
    /// Cycles of a miss in the last.
    pub miss_cycles: f64,
    /// Relative standard deviation of latencies.
    pub noise_share: f64,
    /// Share of latencies that are 1.2 to 5 times what they should be.
    pub outlier_share: f64,
    /// Cycles from one time that the clock can show to the next; 0 if it shows any.
    pub step_cycles: f64,
    /// Miss-status holding registers (N 5.2).
    pub mshrs: u32,
    /// Those that one warp can use.
    pub mshrs_per_warp: u32,
    /// For everything random.
    pub seed: u64,
}
