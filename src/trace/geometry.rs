//! How many lines a cache has, how long they are, and in which sets they lie.

use serde::Serialize;

use super::sets::SetIndex;

/// Bytes that lines may have.
const LINES: std::ops::RangeInclusive<u64> = 8..=65_536;
/// Lines beyond which a cache is hardly meant.
const MOST_LINES: u64 = 1 << 28;

/// The sizes of a cache, which fit together: as many lines in each set, and a power of two of bytes in each line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CacheGeometry {
    /// Bytes of the cache.
    bytes: u64,
    /// Bytes of a line.
    line: u64,
    /// Lines of a set.
    ways: u32,
    /// Number of sets.
    sets: u32,
    /// Which set a line lies in.
    #[cfg_attr(test, schemars(with = "String"))]
    index: SetIndex,
}

impl CacheGeometry {
    /// From sizes in bytes; 0 ways make one set. The number of sets follows; what does not fit together is said.
    pub fn new(bytes: u64, line: u64, ways: u64, index: &str) -> Result<Self, String> {
        check_line(line)?;
        let lines = bytes / line;
        if lines == 0 || !bytes.is_multiple_of(line) || lines > MOST_LINES {
            return Err(format!("{bytes} bytes are no number of lines of {line} bytes"));
        }
        Self::with_lines(line, lines, if ways == 0 { lines } else { ways }, index)
    }

    /// From a number of lines.
    pub fn with_lines(line: u64, lines: u64, ways: u64, index: &str) -> Result<Self, String> {
        check_line(line)?;
        if lines == 0 || lines > MOST_LINES || !lines.is_multiple_of(ways) {
            return Err(format!("{lines} lines do not make sets of {ways} ways"));
        }
        let index = SetIndex::parse(index, lines / ways)?;
        let ways = u32::try_from(ways).map_err(|_| format!("{ways} ways are too many"))?;
        Self::with_sets(line, index, ways)
    }

    /// From the sets themselves.
    pub fn with_sets(line: u64, index: SetIndex, ways: u32) -> Result<Self, String> {
        check_line(line)?;
        let lines = (index.sets() as u64).saturating_mul(u64::from(ways));
        if lines == 0 || lines > MOST_LINES {
            return Err(format!("{} sets of {ways} ways are no cache", index.sets()));
        }
        Ok(Self::built(line, index, ways))
    }

    /// Fermi's L1 cache, by its number of sets (N 3.2).
    pub(super) fn fermi(sets: u32, ways: u32) -> Self {
        Self::built(128, SetIndex::Fermi(sets), ways)
    }

    #[expect(clippy::cast_possible_truncation, reason = "no more sets than lines, which are less than 2^32")]
    fn built(line: u64, index: SetIndex, ways: u32) -> Self {
        let sets = index.sets() as u32;
        Self { bytes: u64::from(sets) * u64::from(ways) * line, line, ways, sets, index }
    }

    /// The same lines in one set.
    #[must_use]
    pub fn fully_associative(&self) -> Self {
        Self { ways: self.sets * self.ways, sets: 1, index: SetIndex::Modulo(1), ..*self }
    }

    /// Bytes of the cache.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of a line.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Lines of a set.
    pub fn ways(&self) -> u32 {
        self.ways
    }

    /// Number of sets.
    pub fn sets(&self) -> usize {
        self.sets as usize
    }

    /// Lines of the cache.
    pub fn lines(&self) -> u64 {
        u64::from(self.sets) * u64::from(self.ways)
    }

    /// From lines to sets.
    pub fn index(&self) -> &SetIndex {
        &self.index
    }

    /// The set of a line.
    #[inline]
    pub fn set(&self, line: u64) -> u32 {
        self.index.set(line)
    }
}

impl std::fmt::Display for CacheGeometry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { bytes, line, ways, sets, index } = self;
        write!(f, "{bytes} bytes, {sets} sets of {ways} ways by {}, lines of {line} bytes", index.word())
    }
}

fn check_line(line: u64) -> Result<(), String> {
    if line.is_power_of_two() && LINES.contains(&line) {
        return Ok(());
    }
    Err(format!("lines of {line} bytes: they have a power of two from 8 to 65536"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_do_not_fit_together_are_refused() {
        let new = CacheGeometry::new;
        assert_eq!(*new(16_384, 128, 4, "fermi").unwrap().index(), SetIndex::Fermi(32));
        assert_eq!(new(16_384, 128, 0, "modulo").unwrap().ways(), 128);
        for (bytes, line, ways) in [(16_384, 100, 4), (100, 128, 1), (16_384, 128, 3), (0, 128, 1)] {
            assert!(new(bytes, line, ways, "modulo").is_err());
        }
        assert!(CacheGeometry::with_sets(128, SetIndex::Fermi(32), 0).is_err());
        assert!(CacheGeometry::with_sets(128, SetIndex::Modulo(u32::MAX), 1).is_err());
        let one = CacheGeometry::fermi(32, 4).fully_associative();
        assert_eq!((one.sets(), one.ways(), one.lines(), one.bytes()), (1, 128, 128, 16_384));
    }
}
