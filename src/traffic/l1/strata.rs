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

/// Conditions that are looked at in any case, or all if they are fewer: those that most accesses depend on.
const FOREMOST: usize = 8;
/// Most conditions of warps that are looked at.
const MOST_CONDITIONS: usize = 1 << 12;
/// Parts of a loop at whose ends conditions are looked at that follow from it.
const PARTS: i64 = 4;
/// Kinds of warps that are told apart in any case, and at most.
const STRATA: RangeInclusive<usize> = 4..=24;

/// A block and a warp of it, by their places among those that may be run.
pub(super) type Pair = (usize, usize);

/// Warps of one kind, or of several that do about as much.
pub(super) struct Stratum {
    /// In the order in which they are to be run.
    pub(super) pairs: Vec<Pair>,
    pub(super) kinds: Vec<Vec<Pair>>,
    /// Whether they have nothing to do, as far as that is known.
    pub(super) is_idle: bool,
}

impl Stratum {
    /// Warps that are not told apart.
    pub(super) fn one(all: impl Iterator<Item = Pair>) -> Self {
        Self { pairs: all.collect(), kinds: Vec::new(), is_idle: false }
    }

    fn new(kinds: Vec<Kind>) -> Self {
        let mut pairs: Vec<(usize, Pair)> =
            kinds.iter().flat_map(|kind| kind.pairs.iter().copied()).collect();
        pairs.sort_unstable();
        let is_idle = kinds.iter().all(|kind| kind.lanes == 0);
        let alone = |pairs: Vec<(usize, Pair)>| pairs.into_iter().map(|placed| placed.1).collect();
        let kinds = kinds.into_iter().map(|kind| alone(kind.pairs)).collect();
        Self { pairs: alone(pairs), kinds, is_idle }
    }
}

/// Warps that do alike, in the order in which they are to be run.
struct Kind {
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

impl Behaviour {
    /// The same where something else is also so.
    pub(super) fn and(self, else_so: u64) -> Self {
        let mut digest = Digest::default();
        digest.add(self.key);
        digest.add(else_so);
        Self { key: digest.get(), ..self }
    }
}

/// What is looked at in each warp of a block, and what must be looked at in each block.
pub(super) struct Looked {
    pub(super) alike: Deciding,
    pub(super) by_block: Deciding,
    /// What follows from blocks and from loops: blocks are told apart by the parts that follow from them alone.
    pub(super) by_both: Vec<usize>,
}

/// Conditions and loops, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Deciding {
    conditions: Vec<LookedAt>,
    loops: Vec<usize>,
}

/// A condition, and the loops that it follows from.
#[derive(Debug)]
struct LookedAt {
    condition: usize,
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
        let conditions = self.conditions.iter().map(|looked| &prepared.conditions[looked.condition]);
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
    /// The conditions that most instructions depend on, more of them in fewer warps, and all loops.
    pub(super) fn new(program: &Program<i64>, prepared: &Prepared, warps: usize) -> Self {
        let mut uses = vec![0_usize; prepared.conditions.len()];
        for condition in prepared.accesses.iter().filter_map(|access| access.0) {
            uses[condition] += 1;
        }
        let mut foremost: Vec<usize> = (0..uses.len()).collect();
        foremost.sort_by_key(|&condition| std::cmp::Reverse(uses[condition]));
        foremost.truncate((MOST_CONDITIONS / warps.max(1)).max(FOREMOST));
        let of_block = |c: Coord| matches!(c, Coord::BlockIdx(_));
        let condition_differs = |condition: &usize| prepared.conditions[*condition].mentions(&of_block);
        let loop_differs = |number: &usize| {
            let range = &program.loops[*number];
            range.from.mentions(&of_block) || range.to.mentions(&of_block)
        };
        let (by_block, alike): (Vec<usize>, Vec<usize>) = foremost.into_iter().partition(condition_differs);
        let one = |condition: usize| LookedAt { condition, loops: prepared.conditions[condition].loops() };
        let alike = alike.into_iter().map(one).collect();
        // What follows from both blocks and loops differs from block to block more than warps could say.
        let (by_block, by_both): (Vec<LookedAt>, Vec<LookedAt>) =
            by_block.into_iter().map(one).partition(|looked| looked.loops.is_empty());
        let by_both = by_both.into_iter().map(|looked| looked.condition).collect();
        let (loops_by_block, loops) = (0..program.loops.len()).partition(loop_differs);
        Self {
            alike: Deciding { conditions: alike, loops },
            by_block: Deciding { conditions: by_block, loops: loops_by_block },
            by_both,
        }
    }
}

/// All warps by what each does, those that do least first. More kinds than `most` are put together by how much they do.
pub(super) fn strata(all: &[(Pair, Behaviour)], most: usize) -> Vec<Stratum> {
    let mut numbers: FxHashMap<u64, usize> = FxHashMap::default();
    let mut kinds: Vec<Kind> = Vec::new();
    for (place, &(pair, behaviour)) in all.iter().enumerate() {
        let number = *numbers.entry(behaviour.key).or_insert_with(|| {
            kinds.push(Kind { pairs: Vec::new(), lanes: behaviour.lanes });
            kinds.len() - 1
        });
        kinds[number].pairs.push((place, pair));
    }
    let most = most.clamp(*STRATA.start(), *STRATA.end());
    kinds.sort_by_key(|kind| kind.lanes);
    let enough = if kinds.len() > most { all.len().div_ceil(most) } else { 1 };
    put_together(kinds, enough).into_iter().map(Stratum::new).collect()
}

/// Puts neighbours, which do about as much, together until each has so many warps; those that do nothing stay alone.
fn put_together(kinds: Vec<Kind>, enough: usize) -> Vec<Vec<Kind>> {
    let mut fewer: Vec<Vec<Kind>> = Vec::new();
    for kind in kinds {
        match fewer.last_mut() {
            Some(last)
                if last.iter().map(|kind| kind.pairs.len()).sum::<usize>() < enough
                    && (last[0].lanes == 0) == (kind.lanes == 0) =>
            {
                last.push(kind);
            }
            _ => fewer.push(vec![kind]),
        }
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
        for looked in &deciding.conditions {
            self.see_condition(looked, asked, seen)?;
        }
        for &number in &deciding.loops {
            if let Some(iterations) = known(self.iterations(number, asked))? {
                lanes_of(asked).for_each(|lane| seen.iterations(iterations[lane]));
            }
        }
        Ok(())
    }
}

impl RunningWarp<'_> {
    /// Looks at a condition, in some iterations of a loop that it follows from; of two loops in the first and the last ones.
    fn see_condition(&mut self, looked: &LookedAt, asked: u64, seen: &mut Seen) -> Result<(), NotRun> {
        let parts = match looked.loops.len() {
            0 | 1 => PARTS,
            2 => 1,
            _ => return Ok(()),
        };
        let mut places: Vec<Vec<(usize, i64)>> = vec![Vec::new()];
        for &number in &looked.loops {
            let Some(iterations) = known(self.iterations(number, asked))? else { return Ok(()) };
            let last = lanes_of(asked).map(|lane| iterations[lane]).max().unwrap_or(0).max(1) - 1;
            let with = |places: Vec<(usize, i64)>| {
                (0..=parts).map(move |part| {
                    let place = (number, last / parts * part + last % parts * part / parts);
                    [places.as_slice(), &[place]].concat()
                })
            };
            places = places.into_iter().flat_map(with).collect();
            places.dedup();
        }
        for place in places {
            for &(number, iteration) in &place {
                self.be_in(number, iteration, asked)?;
            }
            let held = known(self.where_done(looked.condition, asked));
            looked.loops.iter().for_each(|&number| self.leave(number));
            if let Some(held) = held? {
                seen.lanes(held);
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
