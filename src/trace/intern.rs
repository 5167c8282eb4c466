//! Cache lines by small numbers, so that all that is known of a line lies in arrays.

use rustc_hash::FxHashMap;

use super::numbering::number;

/// Lines of a page.
const PAGE: usize = 64;
/// Pages that are found without the map.
const NEAR: usize = 4096;
const NONE: u32 = u32::MAX;

/// Numbers lines in the order in which they are first met.
#[derive(Debug)]
pub(crate) struct Interner {
    pages: FxHashMap<u64, u32>,
    /// Page and its position, by the low bits of the page.
    near: Vec<(u64, u32)>,
    entries: Vec<[u32; PAGE]>,
    lines: Vec<u64>,
}

impl Default for Interner {
    fn default() -> Self {
        Self {
            pages: FxHashMap::default(),
            near: vec![(u64::MAX, 0); NEAR],
            entries: Vec::new(),
            lines: Vec::new(),
        }
    }
}

impl Interner {
    /// The number of a line.
    #[inline]
    pub(crate) fn number(&mut self, line: u64) -> u32 {
        let page = line / PAGE as u64;
        #[expect(clippy::cast_possible_truncation, reason = "less than their number")]
        let slot = (page % NEAR as u64) as usize;
        let (known, place) = self.near[slot];
        let place = if known == page { place } else { self.far(page, slot) };
        #[expect(clippy::cast_possible_truncation, reason = "less than a page")]
        let within = (line % PAGE as u64) as usize;
        let entry = &mut self.entries[place as usize][within];
        if *entry == NONE {
            *entry = number(self.lines.len());
            self.lines.push(line);
        }
        *entry
    }

    #[cold]
    #[inline(never)]
    fn far(&mut self, page: u64, slot: usize) -> u32 {
        let next = number(self.entries.len());
        let place = *self.pages.entry(page).or_insert(next);
        if place == next {
            self.entries.push([NONE; PAGE]);
        }
        self.near[slot] = (page, place);
        place
    }

    /// About the bytes that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        const MAP: u64 = 24;
        self.entries.len() as u64 * (4 * PAGE as u64 + MAP) + self.lines.len() as u64 * 16
    }

    /// All lines, by number.
    pub(crate) fn lines(&self) -> &[u64] {
        &self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_line_has_the_same_number() {
        let mut interner = Interner::default();
        let lines = [5, 1 << 40, 5, 6, u64::MAX, (1 << 40) + (NEAR * PAGE) as u64, 1 << 40];
        let numbers: Vec<u32> = lines.iter().map(|&l| interner.number(l)).collect();
        assert_eq!(numbers, [0, 1, 0, 2, 3, 4, 1]);
        assert_eq!(interner.lines()[4], (1 << 40) + (NEAR * PAGE) as u64);
    }
}
