//! Counts that were made before. Launches of a ranking ask again and again for the lines of the same boxes, or of boxes
//! that lie as others do: each thread remembers what it counted last.
//!
//! Where hardly anything is asked for again, a thread stops remembering for a while: looking costs more than it brings.
//!
//! A count that is remembered takes the steps that it took at first, so that what is remembered makes no difference but
//! for the time.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::effort::{Spent, is_limited, left, spend};

/// Numbers of all keys that are kept: some 2 MiB.
const MOST_NUMBERS: usize = 1 << 18;

/// Counts after which it is looked how many were known.
const TRIED: u32 = 1024;
/// One of so many at least has to be known.
const ONE_OF: u32 = 16;
/// Counts that are made without remembering, before it is tried again.
const RESTING: u32 = 4096;

#[derive(Debug, Default)]
struct Remembered {
    /// Lines and steps of what was counted.
    counts: FxHashMap<Box<[i64]>, (u64, u64)>,
    numbers: usize,
    /// Of the count that is asked for.
    key: Vec<i64>,
    /// Counts that were asked for since it was last looked, and those of them that were known.
    asked: u32,
    known: u32,
    /// Counts to come that are not remembered.
    resting: u32,
}

impl Remembered {
    /// Whether the next count is made without remembering.
    fn rests(&mut self) -> bool {
        let rests = self.resting > 0;
        self.resting = self.resting.saturating_sub(1);
        rests
    }

    /// Looks for the count whose key stands there.
    fn find(&mut self, key: &[i64]) -> Option<(u64, u64)> {
        let found = self.counts.get(key).copied();
        self.asked += 1;
        self.known += u32::from(found.is_some());
        if self.asked == TRIED {
            self.resting = if self.known < TRIED / ONE_OF { RESTING } else { 0 };
            (self.asked, self.known) = (0, 0);
        }
        found
    }
}

thread_local! {
    static REMEMBERED: RefCell<Remembered> = RefCell::default();
}

/// What `work` counts, or counted when it was asked for by the same key. `fill` writes that down: all that the count
/// follows from.
pub(super) fn remembered<E: From<Spent>>(
    fill: impl FnOnce(&mut Vec<i64>),
    work: impl FnOnce() -> Result<Option<u64>, E>,
) -> Result<Option<u64>, E> {
    // How many steps something takes is known only where they are limited.
    if !is_limited() || REMEMBERED.with_borrow_mut(Remembered::rests) {
        return work();
    }
    let (key, known) = REMEMBERED.with_borrow_mut(|all| {
        let mut key = std::mem::take(&mut all.key);
        key.clear();
        fill(&mut key);
        let known = all.find(&key);
        (key, known)
    });
    let before = left();
    let counted = match known {
        Some((lines, steps)) if steps <= before => spend(steps).map(|()| Some(lines)).map_err(E::from),
        _ => work(),
    };
    REMEMBERED.with_borrow_mut(|all| {
        if let (None, Ok(Some(lines))) = (known, &counted) {
            if all.numbers + key.len() > MOST_NUMBERS {
                all.counts.clear();
                all.numbers = 0;
            }
            all.numbers += key.len();
            all.counts.insert(key.as_slice().into(), (*lines, before - left()));
        }
        all.key = key;
    });
    counted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effort::within;

    /// What is remembered takes as many steps as it did, and is not there for who has fewer.
    #[test]
    fn a_count_takes_its_steps_again() {
        let mut made = 0;
        let mut count = |key: i64| {
            remembered(
                |numbers| numbers.extend([71, key]),
                || -> Result<_, Spent> {
                    made += 1;
                    spend(10)?;
                    Ok(Some(key.unsigned_abs()))
                },
            )
        };
        within(25, || {
            assert_eq!((count(1), left()), (Ok(Some(1)), 15));
            assert_eq!((count(1), left()), (Ok(Some(1)), 5));
            assert_eq!((count(1), left()), (Err(Spent), 5));
        });
        within(100, || assert_eq!((count(2), count(1), left()), (Ok(Some(2)), Ok(Some(1)), 80)));
        assert_eq!(count(1), Ok(Some(1)));
        assert_eq!(made, 4);
    }

    #[test]
    fn who_asks_for_nothing_again_is_not_kept_waiting() {
        let mut all = Remembered::default();
        for key in 0..i64::from(TRIED) {
            assert!(!all.rests());
            assert_eq!(all.find(&[key]), None);
        }
        assert_eq!((0..2 * RESTING).filter(|_| all.rests()).count(), RESTING as usize);
        all.counts.insert([7].into(), (1, 2));
        for _ in 0..TRIED {
            assert_eq!(all.find(&[7]), Some((1, 2)));
        }
        assert!(!all.rests());
    }
}
