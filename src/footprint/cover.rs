//! What other pieces touch anyway: the threads of a block that load its halo once more touch, but for
//! those of the last block, what the next block loads. Without them the strides of arrays nest again.

use std::cmp::Ordering;

use super::progression::Progression;
use crate::effort::spend_on;

/// Most progressions that are compared with each other.
const MOST: usize = 1 << 10;

/// The bytes of a progression: runs without gaps, some steps apart.
#[derive(Debug, Clone, Copy)]
struct Runs<'p> {
    array: usize,
    base: i64,
    run: i64,
    /// Strides and counts of what does not belong to the run.
    steps: &'p [(i64, i64)],
    /// How many steps do.
    inside: usize,
}

/// The same bytes without points along the smallest gap of a progression that lie in runs of others.
pub(super) fn uncovered(all: Vec<Progression>) -> Vec<Progression> {
    // What cannot be compared is counted as it is, if that can still be afforded.
    if all.len() > MOST || spend_on(all.len(), 1 + all.len() as u64 / 2).is_err() {
        return all;
    }
    let mut runs: Vec<Runs<'_>> = all.iter().map(Runs::new).collect();
    runs.sort_unstable_by(Runs::by_steps);
    let (runs, solid) = (&runs, solid(&runs));
    let kept = all.iter().filter_map(|p| {
        let own = Runs::new(p);
        if !own.steps.is_empty()
            && let Some(end) = end_around(&solid, p)
        {
            return p.clone().behind(end);
        }
        match own.covered(runs) {
            0 => Some(p.clone()),
            covered if covered < own.steps[0].1 => Some(p.clone().without_first(own.inside, covered)),
            _ => None,
        }
    });
    kept.collect()
}

/// Array, first and last byte of what is touched without gaps, ascending. What meets is one.
fn solid(runs: &[Runs<'_>]) -> Vec<(usize, i64, i64)> {
    let whole = runs.iter().filter(|runs| runs.steps.is_empty());
    let mut found: Vec<_> = whole.map(|r| (r.array, r.base, r.base.saturating_add(r.run) - 1)).collect();
    found.sort_unstable();
    found.dedup_by(|next, kept| {
        let meets = next.0 == kept.0 && next.1 <= kept.2.saturating_add(1);
        if meets {
            kept.2 = kept.2.max(next.2);
        }
        meets
    });
    found
}

/// The last byte of what is touched without gaps where a progression begins.
fn end_around(solid: &[(usize, i64, i64)], p: &Progression) -> Option<i64> {
    let after = solid.partition_point(|s| (s.0, s.1) <= (p.array, p.base));
    let &(array, _, last) = solid.get(after.checked_sub(1)?)?;
    (array == p.array && last >= p.base).then_some(last)
}

impl<'p> Runs<'p> {
    fn new(progression: &'p Progression) -> Self {
        let (array, base, mut run) = (progression.array, progression.base, progression.run);
        let steps = progression.steps();
        let mut inside = 0;
        while let Some(&(stride, count)) = steps.get(inside).filter(|step| step.0 <= run) {
            run = run.saturating_add(stride.saturating_mul(count - 1));
            inside += 1;
        }
        Self { array, base, run, steps: &steps[inside..], inside }
    }

    fn by_steps(&self, other: &Self) -> Ordering {
        (self.array, self.steps, self.base).cmp(&(other.array, other.steps, other.base))
    }

    /// How many of the first values of the smallest step lie in runs of `all` that have all other steps alike; those are
    /// sorted by their steps and where they begin.
    fn covered(&self, all: &[Runs<'_>]) -> i64 {
        let Some((&(stride, count), rest)) = self.steps.split_first() else { return 0 };
        let from = all.partition_point(|other| (other.array, other.steps) < (self.array, rest));
        let alike = all[from..]
            .iter()
            .take_while(|other| other.array == self.array && other.steps == rest && other.base <= self.base);
        let places = alike.filter_map(|other| {
            let room = other.base.checked_add(other.run)?.checked_sub(self.run)?.checked_sub(self.base)?;
            (room >= 0).then(|| (room / stride + 1).min(count))
        });
        places.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Coord, Dim, Form};
    use crate::footprint::linear::count_progressions;
    use crate::footprint::{CoordRange, Engine, Piece, Query, count_with};
    use crate::space::Extents;

    /// Rows of 64 threads by blocks of 16, and 4 more threads of each block beyond its end.
    fn halo(row: i64, beyond: i64) -> Vec<Piece> {
        let coords = [Coord::ThreadIdx(Dim::X), Coord::BlockIdx(Dim::X), Coord::ThreadIdx(Dim::Y)];
        let piece = |counts: Extents, first: i64| {
            let mut address = Form::int(first);
            for (coord, stride) in coords.into_iter().zip([4, 64, row]) {
                address = address.plus(&Form::coord(coord).times(&stride).unwrap()).unwrap();
            }
            let ranges: Vec<CoordRange> = coords.iter().zip(counts).map(|(c, n)| (*c, 0, n - 1)).collect();
            Piece { array: 0, ranges: ranges.into(), when: None, address: address.into(), width: 4 }
        };
        vec![piece([16, 4, 5].into(), 0), piece([4, 4, 5].into(), beyond)]
    }

    fn progressions(pieces: &[Piece]) -> Vec<Progression> {
        pieces.iter().map(|piece| Progression::from_piece(piece).unwrap()).collect()
    }

    /// Rows that are as long as the stride between them are one run; what lies in it is left out but for its end.
    #[test]
    fn what_lies_in_a_run_is_left_out() {
        let rows = Progression::new(0, &[(4, 250), (1000, 8)], 4).unwrap();
        let tiles = |base| Progression::new(base, &[(4, 5), (100, 10), (1000, 8)], 4).unwrap();
        let left = |base| {
            let found = uncovered(vec![rows.clone(), tiles(base)]);
            found.get(1).map(|p| (p.base, p.steps().to_vec()))
        };
        assert_eq!(left(60), None);
        assert_eq!(left(92), Some((8000, vec![(4, 3)])));
        assert_eq!(left(1020), Some((8020, vec![(4, 5), (100, 10)])));
        assert_eq!(left(-20), Some((-20, vec![(4, 5), (100, 80)])));
        for base in [60, 92, 1020, -20, 7990] {
            for line in [4, 32, 128] {
                let mut before = vec![rows.clone(), tiles(base)];
                let mut after = uncovered(before.clone());
                let lines = count_progressions(&mut before, line).unwrap();
                assert_eq!(count_progressions(&mut after, line), Ok(lines), "{base} {line}");
            }
        }
    }

    #[test]
    fn halos_inside_the_row_are_left_out() {
        for (row, beyond, pieces) in
            [(1000, 64, 2), (1000, 0, 1), (1000, -64, 2), (1000, 192, 2), (264, 64, 2)]
        {
            let before = halo(row, beyond);
            let after = uncovered(progressions(&before));
            assert_eq!(after.len(), pieces, "{row} {beyond}");
            for line in [32, 128] {
                let query = Query { pieces: before.clone(), line };
                let lines = count_with(&query, Engine::Enumeration).unwrap();
                assert_eq!(count_progressions(&mut after.clone(), line), Ok(lines), "{row} {beyond} {line}");
            }
        }
        let last = &uncovered(progressions(&halo(1000, 64)))[1];
        assert_eq!(last.steps(), [(4, 4), (1000, 5)], "only the last block is left");
    }
}
