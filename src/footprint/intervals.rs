//! A union of intervals of lines that arrive one by one. Where all lines lie close together, each has a
//! bit; otherwise intervals are kept, which mostly come in order, and merged now and then.

use super::query::Piece;
use crate::effort::{Spent, spend_on};

/// Intervals beyond which they are merged before more are added.
const FEW: usize = 1 << 16;
/// Bits that are always worth it, for each point, and that are never taken.
const FEW_BITS: u128 = 1 << 14;
const BITS_OF_POINT: u128 = 16;
const MOST_BITS: u128 = 1 << 28;
/// Steps for 64 bits.
const STEPS_OF_WORD: u64 = 1;

#[derive(Debug, Default)]
pub(super) struct Intervals {
    bits: Option<Bits>,
    list: Vec<[i64; 2]>,
    /// Length at which to merge next.
    limit: usize,
}

impl Intervals {
    /// For the lines of `line` bytes that these pieces touch.
    pub(super) fn covering(pieces: &[Piece], line: i64) -> Result<Self, Spent> {
        let bits = Bits::covering(pieces, line);
        // They are cleared, set and counted.
        spend_on(bits.as_ref().map_or(0, |b| b.words.len()), STEPS_OF_WORD)?;
        Ok(Self { bits, ..Self::default() })
    }

    /// Adds the lines `from` to `to`.
    pub(super) fn add(&mut self, from: i64, to: i64) {
        if let Some(bits) = &mut self.bits {
            if bits.add(from, to) {
                return;
            }
            // Not where they were expected: no harm, as long as each is kept once.
            self.list = bits.list();
            self.bits = None;
        }
        match self.list.last_mut() {
            Some(last) if last[0] <= to.saturating_add(1) && from <= last[1].saturating_add(1) => {
                *last = [last[0].min(from), last[1].max(to)];
            }
            _ => {
                if self.list.len() >= self.limit.max(FEW) {
                    self.merge();
                    // What could not be merged stays; to try again soon would be in vain.
                    self.limit = 2 * self.list.len();
                }
                self.list.push([from, to]);
            }
        }
    }

    /// The number of lines.
    pub(super) fn count(&mut self) -> u128 {
        if let Some(bits) = &self.bits {
            return bits.count();
        }
        self.merge();
        self.list.iter().map(|i| u128::from(i[1].abs_diff(i[0])) + 1).sum()
    }

    fn merge(&mut self) {
        self.list.sort_unstable();
        self.list.dedup_by(|next, kept| {
            let meets = next[0] <= kept[1].saturating_add(1);
            if meets {
                kept[1] = kept[1].max(next[1]);
            }
            meets
        });
    }
}

/// A bit for each line from `first` on.
#[derive(Debug)]
struct Bits {
    first: i64,
    words: Vec<u64>,
}

impl Bits {
    /// `None` if lines may lie too far apart for the number of points.
    fn covering(pieces: &[Piece], line: i64) -> Option<Self> {
        let (mut first, mut last) = (i64::MAX, i64::MIN);
        let mut points = 0_u128;
        for piece in pieces {
            let of = |c| piece.ranges.iter().find(|r| r.0 == c).map(|r| (r.1, r.2));
            let (low, high) = piece.address.interval(&of)?;
            first = first.min(low.div_euclid(line));
            last = last.max(high.checked_add(piece.width - 1)?.div_euclid(line));
            points = points.saturating_add(piece.points());
        }
        let lines = u128::from(last.abs_diff(first)) + 1;
        let most = points.saturating_mul(BITS_OF_POINT).clamp(FEW_BITS, MOST_BITS);
        if first > last || lines > most {
            return None;
        }
        let words = usize::try_from(lines.div_ceil(64)).ok()?;
        Some(Self { first, words: vec![0; words] })
    }

    /// Whether all of these lines have a bit; sets them if so.
    fn add(&mut self, from: i64, to: i64) -> bool {
        let place = |line: i64| usize::try_from(line.checked_sub(self.first)?).ok();
        let (Some(from), Some(to)) = (place(from), place(to)) else { return false };
        let Some(words) = self.words.get_mut(from / 64..=to / 64) else { return false };
        let (low, high) = (u64::MAX << (from % 64), u64::MAX >> (63 - to % 64));
        match words {
            [one] => *one |= low & high,
            [first, between @ .., last] => {
                *first |= low;
                between.fill(u64::MAX);
                *last |= high;
            }
            [] => return false,
        }
        true
    }

    fn count(&self) -> u128 {
        self.words.iter().map(|w| u128::from(w.count_ones())).sum()
    }

    fn list(&self) -> Vec<[i64; 2]> {
        let set = |word: usize, bit: usize| self.words[word] >> bit & 1 == 1;
        let line = |at: usize| self.first + i64::try_from(at).expect("bits are few");
        (0..self.words.len() * 64).filter(|i| set(i / 64, i % 64)).map(|i| [line(i), line(i)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Coord, Dim, Form};

    #[test]
    fn what_meets_is_merged() {
        let mut lines = Intervals::default();
        for (from, to) in [(5, 9), (0, 1), (10, 12), (3, 3), (8, 20), (i64::MAX - 1, i64::MAX)] {
            lines.add(from, to);
        }
        assert_eq!(lines.count(), 2 + 1 + 16 + 2);
    }

    #[test]
    fn many_are_merged_on_the_way() {
        let mut lines = Intervals::default();
        for round in 0..4 {
            for i in 0..100_000 {
                lines.add(3 * i, 3 * i + round % 2);
            }
        }
        assert!(lines.list.len() <= 2 * 100_000, "{}", lines.list.len());
        assert_eq!(lines.count(), 200_000);
    }

    /// Points at the doubles from `from` to `to`.
    fn doubles(from: i64, to: i64) -> Piece {
        let x = Coord::Thread(Dim::X);
        let address = Form::coord(x).times(&8).unwrap();
        Piece { array: 0, ranges: [(x, from, to)].into(), when: None, address: address.into(), width: 8 }
    }

    #[test]
    fn bits_count_as_intervals_do() {
        let mut bits = Intervals::covering(&[doubles(-1000, 1000)], 32).unwrap();
        assert!(bits.bits.is_some());
        let mut list = Intervals::default();
        for i in 0..100_i64 {
            let from = i * 37 % 480 - 250;
            let to = from + i % 20;
            bits.add(from, to);
            list.add(from, to);
        }
        assert_eq!(bits.count(), list.count());
        // A line that was not expected.
        bits.add(5000, 5000);
        list.add(5000, 5000);
        assert_eq!(bits.count(), list.count());
        assert!(
            Intervals::covering(&[doubles(0, 10), doubles(1 << 40, 1 << 40)], 32).unwrap().bits.is_none()
        );
    }
}
