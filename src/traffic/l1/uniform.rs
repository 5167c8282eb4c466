//! Conditions that hold for all lanes that are looked at, or for none of them.

use crate::effort::spend_on;
use crate::expr::{Cond, Coord};
use crate::space::{BlockIndex, Extents};

/// Most lanes for which a condition is evaluated.
const MOST_LANES: i64 = 1 << 17;

/// What a condition is for all threads of these blocks that lie below `limit` along every dimension; `None`
/// if that differs, depends on a loop, or cannot be evaluated.
pub fn held(cond: &Cond<i64>, limit: Extents, blocks: &[BlockIndex]) -> Option<bool> {
    if cond.mentions(&|c| matches!(c, Coord::Loop(_))) {
        return None;
    }
    let threads = limit.iter().try_fold(1_i64, |n, &l| n.checked_mul(l))?;
    let lanes = threads.checked_mul(i64::try_from(blocks.len()).ok()?)?;
    if lanes > MOST_LANES {
        return None;
    }
    let (mut known, size) = (None, cond.size());
    for block in blocks {
        for i in 0..threads {
            spend_on(size, 1).ok()?;
            let thread = [i % limit[0], i / limit[0] % limit[1], i / limit[0] / limit[1]];
            let held = cond.evaluate(&|c| match c {
                Coord::ThreadIdx(d) => Some(thread[d.index()]),
                Coord::BlockIdx(d) => Some(block[d.index()]),
                Coord::Axis(_) | Coord::Thread(_) | Coord::Loop(_) => None,
            })?;
            if known.is_some_and(|k| k != held) {
                return None;
            }
            known = Some(held);
        }
    }
    // Where there is no lane, nothing is done.
    Some(known.unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Dim, Form};

    #[test]
    fn lanes_are_asked_one_by_one() {
        let thread = Form::<i64>::coord(Coord::ThreadIdx(Dim::X));
        let block = Form::coord(Coord::BlockIdx(Dim::X)).times(&8).unwrap();
        let x = thread.plus(&block).unwrap();
        // x >= min(x, 3): true, though its interval begins below 0.
        let always = Cond::non_negative(x.minus(&x.smaller(&Form::int(3)).unwrap()).unwrap());
        let first = Cond::non_negative(Form::int(7).minus(&x).unwrap());
        let of = |cond: &Cond<i64>, limit: i64, blocks: &[i64]| {
            let blocks: Vec<BlockIndex> = blocks.iter().map(|&x| BlockIndex::from([x, 0, 0])).collect();
            held(cond, Extents::from([limit, 1, 1]), &blocks)
        };
        assert_eq!(of(&always, 8, &[0, 1]), Some(true));
        assert_eq!(of(&first, 8, &[0]), Some(true));
        assert_eq!(of(&first, 8, &[1]), Some(false));
        assert_eq!(of(&first, 8, &[0, 1]), None);
        assert_eq!(of(&first, 0, &[0]), Some(false));
    }
}
