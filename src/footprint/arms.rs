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
    /// Ascending by first place. They hold for any number of threads.
    fine: Vec<Arm>,
    /// Fewer of them, for at least `enough` threads along each level.
    coarse: Vec<Arm>,
    enough: i64,
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
        let fine = joined(single.clone(), &sides(1));
        let coarse = joined(single, &sides(FILLED));
        let enough = if coarse == fine { 1 } else { FILLED };
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        Some(Self { number, levels, fine, coarse, enough })
    }

    /// Those for blocks with at least so many threads along each level.
    pub(super) fn for_threads(&self, least: i64) -> &[Arm] {
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
        assert_eq!((arms.for_threads(2).len(), arms.for_threads(1).len()), (3, 5));
        assert!(arms.for_threads(2).iter().any(|a| a.more == [8, 0, 0] && a.at == [0, 4, 4]));
        let box27: Vec<i64> = (0..27).map(|i| 8 * (i % 3) + row * (i / 3 % 3) + plane * (i / 9)).collect();
        let arms = Arms::new([8, row, plane].into(), &box27, [1; 3]).unwrap();
        assert_eq!((arms.for_threads(1).len(), arms.for_threads(1)[0].more), (1, [2, 2, 2]));
    }

    /// Every second row of a column is whole where a thread has two rows.
    #[test]
    fn places_of_a_thread_fill_gaps() {
        let bases: Vec<i64> = (0..5).map(|k| 2 * k * 800).collect();
        let count = |places| Arms::new([8, 800, 0].into(), &bases, places).unwrap().for_threads(1).len();
        assert_eq!((count([1, 1, 1]), count([2, 1, 1]), count([1, 2, 1])), (5, 5, 1));
    }
}
