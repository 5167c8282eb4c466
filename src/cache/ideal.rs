//! Caches that no device has: without sets, or without an end. What they do not lose tells why a real one does.

use rustc_hash::FxHashMap;

use super::array::{CacheLookup, CacheShape, SectoredCache, WritePolicy};
use crate::trace::numbering::number;

/// No slot.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Slot {
    line: u64,
    valid: u8,
    dirty: u8,
    /// Used before it and after it.
    older: u32,
    newer: u32,
}

/// One set for all lines, of which the least recently used gives way, or none. Every access takes the same short time,
/// however many lines there are.
#[derive(Debug, Clone)]
pub struct Ideal {
    lines: Option<usize>,
    write: WritePolicy,
    places: FxHashMap<u64, u32>,
    slots: Vec<Slot>,
    oldest: u32,
    newest: u32,
}

impl Ideal {
    /// A cache of so many lines, or without an end.
    pub fn new(lines: Option<usize>, write: WritePolicy) -> Self {
        let lines = lines.map(|n| n.max(1));
        Self { lines, write, places: FxHashMap::default(), slots: Vec::new(), oldest: NONE, newest: NONE }
    }

    /// Reads sectors of a line; they are there afterwards.
    pub fn read(&mut self, line: u64, sectors: u8) -> CacheLookup {
        match self.places.get(&line) {
            Some(&at) => {
                self.touch(at);
                let slot = &mut self.slots[at as usize];
                let (missing, present) = (sectors & !slot.valid, slot.valid);
                slot.valid |= sectors;
                CacheLookup { hit: missing == 0, missing, present, ..CacheLookup::default() }
            }
            None => CacheLookup { missing: sectors, ..self.bring(line, sectors, 0) },
        }
    }

    /// Writes sectors of a line, by the write policy.
    pub fn write(&mut self, line: u64, sectors: u8) -> CacheLookup {
        let back = self.write == WritePolicy::BackAllocate;
        match self.places.get(&line) {
            Some(&at) => {
                self.touch(at);
                let slot = &mut self.slots[at as usize];
                let (missing, present) = (sectors & !slot.valid, slot.valid);
                if back {
                    slot.valid |= sectors;
                    slot.dirty |= sectors;
                }
                CacheLookup { hit: missing == 0, missing, present, ..CacheLookup::default() }
            }
            None if back => CacheLookup { missing: sectors, ..self.bring(line, sectors, sectors) },
            None => CacheLookup { missing: sectors, ..CacheLookup::default() },
        }
    }

    /// Drops sectors of a line, if they are there.
    pub fn invalidate(&mut self, line: u64, sectors: u8) {
        if let Some(&at) = self.places.get(&line) {
            self.slots[at as usize].valid &= !sectors;
        }
    }

    /// Lines with sectors that wait to be written back, and which.
    pub(super) fn dirty_lines(&self) -> impl Iterator<Item = (u64, u8)> + '_ {
        self.slots.iter().filter(|s| s.dirty != 0).map(|s| (s.line, s.dirty))
    }

    /// Sectors of a line that wait to be written back.
    pub(super) fn dirty_of(&self, line: u64) -> u8 {
        self.places.get(&line).map_or(0, |&at| self.slots[at as usize].dirty)
    }

    /// Sectors that wait to be written back.
    pub fn dirty_sectors(&self) -> u64 {
        self.slots.iter().map(|s| u64::from(s.dirty.count_ones())).sum()
    }

    fn bring(&mut self, line: u64, valid: u8, dirty: u8) -> CacheLookup {
        let mut found = CacheLookup::default();
        let slot = Slot { line, valid, dirty, older: NONE, newer: NONE };
        let full = self.lines.is_some_and(|most| self.slots.len() >= most);
        let at = if full {
            let at = self.oldest;
            self.unlink(at);
            let before = std::mem::replace(&mut self.slots[at as usize], slot);
            self.places.remove(&before.line);
            (found.evicted, found.dirty) = (before.line, before.dirty);
            at
        } else {
            self.slots.push(slot);
            number(self.slots.len() - 1)
        };
        self.places.insert(line, at);
        self.link(at);
        found
    }

    fn touch(&mut self, at: u32) {
        if self.newest != at {
            self.unlink(at);
            self.link(at);
        }
    }

    fn unlink(&mut self, at: u32) {
        let Slot { older, newer, .. } = self.slots[at as usize];
        match older {
            NONE => self.oldest = newer,
            _ => self.slots[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            _ => self.slots[newer as usize].older = older,
        }
    }

    fn link(&mut self, at: u32) {
        let before = self.newest;
        match before {
            NONE => self.oldest = at,
            _ => self.slots[before as usize].newer = at,
        }
        let slot = &mut self.slots[at as usize];
        (slot.older, slot.newer) = (before, NONE);
        self.newest = at;
    }
}

/// What a cache is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CacheKind {
    /// As its shape says.
    Real,
    /// With one set for all its lines.
    WithoutSets,
    /// It loses nothing.
    Endless,
}

/// A cache of some kind.
#[derive(Debug, Clone)]
pub(super) enum AnyCache {
    Real(SectoredCache),
    Ideal(Ideal),
}

impl AnyCache {
    pub(super) fn new(shape: &CacheShape, kind: CacheKind) -> Self {
        let lines = shape.geometry().sets() * shape.geometry().ways() as usize;
        match kind {
            CacheKind::Real => AnyCache::Real(SectoredCache::new(shape.clone())),
            CacheKind::WithoutSets => AnyCache::Ideal(Ideal::new(Some(lines), shape.write())),
            CacheKind::Endless => AnyCache::Ideal(Ideal::new(None, shape.write())),
        }
    }

    #[inline]
    pub(super) fn read(&mut self, line: u64, sectors: u8) -> CacheLookup {
        match self {
            AnyCache::Real(cache) => cache.read(line, sectors),
            AnyCache::Ideal(cache) => cache.read(line, sectors),
        }
    }

    #[inline]
    pub(super) fn write(&mut self, line: u64, sectors: u8) -> CacheLookup {
        match self {
            AnyCache::Real(cache) => cache.write(line, sectors),
            AnyCache::Ideal(cache) => cache.write(line, sectors),
        }
    }

    pub(super) fn invalidate(&mut self, line: u64, sectors: u8) {
        match self {
            AnyCache::Real(cache) => cache.invalidate(line, sectors),
            AnyCache::Ideal(cache) => cache.invalidate(line, sectors),
        }
    }

    /// Lines with sectors that wait to be written back, and which.
    pub(super) fn dirty_lines(&self) -> Box<dyn Iterator<Item = (u64, u8)> + '_> {
        match self {
            AnyCache::Real(cache) => Box::new(cache.dirty_lines()),
            AnyCache::Ideal(cache) => Box::new(cache.dirty_lines()),
        }
    }

    /// Sectors of a line that wait to be written back.
    pub(super) fn dirty_of(&self, line: u64) -> u8 {
        match self {
            AnyCache::Real(cache) => cache.dirty_of(line),
            AnyCache::Ideal(cache) => cache.dirty_of(line),
        }
    }

    pub(super) fn dirty_sectors(&self) -> u64 {
        match self {
            AnyCache::Real(cache) => cache.dirty_sectors(),
            AnyCache::Ideal(cache) => cache.dirty_sectors(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Replacement;
    use crate::random::Random;
    use crate::trace::CacheGeometry;

    #[test]
    fn one_set_is_what_a_cache_with_one_set_does() {
        let mut random = Random::new(5);
        for write in [WritePolicy::BackAllocate, WritePolicy::ThroughNoAllocate] {
            for lines in [1_u64, 2, 7, 16] {
                let geometry = CacheGeometry::new(lines * 128, 128, 0, "modulo").unwrap();
                let shape = CacheShape::new(geometry, Replacement::Lru, write).unwrap();
                let mut real = AnyCache::new(&shape, CacheKind::Real);
                let mut ideal = AnyCache::new(&shape, CacheKind::WithoutSets);
                for _ in 0..5000 {
                    let (line, sectors) =
                        (random.next() % (2 * lines + 1), u8::try_from(random.next() % 15 + 1).unwrap());
                    let (a, b) = match random.below(8) {
                        0 => {
                            real.invalidate(line, sectors);
                            ideal.invalidate(line, sectors);
                            continue;
                        }
                        1..4 => (real.write(line, sectors), ideal.write(line, sectors)),
                        _ => (real.read(line, sectors), ideal.read(line, sectors)),
                    };
                    assert_eq!((a.hit, a.missing, a.dirty), (b.hit, b.missing, b.dirty));
                    assert_eq!(real.dirty_sectors(), ideal.dirty_sectors());
                }
            }
        }
    }
}
