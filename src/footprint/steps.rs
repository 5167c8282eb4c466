//! How what a block touches moves from one block to the next.

use super::pattern::Pattern;
use super::threads::{Addressing, Touched};
use crate::expr::{Cond, Coord, Dim};
use crate::launch::BlockBox;

impl Touched {
    /// By how many bytes, modulo `line`, the accesses of these blocks move from a block to the next along x, y
    /// and z: all of them alike, so that where a block begins in a line says how many lines it touches. `None`
    /// if some move otherwise than others, or if blocks differ in more than that.
    pub fn steps(&self, blocks: &BlockBox, line: i64) -> Option<[i64; 3]> {
        if self.addressing == Addressing::Grid {
            return Some([0; 3]);
        }
        let mut all = self.patterns.iter().map(|p| self.step(p, blocks, line));
        let first = all.next().unwrap_or(Some([0; 3]))?;
        all.all(|other| other == Some(first)).then_some(first)
    }

    fn step(&self, pattern: &Pattern, blocks: &BlockBox, line: i64) -> Option<[i64; 3]> {
        let [address] = &*pattern.forms else { return None };
        let frame = &self.frames[pattern.frame];
        if !self.is_decided(pattern, blocks) {
            return None;
        }
        let mut steps = [0; 3];
        for d in Dim::ALL {
            let i = d.index();
            // Where there is one block only, nothing moves.
            if blocks.to[i] - blocks.from[i] > 1 {
                steps[i] = frame.step(address, d)?.rem_euclid(line);
            }
        }
        Some(steps)
    }

    /// Whether the conditions of an access say the same in all these blocks.
    fn is_decided(&self, pattern: &Pattern, blocks: &BlockBox) -> bool {
        // Along a dimension of one block nothing changes from block to block.
        let of_block = |c| matches!(c, Coord::BlockIdx(d) | Coord::Thread(d) if blocks.to[d.index()] - blocks.from[d.index()] > 1);
        let mut open = pattern.when.iter().filter(|when| when.mentions(&of_block)).peekable();
        if open.peek().is_none() {
            return true;
        }
        let mut boxes = Vec::new();
        if self.frames[pattern.frame].boxes(blocks, &mut boxes).is_err() {
            return false;
        }
        let mut decided = |when: &Cond<i64>| {
            boxes.iter().all(|ranges| {
                let within = |c| ranges.iter().find(|r| r.0 == c).map(|r| (r.1, r.2));
                when.decided(&within).is_some()
            })
        };
        open.all(&mut decided)
    }

    /// The same accesses, each with so many bytes more behind it.
    #[must_use]
    pub fn widened(&self, bytes: i64) -> Self {
        let wider = |p: &Pattern| Pattern { width: p.width.saturating_add(bytes), ..p.clone() };
        self.with(self.frames.clone(), self.patterns.iter().map(wider).collect())
    }
}
