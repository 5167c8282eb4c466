//! How blocks lie relative to lines, and how many of them lie alike.
//!
//! From block to block, addresses move by a constant number of bytes along each axis. So the residues of
//! their first bytes modulo a line are arithmetic progressions, and how often each residue occurs follows
//! from the number of blocks alone. Mostly all residues that are a multiple of some `spread` apart occur
//! equally often. Such a class takes one count, and not one for each residue: lines of L bytes at all
//! positions that are a multiple of s apart are windows of L bytes that begin every s bytes, and a window
//! meets an access of w bytes where a line of s bytes meets one of w + L - s.

use super::places::aside;
use crate::footprint::gcd;
use crate::launch::BlockBox;
use crate::space::{BlockIndex, Strides};

/// Blocks that touch as many lines on average as one count says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Aligned {
    /// One of them.
    pub(super) block: BlockIndex,
    /// Their share of all blocks; below 0 where others have them too often.
    pub(super) share: f64,
    /// They begin at all multiples of so many bytes from this one, equally often: at the same place of a
    /// line if it is the line.
    pub(super) spread: i64,
}

/// Most classes that are looked at.
const MOST: usize = 64;
/// Classes with a smaller share of the blocks are left to the others.
const LITTLE: f64 = 0.005;

/// The classes of blocks whose addresses move by `steps` bytes from block to block.
pub(super) fn alignments(steps: Strides, blocks: &BlockBox, line: i64) -> Vec<Aligned> {
    let counts = blocks.counts();
    let middle = BlockIndex::along(|d| blocks.from[d] + aside(d, counts[d]));
    let moving = || (0..3).filter(|&d| counts[d] > 1 && steps[d] % line != 0);
    let spread = moving().fold(line, |all, d| gcd(all, steps[d]));
    let whole = |d: usize| (gcd(steps[d], line) == spread) && counts[d] % (line / spread) == 0;
    if spread == line || moving().any(whole) {
        return vec![Aligned { block: middle, share: 1.0, spread }];
    }
    let mut residues = Residues::new(blocks.from, line / spread);
    for d in 0..3 {
        let (from, step) = (blocks.from[d], if counts[d] > 1 { steps[d] / spread } else { 0 });
        residues.along(d, from, counts[d], step);
    }
    residues.classes(spread)
}

/// How often residues occur, and a block with each.
struct Residues {
    /// Share of the blocks; 0 where no block is.
    shares: Vec<f64>,
    blocks: Vec<BlockIndex>,
    /// The residues that occur, ascending.
    there: Vec<usize>,
    /// The shares and blocks as they were before the last axis.
    before: (Vec<f64>, Vec<BlockIndex>),
}

impl Residues {
    /// One block.
    fn new(block: BlockIndex, different: i64) -> Self {
        let different = usize::try_from(different).expect("a line has bytes");
        let mut shares = vec![0.0; different];
        shares[0] = 1.0;
        Self { shares, blocks: vec![block; different], there: vec![0], before: Default::default() }
    }

    /// Each block together with those that follow it along an axis, of `count` in all.
    fn along(&mut self, d: usize, from: i64, count: i64, step: i64) {
        let different = self.shares.len();
        let all = whole(different);
        if step % all == 0 {
            // All of them lie alike.
            let middle = from + aside(d, count);
            self.blocks.iter_mut().for_each(|block| block[d] = middle);
            return;
        }
        let period = all / gcd(step, all);
        let looked_at = period.min(count);
        let first = (count - looked_at) / 2;
        let (shares, blocks) = &mut self.before;
        std::mem::swap(shares, &mut self.shares);
        self.shares.clear();
        self.shares.resize(different, 0.0);
        blocks.clone_from(&self.blocks);
        for i in first..first + looked_at {
            let like = count / period + i64::from(i % period < count % period);
            let share = like as f64 / count as f64;
            let moved =
                usize::try_from((i % period * step).rem_euclid(all)).expect("a remainder is not negative");
            for &r in &self.there {
                let to = if r + moved >= different { r + moved - different } else { r + moved };
                if self.shares[to] <= 0.0 {
                    self.blocks[to] = blocks[r];
                    self.blocks[to][d] = from + i;
                }
                self.shares[to] += shares[r] * share;
            }
        }
        self.there.clear();
        self.there.extend((0..different).filter(|&r| self.shares[r] > 0.0));
    }

    /// Few classes that together have these shares, as they come out with fewer single residues: where what
    /// some lack is taken away again, or not.
    fn classes(self, spread: i64) -> Vec<Aligned> {
        let (found, singles) = self.parted(spread, common);
        // Of very many, some that are spread over all, which differences would not stand.
        let (mut found, singles) =
            if found.len() + singles.len() > MOST { self.parted(spread, least) } else { (found, singles) };
        let room = MOST.saturating_sub(found.len()).max(1);
        let together = singles.len().div_ceil(room).max(1);
        found.extend(
            singles.chunks(together).map(|chunk| Aligned {
                share: chunk.iter().map(|a| a.share).sum(),
                ..chunk[chunk.len() / 2]
            }),
        );
        let sum: f64 = found.iter().map(|a| a.share).sum();
        for one in &mut found {
            one.share /= sum;
        }
        found
    }

    /// What residues have in common first, then what every second one has, and so on; and what is left of
    /// single ones.
    fn parted(&self, spread: i64, in_common: fn(&mut [f64]) -> f64) -> (Vec<Aligned>, Vec<Aligned>) {
        let different = self.shares.len();
        let mut left = self.shares.clone();
        let mut found = Vec::new();
        let mut of_class = Vec::with_capacity(different);
        let mut apart = 1;
        while apart < different {
            for first in 0..apart {
                let class = || (first..different).step_by(apart);
                if !class().all(|r| self.shares[r] > 0.0) {
                    continue;
                }
                of_class.clear();
                of_class.extend(class().map(|r| left[r]));
                let common = in_common(&mut of_class);
                let share = common * (different / apart) as f64;
                if share.abs() >= LITTLE {
                    let spread = spread * whole(apart);
                    found.push(Aligned { block: self.blocks[first], share, spread });
                    for r in class() {
                        left[r] -= common;
                    }
                }
            }
            apart *= smallest_factor(different / apart);
        }
        let line = spread * whole(different);
        let single =
            |(r, share): (usize, &f64)| Aligned { block: self.blocks[r], share: *share, spread: line };
        (found, left.iter().enumerate().filter(|s| s.1.abs() >= LITTLE).map(single).collect())
    }
}

fn whole(residues: usize) -> i64 {
    i64::try_from(residues).expect("no more residues than bytes of a line")
}

/// The smallest share.
fn least(shares: &mut [f64]) -> f64 {
    shares.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The share that more than half of them have; if there is none, as much as all have, or lack.
fn common(shares: &mut [f64]) -> f64 {
    shares.sort_unstable_by(f64::total_cmp);
    let middle = shares[shares.len() / 2];
    let like = shares.iter().filter(|s| (*s - middle).abs() < 1e-12).count();
    if 2 * like > shares.len() {
        return middle;
    }
    let (least, most) = (shares[0], shares[shares.len() - 1]);
    least.max(0.0) + most.min(0.0)
}

fn smallest_factor(n: usize) -> usize {
    (2..n).find(|f| n.is_multiple_of(*f)).unwrap_or(n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Extents;

    fn aligned(steps: Strides, counts: Extents, line: i64) -> Vec<Aligned> {
        alignments(steps, &BlockBox { from: BlockIndex::ZERO, to: BlockIndex::from(*counts) }, line)
    }

    /// The share of each residue, by its definition and by the classes.
    fn shares(steps: Strides, counts: Extents, line: i64) -> [Vec<f64>; 2] {
        let residue = |b: BlockIndex| (0..3).map(|d| b[d] * steps[d]).sum::<i64>().rem_euclid(line);
        let at = |r: i64| usize::try_from(r).unwrap();
        let mut all = vec![0.0; at(line)];
        let blocks = (0..counts[2]).flat_map(|z| (0..counts[1]).map(move |y| (y, z)));
        for b in blocks.flat_map(|(y, z)| (0..counts[0]).map(move |x| BlockIndex::from([x, y, z]))) {
            all[at(residue(b))] += 1.0 / counts.iter().product::<i64>() as f64;
        }
        let mut classes = vec![0.0; at(line)];
        for a in aligned(steps, counts, line) {
            assert!((0..3).all(|d| (0..counts[d]).contains(&a.block[d])), "{a:?}");
            let members: Vec<i64> = (0..line).filter(|r| (r - residue(a.block)) % a.spread == 0).collect();
            for &r in &members {
                classes[at(r)] += a.share / members.len() as f64;
            }
        }
        [all, classes]
    }

    #[test]
    fn classes_have_the_shares_of_their_residues() {
        for (steps, counts, line) in [
            ([256, 5120, 0], [20, 8, 1], 32),
            ([4, 4100, 12], [16, 5, 3], 32),
            ([8, 24, 40], [3, 2, 2], 128),
            ([1, 77, 0], [128, 3, 1], 128),
            ([96, 8, 0], [7, 64, 1], 128),
            ([-8, 40, 16], [5, 7, 1], 64),
            ([12, 20, 0], [9, 4, 1], 48),
            ([8, 0, 0], [126, 1, 1], 128),
            ([8, 0, 0], [14, 1, 1], 128),
        ] {
            let [all, classes] = shares(steps.into(), counts.into(), line);
            for (r, (a, b)) in all.iter().zip(&classes).enumerate() {
                // At most a few classes of less than 0.5 % are left out.
                assert!((a - b).abs() < 0.02, "{steps:?} {counts:?} {line}: residue {r}: {a} {b}");
            }
        }
    }

    #[test]
    fn most_grids_need_one_class() {
        assert_eq!(aligned([256, 5120, 128].into(), [20, 8, 9].into(), 128).len(), 1);
        let [one] = aligned([8, 0, 0].into(), [64, 3, 1].into(), 128)[..] else { panic!() };
        assert_eq!((one.spread, one.share), (8, 1.0));
        assert!(aligned([1, 0, 0].into(), [1000, 1, 1].into(), 128).len() <= MOST);
        assert!(aligned([1, 129, 0].into(), [11, 13, 1].into(), 128).len() <= MOST);
        // All but two of 16 places once more than those.
        assert_eq!(aligned([8, 0, 0].into(), [126, 1, 1].into(), 128).len(), 3);
        assert!(aligned([8, 0, 0].into(), [14, 1, 1].into(), 128).iter().all(|a| a.share > 0.0));
    }
}
