//! How what a block touches moves from one block to the next.

use std::borrow::Cow;
use std::sync::Arc;

use super::boxes;
use super::pattern::{Frame, Pattern, by_block};
use super::threads::{Addressing, FieldTouches};
use crate::effort::spend_on;
use crate::expr::{Cond, Coord, Dim, Form, Term};
use crate::launch::BlockBox;
use crate::space::{Block, Strides};

/// Steps for a part of an address or a condition.
const STEPS_OF_PART: u64 = 8;

impl FieldTouches {
    /// By how many bytes, modulo `line`, the accesses of these blocks move from a block to the next along x, y
    /// and z: all of them alike, so that where a block begins in a line says how many lines it touches. `None`
    /// if some move otherwise than others, or if blocks differ in more than that.
    pub fn steps(&self, blocks: &BlockBox, line: i64) -> Option<Strides> {
        if self.addressing == Addressing::Grid {
            return Some(Strides::ZERO);
        }
        if let Some(groups) = &self.groups {
            return boxes::steps(groups, self.shape, blocks, line);
        }
        let mut all: Option<Strides> = None;
        let mut before: Option<&Pattern> = None;
        for pattern in &*self.patterns {
            // The one before often has the same condition.
            let decided = before
                .is_some_and(|last| last.frame == pattern.frame && Arc::ptr_eq(&last.when, &pattern.when));
            let step = self.step(pattern, decided, blocks, line)?;
            if all.is_some_and(|all| all != step) {
                return None;
            }
            (all, before) = (Some(step), Some(pattern));
        }
        Some(all.unwrap_or(Strides::ZERO))
    }

    /// How many blocks along x lie between any two that touch the same, at most; `None` if that is not easily said.
    pub(crate) fn apart(&self, blocks: &BlockBox) -> Option<i64> {
        boxes::apart(self.groups.as_deref()?, self.shape, blocks)
    }

    /// Whether conditions choose among threads or blocks.
    pub(crate) fn is_conditional(&self) -> bool {
        self.patterns.iter().any(|pattern| !pattern.when.is_empty())
    }

    /// The same of one access, whose condition may be known to say the same in all blocks.
    fn step(&self, pattern: &Pattern, decided: bool, blocks: &BlockBox, line: i64) -> Option<Strides> {
        let [address] = &*pattern.addresses else { return None };
        let frame = &self.frames[pattern.frame];
        spend_on(address.size() + pattern.when.iter().map(Cond::size).sum::<usize>(), STEPS_OF_PART).ok()?;
        if !decided && !pattern.when.iter().all(|when| is_decided(frame, self.shape, when, blocks)) {
            return None;
        }
        // Mostly addresses are affine, and have the same factors in either form.
        let affine = address.is_affine();
        let placed =
            if affine { Cow::Borrowed(&**address) } else { Cow::Owned(by_block(address, self.shape).ok()?) };
        let mut steps = Strides::ZERO;
        for d in Dim::ALL {
            let i = d.index();
            // Where there is one block only, nothing moves.
            if blocks.to[i] - blocks.from[i] > 1 {
                let of_block = step_of(&placed, Coord::BlockIdx(d))?;
                let of_thread = if affine { step_of(&placed, Coord::Thread(d))? } else { 0 };
                let step = of_thread.checked_mul(self.shape[i])?.checked_add(of_block)?;
                steps[i] = step.rem_euclid(line);
            }
        }
        Some(steps)
    }

    /// The same accesses, each with so many bytes more behind it.
    #[must_use]
    pub fn widened(&self, bytes: i64) -> Self {
        let mut wider = self.clone();
        wider.wider = wider.wider.saturating_add(bytes);
        wider
    }
}

/// By how much an address grows with a coordinate, if it does so steadily.
fn step_of(address: &Form<i64>, coord: Coord) -> Option<i64> {
    let mut step = 0;
    for (term, factor) in address.terms() {
        match term {
            Term::Coord(c) if *c == coord => step = *factor,
            other if other.mentions(&|c| c == coord) => return None,
            _ => {}
        }
    }
    Some(step)
}

/// Whether a condition says the same in all these blocks.
fn is_decided(frame: &Frame, shape: Block, when: &Cond<i64>, blocks: &BlockBox) -> bool {
    if when.is_affine() {
        return is_decided_affine(frame, shape, when, blocks);
    }
    let Ok(when) = when.changed(&|form| by_block(form, shape)) else { return false };
    let range = |d: Dim| (blocks.from[d.index()], blocks.to[d.index()] - 1);
    // Along a dimension of one block nothing changes from block to block.
    let of_block = |c| matches!(c, Coord::BlockIdx(d) if range(d).0 < range(d).1);
    let within = |c| match c {
        Coord::BlockIdx(d) => Some(range(d)),
        Coord::ThreadIdx(d) => Some((0, shape[d.index()] - 1)),
        other => frame.loops.iter().find(|r| r.0 == other).map(|r| (r.1, r.2)),
    };
    !when.mentions(&of_block) || when.decided(&within).is_some()
}

/// The same where threads and blocks can stay one coordinate: the interval of a sum follows from those of its terms.
fn is_decided_affine(frame: &Frame, shape: Block, when: &Cond<i64>, blocks: &BlockBox) -> bool {
    let several = |d: Dim| blocks.to[d.index()] - blocks.from[d.index()] > 1;
    let of_block = |c| matches!(c, Coord::BlockIdx(d) | Coord::Thread(d) if several(d));
    let within = |c| match c {
        Coord::BlockIdx(d) => Some((blocks.from[d.index()], blocks.to[d.index()] - 1)),
        Coord::ThreadIdx(d) => Some((0, shape[d.index()] - 1)),
        Coord::Thread(d) => {
            let (i, shape) = (d.index(), shape[d.index()]);
            Some((blocks.from[i].checked_mul(shape)?, blocks.to[i].checked_mul(shape)? - 1))
        }
        other => frame.loops.iter().find(|r| r.0 == other).map(|r| (r.1, r.2)),
    };
    !when.mentions(&of_block) || when.decided(&within).is_some()
}
