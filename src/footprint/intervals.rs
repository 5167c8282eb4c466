//! A union of intervals of lines that arrive one by one, mostly in order.

/// Intervals beyond which they are merged before more are added.
const FEW: usize = 1 << 16;

#[derive(Debug, Default)]
pub(super) struct Intervals {
    list: Vec<[i64; 2]>,
    /// Length at which to merge next.
    limit: usize,
}

impl Intervals {
    /// Adds the lines `from` to `to`.
    pub(super) fn add(&mut self, from: i64, to: i64) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
