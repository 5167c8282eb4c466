//! What threads touch in parts of a program and in single iterations of its loops: what has to stay in a
//! cache for the next part or iteration, and how much is touched in all of them, each by itself.

use std::ops::Range;
use std::sync::Arc;

use super::addresses::Addresses;
use super::pattern::Frame;
use super::query::CoordRange as Values;
use super::threads::{Addressing, FieldTouches};
use crate::expr::{Form, SharedTerms};

/// Iterations lie so many bytes apart where each is to be counted by itself: further than arrays are long.
const APART: i64 = 1 << 36;

impl FieldTouches {
    /// Most loops around an access.
    pub fn depth(&self) -> usize {
        self.patterns.iter().map(|p| self.frames[p.frame].loops.len()).max().unwrap_or(0)
    }

    /// What the instructions in a range of positions touch in one iteration, from the middle, of the
    /// outermost `depth` loops around them.
    #[must_use]
    pub fn part(&self, positions: &Range<usize>, depth: usize) -> Self {
        let middle = |frame: &Frame| {
            let mut frame = frame.clone();
            for (_, from, to) in frame.loops.iter_mut().take(depth) {
                *from = i64::midpoint(*from, *to);
                *to = *from;
            }
            frame
        };
        let frames =
            if depth == 0 { Arc::clone(&self.frames) } else { self.frames.iter().map(middle).collect() };
        self.with(frames, self.patterns.iter().filter(|p| positions.contains(&p.position)).cloned().collect())
    }

    /// How many iterations the outermost `depth` loops around the instructions have in all; `None` if they
    /// are not the same for all threads.
    pub fn iterations(&self, positions: &Range<usize>, depth: usize) -> Option<f64> {
        let mut most = 1.0_f64;
        for pattern in self.patterns.iter().filter(|p| positions.contains(&p.position)) {
            if pattern.even < depth {
                return None;
            }
            let loops = self.frames[pattern.frame].loops.iter().take(depth);
            most = most.max(loops.map(|&(_, from, to)| (to - from + 1) as f64).product());
        }
        Some(most)
    }

    /// What the instructions touch in lines of `line` bytes, but so that no two iterations of the outermost
    /// `depth` loops touch the same: distinct lines are then those of each iteration, added up. `None` if
    /// such addresses leave 64 bits, or are no addresses.
    pub fn each_iteration(&self, positions: &Range<usize>, depth: usize, line: i64) -> Option<Self> {
        if self.addressing() != Addressing::Linear || line < 1 {
            return None;
        }
        let apart = APART.checked_add(line - APART % line)?;
        let mut patterns = Vec::new();
        let shared = SharedTerms::new();
        for pattern in self.patterns.iter().filter(|p| positions.contains(&p.position)) {
            let [address] = &*pattern.addresses else { return None };
            let mut moved = Form::clone(address);
            let mut distance = apart;
            for &(variable, from, to) in self.frames[pattern.frame].loops.iter().take(depth) {
                moved = moved.plus(&Form::coord(variable).times(&distance).ok()?).ok()?;
                distance = distance.checked_mul(to.checked_sub(from)?.checked_add(1)?)?;
            }
            let mut pattern = pattern.clone();
            pattern.addresses = Addresses::new(vec![moved], &shared);
            patterns.push(pattern);
        }
        Some(self.with(Arc::clone(&self.frames), patterns))
    }

    /// One iteration of the innermost loops, from the middle, for each nest of loops that there is. What
    /// stands in fewer loops is an iteration of those.
    pub fn innermost(&self) -> Vec<Self> {
        let depth = self.depth();
        let mut nests: Vec<&[Values]> = Vec::new();
        for pattern in &*self.patterns {
            let nest = self.frames[pattern.frame].loops.as_slice();
            if !nests.contains(&nest) {
                nests.push(nest);
            }
        }
        let one = |nest: &&[Values]| {
            let of_nest = self.patterns.iter().filter(|p| self.frames[p.frame].loops == **nest);
            let all = self.part(&(0..usize::MAX), depth);
            all.with(Arc::clone(&all.frames), of_nest.cloned().collect())
        };
        nests.iter().map(one).collect()
    }
}
