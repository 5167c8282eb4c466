//! Where the warps of the blocks that are looked at begin.

use std::ops::Range;

use super::layouts::{dot, index};
use super::pipe::low_half;
use super::plan::{AddressPattern, AffinePlan};
use crate::effort::{Spent, spend_on};
use crate::footprint::{gcd, quotient, remainder};
use crate::space::BlockIndex;

/// First lanes of all warps of all blocks that are looked at.
pub struct Starts {
    /// Class of the warp and address of its first lane, for an access with address 0 at thread 0 of
    /// block 0; class after class, and of each warp the blocks one after the other.
    pub all: Vec<(usize, i64)>,
    blocks: usize,
}

const NONE: u32 = u32::MAX;
/// Groups that there mostly are at most.
const MOST_GROUPS: usize = 64;
/// Steps for a start, until it is in its group.
const STEPS_OF_START: u64 = 4;

impl Starts {
    /// The starts of a pattern in some blocks.
    pub fn new(plan: &AffinePlan, blocks: &[BlockIndex], pattern: AddressPattern) -> Result<Self, Spent> {
        let blocks: Vec<i64> = blocks.iter().map(|b| dot(b, pattern.block)).collect();
        let warps: usize = plan.classes.iter().map(|c| c.firsts.len()).sum();
        spend_on(warps * blocks.len(), STEPS_OF_START)?;
        let mut all = Vec::with_capacity(warps * blocks.len());
        for (class, warps) in plan.classes.iter().enumerate() {
            for first in &warps.firsts {
                let warp = dot(first, pattern.thread);
                all.extend(blocks.iter().map(|b| (class, warp.wrapping_add(*b))));
            }
        }
        Ok(Self { all, blocks: blocks.len() })
    }

    /// The starts by class and alignment. About `most` of them, and of each class at least one, stand for
    /// all where lines matter.
    pub fn groups(&self, period: i64, line: i64, most: usize) -> WarpGroups {
        let mut numbers = vec![NONE; index(-1, period) + 1];
        let mut all: Vec<WarpGroup> = Vec::with_capacity(self.all.len().min(MOST_GROUPS));
        let mut places: Vec<Place> = Vec::with_capacity(self.all.len());
        for of_class in self.all.chunk_by(|a, b| a.0 == b.0) {
            // Each class has groups of its own.
            numbers.fill(NONE);
            let class = of_class[0].0;
            for &(_, address) in of_class {
                let alignment = remainder(address, period);
                let number = &mut numbers[usize::try_from(alignment).expect("a remainder is not negative")];
                if *number == NONE {
                    *number = u32::try_from(all.len()).expect("there are fewer warps than that");
                    let first = places.len();
                    all.push(WarpGroup { class, alignment, first, warps: 0, each: 1.0, lines: 0..0 });
                }
                all[*number as usize].warps += 1;
                places.push(Place {
                    group: *number,
                    line: low_half(quotient(address.wrapping_sub(alignment), line)),
                });
            }
        }
        let (lines, looked_at) = self.look(&mut all, &places, self.share(most));
        let step = step(&all, period);
        WarpGroups { all, lines, looked_at, step }
    }

    /// Notes in which lines of their groups those starts are that are looked at, one of each `share`. Says how many they
    /// are, too.
    fn look(&self, all: &mut [WarpGroup], places: &[Place], share: usize) -> (Vec<u32>, usize) {
        // Of a group as many are looked at as there are, or fewer: it has room for all of them.
        let mut room = 0;
        for group in all.iter_mut() {
            group.lines = room..room;
            room += group.warps;
        }
        let mut lines = vec![0; room];
        let mut looked_at = 0;
        for of_class in places_by_class(&self.all) {
            let from = of_class.len().saturating_sub(1).min(share - 1) / 2;
            let chosen = (of_class.len() - from).div_ceil(share);
            let each = of_class.len() as f64 / chosen.max(1) as f64;
            looked_at += chosen;
            let mut next = of_class.start + from;
            while next < of_class.end {
                let Place { group, line } = places[next];
                let group = &mut all[group as usize];
                lines[group.lines.end] = line;
                group.lines.end += 1;
                group.each = each;
                next += share;
            }
        }
        (lines, looked_at)
    }

    /// One of how many starts to look at. No common divisor with the number of blocks, so that all blocks
    /// are among them.
    fn share(&self, most: usize) -> usize {
        let whole = |n: usize| i64::try_from(n).expect("there are few warps");
        let mut share = self.all.len().div_ceil(most.max(1)).max(1);
        while gcd(whole(share), whole(self.blocks)) > 1 {
            share += 1;
        }
        share
    }
}

/// The group of a start, and the line in which it is, relative to that of the alignment.
#[derive(Clone, Copy)]
struct Place {
    group: u32,
    line: u32,
}

/// The places of the starts of each class: they follow each other.
fn places_by_class(starts: &[(usize, i64)]) -> impl Iterator<Item = Range<usize>> {
    let mut to = 0;
    starts.chunk_by(|a, b| a.0 == b.0).map(move |of_class| {
        to += of_class.len();
        to - of_class.len()..to
    })
}

/// Warps by class and alignment.
pub struct WarpGroups {
    /// Class after class.
    pub all: Vec<WarpGroup>,
    lines: Vec<u32>,
    looked_at: usize,
    /// If all warps begin a multiple of so many bytes further on, as many of each class are aligned in
    /// each way as before.
    pub step: i64,
}

/// Warps of one class that begin at one alignment.
pub struct WarpGroup {
    /// The class.
    pub class: usize,
    /// The alignment.
    pub alignment: i64,
    /// The first of them, by its place among the starts.
    pub first: usize,
    /// How many there are.
    pub warps: usize,
    /// For how many warps of the class each of those stands whose lines are known.
    pub(crate) each: f64,
    lines: Range<usize>,
}

impl WarpGroups {
    /// How many warps are looked at, of all groups.
    pub fn looked_at(&self) -> usize {
        self.looked_at
    }

    /// Lines in which those warps of a group begin that are looked at; relative to the line of the
    /// alignment.
    pub fn lines(&self, group: &WarpGroup) -> &[u32] {
        &self.lines[group.lines.clone()]
    }
}

/// The step of groups: the whole period unless the warps of every class take all alignments of a coset
/// equally often.
fn step(groups: &[WarpGroup], period: i64) -> i64 {
    let mut step = 1;
    for of_class in groups.chunk_by(|a, b| a.class == b.class) {
        let apart =
            i64::try_from(of_class.len()).ok().filter(|n| period % n == 0).map_or(period, |n| period / n);
        let alike = |pair: &[WarpGroup]| {
            (pair[1].alignment - pair[0].alignment) % apart == 0 && pair[1].warps == pair[0].warps
        };
        if !of_class.windows(2).all(alike) {
            return period;
        }
        // The least common multiple; both divide the period.
        step *= apart / gcd(step, apart);
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(all: &[(usize, i64)], most: usize) -> WarpGroups {
        Starts { all: all.to_vec(), blocks: 1 }.groups(128, 128, most)
    }

    #[test]
    fn groups_are_of_one_class_and_alignment() {
        let found = groups(&[(0, 8), (0, 136), (0, 16), (1, 8), (1, -120)], 100);
        let all: Vec<_> =
            found.all.iter().map(|g| (g.class, g.alignment, g.warps, found.lines(g).to_vec())).collect();
        let minus_one = u32::MAX;
        assert_eq!(all, [(0, 8, 2, vec![0, 1]), (0, 16, 1, vec![0]), (1, 8, 2, vec![0, minus_one])]);
        assert_eq!(found.step, 128);
    }

    #[test]
    fn some_stand_for_all_of_a_class() {
        // 6 warps of one class in 2 blocks, at most 3 wanted: every third, as every second were one block.
        let all: Vec<(usize, i64)> = (0..6).map(|i| (0, i * 128)).chain([(1, 64)]).collect();
        let found = Starts { all, blocks: 2 }.groups(128, 128, 3);
        let of = |i: usize| (found.all[i].each, found.lines(&found.all[i]).to_vec());
        assert_eq!(of(0), (3.0, vec![1, 4]));
        assert_eq!(of(1), (1.0, vec![0]));
        assert_eq!(found.all[0].warps, 6);
    }

    #[test]
    fn full_cosets_may_be_moved() {
        let every = |step: i64, class: usize| (0..128 / step).map(move |i| (class, 5 + 128 * 7 - i * step));
        let of = |all: Vec<(usize, i64)>| groups(&all, 1000).step;
        assert_eq!(of(every(8, 0).collect()), 8);
        assert_eq!(of(every(8, 0).chain(every(32, 1)).collect()), 32);
        // One alignment twice, or one that is missing.
        assert_eq!(of(every(8, 0).chain([(0, 5)]).collect()), 128);
        assert_eq!(of(every(8, 0).skip(1).collect()), 128);
    }
}
