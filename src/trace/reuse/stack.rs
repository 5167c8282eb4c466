//! Stack distances: a bit for each time stamp, set where it is a line's latest, and counts of bits.
//!
//! The distance of a line is the number of set bits after its own. Bits are counted by words, blocks of
//! words and groups of blocks; time stamps are renumbered when they run out, so that bits stay dense and a
//! short distance is found in a word or two.

use crate::trace::numbering::number;

/// Words of a block.
const BLOCK: usize = 4;
/// Blocks of a group.
const GROUP: usize = 64;
/// Bits of the smallest stack.
const LEAST: usize = 256;

/// A stack without its lines' places, which the caller keeps: several stacks share one array of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Stack {
    words: Vec<u64>,
    blocks: Vec<u32>,
    groups: Vec<u32>,
    /// The line of each time stamp.
    lines: Vec<u32>,
    next: usize,
}

impl Stack {
    /// Number of lines above the one at `place` (from 1, as [`touch`](Self::touch) writes it).
    #[inline]
    pub(super) fn distance(&self, place: u32) -> u64 {
        let at = place as usize - 1;
        let word = at / 64;
        let last = self.next.wrapping_sub(1) / 64;
        let mut count = (self.words[word] >> (at % 64) >> 1).count_ones();
        if word == last {
            return u64::from(count);
        }
        let block = word / BLOCK;
        let words_end = ((block + 1) * BLOCK).min(last + 1);
        for w in &self.words[word + 1..words_end] {
            count += w.count_ones();
        }
        if words_end == last + 1 {
            return u64::from(count);
        }
        u64::from(count) + self.far(block, last / BLOCK)
    }

    /// Bits of the blocks after `block`. Places are 32-bit numbers, so their counts are too.
    fn far(&self, block: usize, last: usize) -> u64 {
        let sum = |counts: &[u32]| counts.iter().fold(0_u32, |sum, &c| sum.wrapping_add(c));
        let group = block / GROUP;
        let blocks_end = ((group + 1) * GROUP).min(last + 1);
        let near = sum(&self.blocks[block + 1..blocks_end]);
        let groups = &self.groups[group + 1..=last / GROUP];
        u64::from(near.wrapping_add(sum(groups)))
    }

    /// Puts a line on top. `places` has 0 for lines that are in no stack.
    #[inline]
    pub(super) fn touch(&mut self, line: u32, places: &mut [u32]) {
        let place = places[line as usize] as usize;
        if place != 0 {
            if place == self.next {
                return;
            }
            let (old, new) = (place - 1, self.next);
            if old / (64 * BLOCK) == new / (64 * BLOCK) && new < self.lines.len() {
                // What its block and group count stays the same.
                self.words[old / 64] ^= 1 << (old % 64);
                self.words[new / 64] ^= 1 << (new % 64);
                self.lines[new] = line;
                self.next = new + 1;
                places[line as usize] = number(self.next);
                return;
            }
            self.change(old, false);
        }
        if self.next == self.lines.len() {
            self.renumber(places);
        }
        self.change(self.next, true);
        self.lines[self.next] = line;
        self.next += 1;
        // Time stamps are renumbered long before they leave 32 bits.
        places[line as usize] = number(self.next);
    }

    /// The lines from the bottom up.
    pub(super) fn order(&self) -> Vec<u32> {
        (0..self.next)
            .filter(|&at| self.words[at / 64] >> (at % 64) & 1 == 1)
            .map(|at| self.lines[at])
            .collect()
    }

    #[inline]
    fn change(&mut self, at: usize, set: bool) {
        let (word, bit) = (at / 64, 1_u64 << (at % 64));
        let one = if set { 1 } else { u32::MAX };
        self.words[word] ^= bit;
        let block = &mut self.blocks[word / BLOCK];
        *block = block.wrapping_add(one);
        let group = &mut self.groups[word / BLOCK / GROUP];
        *group = group.wrapping_add(one);
    }

    /// Closes the gaps between set bits; makes room for as many again, at least.
    #[cold]
    #[inline(never)]
    fn renumber(&mut self, places: &mut [u32]) {
        let mut kept = 0;
        for (word, &bits) in self.words.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                let line = self.lines[word * 64 + left.trailing_zeros() as usize];
                left &= left - 1;
                self.lines[kept] = line;
                kept += 1;
                places[line as usize] = number(kept);
            }
        }
        let size = (kept * 2 + 1).next_power_of_two().max(LEAST);
        self.lines.resize(size, 0);
        fill(&mut self.words, size / 64, |word| ones(kept, word));
        let of_block = |block: usize| number(kept.saturating_sub(block * 64 * BLOCK).min(64 * BLOCK));
        fill(&mut self.blocks, (size / 64).div_ceil(BLOCK), of_block);
        let (blocks, groups) = (&self.blocks, self.blocks.len().div_ceil(GROUP));
        fill(&mut self.groups, groups, |group| {
            blocks[group * GROUP..].iter().take(GROUP).fold(0, |sum, &n| sum.wrapping_add(n))
        });
        self.next = kept;
    }
}

/// So many numbers, made anew.
fn fill<T>(list: &mut Vec<T>, size: usize, of: impl Fn(usize) -> T) {
    list.clear();
    list.extend((0..size).map(of));
}

/// A word of the first `kept` bits set.
fn ones(kept: usize, word: usize) -> u64 {
    match kept.saturating_sub(word * 64) {
        some @ 0..64 => (1 << some) - 1,
        _ => u64::MAX,
    }
}

/// One stack with the places of its lines, for lines that have numbers.
#[derive(Debug, Clone, Default)]
pub struct LineStack {
    stack: Stack,
    places: Vec<u32>,
}

impl LineStack {
    /// Accesses a line: its distance, if it was accessed before.
    #[inline]
    pub fn access(&mut self, line: u32) -> Option<u64> {
        if self.places.len() <= line as usize {
            self.places.resize(line as usize + 1, 0);
        }
        let place = self.places[line as usize];
        let distance = (place != 0).then(|| self.stack.distance(place));
        self.stack.touch(line, &mut self.places);
        distance
    }

    /// The lines from the bottom up.
    pub fn order(&self) -> Vec<u32> {
        self.stack.order()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn distances_are_those_of_a_list() {
        for lines in [3_usize, 70, 1000, 40_000] {
            let mut random = Random::new(lines as u64);
            let mut stack = Stack::default();
            let mut places = vec![0; lines];
            let mut list: Vec<u32> = Vec::new();
            let count = if lines > 10_000 { 3_000 } else { 20_000 };
            if lines > 10_000 {
                // Far distances, over groups of blocks.
                for line in 0..u32::try_from(lines).unwrap() {
                    stack.touch(line, &mut places);
                    list.push(line);
                }
            }
            for _ in 0..count {
                // Recent lines come more often.
                let skew = random.below(lines).min(random.below(lines));
                let line = u32::try_from(skew).unwrap();
                let known = list.iter().rposition(|&l| l == line);
                let place = places[line as usize];
                assert_eq!(place == 0, known.is_none());
                if let Some(known) = known {
                    assert_eq!(stack.distance(place), (list.len() - 1 - known) as u64);
                    list.remove(known);
                }
                list.push(line);
                stack.touch(line, &mut places);
            }
        }
    }
}
