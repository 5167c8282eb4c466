//! Few rectangles by their ranges along each direction: most ranges are those of several rectangles, so that each is
//! kept once, with a bit for each rectangle that has it.

use super::rows::Rectangle;

/// Most rectangles: each has a bit.
pub(super) const MOST: usize = 64;

/// Distinct ranges, and the rectangles that have each of them.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    list: Vec<([i64; 2], u64)>,
}

impl Ranges {
    #[inline]
    fn add(&mut self, range: [i64; 2], bit: u64) {
        // The last ones come again soonest.
        for (known, rectangles) in self.list.iter_mut().rev() {
            if *known == range {
                *rectangles |= bit;
                return;
            }
        }
        self.list.push((range, bit));
    }

    /// First and last end of all of them.
    pub(super) fn ends(&self) -> [i64; 2] {
        let mut ends = [i64::MAX, i64::MIN];
        for ([from, to], _) in &self.list {
            ends = [ends[0].min(*from), ends[1].max(*to)];
        }
        ends
    }

    /// Moves all of them.
    pub(super) fn shift(&mut self, by: i64) {
        for ([from, to], _) in &mut self.list {
            *from += by;
            *to += by;
        }
    }

    /// Changes all ends in a way that keeps their order.
    pub(super) fn change(&mut self, with: impl Fn(i64) -> i64) {
        for (range, _) in &mut self.list {
            *range = range.map(&with);
        }
    }

    /// Sorts by first end, then by last; few, and mostly in order.
    pub(super) fn sort(&mut self) {
        for i in 1..self.list.len() {
            let mut at = i;
            while at > 0 && self.list[at].0 < self.list[at - 1].0 {
                self.list.swap(at, at - 1);
                at -= 1;
            }
        }
    }

    /// Of sorted ranges those that any of these rectangles has.
    #[inline]
    pub(super) fn of_rectangles(&self, rectangles: u64) -> impl Iterator<Item = [i64; 2]> + '_ {
        self.list.iter().filter(move |range| range.1 & rectangles != 0).map(|range| range.0)
    }
}

/// Rectangles of rows, planes and bytes of rows; see [`Rectangle`].
#[derive(Debug, Default)]
pub(super) struct Rectangles {
    pub(super) y: Ranges,
    pub(super) z: Ranges,
    pub(super) bytes: Ranges,
    number: usize,
}

impl Rectangles {
    pub(super) fn clear(&mut self) {
        for ranges in [&mut self.y, &mut self.z, &mut self.bytes] {
            ranges.list.clear();
        }
        self.number = 0;
    }

    /// Adds one of at most [`MOST`].
    #[inline]
    pub(super) fn push(&mut self, Rectangle { y, z, bytes }: Rectangle) {
        let bit = 1 << self.number;
        self.number += 1;
        self.y.add(y, bit);
        self.z.add(z, bit);
        self.bytes.add(bytes, bit);
    }
}

/// Ends of ranges, ascending, and the rectangles between each and the next.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    list: Vec<(i64, u64)>,
}

impl Cuts {
    pub(super) fn fill(&mut self, ranges: &Ranges) {
        let list = &mut self.list;
        list.clear();
        for (range, _) in &ranges.list {
            for &end in range {
                let after = list.iter().rposition(|cut| cut.0 <= end);
                let at = after.map_or(0, |at| at + 1);
                if after.is_none_or(|at| list[at].0 != end) {
                    list.insert(at, (end, 0));
                }
            }
        }
        for &([from, to], rectangles) in &ranges.list {
            for cut in list.iter_mut() {
                if cut.0 >= to {
                    break;
                }
                if cut.0 >= from {
                    cut.1 |= rectangles;
                }
            }
        }
    }

    /// How many ends there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The last end.
    pub(super) fn last(&self) -> Option<i64> {
        self.list.last().map(|cut| cut.0)
    }

    /// What lies between two ends, and the rectangles of `some` there, from one on; neighbours with the same ones are
    /// one.
    #[inline]
    pub(super) fn each<E>(
        &self,
        some: u64,
        mut with: impl FnMut([i64; 2], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut open: Option<(i64, u64)> = None;
        for &(at, there) in &self.list {
            let there = there & some;
            if let Some((from, rectangles)) = open {
                if rectangles == there {
                    continue;
                }
                with([from, at], rectangles)?;
            }
            // Nothing lies behind the last end.
            open = (there != 0).then_some((at, there));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_with_the_same_rectangles_are_one() {
        let mut all = Rectangles::default();
        for y in [[0, 4], [2, 6], [8, 9], [2, 6]] {
            all.push(Rectangle { y, z: [0, 1], bytes: [0, y[0]] });
        }
        let mut cuts = Cuts::default();
        cuts.fill(&all.y);
        let found = |some: u64| {
            let mut found = Vec::new();
            cuts.each(some, |range, there| -> Result<(), ()> {
                found.push((range, there));
                Ok(())
            })
            .unwrap();
            found
        };
        assert_eq!(found(!0), [([0, 2], 1), ([2, 4], 0b1011), ([4, 6], 0b1010), ([8, 9], 0b100)]);
        assert_eq!(found(0b1010), [([2, 6], 0b1010)]);
        all.bytes.sort();
        assert_eq!(all.bytes.of_rectangles(0b1101).collect::<Vec<_>>(), [[0, 0], [0, 2], [0, 8]]);
        assert_eq!((cuts.len(), cuts.last(), all.z.ends()), (6, Some(9), [0, 1]));
    }
}
