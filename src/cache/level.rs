//! A cache below the L1: what it asks of memory and gives to it. It knows which sectors were stored in part, and which
//! came from memory because their neighbours did.

use rustc_hash::FxHashMap;

use super::array::{CacheLookup, CacheShape};
use super::ideal::{AnyCache, CacheKind};

/// Bits of bytes of a line.
const BITS: u64 = 128;

/// What a request moves between a cache and what is below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Moved {
    /// Sectors of the line that are loaded.
    pub(super) load: u8,
    /// Of these, those that came beside others before.
    pub(super) known: u8,
    /// Sectors that come beside them.
    pub(super) beside: u8,
    /// A line that gives way.
    pub(super) gone: u64,
    /// Its sectors that are written back.
    pub(super) back: u8,
    /// Of these, those that have to be loaded first, as they were stored in part.
    pub(super) fill: u8,
}

/// What is special about a line that is in the cache.
#[derive(Debug, Clone, Copy, Default)]
struct Parts {
    /// Bytes that were stored, of the sectors stored in part.
    stored: u128,
    /// Sectors stored in part.
    open: u8,
    /// Sectors that came beside others and were not asked for yet.
    beside: u8,
}

/// A cache with what it knows of parts of its lines.
#[derive(Debug)]
pub(super) struct Level {
    cache: AnyCache,
    /// Bytes of a sector, in steps of 128ths of lines that are longer than 128 bytes.
    bits: u64,
    /// Whether sectors that are stored in part are completed when they leave.
    fills: bool,
    /// Whether memory gives two sectors where one is asked for.
    pairs: bool,
    parts: FxHashMap<u64, Parts>,
}

impl Level {
    pub(super) fn new(shape: &CacheShape, kind: CacheKind, sector: u64, [fills, pairs]: [bool; 2]) -> Self {
        let step = (shape.geometry().line() / BITS).max(1);
        let bits = (sector / step).max(1);
        Self { cache: AnyCache::new(shape, kind), bits, fills, pairs, parts: FxHashMap::default() }
    }

    /// Sectors that wait to be written back.
    pub(super) fn dirty_sectors(&self) -> u64 {
        self.cache.dirty_sectors()
    }

    /// Those that do, and not in a cache below it either.
    pub(super) fn dirty_here_alone(&self, below: &Self) -> u64 {
        let alone = |(line, dirty): (u64, u8)| (dirty & !below.cache.dirty_of(line)).count_ones();
        self.cache.dirty_lines().map(|of| u64::from(alone(of))).sum()
    }

    /// Sectors that would have to be completed if all left.
    pub(super) fn open_sectors(&self) -> u64 {
        let all = self.parts.values().map(|p| u64::from(p.open.count_ones())).sum();
        if self.fills { all } else { 0 }
    }

    /// Loads sectors of a line, all bytes of them.
    pub(super) fn read(&mut self, line: u64, sectors: u8) -> Moved {
        let found = self.cache.read(line, sectors);
        let mut moved = self.moved(&found);
        moved.load = found.missing;
        if !self.parts.is_empty()
            && let Some(parts) = self.parts.get_mut(&line)
        {
            moved.known = found.missing & parts.beside;
            moved.load |= sectors & parts.open;
            parts.beside &= !sectors;
            parts.open &= !sectors;
            self.forget(line);
        }
        let fetched = found.missing & !moved.known;
        if self.pairs && fetched != 0 {
            moved.beside = neighbours(fetched) & !(found.present | sectors);
            if moved.beside != 0 {
                self.parts.entry(line).or_default().beside |= moved.beside;
            }
        }
        moved
    }

    /// Stores certain bytes of sectors of a line.
    pub(super) fn write(&mut self, line: u64, sectors: u8, stored: u128) -> Moved {
        let found = self.cache.write(line, sectors);
        let moved = self.moved(&found);
        let whole = |sector: u8, stored: u128| bytes_of(self.bits, sector) & !stored == 0;
        if self.parts.is_empty() && each(sectors).all(|sector| whole(sector, stored)) {
            return moved;
        }
        let parts = self.parts.entry(line).or_default();
        let complete = (found.present & !parts.open) | parts.beside;
        parts.beside &= !sectors;
        for sector in each(sectors & !complete) {
            let bytes = bytes_of(self.bits, sector);
            parts.stored |= stored & bytes;
            if bytes & !parts.stored == 0 {
                parts.open &= !sector;
                parts.stored &= !bytes;
            } else {
                parts.open |= sector;
            }
        }
        self.forget(line);
        moved
    }

    /// Changes bytes of sectors of a line, for which they have to be there.
    pub(super) fn change(&mut self, line: u64, sectors: u8) -> Moved {
        let found = self.cache.write(line, sectors);
        let mut moved = self.moved(&found);
        moved.load = found.missing;
        if let Some(parts) = self.parts.get_mut(&line) {
            moved.known = found.missing & parts.beside;
            moved.load |= sectors & parts.open;
            parts.beside &= !sectors;
            parts.open &= !sectors;
            self.forget(line);
        }
        moved
    }

    /// What gives way to a line.
    fn moved(&mut self, found: &CacheLookup) -> Moved {
        let parts = self.parts.remove(&found.evicted).unwrap_or_default();
        let fill = if self.fills { parts.open & found.dirty } else { 0 };
        Moved { gone: found.evicted, back: found.dirty, fill, ..Moved::default() }
    }

    /// Drops what says nothing any more.
    fn forget(&mut self, line: u64) {
        if self.parts.get(&line).is_some_and(|p| p.open == 0 && p.beside == 0) {
            self.parts.remove(&line);
        }
    }
}

/// The sectors of a mask, one by one.
fn each(mask: u8) -> impl Iterator<Item = u8> {
    (0..8).map(|i| 1 << i).filter(move |&sector| mask & sector != 0)
}

/// The other sectors of the pairs that sectors belong to.
fn neighbours(sectors: u8) -> u8 {
    (sectors & 0x55) << 1 | (sectors & 0xAA) >> 1
}

/// The bytes of a sector.
fn bytes_of(bits: u64, sector: u8) -> u128 {
    let width = if bits >= BITS { u128::MAX } else { (1 << bits) - 1 };
    width << (bits * u64::from(sector.trailing_zeros()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::{Replacement, WritePolicy};
    use crate::trace::CacheGeometry;

    /// Two lines of 128 bytes.
    fn level(fills: bool, pairs: bool) -> Level {
        let geometry = CacheGeometry::new(256, 128, 0, "modulo").unwrap();
        let shape = CacheShape::new(geometry, Replacement::Lru, WritePolicy::BackAllocate).unwrap();
        Level::new(&shape, CacheKind::Real, 32, [fills, pairs])
    }

    /// Every second 8 bytes of a line.
    const STRIDED: u128 = 0x00FF_00FF_00FF_00FF_00FF_00FF_00FF_00FF;

    #[test]
    fn sectors_stored_in_part_are_filled_when_they_leave() {
        let mut l2 = level(true, false);
        assert_eq!(l2.write(0, 0b1111, STRIDED), Moved { gone: u64::MAX, ..Moved::default() });
        // Another store completes two of them, a load the third: it is loaded then and there.
        l2.write(0, 0b0011, !STRIDED);
        assert_eq!(l2.open_sectors(), 2);
        assert_eq!(l2.read(0, 0b0101).load, 0b0100);
        l2.read(1, 1);
        let moved = l2.read(2, 1);
        assert_eq!((moved.gone, moved.back, moved.fill), (0, 0b1111, 0b1000));
        assert_eq!(l2.open_sectors(), 0);
        // What was loaded before it is stored to is complete.
        l2.read(3, 0b1111);
        l2.write(3, 0b1111, STRIDED);
        assert_eq!(l2.open_sectors(), 0);
    }

    #[test]
    fn memory_that_can_be_written_in_part_fills_nothing() {
        let mut l2 = level(false, false);
        l2.write(0, 0b1111, STRIDED);
        l2.read(1, 1);
        let moved = l2.read(2, 1);
        assert_eq!((moved.gone, moved.back, moved.fill, l2.open_sectors()), (0, 0b1111, 0, 0));
        // An atomic needs all of what it changes.
        l2.write(2, 0b0010, 0xFF << 32);
        assert_eq!(l2.change(2, 0b0111).load, 0b0110);
    }

    #[test]
    fn a_lone_sector_comes_with_its_neighbour() {
        let mut l2 = level(true, true);
        assert_eq!(l2.read(0, 0b0001).beside, 0b0010);
        // Asked for later, it is no longer beside; nothing comes twice.
        let moved = l2.read(0, 0b0110);
        assert_eq!((moved.load, moved.known, moved.beside), (0b0110, 0b0010, 0b1000));
        // Stored to in part, what came beside is complete.
        l2.write(0, 0b1000, 0xFF << 96);
        assert_eq!(l2.open_sectors(), 0);
        // It goes with its line.
        l2.read(1, 0b0100);
        l2.read(2, 0b0011);
        l2.read(3, 0b0011);
        let moved = l2.read(1, 0b1100);
        assert_eq!((moved.load, moved.known, moved.beside), (0b1100, 0, 0));
    }
}
