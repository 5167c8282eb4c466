//! The warps of a block: consecutive linear thread ids, x fastest, whatever the block's shape.

use super::lanes::MOST_LANES;
use crate::space::{Block, Extents, Thread};

/// Warps whose lanes lie alike around their first lane and are active alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarpClass {
    /// Thread coordinates of each lane relative to the first lane.
    pub lanes: Vec<Thread>,
    /// Active lanes under each of the limits.
    pub active: Vec<u64>,
    /// Coordinates of the first lanes of its warps.
    pub firsts: Vec<Thread>,
}

/// What tells classes apart: where lanes change row and plane, how many lanes there are, and which of
/// them are active.
#[derive(PartialEq)]
struct Key {
    place: (Option<i64>, Option<i64>, i64),
    /// `None` if all are.
    active: Option<Vec<u64>>,
}

/// The warps of a block, `warp` lanes each but the last, by class. Under each of several `limits` only
/// threads below it along every dimension are active.
pub fn classes(block: Block, warp: usize, limits: &[Extents]) -> Vec<WarpClass> {
    let warp = i64::try_from(warp.clamp(1, MOST_LANES)).expect("warps have few lanes");
    let threads: i64 = block.volume();
    let whole = |limit: &Extents| (0..3).all(|d| limit[d] >= block[d]);
    let all_whole = limits.iter().all(whole);
    let mut keys: Vec<Key> = Vec::new();
    let mut classes: Vec<WarpClass> = Vec::new();
    let mut from = 0;
    while from < threads {
        let first = place(from, block);
        let count = warp.min(threads - from);
        let active = if all_whole {
            None
        } else {
            let lanes = lanes(first, count, block);
            Some(limits.iter().map(|limit| below(first, &lanes, *limit)).collect())
        };
        let key = Key { place: key(first, count, block), active };
        if let Some(known) = keys.iter().position(|k| *k == key) {
            classes[known].firsts.push(first);
        } else {
            let active = key.active.clone().unwrap_or_else(|| vec![u64::MAX; limits.len()]);
            keys.push(key);
            classes.push(WarpClass { lanes: lanes(first, count, block), active, firsts: vec![first] });
        }
        from += count;
    }
    classes
}

/// The lanes that lie below a limit along every dimension.
fn below(first: Thread, lanes: &[Thread], limit: Extents) -> u64 {
    let active = lanes.iter().enumerate().filter(|(_, l)| (0..3).all(|d| first[d] + l[d] < limit[d]));
    active.fold(0, |mask, (lane, _)| mask | 1 << lane)
}

/// Coordinates of a linear thread id.
fn place(id: i64, block: Block) -> Thread {
    [id % block[0], id / block[0] % block[1], id / block[0] / block[1]].into()
}

fn key(first: Thread, count: i64, block: Block) -> (Option<i64>, Option<i64>, i64) {
    let ([x, y, _], [bx, by, _]) = (*first, *block);
    let rows = (x + count - 1) / bx;
    // Within one row, where it starts makes no difference; within one plane, the row does not.
    match rows {
        0 => (None, None, count),
        _ if y + rows < by => (Some(x), None, count),
        _ => (Some(x), Some(y), count),
    }
}

fn lanes(first: Thread, count: i64, block: Block) -> Vec<Thread> {
    let ([mut x, mut y, mut z], [bx, by, _]) = (*first, *block);
    let mut lanes = Vec::with_capacity(usize::try_from(count).expect("warps have few lanes"));
    for _ in 0..count {
        lanes.push([x - first[0], y - first[1], z - first[2]].into());
        x += 1;
        if x == bx {
            (x, y) = (0, y + 1);
        }
        if y == by {
            (y, z) = (0, z + 1);
        }
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(block: Block) -> Vec<Thread> {
        let mut found = Vec::new();
        for class in classes(block, 32, &[]) {
            for first in &class.firsts {
                found.extend(class.lanes.iter().map(|l| Thread::along(|d| l[d] + first[d])));
            }
        }
        found.sort_by_key(|t| (t[2], t[1], t[0]));
        found
    }

    #[test]
    fn every_thread_is_in_one_warp() {
        for block in [[7, 3, 5], [32, 32, 1], [64, 2, 3], [1, 1, 1], [1, 40, 3], [33, 2, 2], [16, 2, 32]] {
            let block = Block::known(block);
            let expected: Vec<Thread> = (0..block.volume()).map(|i| place(i, block)).collect();
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

    #[test]
    fn threads_beyond_a_limit_are_not_active() {
        let limits = [[40, 2, 9], [64, 2, 9]].map(Extents::from);
        let classes = classes(Block::known([64, 2, 2]), 32, &limits);
        let active: Vec<_> = classes.iter().map(|c| (c.active.clone(), c.firsts.len())).collect();
        assert_eq!(active, [(vec![0xffff_ffff, 0xffff_ffff], 4), (vec![0xff, 0xffff_ffff], 4)]);
    }
}
