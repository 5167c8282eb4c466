//! Arms of accesses under boxes of threads.

use std::ops::Range;

use super::arms::{Arm, ArmList, Arms, Box3, DIMS, Level};
use super::query::Refusal;

/// Steps for an arm under a box.
pub(super) const STEPS_OF_RECTANGLE: u64 = 48;
/// Addresses beyond this need care.
pub(super) const FAR: i64 = 1 << 60;

/// Accesses under some boxes of threads.
#[derive(Debug)]
pub(super) struct Spread<'a> {
    pub(super) arms: &'a Arms,
    /// Those for as many threads as there are.
    pub(super) list: &'a ArmList,
    /// Which of the boxes.
    pub(super) boxes: Range<usize>,
    pub(super) width: i64,
    /// Fewest and most threads of a box along each level.
    pub(super) least: [i64; DIMS],
    pub(super) most: [i64; DIMS],
    /// First and last byte of all boxes, from the first byte of an access.
    pub(super) ends: [i64; 2],
}

impl<'a> Spread<'a> {
    /// Under boxes of `all`.
    #[inline]
    pub(super) fn new(
        arms: &'a Arms,
        all: &[Box3],
        boxes: Range<usize>,
        width: i64,
    ) -> Result<Self, Refusal> {
        let (mut least, mut most) = ([i64::MAX; DIMS], [0; DIMS]);
        let mut ends = [i64::MAX, i64::MIN];
        for one in &all[boxes.clone()] {
            for l in 0..DIMS {
                least[l] = least[l].min(one.count[l]);
                most[l] = most[l].max(one.count[l]);
            }
            let span = one.span(&arms.levels)?;
            ends = [ends[0].min(span[0]), ends[1].max(span[1].saturating_add(width - 1))];
        }
        let along = least[..arms.levels.len()].iter();
        let list = arms.for_threads(along.copied().min().unwrap_or(1));
        Ok(Self { arms, list, boxes, width, least, most, ends })
    }

    /// Whether no box leaves out a line between its first and its last byte.
    pub(super) fn is_dense(&self, line: i64) -> bool {
        let mut run = self.width;
        for (l, level) in self.arms.levels.iter().enumerate() {
            let single = || self.most[l] == 1 && self.list.all.iter().all(|arm| arm.more[l] == 0);
            if level.stride - run >= line && !single() {
                return false;
            }
            // Numbers for which this is too much are refused.
            run = run.saturating_add(level.stride.saturating_mul(self.least[l] - 1));
        }
        true
    }

    /// How many of the smallest strides leave no line out between the first and the last byte of an arm under a box.
    pub(super) fn swallowed(&self, arm: &Arm, line: i64) -> usize {
        let mut run = self.width;
        let swallowed = |&(l, level): &(usize, &Level)| {
            // A gap of fewer bytes than a line cannot hold a line that is not touched from either side.
            let swallowed = level.stride - run < line || (self.most[l] == 1 && arm.more[l] == 0);
            run = run.saturating_add(level.stride.saturating_mul(self.least[l] - 1));
            swallowed
        };
        self.arms.levels.iter().enumerate().take_while(swallowed).count()
    }

    /// Whether no arm is too far.
    pub(super) fn is_near(&self) -> bool {
        // What lies between the first and the last of them is no further away.
        let ends = [self.list.all.first(), self.list.all.last()];
        ends.into_iter().flatten().all(|arm| self.ends_of(arm).is_some())
    }

    /// If all arms lie so far apart that no line is touched through two of them: the first of those that lie alike in
    /// lines, and how many they are.
    pub(super) fn apart(&self, line: i64) -> Option<&'a [(usize, u64)]> {
        let span = self.ends[1].saturating_sub(self.ends[0]).saturating_add(line);
        if span <= self.list.nearest { self.list.alike_in(line) } else { None }
    }

    /// First and last byte of an arm under its boxes, if these are not too far.
    pub(super) fn ends_of(&self, arm: &Arm) -> Option<[i64; 2]> {
        let mut last = arm.base.checked_add(self.ends[1])?;
        for (level, more) in self.arms.levels.iter().zip(arm.more) {
            last = last.checked_add(level.stride.checked_mul(more)?)?;
        }
        let first = arm.base.checked_add(self.ends[0])?;
        (-FAR < first && last < FAR).then_some([first, last])
    }
}
