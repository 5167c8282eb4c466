//! The requests of blocks: what one of those does whose threads do the same at other addresses is made once, and moved
//! for the others.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::alike::{Alike, Kind};
use super::coalesce::{Coalescing, Requests};
use super::synth::{NoTrace, Synth};

/// Bytes of requests that are kept for other blocks.
const MOST_KEPT: u64 = 64 << 20;

/// Requests of blocks in lines that lie so many lines further than they say.
#[derive(Debug, Clone)]
pub struct MovedRequests {
    requests: Arc<Requests>,
    lines: i64,
}

impl From<Requests> for MovedRequests {
    fn from(requests: Requests) -> Self {
        Self { requests: Arc::new(requests), lines: 0 }
    }
}

impl MovedRequests {
    /// What is moved.
    pub fn requests(&self) -> &Requests {
        &self.requests
    }

    /// A line by its number.
    #[inline]
    pub fn line(&self, number: u32) -> u64 {
        // That none of them leaves 64 bits was asked when they were moved.
        self.requests.lines[number as usize].wrapping_add_signed(self.lines)
    }

    /// `None` if one of the lines lay before all memory, or too far.
    fn new(requests: &Arc<Requests>, lines: i64) -> Option<Self> {
        let ends = [requests.lines.iter().min(), requests.lines.iter().max()];
        let inside = ends.into_iter().flatten().all(|line| line.checked_add_signed(lines).is_some());
        inside.then(|| Self { requests: Arc::clone(requests), lines })
    }
}

/// Makes the requests of blocks of a launch.
#[derive(Debug)]
pub struct BlockRequests<'s> {
    synth: &'s Synth<'s>,
    how: Coalescing,
    alike: Option<Alike>,
    /// By kind: what one of them does, and the bytes of its addresses.
    known: FxHashMap<Kind, (Arc<Requests>, i64)>,
    kept: u64,
}

impl<'s> BlockRequests<'s> {
    /// For blocks of a launch, coalesced in some way.
    pub fn new(synth: &'s Synth<'s>, how: Coalescing) -> Self {
        Self { synth, how, alike: synth.alike(), known: FxHashMap::default(), kept: 0 }
    }

    /// The requests of a block, by its number in the grid.
    pub fn of_block(&mut self, block: u64) -> Result<MovedRequests, NoTrace> {
        crate::effort::unwind_if_asked();
        let line = i64::try_from(self.how.line.max(1)).ok();
        let of = self.alike.as_ref().zip(line).and_then(|(alike, line)| {
            let (kind, bytes) = alike.kind_of(self.synth.grid().place(block), line)?;
            Some((kind, bytes, line))
        });
        let Some((kind, bytes, line)) = of else { return self.made(block).map(MovedRequests::from) };
        if let Some((requests, of_them)) = self.known.get(&kind)
            && let Some(apart) = bytes.checked_sub(*of_them)
            && let Some(moved) = MovedRequests::new(requests, apart / line)
        {
            return Ok(moved);
        }
        let made = MovedRequests::from(self.made(block)?);
        let size = made.requests.bytes();
        if self.kept + size <= MOST_KEPT {
            self.kept += size;
            self.known.insert(kind, (Arc::clone(&made.requests), bytes));
        }
        Ok(made)
    }

    fn made(&self, block: u64) -> Result<Requests, NoTrace> {
        Ok(Requests::coalesced(&self.synth.trace([block])?, self.how, 0..1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::{Candidate, Launch};

    /// Blocks in the middle, at the ends and beyond, of kernels whose threads depend on their block in all ways: each has
    /// the requests that its own trace has.
    #[test]
    fn moved_requests_are_those_of_the_block() {
        let how =
            Coalescing { loads_only: false, partial_warps: false, bytes: true, ..Coalescing::default() };
        let (mut moved, mut all) = (0, 0);
        for (name, set) in [
            ("star3d7", ["NX=96", "NY=20", "NZ=12"]),
            ("star3d25", ["NX=100", "NY=18", "NZ=11"]),
            ("lbm-d3q19", ["NX=66", "NY=12", "NZ=9"]),
            ("stream-triad", ["N=100000", "", ""]),
            ("polybench-2dconv", ["NI=96", "NJ=130", ""]),
            ("axpy-gridstride", ["N=100000", "", ""]),
            ("matmul-tiled", ["M=64", "N=64", "K=64"]),
        ] {
            let path = format!("{}/kernels/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(path).unwrap();
            let set = set.iter().filter(|s| !s.is_empty()).map(|s| (*s).to_owned()).collect();
            let options = crate::kernel::Options { set, ..Default::default() };
            let Ok(loaded) = crate::kernel::load(name, &text, &options) else { panic!("{name}") };
            for (block, fold) in [([32, 4, 1], [1; 3]), ([16, 2, 4], [1, 2, 1]), ([7, 3, 2], [2, 1, 1])] {
                let kernel = &loaded.kernels[0];
                let candidate = Candidate::new(block, fold).unwrap();
                let Ok(launch) = Launch::new(kernel, candidate) else { continue };
                let Ok(synth) = Synth::new(kernel, &launch) else { continue };
                let mut blocks = BlockRequests::new(&synth, how);
                for number in (0..synth.blocks().min(12)).chain((0..synth.blocks()).rev().take(12)) {
                    let before = blocks.known.len();
                    let found = blocks.of_block(number).unwrap();
                    let own = Requests::coalesced(&synth.trace([number]).unwrap(), how, 0..1);
                    let lines: Vec<u64> = (0..).zip(&own.lines).map(|(at, _)| found.line(at)).collect();
                    assert_eq!(lines, own.lines, "{name} {block:?} {number}");
                    let rest = |r: &Requests| {
                        (
                            r.requests.clone(),
                            r.steps.clone(),
                            r.warps.clone(),
                            r.lengths.clone(),
                            r.bytes.clone(),
                        )
                    };
                    assert_eq!(rest(found.requests()), rest(&own), "{name} {block:?} {number}");
                    assert_eq!(found.requests().accesses, own.accesses);
                    all += 1;
                    moved += usize::from(blocks.alike.is_some() && blocks.known.len() == before);
                }
            }
        }
        assert!(moved * 3 > all && moved < all, "{moved} of {all}");
    }
}
