//! The structure of a cache as it was found.

#[cfg(test)]
use std::borrow::Cow;

#[cfg(test)]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use super::clusters::Clusters;
use super::confidence::Finding;
use super::gf2::address_bits;
use crate::named::named;

/// A type that is written as another one, which has all keys whatever was found.
macro_rules! written_as {
    ($found:ty, $written:ty, |$value:ident| $form:expr) => {
        impl Serialize for $found {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let $value = self;
                $form.serialize(serializer)
            }
        }

        #[cfg(test)]
        impl JsonSchema for $found {
            fn schema_name() -> Cow<'static, str> {
                <$written>::schema_name()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                <$written>::json_schema(generator)
            }
        }
    };
}

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
}

/// From lines of a certain length to sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedLines {
    rule: MappingFound,
    line_bytes: u64,
}

impl MappedLines {
    /// A rule for lines of so many bytes.
    pub(super) fn new(rule: MappingFound, line_bytes: u64) -> Self {
        Self { rule, line_bytes }
    }

    /// The rule.
    pub fn rule(&self) -> &MappingFound {
        &self.rule
    }

    /// The set of a line, if it is known.
    pub fn set(&self, line: u64) -> Option<u32> {
        self.rule.set(line)
    }

    /// Number of sets.
    pub fn sets(&self) -> u32 {
        match &self.rule {
            MappingFound::Single => 1,
            MappingFound::Bits { sets } | MappingFound::Spatial { sets, .. } => *sets,
            MappingFound::Xor { masks, .. } => 1 << masks.len(),
            MappingFound::Table { sets } => sets.iter().flatten().max().map_or(0, |most| most + 1),
        }
    }

    /// Of parities, the bits of a byte address that each takes.
    pub fn address_bits(&self) -> Option<Vec<Vec<u32>>> {
        match &self.rule {
            MappingFound::Xor { masks, .. } => Some(address_bits(masks, self.line_bytes)),
            _ => None,
        }
    }
}

/// From lines to sets, as it is written. Lines count from the beginning of the array.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "MappingDocument"))]
struct WrittenMapping {
    /// single, bits (remainder by the number of sets), spatial, xor, table.
    kind: &'static str,
    /// Number of sets.
    sets: u32,
    /// For spatial: consecutive lines of a set.
    run: Option<u32>,
    /// For xor: the bits of a byte address whose parity is a bit of the set, for each of them.
    address_bits: Option<Vec<Vec<u32>>>,
    /// For table: the set of each line; null where it is not known.
    table: Option<Vec<Option<u32>>>,
}

written_as!(MappedLines, WrittenMapping, |mapped| {
    let (kind, run, table) = match &mapped.rule {
        MappingFound::Single => ("single", None, None),
        MappingFound::Bits { .. } => ("bits", None, None),
        MappingFound::Spatial { run, .. } => ("spatial", Some(*run), None),
        MappingFound::Xor { .. } => ("xor", None, None),
        MappingFound::Table { sets } => ("table", None, Some(sets.clone())),
    };
    WrittenMapping { kind, sets: mapped.sets(), run, address_bits: mapped.address_bits(), table }
});

named! {
    /// Which line gives way, as it was found.
    #[cfg_attr(test, schemars(inline))]
    pub enum ReplacementFound {
        /// The least recently used.
        Lru = "lru",
        /// The first that came in.
        Fifo = "fifo",
        /// That of a tree of halves.
        TreePlru = "tree-plru",
        /// The first that was not used of late.
        Nru = "nru",
        /// Re-reference interval prediction with two bits.
        Srrip = "srrip",
        /// Not the least recently used, nor one of the others.
        NotLru = "not lru",
        /// Sets have one line: there is nothing to choose.
        Direct = "direct-mapped",
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

/// A prefetch, as it is written.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "PrefetchDocument"))]
struct WrittenPrefetch {
    /// none, miss (a miss brings more lines), stream (use of a prefetched line does, too).
    kind: &'static str,
    /// Lines beyond the one needed, if they are known.
    lines: Option<u32>,
}

written_as!(PrefetchFound, WrittenPrefetch, |found| match *found {
    PrefetchFound::None => WrittenPrefetch { kind: "none", lines: None },
    PrefetchFound::AtMiss { distance } => WrittenPrefetch { kind: "miss", lines: Some(distance) },
    PrefetchFound::Stream { distance } => WrittenPrefetch { kind: "stream", lines: distance },
});

/// Where arrays begin to miss when they are warm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FittingArrays {
    /// Bytes of the largest array that fits.
    pub fits_bytes: Option<u64>,
    /// Bytes of the smallest array that does not.
    pub overflows_bytes: Option<u64>,
}

/// The structure of a cache or TLB.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "StructureDocument"))]
pub struct Structure {
    /// Clusters of latencies: the first are hits.
    #[serde(skip)]
    pub clusters: Clusters,
    /// Bytes of a line or page: what gives way as a whole.
    #[serde(rename = "line_bytes")]
    pub line: Finding<u64>,
    /// Bytes that a miss brings: a sector of the line, or all of it.
    #[serde(rename = "sector_bytes")]
    pub sector: Finding<u64>,
    /// Bytes of all lines.
    #[serde(rename = "capacity_bytes")]
    pub capacity: Finding<u64>,
    /// Which arrays fit.
    #[serde(flatten)]
    pub arrays: FittingArrays,
    /// Lines of each set, in the order of the mapping.
    pub ways: Finding<Vec<u32>>,
    /// From lines to sets.
    pub mapping: Finding<MappedLines>,
    /// lru, fifo, tree-plru, nru, srrip, not lru, direct-mapped.
    pub replacement: Finding<ReplacementFound>,
    /// Lines that come without being asked for.
    pub prefetch: Finding<PrefetchFound>,
}
