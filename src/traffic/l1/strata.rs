//! Warps that do alike under the conditions of a program, where only some can be run: each kind of them is run, so that
//! those that do nothing stand for themselves alone.

use std::hash::Hasher;
use std::ops::RangeInclusive;

use rustc_hash::{FxHashMap, FxHasher};

use super::prepared::Prepared;
use super::values::lanes_of;
use super::warp::RunningWarp;
use crate::launch::NotRun;

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
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Behaviour {
    key: u64,
    /// Lanes that take part, of all conditions and loops.
    lanes: u64,
}

/// The conditions that most instructions depend on.
pub(super) fn foremost(prepared: &Prepared) -> Vec<usize> {
    let mut uses = vec![0_usize; prepared.conditions.len()];
    for condition in prepared.accesses.iter().filter_map(|access| access.0) {
        uses[condition] += 1;
    }
    let mut all: Vec<usize> = (0..uses.len()).collect();
    all.sort_by_key(|&condition| std::cmp::Reverse(uses[condition]));
    all.truncate(MOST_CONDITIONS);
    all
}

impl Behaviour {
    /// What a warp does in one block and in another.
    pub(super) fn and(self, other: Self) -> Self {
        let mut hasher = FxHasher::default();
        hasher.write_u64(self.key);
        hasher.write_u64(other.key);
        Self { key: hasher.finish(), lanes: self.lanes.saturating_add(other.lanes) }
    }
}

/// All warps by what each warp of a block does, those that do least first. More kinds than `most` are put together by how
/// much they do.
pub(super) fn strata(all: impl Iterator<Item = Pair>, kinds: &[Behaviour], most: usize) -> Vec<Vec<Pair>> {
    let mut numbers: FxHashMap<u64, usize> = FxHashMap::default();
    let mut strata: Vec<Stratum> = Vec::new();
    let mut number = 0;
    for (place, pair) in all.enumerate() {
        let kind = kinds[pair.1];
        let stratum = *numbers.entry(kind.key).or_insert_with(|| {
            strata.push(Stratum { pairs: Vec::new(), lanes: kind.lanes });
            strata.len() - 1
        });
        strata[stratum].pairs.push((place, pair));
        number = place + 1;
    }
    let most = most.clamp(*STRATA.start(), *STRATA.end());
    strata.sort_by_key(|stratum| stratum.lanes);
    if strata.len() > most {
        strata = put_together(strata, number.div_ceil(most));
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
    /// What it does, without being run.
    pub(super) fn behaviour(mut self, conditions: &[usize]) -> Result<Behaviour, NotRun> {
        self.find_working_items()?;
        let mut seen = Seen::default();
        self.working_lanes().for_each(|lanes| seen.lanes(lanes));
        let active = self.active();
        for &condition in conditions {
            if let Some(held) = known(self.where_done(condition, active))? {
                seen.lanes(held);
            }
        }
        for number in 0..self.prepared.loops.len() {
            if let Some(iterations) = known(self.iterations(number, active))? {
                lanes_of(active).for_each(|lane| seen.iterations(iterations[lane]));
            }
        }
        Ok(Behaviour { key: seen.hasher.finish(), lanes: seen.lanes })
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
    hasher: FxHasher,
    lanes: u64,
}

impl Seen {
    fn lanes(&mut self, mask: u64) {
        self.hasher.write_u64(mask);
        self.lanes = self.lanes.saturating_add(mask.count_ones().into());
    }

    fn iterations(&mut self, of_lane: i64) {
        self.hasher.write_i64(of_lane);
        self.lanes = self.lanes.saturating_add(of_lane.unsigned_abs());
    }
}
