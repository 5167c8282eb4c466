//! Tag wavefronts of warps that touch the same lines, each a number of lines further on.
//!
//! The set of a line is a linear function of the bits of its number, over the numbers 0 and 1. So moving all
//! lines by a multiple of a power of two beyond all of them changes the sets of those that keep their upper bits
//! alike, and of those into whose upper bits a one is carried alike, too: how many lines meet in a set then depends
//! on nothing but the lower bits of the move and the set of what the carry changes. Few moves differ in that.

use super::sets::{self, LineChunks, TOGETHER};

/// Most bits of a move that are told apart; lines that spread further are looked up each time.
const MOST_BITS: u32 = 11;
/// Moves after which it is remembered what they cost.
const PAYS: usize = 16;
/// Two neighbouring lines have the same set where the number of ones at the end of the first is one of 3, 7, 11,
/// ..., 31: the lowest one of the second then stands at one of these places.
const MEETING: u32 = 0x8888_8888;

/// The lines of a warp, and what is known of how often they meet.
#[derive(Debug, Clone, Default)]
pub struct TouchedLines {
    /// The lines relative to that in which the first lane begins, ascending, and zeros up to a whole chunk.
    chunks: Vec<[u32; TOGETHER]>,
    number: u32,
    kind: Kind,
}

#[derive(Debug, Clone, Default)]
enum Kind {
    /// None or one, which meets no other.
    #[default]
    Single,
    /// Two neighbours.
    Pair,
    /// Lines that lie near each other.
    Near(Near),
    /// Others.
    Far,
}

/// What is known of lines that lie near each other.
#[derive(Debug, Clone)]
struct Near {
    /// Bits of a move that are told apart.
    bits: u32,
    /// The set of what a carry changes, by the number of ones that it passes.
    carries: [u8; 33],
    /// Wavefronts by the lower bits and the set of the carry; 0 where not yet known. Empty until it was asked for so
    /// many that it pays.
    known: Vec<u8>,
    asked: usize,
}

/// Tag wavefronts of several warps, added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TagSum {
    /// All of them.
    pub all: u64,
    /// How many of each warp are more than it has time for anyway, added up.
    pub beyond: u64,
}

impl TagSum {
    /// Of so many warps that each take so many.
    fn alike(warps: usize, tags: u32, least: u32) -> Self {
        let warps = warps as u64;
        Self { all: warps * u64::from(tags), beyond: warps * u64::from(tags.saturating_sub(least)) }
    }

    fn add(&mut self, tags: u32, least: u32) {
        self.all += u64::from(tags);
        self.beyond += u64::from(tags.saturating_sub(least));
    }
}

impl TouchedLines {
    /// Lines that ascend.
    pub fn new(lines: &[u32]) -> Self {
        let mut chunks = Vec::with_capacity(lines.len().div_ceil(TOGETHER));
        lines.iter().enumerate().for_each(|(place, &line)| sets::put(line, place, &mut chunks));
        let number = u32::try_from(lines.len()).expect("a warp touches few lines");
        let spread = match (lines.first(), lines.last()) {
            (Some(first), Some(last)) => last.wrapping_sub(*first),
            _ => 0,
        };
        let kind = match (number, spread, u32::BITS - spread.leading_zeros()) {
            (0 | 1, ..) => Kind::Single,
            (2, 1, _) => Kind::Pair,
            (..=255, _, bits) if bits <= MOST_BITS => Kind::Near(Near::new(bits)),
            _ => Kind::Far,
        };
        Self { chunks, number, kind }
    }

    /// Bytes of memory that this takes.
    pub fn weight(&self) -> usize {
        let known = if let Kind::Near(near) = &self.kind { near.entries() } else { 0 };
        size_of::<Self>() + self.chunks.capacity() * size_of::<[u32; TOGETHER]>() + known
    }

    /// Tag wavefronts where the first lane begins in line `first`.
    fn conflicts(&self, first: u32) -> u32 {
        sets::conflicts(first, LineChunks { chunks: &self.chunks, number: self.number })
    }

    /// Adds up the tag wavefronts of warps whose first lanes begin in lines `from + l` for each `l` of `lines`.
    #[inline]
    pub fn sum(&mut self, from: u32, lines: &[u32], least: u32) -> TagSum {
        match &mut self.kind {
            Kind::Single => return TagSum::alike(lines.len(), self.number, least),
            Kind::Pair => {
                let second = from.wrapping_add(self.chunks[0][1]);
                let mut meeting = 0;
                for line in lines {
                    let second = second.wrapping_add(*line);
                    meeting += usize::from(second & second.wrapping_neg() & MEETING != 0 || second == 0);
                }
                let apart = TagSum::alike(lines.len() - meeting, 1, least);
                let together = TagSum::alike(meeting, 2, least);
                return TagSum { all: apart.all + together.all, beyond: apart.beyond + together.beyond };
            }
            Kind::Near(near) => {
                if near.pays(lines.len()) {
                    return near.sum(
                        LineChunks { chunks: &self.chunks, number: self.number },
                        from,
                        lines,
                        least,
                    );
                }
            }
            Kind::Far => (),
        }
        self.sum_one_by_one(from, lines, least)
    }

    #[cold]
    fn sum_one_by_one(&self, from: u32, lines: &[u32], least: u32) -> TagSum {
        let mut sum = TagSum::default();
        for tags in self.each(from, lines) {
            sum.add(tags, least);
        }
        sum
    }

    /// The same, one by one.
    pub fn each(&self, from: u32, lines: &[u32]) -> impl Iterator<Item = u32> {
        lines.iter().map(move |line| self.conflicts(line.wrapping_add(from)))
    }
}

impl Near {
    fn new(bits: u32) -> Self {
        let mut carries = [0; 33];
        for (ones, set) in (0_u32..).zip(&mut carries) {
            // Adding one to a number that ends in so many ones changes them and the next bit.
            let changed = (((1_u64 << (ones + 1)) - 1) << bits) & u64::from(u32::MAX);
            let changed = u32::try_from(changed).expect("the mask leaves 32 bits");
            *set = u8::try_from(sets::set_of(changed)).expect("there are four sets");
        }
        Self { bits, carries, known: Vec::new(), asked: 0 }
    }

    /// How many moves are told apart.
    fn entries(&self) -> usize {
        4 << self.bits
    }

    /// Whether it pays to remember, as so many are asked for.
    #[inline]
    fn pays(&mut self, more: usize) -> bool {
        if self.known.is_empty() {
            self.asked = self.asked.saturating_add(more);
            if self.asked >= PAYS {
                self.known = vec![0; self.entries()];
            }
        }
        !self.known.is_empty()
    }

    /// The sum for the lines of this; what is not known yet is found out first.
    #[inline]
    fn sum(&mut self, touched: LineChunks<'_>, from: u32, lines: &[u32], least: u32) -> TagSum {
        match self.sum_of_known(touched, from, lines, least) {
            Some(sum) => sum,
            None => self.find_out(touched, from, lines, least),
        }
    }

    /// The sum, if all of it is known.
    #[inline]
    fn sum_of_known(&self, touched: LineChunks<'_>, from: u32, lines: &[u32], least: u32) -> Option<TagSum> {
        let lowest = from.wrapping_add(touched.chunks[0][0]);
        let (mut all, mut beyond, mut fewest) = (0_u32, 0_u32, u8::MAX);
        for line in lines {
            let tags = self.known[self.place(line.wrapping_add(lowest))];
            fewest = fewest.min(tags);
            all = all.wrapping_add(u32::from(tags));
            beyond = beyond.wrapping_add(u32::from(tags).saturating_sub(least));
        }
        // Each takes fewer than 256, so that the sums of so many fit.
        (fewest > 0 && lines.len() < 1 << 24).then_some(TagSum { all: all.into(), beyond: beyond.into() })
    }

    #[cold]
    fn find_out(&mut self, touched: LineChunks<'_>, from: u32, lines: &[u32], least: u32) -> TagSum {
        let lowest = touched.chunks[0][0];
        let mut sum = TagSum::default();
        for line in lines {
            let first = line.wrapping_add(from);
            let place = self.place(first.wrapping_add(lowest));
            if self.known[place] == 0 {
                let tags = sets::conflicts(first, touched);
                self.known[place] = u8::try_from(tags).expect("no more than there are lines");
            }
            sum.add(u32::from(self.known[place]), least);
        }
        sum
    }

    /// The place of what is known for this lowest line.
    #[inline]
    fn place(&self, lowest: u32) -> usize {
        let lower = lowest & ((1 << self.bits) - 1);
        let ones = (lowest >> self.bits).trailing_ones();
        (lower as usize) << 2 | usize::from(self.carries[ones as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Lines near each other, far apart, in rows, around the end of all numbers: as looked up one by one.
    #[test]
    fn sums_are_those_of_the_lines_one_by_one() {
        let mut random = Random::new(7);
        let mut below = |n: usize| u32::try_from(random.below(n)).unwrap();
        for round in 0..4000 {
            let number = below(40) as usize;
            let step = [1, 2, 3, 5, 40, 41, 100, 3000][below(8) as usize];
            let mut lines = vec![below(3).wrapping_sub(1)];
            for _ in 1..number {
                let last = lines[lines.len() - 1];
                lines.push(last.wrapping_add(if below(3) == 0 {
                    1 + below(step)
                } else {
                    u32::try_from(step).unwrap()
                }));
            }
            lines.truncate(number);
            let mut touched = TouchedLines::new(&lines);
            let from = match round % 3 {
                0 => below(5000),
                1 => (1 << (3 + below(29))) - below(7),
                _ => u32::MAX - below(3000),
            };
            let starts: Vec<u32> = (0..50).map(|i: u32| i * i * below(700) % 4096).collect();
            let least = below(4);
            for _ in 0..2 {
                let sum = touched.sum(from, &starts, least);
                let mut expected = TagSum::default();
                for tags in touched.each(from, &starts) {
                    expected.add(tags, least);
                }
                assert_eq!(sum, expected, "{lines:?} {from}");
            }
        }
    }

    /// Every move by which a carry can pass, for two neighbours.
    #[test]
    fn neighbours_meet_where_their_sets_are_one() {
        let mut touched = TouchedLines::new(&[0, 1]);
        let near_powers =
            (0..32).flat_map(|bit| (0..9_u32).map(move |i| (1_u32 << bit).wrapping_sub(4).wrapping_add(i)));
        for first in near_powers {
            let sum = touched.sum(first, &[0], 1);
            let meet = sets::set_of(first) == sets::set_of(first.wrapping_add(1));
            assert_eq!(sum, TagSum { all: 1 + u64::from(meet), beyond: u64::from(meet) }, "{first}");
        }
    }
}
