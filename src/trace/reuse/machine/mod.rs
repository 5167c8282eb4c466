//! One core: its warps take turns, their requests wait for memory, their effects change the stacks.

mod cores;
mod lanes;
mod memory;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use super::config::{RefusalCheck, ReuseConfig, Visible};
use super::profile::Profile;
use super::stack::Stack;
use super::wheel::Wheel;
use crate::random::Random;
use crate::trace::coalesce::Requests;
use crate::trace::numbering::number;

pub(super) use cores::run;

/// What a core has counted.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    pub(super) profile: Profile,
    pub(super) refusals: u64,
    /// Misses to lines in flight.
    pub(super) latency_misses: u64,
    /// First requests to a line.
    pub(super) compulsory: u64,
}

/// Where a warp is.
#[derive(Debug, Clone, Default)]
struct Progress {
    /// Steps done.
    step: u32,
    /// Requests of the next step that are done, where a warp may not use more entries at a time.
    partial: u32,
    /// Steps done by each lane, where lanes are apart: `RefusalCheck::FirstLane` lets other portions go on. Empty
    /// where they are together.
    lanes: Box<[u32]>,
}

/// How a turn ends.
enum Turn {
    /// After so long the warp can go on.
    Waits(u32),
    Refused,
    AtBarrier,
    Done,
}

/// A core with its cache.
pub(super) struct Machine<'r> {
    all: &'r Requests,
    config: &'r ReuseConfig,
    ways: u64,
    entries: u32,
    sets: &'r [u32],
    stacks: Vec<Stack>,
    /// Places of lines in their set's stack.
    places: Vec<u32>,
    /// Requests in flight to each line.
    flights: Vec<u32>,
    /// When the first of them returns; meaningful where there are any.
    earliest: Vec<u64>,
    /// All returns, where they may come in another order.
    returns: Option<BTreeSet<(u32, u64, u64)>>,
    seen: Vec<bool>,
    used: u32,
    wheel: Wheel,
    random: Random,
    pool: VecDeque<u32>,
    sleeping: BinaryHeap<Reverse<(u64, u32)>>,
    progress: Vec<Progress>,
    /// Warps of each block that are not done, and those at a barrier.
    left: Vec<u32>,
    waiting: Vec<Vec<u32>>,
    /// Blocks that run.
    running: usize,
    issued: u64,
    pub(super) now: u64,
    pub(super) counts: Counts,
}

impl<'r> Machine<'r> {
    pub(super) fn new(all: &'r Requests, config: &'r ReuseConfig, sets: &'r [u32], core: u32) -> Self {
        let lines = all.lines.len();
        let latency = config.latency;
        // Half-normal random numbers stay below 8.6 standard deviations.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut to what is useful")]
        let spread = (latency.deviation_ticks * 9.0).clamp(0.0, 1e6) as u32;
        let blocks = all.warps.last().map_or(0, |w| w.block as usize + 1);
        let exact = config.rules.clip && latency.deviation_ticks > 0.0;
        Self {
            all,
            config,
            ways: u64::from(config.geometry.ways()),
            entries: config.mshrs.total.unwrap_or(u32::MAX),
            sets,
            stacks: vec![Stack::default(); config.geometry.sets()],
            places: vec![0; lines],
            flights: vec![0; lines],
            earliest: vec![0; lines],
            returns: exact.then(BTreeSet::new),
            seen: vec![false; lines],
            used: 0,
            wheel: Wheel::new(latency.miss.saturating_add(spread).max(latency.hit)),
            random: Random::new(latency.seed.wrapping_add(u64::from(core) << 32)),
            pool: VecDeque::new(),
            sleeping: BinaryHeap::new(),
            progress: vec![Progress::default(); all.warps.len()],
            left: vec![0; blocks],
            waiting: vec![Vec::new(); blocks],
            running: 0,
            issued: 0,
            now: 0,
            counts: Counts::default(),
        }
    }

    /// Begins a block.
    pub(super) fn begin(&mut self, block: usize) {
        let per_block = self.all.warps_per_block;
        let warps = block * per_block..((block + 1) * per_block).min(self.all.warps.len());
        self.left[block] = number(warps.len());
        self.running += 1;
        self.pool.extend(warps.map(number));
    }

    /// Forgets what is in flight: the published program does between its sets of blocks.
    pub(super) fn drop_flights(&mut self) {
        let flights = &mut self.flights;
        self.wheel.clear(|effect| flights[effect.line() as usize] = 0);
        self.used = 0;
        if let Some(returns) = &mut self.returns {
            returns.clear();
        }
    }

    /// Blocks that run.
    pub(super) fn running(&self) -> usize {
        self.running
    }

    /// Runs until a block is done.
    pub(super) fn run(&mut self) {
        let before = self.running;
        let parallel = self.config.extensions.parallel;
        while self.running == before && before > 0 {
            if self.config.rules.visible == Visible::Before {
                self.effects(self.now);
            }
            if let Some(warp) = self.pool.pop_front() {
                match self.turn(warp) {
                    Turn::Done => self.done(warp),
                    Turn::AtBarrier => self.barrier(warp),
                    Turn::Refused => self.again(warp, !self.config.extensions.divergence || !parallel),
                    // Without parallel execution, a warp goes on at once.
                    Turn::Waits(time) if parallel => {
                        if time == 0 || !self.config.extensions.divergence {
                            self.pool.push_back(warp);
                        } else {
                            self.sleeping.push(Reverse((self.now + u64::from(time), warp)));
                        }
                    }
                    Turn::Waits(0) => self.pool.push_front(warp),
                    Turn::Waits(time) => {
                        // Its request takes effect before its next one.
                        let until = self.now + u64::from(time);
                        while self.now < until {
                            self.effects(self.now);
                            self.now += 1;
                        }
                        self.pool.push_front(warp);
                    }
                }
            }
            self.effects(self.now);
            self.wake();
            self.now += 1;
            if self.pool.is_empty() && self.running == before {
                self.skip();
            }
        }
    }

    fn again(&mut self, warp: u32, first: bool) {
        if first { self.pool.push_front(warp) } else { self.pool.push_back(warp) }
    }

    /// Those whose time has come, by their number.
    fn wake(&mut self) {
        while let Some(&Reverse((time, warp))) = self.sleeping.peek() {
            if time > self.now {
                return;
            }
            self.sleeping.pop();
            self.pool.push_back(warp);
        }
    }

    /// Nobody can do anything until the next one wakes up.
    fn skip(&mut self) {
        if let Some(&Reverse((time, _))) = self.sleeping.peek() {
            while self.now < time {
                self.effects(self.now);
                self.now += 1;
            }
        }
    }

    fn done(&mut self, warp: u32) {
        let block = self.all.warps[warp as usize].block as usize;
        self.left[block] -= 1;
        if self.left[block] == 0 {
            self.running -= 1;
        } else {
            self.open(block);
        }
    }

    fn barrier(&mut self, warp: u32) {
        let block = self.all.warps[warp as usize].block as usize;
        self.waiting[block].push(warp);
        self.open(block);
    }

    /// Lets warps go on if all that are not done wait.
    fn open(&mut self, block: usize) {
        if self.waiting[block].len() == self.left[block] as usize {
            let mut warps = std::mem::take(&mut self.waiting[block]);
            warps.sort_unstable();
            self.pool.extend(warps);
        }
    }

    /// One instruction of a warp, or part of it.
    fn turn(&mut self, number_of: u32) -> Turn {
        if let Some(&first) = self.progress[number_of as usize].lanes.first() {
            return self.turn_of_lanes(number_of, first);
        }
        let all = self.all;
        let warp = &all.warps[number_of as usize];
        let Progress { step, partial, .. } = self.progress[number_of as usize];
        let at = warp.steps.start + step as usize;
        if at >= warp.steps.end {
            return Turn::Done;
        }
        let next = all.steps[at];
        if next.barrier {
            self.progress[number_of as usize].step += 1;
            return if self.config.rules.barriers { Turn::AtBarrier } else { Turn::Waits(0) };
        }
        let requests = &all.of_step(warp, at)[partial as usize..];
        if self.config.rules.check == RefusalCheck::Warp && self.is_refused(requests.iter().map(|r| r.line)) {
            self.counts.refusals += 1;
            return Turn::Refused;
        }
        let used = self.used;
        let portions = if self.config.rules.portions { u32::from(next.portions) } else { 1 };
        let size = (all.warp_size / portions.max(1)).max(1);
        let mut longest = 0;
        let mut portion = 0;
        let most = self.config.mshrs.per_warp.unwrap_or(u32::MAX);
        let mut entries = 0;
        for (i, request) in requests.iter().enumerate() {
            let own = (u32::from(request.lane) / size).min(portions - 1);
            while portion < own {
                self.effects(self.now);
                portion += 1;
            }
            let distance = self.distance(request.line);
            if self.is_hit(distance) {
                self.hit(request.line);
            } else {
                if request.lane == 0 && self.refuses_lane_0(used, request.line) {
                    return self.split(number_of, size, portions);
                }
                let new = self.flights[request.line as usize] == 0;
                if new && entries == most {
                    self.progress[number_of as usize].partial = partial + number(i);
                    return Turn::Waits(longest);
                }
                entries += u32::from(new);
                longest = longest.max(self.miss(request.line));
            }
            self.counts.profile.add(distance);
        }
        let own = &mut self.progress[number_of as usize];
        own.step += 1;
        own.partial = 0;
        Turn::Waits(longest)
    }

    /// Whether one of these lines misses and gets no entry (N 4.4).
    fn is_refused(&self, lines: impl Iterator<Item = u32>) -> bool {
        let most = self.config.mshrs.merged.unwrap_or(u32::MAX);
        let full = self.used >= self.entries;
        if !full && most == u32::MAX {
            return false;
        }
        let mut lines = lines;
        lines.any(|line| {
            let flights = self.flights[line as usize];
            let merges = self.config.rules.merge && flights > 0;
            let needs = if merges { flights >= most } else { full };
            needs && !self.is_hit(self.distance(line))
        })
    }

    #[inline]
    fn distance(&self, line: u32) -> Option<u64> {
        match self.places[line as usize] {
            0 => None,
            place => Some(self.stacks[self.sets[line as usize] as usize].distance(place)),
        }
    }

    #[inline]
    fn is_hit(&self, distance: Option<u64>) -> bool {
        distance.is_some_and(|d| d < self.ways)
    }
}
