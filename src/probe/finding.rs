//! The structure of a cache as it was found.

use super::clusters::Clusters;
use super::confidence::Finding;

/// From lines to sets, as it was found. Lines count from the beginning of the array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MappingFound {
    /// There is one set.
    Single,
    /// The remainder by the number of sets.
    Bits {
        /// Number of sets.
        sets: u32,
    },
    /// Consecutive lines share a set (S 4.3).
    Spatial {
        /// So many.
        run: u32,
        /// Number of sets.
        sets: u32,
    },
    /// Parities of address bits.
    Xor {
        /// Masks of line bits, one for each bit of the set; those of low bits first.
        masks: Vec<u64>,
        /// Line bits that were tried.
        bits: u32,
    },
    /// No rule was found.
    Table {
        /// The set of each line; none where it is not known.
        sets: Vec<Option<u32>>,
    },
}

impl MappingFound {
    /// The set of a line, if it is known.
    #[expect(clippy::cast_possible_truncation, reason = "less than the number of sets")]
    pub fn set(&self, line: u64) -> Option<u32> {
        match self {
            MappingFound::Single => Some(0),
            MappingFound::Bits { sets } => Some((line % u64::from((*sets).max(1))) as u32),
            MappingFound::Spatial { run, sets } => {
                Some((line / u64::from((*run).max(1)) % u64::from((*sets).max(1))) as u32)
            }
            MappingFound::Xor { masks, bits } => {
                if line >> (*bits).min(63) != 0 {
                    return None;
                }
                let bit = |(i, mask): (usize, &u64)| ((line & mask).count_ones() & 1) << i;
                Some(masks.iter().enumerate().map(bit).sum())
            }
            MappingFound::Table { sets } => sets.get(usize::try_from(line).ok()?).copied().flatten(),
        }
    }

    /// Its kind in a word.
    pub fn word(&self) -> &'static str {
        match self {
            MappingFound::Single => "single",
            MappingFound::Bits { .. } => "bits",
            MappingFound::Spatial { .. } => "spatial",
            MappingFound::Xor { .. } => "xor",
            MappingFound::Table { .. } => "table",
        }
    }
}

/// Which line gives way, as it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplacementFound {
    /// The least recently used.
    Lru,
    /// The first that came in.
    Fifo,
    /// That of a tree of halves.
    TreePlru,
    /// The first that was not used of late.
    Nru,
    /// Re-reference interval prediction with two bits.
    Srrip,
    /// Not the least recently used, nor one of the others.
    NotLru,
    /// Sets have one line: there is nothing to choose.
    Direct,
}

impl ReplacementFound {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            ReplacementFound::Lru => "lru",
            ReplacementFound::Fifo => "fifo",
            ReplacementFound::TreePlru => "tree-plru",
            ReplacementFound::Nru => "nru",
            ReplacementFound::Srrip => "srrip",
            ReplacementFound::NotLru => "not lru",
            ReplacementFound::Direct => "direct-mapped",
        }
    }
}

/// A prefetch, as it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefetchFound {
    /// None: every line misses when it is new.
    None,
    /// A miss brings in so many more lines.
    AtMiss {
        /// Lines beyond the one needed.
        distance: u32,
    },
    /// Only the first load misses: use of a prefetched line brings in more.
    Stream {
        /// Lines ahead, if strides show it.
        distance: Option<u32>,
    },
}

/// The structure of a cache or TLB.
#[derive(Debug, Clone, PartialEq)]
pub struct Structure {
    /// Clusters of latencies: the first are hits.
    pub clusters: Clusters,
    /// Bytes of a line or page.
    pub line: Finding<u64>,
    /// Bytes that a miss brings: a sector of the line, or all of it.
    pub sector: Finding<u64>,
    /// Bytes.
    pub capacity: Finding<u64>,
    /// Bytes of the largest array without misses and of the smallest with them.
    pub edge: (Option<u64>, Option<u64>),
    /// Lines of each set.
    pub ways: Finding<Vec<u32>>,
    /// From lines to sets.
    pub mapping: Finding<MappingFound>,
    /// Which line gives way.
    pub replacement: Finding<ReplacementFound>,
    /// Lines that come without being asked for.
    pub prefetch: Finding<PrefetchFound>,
}
