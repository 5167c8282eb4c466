//! A cache: sets of lines, which may be brought in sector by sector.

use super::replacement::{Memory, Replacement};
use crate::trace::sets::SetIndex;

/// What happens to stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WritePolicy {
    /// They go on to the next level; a line that is not there is not brought in.
    ThroughNoAllocate,
    /// They stay until the line gives way; a line that is not there is brought in.
    BackAllocate,
}

/// What a cache is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheShape {
    /// Bytes of a line; a power of two.
    pub line: u64,
    /// From lines to sets.
    pub sets: SetIndex,
    /// Lines of a set.
    pub ways: u32,
    /// Which line of a set gives way.
    pub replacement: Replacement,
    /// What happens to stores.
    pub write: WritePolicy,
    /// For random replacement.
    pub seed: u64,
}

impl CacheShape {
    /// From sizes in bytes. The number of sets follows; what does not fit together is said.
    pub fn new(
        bytes: u64,
        line: u64,
        ways: u64,
        index: &str,
        replacement: Replacement,
        write: WritePolicy,
    ) -> Result<Self, String> {
        if !line.is_power_of_two() || !(8..=65_536).contains(&line) {
            return Err(format!("lines of {line} bytes: they have a power of two from 8 to 65536"));
        }
        let lines = bytes / line;
        if lines == 0 || !bytes.is_multiple_of(line) || lines > 1 << 28 {
            return Err(format!("{bytes} bytes are no number of lines of {line} bytes"));
        }
        let ways = if ways == 0 { lines } else { ways };
        if !lines.is_multiple_of(ways) {
            return Err(format!("{lines} lines do not make sets of {ways} ways"));
        }
        if replacement == Replacement::TreePlru && !(ways.is_power_of_two() && ways <= 64) {
            return Err(format!("plru needs a power of two of ways up to 64, not {ways}"));
        }
        let sets = SetIndex::parse(index, lines / ways)?;
        let ways = u32::try_from(ways).map_err(|_| format!("{ways} ways are too many"))?;
        Ok(Self { line, sets, ways, replacement, write, seed: 1 })
    }

    /// Lines of the cache.
    pub fn lines(&self) -> u64 {
        self.sets.sets() as u64 * u64::from(self.ways)
    }
}

/// What a request found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheLookup {
    /// Whether the line was there, with all its sectors that were asked for.
    pub hit: bool,
    /// Sectors that were not there.
    pub missing: u8,
    /// A line that gave way, and its sectors that must be written back; 0 sectors if none did.
    pub evicted: u64,
    /// Its sectors that must be written back.
    pub dirty: u8,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    line: u64,
    valid: u8,
    dirty: u8,
}

/// No line is the largest number: lines are addresses over their size.
const EMPTY: Entry = Entry { line: u64::MAX, valid: 0, dirty: 0 };

/// A cache at work.
#[derive(Debug, Clone)]
pub struct SectoredCache {
    shape: CacheShape,
    ways: usize,
    entries: Vec<Entry>,
    memory: Memory,
}

impl SectoredCache {
    /// An empty cache.
    pub fn new(shape: CacheShape) -> Self {
        let (sets, ways) = (shape.sets.sets(), shape.ways.max(1) as usize);
        let memory = Memory::new(shape.replacement, sets, ways, shape.seed);
        Self { ways, entries: vec![EMPTY; sets * ways], memory, shape }
    }

    /// Reads sectors of a line; they are there afterwards.
    #[inline]
    pub fn read(&mut self, line: u64, sectors: u8) -> CacheLookup {
        let set = self.shape.sets.set(line) as usize;
        match self.find(set, line) {
            Some(way) => {
                self.memory.used(set, way, false);
                let entry = &mut self.entries[set * self.ways + way];
                let missing = sectors & !entry.valid;
                entry.valid |= sectors;
                CacheLookup { hit: missing == 0, missing, ..CacheLookup::default() }
            }
            None => CacheLookup { missing: sectors, ..self.bring(set, line, sectors, 0) },
        }
    }

    /// Writes sectors of a line, by the write policy.
    #[inline]
    pub fn write(&mut self, line: u64, sectors: u8) -> CacheLookup {
        let set = self.shape.sets.set(line) as usize;
        let back = self.shape.write == WritePolicy::BackAllocate;
        match self.find(set, line) {
            Some(way) => {
                self.memory.used(set, way, false);
                let entry = &mut self.entries[set * self.ways + way];
                let missing = sectors & !entry.valid;
                if back {
                    entry.valid |= sectors;
                    entry.dirty |= sectors;
                }
                CacheLookup { hit: missing == 0, missing, ..CacheLookup::default() }
            }
            None if back => CacheLookup { missing: sectors, ..self.bring(set, line, sectors, sectors) },
            None => CacheLookup { missing: sectors, ..CacheLookup::default() },
        }
    }

    /// Drops sectors of a line, if they are there.
    pub fn invalidate(&mut self, line: u64, sectors: u8) {
        let set = self.shape.sets.set(line) as usize;
        if let Some(way) = self.find(set, line) {
            self.entries[set * self.ways + way].valid &= !sectors;
        }
    }

    #[inline]
    fn find(&self, set: usize, line: u64) -> Option<usize> {
        self.entries[set * self.ways..(set + 1) * self.ways].iter().position(|e| e.line == line)
    }

    fn bring(&mut self, set: usize, line: u64, valid: u8, dirty: u8) -> CacheLookup {
        let free = self.find(set, EMPTY.line);
        let way = free.unwrap_or_else(|| self.memory.victim(set));
        let entry = &mut self.entries[set * self.ways + way];
        let before = std::mem::replace(entry, Entry { line, valid, dirty });
        self.memory.used(set, way, true);
        CacheLookup { hit: false, missing: 0, evicted: before.line, dirty: before.dirty }
    }

    /// Sectors that wait to be written back.
    pub fn dirty_sectors(&self) -> u64 {
        self.entries.iter().map(|e| u64::from(e.dirty.count_ones())).sum()
    }

    /// What it is.
    pub fn shape(&self) -> &CacheShape {
        &self.shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(replacement: Replacement) -> SectoredCache {
        let write = WritePolicy::BackAllocate;
        SectoredCache::new(CacheShape::new(4 * 128, 128, 4, "modulo", replacement, write).unwrap())
    }

    /// Which of the lines 0 to 3 gives way to line 9, after these accesses.
    fn gives_way(replacement: Replacement, accesses: &[u64]) -> u64 {
        let mut cache = cache(replacement);
        for &line in accesses {
            cache.read(line, 1);
        }
        cache.read(9, 1).evicted
    }

    #[test]
    fn every_policy_drops_its_own_line() {
        let accesses = [0, 1, 2, 3, 0, 0, 0, 1, 1, 3];
        assert_eq!(gives_way(Replacement::Lru, &accesses), 2);
        assert_eq!(gives_way(Replacement::Fifo, &accesses), 0);
        assert_eq!(gives_way(Replacement::Lfu, &accesses), 2);
        assert_eq!(gives_way(Replacement::Mfu, &accesses), 0);
        // The tree: 3 was last, so the left half; there 1 was last, so 0.
        assert_eq!(gives_way(Replacement::TreePlru, &accesses), 0);
        assert!(gives_way(Replacement::Random, &accesses) < 4);
    }

    #[test]
    fn sectors_are_brought_in_and_written_back_one_by_one() {
        let mut cache = cache(Replacement::Lru);
        assert_eq!(cache.read(0, 0b0011).missing, 0b0011);
        assert_eq!(cache.read(0, 0b0110).missing, 0b0100);
        assert!(cache.read(0, 0b0111).hit);
        assert!(cache.write(0, 0b0001).hit);
        assert_eq!(cache.write(0, 0b1000).missing, 0b1000);
        assert_eq!(cache.dirty_sectors(), 2);
        for line in 1..4 {
            cache.read(line, 1);
        }
        let found = cache.read(4, 1);
        assert_eq!((found.evicted, found.dirty), (0, 0b1001));
    }

    #[test]
    fn shapes_that_do_not_fit_together_are_refused() {
        let new = |bytes, line, ways, index| {
            CacheShape::new(bytes, line, ways, index, Replacement::Lru, WritePolicy::ThroughNoAllocate)
        };
        assert_eq!(new(16_384, 128, 4, "fermi").unwrap().sets, SetIndex::Fermi(32));
        assert_eq!(new(16_384, 128, 0, "modulo").unwrap().ways, 128);
        for (bytes, line, ways) in [(16_384, 100, 4), (100, 128, 1), (16_384, 128, 3), (0, 128, 1)] {
            assert!(new(bytes, line, ways, "modulo").is_err());
        }
    }
}
