//! Accesses with equal strides as a few boxes of places: the 25 points of a star are three arms. What
//! continues along a dimension does so in all blocks, so that it is found out once and not at each count.

use std::sync::atomic::{AtomicI64, Ordering};

use super::query::Refusal;
use crate::space::Strides;

/// Numbers of arms that were made.
static NUMBERS: AtomicI64 = AtomicI64::new(0);

/// Most dimensions along which threads move.
pub(super) const DIMS: usize = 3;
/// Gaps that threads fill where there are so many of them along a dimension.
const FILLED: i64 = 2;
/// Bytes of lines for which it is known which arms lie alike in them: those of sectors, of fetches and of lines.
const LINES: [i64; 3] = [32, 64, 128];

/// A stride and the dimension of threads that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) dim: usize,
    pub(super) stride: i64,
}

/// Places one after the other along each level: `base` is that of the first one, which lies `at` steps and
/// `rest` bytes from 0; along each level `more` follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arm {
    pub(super) base: i64,
    pub(super) at: [i64; DIMS],
    pub(super) rest: i64,
    pub(super) more: [i64; DIMS],
}

/// The arms of some accesses.
#[derive(Debug, Clone)]
pub(super) struct Arms {
    /// No other arms have the same, but for copies of these.
    pub(super) number: i64,
    /// Ascending by stride; all of them positive.
    pub(super) levels: Vec<Level>,
    /// They hold for any number of threads.
    fine: ArmList,
    /// Fewer of them, for at least `enough` threads along each level.
    coarse: ArmList,
    enough: i64,
}

/// Arms in the order of their first places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArmList {
    pub(super) all: Vec<Arm>,
    /// Fewest bytes from the last place of an arm to the first one of the next.
    pub(super) nearest: i64,
    /// For each of [`LINES`], the first of those arms that are as long and lie alike in such lines, and how many they
    /// are.
    alike: [Vec<(usize, u64)>; LINES.len()],
}

impl ArmList {
    fn new(all: Vec<Arm>, levels: &[Level]) -> Self {
        let nearest = |pair: &[Arm]| {
            let last = levels.iter().zip(pair[0].more).fold(pair[0].base, |last, (level, more)| {
                last.saturating_add(level.stride.saturating_mul(more))
            });
            pair[1].base.saturating_sub(last)
        };
        let nearest = all.windows(2).map(nearest).min().unwrap_or(i64::MAX);
        let alike = LINES.map(|line| {
            let kind = |arm: &Arm| (arm.more, arm.base.rem_euclid(line));
            let mut alike: Vec<(usize, u64)> = Vec::new();
            for (number, arm) in all.iter().enumerate() {
                match alike.iter_mut().find(|(first, _)| kind(&all[*first]) == kind(arm)) {
                    Some((_, count)) => *count += 1,
                    None => alike.push((number, 1)),
                }
            }
            alike
        });
        Self { all, nearest, alike }
    }

    /// The first of those arms that are as long and lie alike in lines of so many bytes, and how many they are; `None` for
    /// lines of which that is not known.
    pub(super) fn alike_in(&self, line: i64) -> Option<&[(usize, u64)]> {
        LINES.iter().zip(&self.alike).find(|known| *known.0 == line).map(|known| known.1.as_slice())
    }
}

impl Arms {
    /// `None` if some stride is negative, or numbers are so large that they need care.
    ///
    /// Each thread has so many `places` along x, y and z, a stride apart, which fill gaps whatever the block is.
    pub(super) fn new(strides: Strides, bases: &[i64], places: [i64; 3]) -> Option<Self> {
        let mut levels: Vec<Level> =
            (0..3).map(|dim| Level { dim, stride: strides[dim] }).filter(|level| level.stride != 0).collect();
        if levels.iter().any(|level| level.stride < 0) {
            return None;
        }
        levels.sort_unstable_by_key(|level| level.stride);
        let single: Vec<Arm> = bases.iter().map(|&base| Arm::single(base, &levels)).collect();
        let sides =
            |least: i64| -> Vec<i64> { levels.iter().map(|level| places[level.dim].max(least)).collect() };
        let fine = ArmList::new(joined(single.clone(), &sides(1)), &levels);
        let coarse = ArmList::new(joined(single, &sides(FILLED)), &levels);
        let enough = if coarse == fine { 1 } else { FILLED };
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        Some(Self { number, levels, fine, coarse, enough })
    }

    /// Those for blocks with at least so many threads along each level.
    pub(super) fn for_threads(&self, least: i64) -> &ArmList {
        if least >= self.enough { &self.coarse } else { &self.fine }
    }
}

impl Arm {
    /// A place as the nearest multiple of the largest stride, of the next one, and so on.
    fn single(base: i64, levels: &[Level]) -> Self {
        let (mut at, mut rest) = ([0; DIMS], base);
        for (l, level) in levels.iter().enumerate().rev() {
            at[l] = rest.div_euclid(level.stride);
            rest = rest.rem_euclid(level.stride);
            if rest > level.stride / 2 {
                at[l] += 1;
                rest -= level.stride;
            }
        }
        Self { base, at, rest, more: [0; DIMS] }
    }
}

/// Joins what continues along each level where that many places lie side by side.
fn joined(mut arms: Vec<Arm>, side_by_side: &[i64]) -> Vec<Arm> {
    for (l, side_by_side) in side_by_side.iter().enumerate() {
        let others = |arm: &Arm| {
            let (mut at, mut more) = (arm.at, arm.more);
            (at[l], more[l]) = (0, 0);
            (arm.rest, at, more)
        };
        arms.sort_unstable_by_key(|arm| (others(arm), arm.at[l]));
        let mut kept: Vec<Arm> = Vec::with_capacity(arms.len());
        for arm in arms {
            match kept.last_mut() {
                Some(last)
                    if others(last) == others(&arm)
                        && arm.at[l] - last.at[l] - last.more[l] <= *side_by_side =>
                {
                    last.more[l] = last.more[l].max(arm.at[l] + arm.more[l] - last.at[l]);
                }
                _ => kept.push(arm),
            }
        }
        arms = kept;
    }
    arms.sort_unstable_by_key(|arm| arm.base);
    arms
}

/// Threads of some blocks: the first one and how many, along each level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Box3 {
    pub(super) first: [i64; DIMS],
    pub(super) count: [i64; DIMS],
}

impl Box3 {
    /// Of ranges along x, y and z.
    pub(super) fn new(threads: [(i64, i64); 3], levels: &[Level]) -> Self {
        let mut found = Self { first: [0; DIMS], count: [1; DIMS] };
        for (l, level) in levels.iter().enumerate() {
            (found.first[l], found.count[l]) = threads[level.dim];
        }
        found
    }

    /// Bytes from place 0 of thread 0 to the first and to the last place that these threads add.
    #[inline]
    pub(super) fn span(&self, levels: &[Level]) -> Result<[i64; 2], Refusal> {
        let mut ends = [0_i64; 2];
        for (l, level) in levels.iter().enumerate() {
            let last = self.first[l].checked_add(self.count[l] - 1).ok_or(Refusal::Overflow)?;
            for (end, thread) in ends.iter_mut().zip([self.first[l], last]) {
                let bytes = thread.checked_mul(level.stride).ok_or(Refusal::Overflow)?;
                *end = end.checked_add(bytes).ok_or(Refusal::Overflow)?;
            }
        }
        Ok(ends)
    }
}

/// Adds the lines that a box of threads touches from each of some bases, one byte after the other: what counts are held
/// against.
#[cfg(test)]
pub(super) fn add_lines(
    lines: &mut std::collections::BTreeSet<i64>,
    bases: &[i64],
    strides: [i64; 3],
    threads: [(i64, i64); 3],
    [size, line]: [i64; 2],
) {
    let [xs, ys, zs] = threads.map(|(from, count)| from..from + count);
    for (base, z) in bases.iter().flat_map(|b| zs.clone().map(move |z| (b, z))) {
        for (y, x) in ys.clone().flat_map(|y| xs.clone().map(move |x| (y, x))) {
            let byte = base + x * strides[0] + y * strides[1] + z * strides[2];
            lines.extend(byte.div_euclid(line)..=(byte + size - 1).div_euclid(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_has_three_arms() {
        let (row, plane) = (8 * 100, 8 * 100 * 80);
        let mut bases: Vec<i64> = [8, row, plane]
            .iter()
            .flat_map(|stride| (-4..=4).map(move |k| 4 * (8 + row + plane) + k * stride))
            .collect();
        bases.sort_unstable();
        bases.dedup();
        let arms = Arms::new([8, row, plane].into(), &bases, [1; 3]).unwrap();
        assert_eq!((arms.for_threads(2).all.len(), arms.for_threads(1).all.len()), (3, 5));
        assert!(arms.for_threads(2).all.iter().any(|a| a.more == [8, 0, 0] && a.at == [0, 4, 4]));
        let box27: Vec<i64> = (0..27).map(|i| 8 * (i % 3) + row * (i / 3 % 3) + plane * (i / 9)).collect();
        let arms = Arms::new([8, row, plane].into(), &box27, [1; 3]).unwrap();
        let list = arms.for_threads(1);
        assert_eq!((list.all.len(), list.all[0].more, list.nearest), (1, [2, 2, 2], i64::MAX));
    }

    /// Directions of a lattice lie in arrays of their own: those that lie alike in lines are told from others.
    #[test]
    fn arms_that_lie_alike_are_counted() {
        let (row, array) = (800, 800 * 1000);
        let bases: Vec<i64> =
            [0, 8, -8, row, 3 * row, 136, -8].into_iter().zip(0..).map(|(at, k)| at + k * array).collect();
        let arms = Arms::new([8, row, 0].into(), &bases, [1; 3]).unwrap();
        let list = arms.for_threads(1);
        assert_eq!(list.alike_in(128), Some(&[(0, 1), (1, 2), (2, 2), (3, 1), (4, 1)][..]));
        assert_eq!(list.alike_in(32), Some(&[(0, 3), (1, 2), (2, 2)][..]));
        assert_eq!(list.alike_in(4096), None);
        assert_eq!(list.nearest, array + 136 - 3 * row);
    }

    /// Every second row of a column is whole where a thread has two rows.
    #[test]
    fn places_of_a_thread_fill_gaps() {
        let bases: Vec<i64> = (0..5).map(|k| 2 * k * 800).collect();
        let count = |places| Arms::new([8, 800, 0].into(), &bases, places).unwrap().for_threads(1).all.len();
        assert_eq!((count([1, 1, 1]), count([2, 1, 1]), count([1, 2, 1])), (5, 5, 1));
    }
}
