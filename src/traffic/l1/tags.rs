//! Tag wavefronts of warps that touch the same lines, each a number of lines further on.
//!
//! The set of a line is a linear function of the bits of its number, over the numbers 0 and 1. So moving all
//! lines by a multiple of a power of two beyond all of them changes the sets of those that keep their upper bits
//! alike, and of those into whose upper bits a one is carried alike, too: how many lines meet in a set then depends
//! on nothing but the lower bits of the move and the set of what the carry changes. Few moves differ in that.

use std::cell::{Cell, OnceCell};

use super::sets::{self, LineChunks, TOGETHER};

/// Most bits of a move that are told apart; lines that spread further are looked up each time.
const MOST_BITS: u32 = 11;
/// Moves after which it is remembered what they cost.
const PAYS: usize = 16;
/// Two neighbouring lines have the same set where the number of ones at the end of the first is one of 3, 7, 11,
/// ..., 31: the lowest one of the second then stands at one of these places.
const MEETING: u32 = 0x8888_8888;

/// The lines of a warp, and what is known of how often they meet.
#[derive(Debug, Default)]
pub struct TouchedLines {
    /// The lines relative to that in which the first lane begins, ascending, and zeros up to a whole chunk.
    chunks: Vec<[u32; TOGETHER]>,
    number: u32,
    kind: Kind,
}

#[derive(Debug, Default)]
enum Kind {
    /// None or one, which meets no other.
    #[default]
    Single,
    /// Two neighbours, the second of which is so many lines from that in which the first lane begins.
    Pair(u32),
    /// Lines that lie near each other.
    Near(Near),
    /// Others.
    Far,
}

/// What is known of lines that lie near each other.
#[derive(Debug)]
struct Near {
    /// The first of them.
    lowest: u32,
    /// Bits of a move that are told apart, and the same as a mask.
    bits: u32,
    mask: u32,
    /// The set of what a carry changes, by the number of ones that it passes.
    carries: [u8; 33],
    /// Wavefronts by the lower bits and the set of the carry; 0 where not yet known. Made when it was asked for so many
    /// that it pays.
    known: OnceCell<Box<[Cell<u8>]>>,
    asked: Cell<usize>,
}

/// Tag wavefronts and cycles of several warps, added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TagSum {
    /// Tag wavefronts.
    pub all: u64,
    /// Cycles, of each warp as many as tag wavefronts or the least that it takes anyway.
    pub cycles: u64,
}

impl TagSum {
    /// Of so many warps that each take so many.
    fn alike(warps: usize, tags: u32, least: u32) -> Self {
        let warps = warps as u64;
        Self { all: warps * u64::from(tags), cycles: warps * u64::from(tags.max(least)) }
    }
}

/// Of warps one by one; so many that the sums do not come near to 64 bits.
#[inline]
fn add_up(lines: &[u32], least: u32, tags: impl Fn(u32) -> u32) -> TagSum {
    lines.iter().fold(TagSum::default(), |TagSum { all, cycles }, &line| {
        let tags = tags(line);
        TagSum { all: all.wrapping_add(tags.into()), cycles: cycles.wrapping_add(tags.max(least).into()) }
    })
}

/// Whether a line has the same set as the one before it, as a number; without branches, so that compilers use vector
/// instructions.
#[inline]
fn meet(second: u32) -> u32 {
    let lowest = second & second.wrapping_neg();
    u32::from(lowest & MEETING != 0) | u32::from(second == 0)
}

impl TouchedLines {
    /// Lines that ascend.
    pub fn new(lines: &[u32]) -> Self {
        let mut chunks = Vec::with_capacity(lines.len().div_ceil(TOGETHER));
        lines.iter().enumerate().for_each(|(place, &line)| sets::put(line, place, &mut chunks));
        let number = u32::try_from(lines.len()).expect("a warp touches few lines");
        let (first, last) = match (lines.first(), lines.last()) {
            (Some(first), Some(last)) => (*first, *last),
            _ => (0, 0),
        };
        let spread = last.wrapping_sub(first);
        let kind = match (number, spread, u32::BITS - spread.leading_zeros()) {
            (0 | 1, ..) => Kind::Single,
            (2, 1, _) => Kind::Pair(last),
            (..=255, _, bits) if bits <= MOST_BITS => Kind::Near(Near::new(first, bits)),
            _ => Kind::Far,
        };
        Self { chunks, number, kind }
    }

    /// Bytes of memory that this takes.
    pub fn weight(&self) -> usize {
        let known = if let Kind::Near(near) = &self.kind { near.entries() } else { 0 };
        size_of::<Self>() + self.chunks.capacity() * size_of::<[u32; TOGETHER]>() + known
    }

    /// Tag wavefronts of a warp whose first lane begins in line `first`.
    pub fn tags(&self, first: u32) -> u32 {
        match &self.kind {
            Kind::Single => self.number,
            Kind::Pair(second) => 1 + meet(second.wrapping_add(first)),
            Kind::Near(near) => self.of_near(near, first),
            Kind::Far => self.conflicts(first),
        }
    }

    /// Adds up the tag wavefronts of warps whose first lanes begin in lines `from + l` for each `l` of `lines`, and their
    /// cycles, of which each takes `least` whatever the tags.
    #[inline]
    pub fn sum(&self, from: u32, lines: &[u32], least: u32) -> TagSum {
        match &self.kind {
            Kind::Single => TagSum::alike(lines.len(), self.number, least),
            Kind::Pair(second) => {
                let second = second.wrapping_add(from);
                let met =
                    lines.iter().fold(0_u32, |met, line| met.wrapping_add(meet(second.wrapping_add(*line))));
                let met = met as usize;
                let (apart, together) =
                    (TagSum::alike(lines.len() - met, 1, least), TagSum::alike(met, 2, least));
                TagSum { all: apart.all + together.all, cycles: apart.cycles + together.cycles }
            }
            Kind::Near(near) => match near.known.get() {
                Some(known) => add_up(lines, least, |line| {
                    let first = line.wrapping_add(from);
                    let place = near.place(first);
                    match known[place].get() {
                        0 => self.find_out(near, place, first),
                        tags => u32::from(tags),
                    }
                }),
                None => add_up(lines, least, |line| self.of_near(near, line.wrapping_add(from))),
            },
            Kind::Far => add_up(lines, least, |line| self.conflicts(line.wrapping_add(from))),
        }
    }

    /// The lower bits of `from` that decide about [`sum`](Self::sum): whatever leaves them as they are changes nothing.
    pub fn deciding(&self, from: u32, lines: &[u32]) -> u32 {
        match &self.kind {
            Kind::Single => 0,
            Kind::Pair(second) => {
                // The zeros at the end of the second line, and the bit above them.
                let second = second.wrapping_add(from);
                let zeros = |line: &u32| {
                    let second = second.wrapping_add(*line);
                    !second & second.wrapping_sub(1)
                };
                lines.iter().fold(0, |all, line| all | zeros(line)) << 1 | 1
            }
            Kind::Near(near) => {
                lines.iter().fold(0, |all, line| all | near.deciding(line.wrapping_add(from)))
            }
            Kind::Far => u32::MAX,
        }
    }

    #[inline]
    fn of_near(&self, near: &Near, first: u32) -> u32 {
        let place = near.place(first);
        match near.known.get().map_or(0, |known| known[place].get()) {
            0 => self.find_out(near, place, first),
            tags => u32::from(tags),
        }
    }

    /// The same where it is not known yet.
    #[cold]
    fn find_out(&self, near: &Near, place: usize, first: u32) -> u32 {
        let tags = self.conflicts(first);
        if let Some(known) = near.if_it_pays() {
            known[place].set(u8::try_from(tags).expect("no more than there are lines"));
        }
        tags
    }

    fn conflicts(&self, first: u32) -> u32 {
        sets::conflicts(first, LineChunks { chunks: &self.chunks, number: self.number })
    }
}

impl Near {
    fn new(lowest: u32, bits: u32) -> Self {
        let mut carries = [0; 33];
        for (ones, set) in (0_u32..).zip(&mut carries) {
            // Adding one to a number that ends in so many ones changes them and the next bit.
            let changed = (((1_u64 << (ones + 1)) - 1) << bits) & u64::from(u32::MAX);
            let changed = u32::try_from(changed).expect("the mask leaves 32 bits");
            *set = u8::try_from(sets::set_of(changed)).expect("there are four sets");
        }
        let mask = (1 << bits) - 1;
        Self { lowest, bits, mask, carries, known: OnceCell::new(), asked: Cell::new(0) }
    }

    /// How many moves are told apart.
    fn entries(&self) -> usize {
        4 << self.bits
    }

    /// Where to remember, if so many were asked for that it pays.
    fn if_it_pays(&self) -> Option<&[Cell<u8>]> {
        let asked = self.asked.get().saturating_add(1);
        self.asked.set(asked);
        (asked >= PAYS).then(|| &**self.known.get_or_init(|| vec![Cell::new(0); self.entries()].into()))
    }

    /// The place of what is known where the first lane begins in this line.
    #[inline]
    fn place(&self, first: u32) -> usize {
        let lowest = first.wrapping_add(self.lowest);
        let lower = lowest & self.mask;
        let ones = lowest.wrapping_shr(self.bits).trailing_ones();
        (lower as usize) << 2 | usize::from(self.carries[ones as usize])
    }

    /// The bits of a line that decide: those that are told apart, the ones that a carry passes, and the bit above them.
    fn deciding(&self, first: u32) -> u32 {
        let upper = first.wrapping_add(self.lowest) | self.mask;
        upper ^ upper.wrapping_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Lines near each other, far apart, in rows, around the end of all numbers: as looked up one by one.
    #[test]
    fn tags_are_those_of_the_lines_looked_up() {
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
            let touched = TouchedLines::new(&lines);
            let from = match round % 3 {
                0 => below(5000),
                1 => (1 << (3 + below(29))) - below(7),
                _ => u32::MAX - below(3000),
            };
            let starts: Vec<u32> = (0..50).map(|i: u32| i * i * below(700) % 4096).collect();
            let least = below(4);
            let looked_up = |from: u32| {
                let mut sum = TagSum::default();
                for &line in &starts {
                    let tags = touched.conflicts(line.wrapping_add(from));
                    sum.all += u64::from(tags);
                    sum.cycles += u64::from(if tags > least { tags } else { least });
                }
                sum
            };
            let expected = looked_up(from);
            // The second time they may be remembered.
            for _ in 0..2 {
                let one_by_one = add_up(&starts, least, |line| touched.tags(line.wrapping_add(from)));
                assert_eq!(
                    [touched.sum(from, &starts, least), one_by_one],
                    [expected; 2],
                    "{lines:?} {from}"
                );
                // Whatever the other bits are, the sum is the same.
                let bits = touched.deciding(from, &starts);
                let moved = from ^ (below(u32::MAX as usize) & !bits);
                assert_eq!(looked_up(moved), expected, "{lines:?} {from} {moved} {bits:b}");
            }
        }
    }

    /// Every move by which a carry can pass, for two neighbours.
    #[test]
    fn neighbours_meet_where_their_sets_are_one() {
        let touched = TouchedLines::new(&[0, 1]);
        let near_powers =
            (0..32).flat_map(|bit| (0..9_u32).map(move |i| (1_u32 << bit).wrapping_sub(4).wrapping_add(i)));
        for first in near_powers {
            let meet = sets::set_of(first) == sets::set_of(first.wrapping_add(1));
            assert_eq!(touched.tags(first), 1 + u32::from(meet), "{first}");
            let both = 1 + u64::from(meet);
            assert_eq!(touched.sum(first, &[0], 1), TagSum { all: both, cycles: both }, "{first}");
        }
    }
}
