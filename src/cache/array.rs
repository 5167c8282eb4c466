//! A cache: sets of lines, which may be brought in sector by sector.

use super::replacement::{Memory, Replacement};
use crate::named::named;
use crate::trace::CacheGeometry;

named! {
    /// What happens to stores.
    #[cfg_attr(test, schemars(inline))]
    pub enum WritePolicy {
        /// They go on to the next level; a line that is not there is not brought in.
        ThroughNoAllocate = "write-through",
        /// They stay until the line gives way; a line that is not there is brought in.
        BackAllocate = "write-back",
    }
}

/// What a cache is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheShape {
    geometry: CacheGeometry,
    replacement: Replacement,
    write: WritePolicy,
    seed: u64,
}

impl CacheShape {
    /// What does not fit together is said.
    pub fn new(
        geometry: CacheGeometry,
        replacement: Replacement,
        write: WritePolicy,
    ) -> Result<Self, String> {
        let ways = geometry.ways();
        if replacement == Replacement::TreePlru && !(ways.is_power_of_two() && ways <= 64) {
            return Err(format!("plru needs a power of two of ways up to 64, not {ways}"));
        }
        Ok(Self { geometry, replacement, write, seed: 1 })
    }

    /// With another seed for random replacement.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Self {
        Self { seed, ..self.clone() }
    }

    /// Its lines and sets.
    pub fn geometry(&self) -> &CacheGeometry {
        &self.geometry
    }

    /// Which line of a set gives way.
    pub fn replacement(&self) -> Replacement {
        self.replacement
    }

    /// What happens to stores.
    pub fn write(&self) -> WritePolicy {
        self.write
    }
}

/// What a request found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheLookup {
    /// Whether the line was there, with all its sectors that were asked for.
    pub hit: bool,
    /// Sectors that were not there.
    pub missing: u8,
    /// All sectors of the line that were there; 0 if it was not.
    pub present: u8,
    /// A line that gave way to one that was not there; `u64::MAX` if none did.
    pub evicted: u64,
    /// Its sectors that must be written back.
    pub dirty: u8,
}

impl Default for CacheLookup {
    /// Nothing was there, and nothing gave way.
    fn default() -> Self {
        Self { hit: false, missing: 0, present: 0, evicted: u64::MAX, dirty: 0 }
    }
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
        let (sets, ways) = (shape.geometry.sets(), shape.geometry.ways() as usize);
        let memory = Memory::new(shape.replacement, sets, ways, shape.seed);
        Self { ways, entries: vec![EMPTY; sets * ways], memory, shape }
    }

    /// Reads sectors of a line; they are there afterwards.
    #[inline]
    pub fn read(&mut self, line: u64, sectors: u8) -> CacheLookup {
        let set = self.shape.geometry.set(line) as usize;
        match self.find(set, line) {
            Some(way) => {
                self.memory.used(set, way, false);
                let entry = &mut self.entries[set * self.ways + way];
                let (missing, present) = (sectors & !entry.valid, entry.valid);
                entry.valid |= sectors;
                CacheLookup { hit: missing == 0, missing, present, ..CacheLookup::default() }
            }
            None => CacheLookup { missing: sectors, ..self.bring(set, line, sectors, 0) },
        }
    }

    /// Writes sectors of a line, by the write policy.
    #[inline]
    pub fn write(&mut self, line: u64, sectors: u8) -> CacheLookup {
        let set = self.shape.geometry.set(line) as usize;
        let back = self.shape.write == WritePolicy::BackAllocate;
        match self.find(set, line) {
            Some(way) => {
                self.memory.used(set, way, false);
                let entry = &mut self.entries[set * self.ways + way];
                let (missing, present) = (sectors & !entry.valid, entry.valid);
                if back {
                    entry.valid |= sectors;
                    entry.dirty |= sectors;
                }
                CacheLookup { hit: missing == 0, missing, present, ..CacheLookup::default() }
            }
            None if back => CacheLookup { missing: sectors, ..self.bring(set, line, sectors, sectors) },
            None => CacheLookup { missing: sectors, ..CacheLookup::default() },
        }
    }

    /// Drops sectors of a line, if they are there.
    pub fn invalidate(&mut self, line: u64, sectors: u8) {
        let set = self.shape.geometry.set(line) as usize;
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
        CacheLookup { evicted: before.line, dirty: before.dirty, ..CacheLookup::default() }
    }

    /// Sectors that wait to be written back.
    pub fn dirty_sectors(&self) -> u64 {
        self.entries.iter().map(|e| u64::from(e.dirty.count_ones())).sum()
    }

    /// Lines with sectors that wait to be written back, and which.
    pub(super) fn dirty_lines(&self) -> impl Iterator<Item = (u64, u8)> + '_ {
        self.entries.iter().filter(|e| e.dirty != 0).map(|e| (e.line, e.dirty))
    }

    /// Sectors of a line that wait to be written back.
    pub(super) fn dirty_of(&self, line: u64) -> u8 {
        let set = self.shape.geometry.set(line) as usize;
        self.find(set, line).map_or(0, |way| self.entries[set * self.ways + way].dirty)
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
        let geometry = CacheGeometry::new(4 * 128, 128, 4, "modulo").unwrap();
        SectoredCache::new(CacheShape::new(geometry, replacement, write).unwrap())
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
    fn a_tree_needs_a_power_of_two_of_ways() {
        let tree = |ways| {
            let geometry = CacheGeometry::new(128 * ways, 128, ways, "modulo").unwrap();
            CacheShape::new(geometry, Replacement::TreePlru, WritePolicy::ThroughNoAllocate)
        };
        assert!(tree(64).is_ok() && tree(6).is_err() && tree(128).is_err());
    }
}
