//! Warps that do alike under the conditions of a program, where only some can be run: each kind of them is run, so that
//! those that do nothing stand for themselves alone.

use std::ops::RangeInclusive;

use rustc_hash::FxHashMap;

use super::prepared::Prepared;
use super::repeated;
use super::values::lanes_of;
use super::warp::RunningWarp;
use crate::expr::Coord;
use crate::launch::{NotRun, Program};
use crate::random::Digest;

/// Most conditions that are looked at: those that most accesses depend on.
const MOST_CONDITIONS: usize = 8;
/// Kinds of warps that are told apart in any case, and at most.
const STRATA: RangeInclusive<usize> = 4..=24;

/// A block and a warp of it, by their places among those that may be run.
pub(super) type Pair = (usize, usize);

/// Warps that do alike, in the order in which they are to be run.
struct Stratum {
    /// With their places in that order.
    pairs: Vec<(usize, Pair)>,
    /// How much each does.
    lanes: u64,
}

/// What a warp does as far as that follows from guards, from conditions and from how often loops repeat.
#[derive(Debug, Clone, Copy)]
pub(super) struct Behaviour {
    key: u64,
    /// Lanes that take part, of all conditions and loops.
    lanes: u64,
}

/// What is looked at in each warp of a block, and what must be looked at in each block.
pub(super) struct Looked {
    pub(super) alike: Deciding,
    pub(super) by_block: Deciding,
}

/// Conditions and loops, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Deciding {
    conditions: Vec<usize>,
    loops: Vec<usize>,
}

impl Deciding {
    /// What decides in all warps of a block alike, given the bounds between which coordinates lie in it; `None` where it
    /// does not.
    pub(super) fn in_block(
        &self,
        program: &Program<i64>,
        prepared: &Prepared,
        within: &dyn Fn(Coord) -> Option<(i64, i64)>,
    ) -> Option<u64> {
        let mut digest = Digest::default();
        let conditions = self.conditions.iter().map(|&condition| &prepared.conditions[condition]);
        for condition in prepared.guards.iter().flatten().chain(conditions) {
            condition.decide(within, &mut |held| digest.add(held.into()))?;
        }
        for &number in &self.loops {
            let range = &program.loops[number];
            if [&range.from, &range.to].iter().any(|form| form.mentions(&|c| matches!(c, Coord::Loop(_)))) {
                continue;
            }
            let (from, to) = (range.from.interval(within)?, range.to.interval(within)?);
            let least = repeated::iterations(from.1, to.0, range.step)?;
            if least != repeated::iterations(from.0, to.1, range.step)? {
                return None;
            }
            digest.add_signed(least);
        }
        Some(digest.get())
    }
}

impl Looked {
    /// The conditions that most instructions depend on, and all loops.
    pub(super) fn new(program: &Program<i64>, prepared: &Prepared) -> Self {
        let mut uses = vec![0_usize; prepared.conditions.len()];
        for condition in prepared.accesses.iter().filter_map(|access| access.0) {
            uses[condition] += 1;
        }
        let mut foremost: Vec<usize> = (0..uses.len()).collect();
        foremost.sort_by_key(|&condition| std::cmp::Reverse(uses[condition]));
        foremost.truncate(MOST_CONDITIONS);
        let of_block = |c: Coord| matches!(c, Coord::BlockIdx(_));
        let condition_differs = |condition: &usize| prepared.conditions[*condition].mentions(&of_block);
        let loop_differs = |number: &usize| {
            let range = &program.loops[*number];
            range.from.mentions(&of_block) || range.to.mentions(&of_block)
        };
        let (by_block, alike) = foremost.into_iter().partition(condition_differs);
        let (loops_by_block, loops) = (0..program.loops.len()).partition(loop_differs);
        Self {
            alike: Deciding { conditions: alike, loops },
            by_block: Deciding { conditions: by_block, loops: loops_by_block },
        }
    }
}

/// All warps by what each does, those that do least first. More kinds than `most` are put together by how much they do.
pub(super) fn strata(all: &[(Pair, Behaviour)], most: usize) -> Vec<Vec<Pair>> {
    let mut numbers: FxHashMap<u64, usize> = FxHashMap::default();
    let mut strata: Vec<Stratum> = Vec::new();
    for (place, &(pair, behaviour)) in all.iter().enumerate() {
        let number = *numbers.entry(behaviour.key).or_insert_with(|| {
            strata.push(Stratum { pairs: Vec::new(), lanes: behaviour.lanes });
            strata.len() - 1
        });
        strata[number].pairs.push((place, pair));
    }
    let most = most.clamp(*STRATA.start(), *STRATA.end());
    strata.sort_by_key(|stratum| stratum.lanes);
    if strata.len() > most {
        strata = put_together(strata, all.len().div_ceil(most));
    }
    strata.into_iter().map(|stratum| stratum.pairs.into_iter().map(|of| of.1).collect()).collect()
}

/// Puts neighbours, which do about as much, together until each has so many warps; those that do nothing stay alone.
fn put_together(strata: Vec<Stratum>, enough: usize) -> Vec<Stratum> {
    let mut fewer: Vec<Stratum> = Vec::new();
    for stratum in strata {
        match fewer.last_mut() {
            Some(last) if last.pairs.len() < enough && (last.lanes == 0) == (stratum.lanes == 0) => {
                last.pairs.extend(stratum.pairs);
            }
            _ => fewer.push(stratum),
        }
    }
    for stratum in &mut fewer {
        stratum.pairs.sort_unstable();
    }
    fewer
}

impl RunningWarp<'_> {
    /// What it does in all blocks alike, without being run.
    pub(super) fn behaviour(mut self, alike: &Deciding) -> Result<Behaviour, NotRun> {
        let mut seen = Seen::default();
        self.see(alike, self.everyone(), &mut seen)?;
        Ok(seen.behaviour())
    }

    /// What it does in its block, without being run; `alike` is what it does in all of them.
    pub(super) fn behaviour_here(
        mut self,
        alike: Behaviour,
        by_block: &Deciding,
    ) -> Result<Behaviour, NotRun> {
        self.find_working_items()?;
        let mut seen = Seen::default();
        seen.digest.add(alike.key);
        self.working_lanes().for_each(|lanes| seen.lanes(lanes));
        let active = self.active();
        if active != 0 {
            seen.lanes = seen.lanes.saturating_add(alike.lanes);
            self.see(by_block, active, &mut seen)?;
        }
        Ok(seen.behaviour())
    }

    fn see(&mut self, deciding: &Deciding, asked: u64, seen: &mut Seen) -> Result<(), NotRun> {
        for &condition in &deciding.conditions {
            if let Some(held) = known(self.where_done(condition, asked))? {
                seen.lanes(held);
            }
        }
        for &number in &deciding.loops {
            if let Some(iterations) = known(self.iterations(number, asked))? {
                lanes_of(asked).for_each(|lane| seen.iterations(iterations[lane]));
            }
        }
        Ok(())
    }
}

/// What was found out, unless it depends on loops, which do not run, or is too large.
fn known<T>(found: Result<T, NotRun>) -> Result<Option<T>, NotRun> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(NotRun::Overflow) => Ok(None),
        Err(why) => Err(why),
    }
}

/// What was seen of a warp.
#[derive(Default)]
struct Seen {
    digest: Digest,
    lanes: u64,
}

impl Seen {
    fn behaviour(&self) -> Behaviour {
        Behaviour { key: self.digest.get(), lanes: self.lanes }
    }

    fn lanes(&mut self, mask: u64) {
        self.digest.add(mask);
        self.lanes = self.lanes.saturating_add(mask.count_ones().into());
    }

    fn iterations(&mut self, of_lane: i64) {
        self.digest.add_signed(of_lane);
        self.lanes = self.lanes.saturating_add(of_lane.unsigned_abs());
    }
}
