//! Counts that were made before. Launches of a ranking ask again and again for the lines of the same boxes, or of boxes
//! that lie as others do: each thread remembers what it counted last.
//!
//! A count that is remembered takes the steps that it took at first, so that what is remembered makes no difference but
//! for the time.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::effort::{Spent, is_limited, left, spend};

/// Numbers of all keys that are kept: some 2 MiB.
const MOST_NUMBERS: usize = 1 << 18;

#[derive(Debug, Default)]
struct Remembered {
    /// Lines and steps of what was counted.
    counts: FxHashMap<Box<[i64]>, (u64, u64)>,
    numbers: usize,
    /// Of the count that is asked for.
    key: Vec<i64>,
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
    if !is_limited() {
        return work();
    }
    let (key, known) = REMEMBERED.with_borrow_mut(|all| {
        let mut key = std::mem::take(&mut all.key);
        key.clear();
        fill(&mut key);
        let known = all.counts.get(key.as_slice()).copied();
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
}
