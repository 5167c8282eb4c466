//! What changes while a warp runs: its loops, and what is kept of its forms.

use super::patterns::MetNumber;
use super::values::{CoordValues, LaneVector};

/// What a form gains from the threads of a warp.
pub(super) struct ThreadPart {
    pub(super) values: LaneVector,
    /// The smallest and the largest of them.
    pub(super) low: i64,
    pub(super) high: i64,
    /// As what accesses were met, by active lanes and alignment.
    pub(super) met: Vec<(u64, i64, MetNumber)>,
}

/// The parts of forms that a warp has, by their numbers; the same in all blocks.
pub(super) type ThreadParts = Vec<Option<Box<ThreadPart>>>;

/// A loop as it runs.
#[derive(Clone)]
pub(super) struct RunningLoop {
    pub(super) first: FirstValue,
    pub(super) step: i64,
    pub(super) iteration: i64,
}

/// The first value of a loop's variable.
#[derive(Clone)]
pub(super) enum FirstValue {
    /// It is the same everywhere.
    Same(i64),
    /// It differs, and is at most so large, without its sign.
    Each(Box<LaneVector>, u128),
}

impl RunningLoop {
    /// How far the variable is from its first value.
    fn moved(&self) -> i128 {
        i128::from(self.step) * i128::from(self.iteration)
    }

    /// The value in a lane; one beyond 64 bits stays at their end.
    pub(super) fn value(&self, lane: usize) -> Option<i64> {
        let first = match &self.first {
            FirstValue::Same(first) => *first,
            FirstValue::Each(first, _) => *first.get(lane)?,
        };
        let value = i128::from(first) + self.moved();
        i64::try_from(value.clamp(i64::MIN.into(), i64::MAX.into())).ok()
    }

    /// The values in all lanes; `None` where they may leave 64 bits.
    pub(super) fn values(&self) -> Option<CoordValues<'_>> {
        let by = i64::try_from(self.moved()).ok()?;
        match &self.first {
            FirstValue::Same(first) => first.checked_add(by).map(CoordValues::Same),
            FirstValue::Each(first, largest) => {
                Some(CoordValues::Each(first, by, largest + u128::from(by.unsigned_abs())))
            }
        }
    }
}
