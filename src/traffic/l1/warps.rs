//! The warps of a block: consecutive linear thread ids, x fastest, whatever the block's shape.

use std::rc::Rc;

use super::lanes::MOST_LANES;
use crate::space::{Block, Extents, Strides, Thread};

/// Warps of a class for which there is room from the beginning: blocks mostly have no more.
const MOST_ALIKE: usize = 32;

/// Warps whose lanes lie alike around their first lane and are active alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarpClass {
    /// How the lanes lie around the first.
    pub arrangement: Arrangement,
    /// Active lanes under each of the limits.
    pub active: Rc<[u64]>,
    /// Coordinates of the first lanes of its warps.
    pub firsts: Vec<Thread>,
}

/// How the lanes of a warp lie around the first: where they change row and plane, and how many there are. What makes
/// no difference is left out, so that warps of different blocks agree, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Arrangement {
    lanes: i64,
    /// Where the first lane stands in its row, and after how many lanes a row ends; if any does.
    row: Option<[i64; 2]>,
    /// The same of rows in planes.
    plane: Option<[i64; 2]>,
}

impl Arrangement {
    fn new(first: Thread, lanes: i64, block: Block) -> Self {
        let ([x, y, _], [bx, by, _]) = (*first, *block);
        // Within one row, where it starts makes no difference; within one plane, the row does not.
        let ends = (x + lanes > bx).then(|| y + (x + lanes - 1) / bx >= by);
        Self { lanes, row: ends.map(|_| [x, bx]), plane: (ends == Some(true)).then_some([y, by]) }
    }

    /// So many lanes in one row.
    pub fn row(lanes: i64) -> Self {
        Self { lanes, row: None, plane: None }
    }

    /// Whether all lanes lie in one row.
    pub fn is_row(&self) -> bool {
        self.row.is_none()
    }

    /// How many there are.
    pub fn count(&self) -> i64 {
        self.lanes
    }

    /// Of the bytes from thread to thread those along dimensions in which lanes differ.
    pub fn moves(&self, thread: Strides) -> Strides {
        let differ = [true, self.row.is_some(), self.plane.is_some()];
        Strides::along(|d| if differ[d] { thread[d] } else { 0 })
    }

    /// Thread coordinates of each lane relative to the first lane.
    pub fn lanes(&self) -> Vec<Thread> {
        let ([from_x, row], [from_y, plane]) =
            (self.row.unwrap_or([0, i64::MAX]), self.plane.unwrap_or([0, i64::MAX]));
        let (mut x, mut y, mut z) = (from_x, from_y, 0);
        let mut lanes = Vec::with_capacity(usize::try_from(self.lanes).expect("warps have few lanes"));
        for _ in 0..self.lanes {
            lanes.push([x - from_x, y - from_y, z].into());
            x += 1;
            if x == row {
                (x, y) = (0, y + 1);
            }
            if y == plane {
                (y, z) = (0, z + 1);
            }
        }
        lanes
    }
}

/// The warps of a block, `warp` lanes each but the last, by class. Under each of several `limits` only
/// threads below it along every dimension are active.
pub fn classes(block: Block, warp: usize, limits: &[Extents]) -> Vec<WarpClass> {
    let warp = i64::try_from(warp.clamp(1, MOST_LANES)).expect("warps have few lanes");
    let threads: i64 = block.volume();
    let whole = |limit: &Extents| (0..3).all(|d| limit[d] >= block[d]);
    let all_whole = limits.iter().all(whole);
    let mut classes: Vec<WarpClass> = Vec::new();
    let (mut from, mut first) = (0, Thread::ZERO);
    let mut active = vec![u64::MAX; limits.len()];
    while from < threads {
        let count = warp.min(threads - from);
        let arrangement = Arrangement::new(first, count, block);
        if !all_whole {
            for (active, limit) in active.iter_mut().zip(limits) {
                *active = below(first, count, block, *limit);
            }
        }
        let like = |known: &&mut WarpClass| known.arrangement == arrangement && *known.active == *active;
        if let Some(known) = classes.iter_mut().find(like) {
            known.firsts.push(first);
        } else {
            // Mostly most of the warps that are left are like it.
            let left = usize::try_from((threads - from) / warp + 1).expect("blocks have few warps");
            let mut firsts = Vec::with_capacity(left.min(MOST_ALIKE));
            firsts.push(first);
            // Most classes are active as the one before is.
            let before = classes.last().filter(|last| *last.active == *active);
            let active = before.map_or_else(|| active.as_slice().into(), |last| Rc::clone(&last.active));
            classes.push(WarpClass { arrangement, active, firsts });
        }
        from += count;
        first[0] += count;
        if first[0] >= block[0] {
            first[1] += first[0] / block[0];
            first[0] %= block[0];
        }
        if first[1] >= block[1] {
            first[2] += first[1] / block[1];
            first[1] %= block[1];
        }
    }
    classes
}

/// Of so many lanes of a block from one on, those that lie below a limit along every dimension: some of each row.
fn below(first: Thread, lanes: i64, block: Block, limit: Extents) -> u64 {
    let (mut mask, mut lane, [mut x, mut y, mut z]) = (0, 0, *first);
    while lane < lanes {
        let of_row = (block[0] - x).min(lanes - lane);
        if y < limit[1] && z < limit[2] && x < limit[0] {
            let some = of_row.min(limit[0] - x);
            mask |= (u64::MAX >> (64 - some)) << lane;
        }
        (lane, x, y) = (lane + of_row, 0, y + 1);
        if y == block[1] {
            (y, z) = (0, z + 1);
        }
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(block: Block) -> Vec<Thread> {
        let mut found = Vec::new();
        for class in classes(block, 32, &[]) {
            for first in &class.firsts {
                found.extend(class.arrangement.lanes().iter().map(|l| Thread::along(|d| l[d] + first[d])));
            }
        }
        found.sort_by_key(|t| (t[2], t[1], t[0]));
        found
    }

    #[test]
    fn every_thread_is_in_one_warp() {
        for block in [[7, 3, 5], [32, 32, 1], [64, 2, 3], [1, 1, 1], [1, 40, 3], [33, 2, 2], [16, 2, 32]] {
            let block = Block::known(block);
            let place = |i: i64| [i % block[0], i / block[0] % block[1], i / block[0] / block[1]].into();
            let expected: Vec<Thread> = (0..block.volume()).map(place).collect();
            assert_eq!(all(block), expected, "{block:?}");
        }
    }

    #[test]
    fn like_warps_are_one_class() {
        assert_eq!(classes(Block::known([64, 4, 4]), 32, &[]).len(), 1);
        assert_eq!(classes(Block::known([16, 2, 32]), 32, &[]).len(), 1);
        assert_eq!(classes(Block::known([1, 1024, 1]), 32, &[]).len(), 1);
        // 105 threads: four warps that begin at other places of a row, the last with 9 lanes.
        assert_eq!(classes(Block::known([7, 3, 5]), 32, &[]).len(), 4);
    }

    /// Row by row, and lane by lane.
    #[test]
    fn lanes_below_a_limit_are_found_by_rows() {
        for block in [[7, 3, 5], [32, 32, 1], [64, 2, 3], [1, 1, 9], [1, 40, 3], [33, 2, 2], [16, 2, 32]] {
            let block = Block::known(block);
            for limit in [[0, 9, 9], [5, 2, 3], [40, 1, 9], [9, 9, 1], [64, 64, 64], [1, 1, 1]] {
                let limit = Extents::from(limit);
                for class in classes(block, 64, &[limit]) {
                    let lanes = class.arrangement.lanes();
                    let inside = |l: &Thread| (0..3).all(|d| class.firsts[0][d] + l[d] < limit[d]);
                    let expected = lanes.iter().enumerate().filter(|(_, l)| inside(l));
                    let expected = expected.fold(0_u64, |mask, (lane, _)| mask | 1 << lane);
                    let all = class
                        .firsts
                        .iter()
                        .map(|&first| below(first, class.arrangement.count(), block, limit));
                    assert!(all.into_iter().all(|mask| mask == expected), "{block:?} {limit:?} {class:?}");
                }
            }
        }
    }

    #[test]
    fn threads_beyond_a_limit_are_not_active() {
        let limits = [[40, 2, 9], [64, 2, 9]].map(Extents::from);
        let classes = classes(Block::known([64, 2, 2]), 32, &limits);
        let active: Vec<_> = classes.iter().map(|c| (c.active.to_vec(), c.firsts.len())).collect();
        assert_eq!(active, [(vec![0xffff_ffff, 0xffff_ffff], 4), (vec![0xff, 0xffff_ffff], 4)]);
    }
}
