//! Counts that were made before. Launches of a ranking ask again and again for the lines of the same boxes, or of boxes
//! that lie as others do: each thread remembers what it counted last.
//!
//! A count that is remembered takes the steps that it took at first, so that what is remembered makes no difference but
//! for the time.

use std::cell::RefCell;

use crate::effort::{Spent, is_limited, left, spend};

/// Numbers of all keys that are kept: some 2 MiB.
const MOST_NUMBERS: usize = 1 << 18;
/// Places of the table at first.
const FEWEST_PLACES: usize = 1 << 8;

/// Counts by what they follow from. Keys lie one behind the other, so that one more is no allocation.
#[derive(Debug, Default)]
struct Remembered {
    numbers: Vec<i64>,
    counts: Vec<Counted>,
    /// By the hash of their key, one more than the place of a count, or 0; at least half of it is free.
    table: Vec<u32>,
    /// Of the count that is asked for.
    key: Vec<i64>,
}

/// Lines and steps of what was counted.
#[derive(Debug, Clone, Copy)]
struct Counted {
    hash: u64,
    /// Where its key ends; it begins where that of the count before ends.
    end: usize,
    lines: u64,
    steps: u64,
}

thread_local! {
    static REMEMBERED: RefCell<Remembered> = RefCell::default();
}

impl Remembered {
    /// Where the key that is asked for stands in the table, or would: the place of the first free entry.
    #[inline]
    fn place(&self, hash: u64) -> usize {
        let last = self.table.len() - 1;
        let mut place = first_place(hash, self.table.len());
        loop {
            match self.table[place] {
                0 => return place,
                number => {
                    let at = number as usize - 1;
                    let from = if at == 0 { 0 } else { self.counts[at - 1].end };
                    let of = &self.counts[at];
                    if of.hash == hash && self.numbers[from..of.end] == *self.key {
                        return place;
                    }
                }
            }
            place = (place + 1) & last;
        }
    }

    /// What is known of the key that is asked for, and its hash.
    #[inline]
    fn known(&mut self) -> (u64, Option<(u64, u64)>) {
        let hash = hash(&self.key);
        if self.table.is_empty() {
            return (hash, None);
        }
        let known = match self.table[self.place(hash)] {
            0 => None,
            number => {
                let Counted { lines, steps, .. } = self.counts[number as usize - 1];
                Some((lines, steps))
            }
        };
        (hash, known)
    }

    /// Keeps what the key that is asked for led to.
    fn keep(&mut self, hash: u64, lines: u64, steps: u64) {
        if self.numbers.len() + self.key.len() > MOST_NUMBERS {
            self.numbers.clear();
            self.counts.clear();
            self.table.fill(0);
        }
        if self.table.len() <= 2 * self.counts.len() {
            self.widen();
        }
        let place = self.place(hash);
        self.numbers.extend_from_slice(&self.key);
        self.counts.push(Counted { hash, end: self.numbers.len(), lines, steps });
        self.table[place] = u32::try_from(self.counts.len()).expect("there are fewer keys than numbers");
    }

    fn widen(&mut self) {
        let places = (2 * self.table.len()).max(FEWEST_PLACES);
        self.table.clear();
        self.table.resize(places, 0);
        for (number, of) in (1..).zip(&self.counts) {
            let mut place = first_place(of.hash, places);
            while self.table[place] != 0 {
                place = (place + 1) & (places - 1);
            }
            self.table[place] = number;
        }
    }
}

/// Where in a table of so many places, a power of two, a key is looked for first: the upper bits of a hash depend on all
/// of the key.
fn first_place(hash: u64, places: usize) -> usize {
    let shifted = hash >> (u64::BITS - places.trailing_zeros());
    usize::try_from(shifted).expect("it is less than the number of places")
}

fn hash(key: &[i64]) -> u64 {
    key.iter().fold(0, |hash: u64, number| {
        (hash.rotate_left(5) ^ number.cast_unsigned()).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
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
    let (hash, known, key) = REMEMBERED.with_borrow_mut(|all| {
        all.key.clear();
        fill(&mut all.key);
        let (hash, known) = all.known();
        // While something is counted, others may be.
        (hash, known, if known.is_none() { std::mem::take(&mut all.key) } else { Vec::new() })
    });
    let before = left();
    if let Some((lines, steps)) = known
        && steps <= before
    {
        return spend(steps).map(|()| Some(lines)).map_err(E::from);
    }
    let counted = work();
    if known.is_none() {
        REMEMBERED.with_borrow_mut(|all| {
            all.key = key;
            if let Ok(Some(lines)) = &counted {
                all.keep(hash, *lines, before - left());
            }
        });
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effort::within;

    /// Many keys, some of which are the beginning of others, until there is no room for more; each has its own count.
    #[test]
    fn keys_are_told_apart() {
        let mut all = Remembered::default();
        let numbers = |key: i64| [key % 7, key].into_iter().chain((0..key % 5).map(|_| 0));
        for key in 0..120_000_i64 {
            all.key.clear();
            all.key.extend(numbers(key));
            let (hash, known) = all.known();
            assert_eq!(known, None, "{key}");
            all.keep(hash, key.unsigned_abs(), 1);
            assert_eq!(all.known(), (hash, Some((key.unsigned_abs(), 1))));
            let earlier = key - key % 100;
            all.key.clear();
            all.key.extend(numbers(earlier));
            let known = all.known().1;
            assert!(known.is_none() || known == Some((earlier.unsigned_abs(), 1)), "{earlier} {known:?}");
        }
        assert!(all.numbers.len() <= MOST_NUMBERS && 2 * all.counts.len() <= all.table.len());
    }

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
