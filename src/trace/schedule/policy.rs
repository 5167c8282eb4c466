//! The order of all accesses of a trace (C 5.2, 5.3): one that keeps every thread's order and its barriers.

use super::warp::{Grouping, Lane, WarpShape, WarpSteps};
use crate::random::Random;
use crate::trace::model::{Trace, TraceKind};
use crate::trace::numbering::number;

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchedulePolicy {
    /// Warps in turn, and blocks before warps; each does one instruction (C 5.3.3).
    Warp,
    /// Threads in turn; each does one access.
    RoundRobin,
    /// Each thread up to its end or its next barrier.
    Sequential,
    /// Any thread.
    Random {
        /// Of the choice.
        seed: u64,
    },
    /// As the file has them, for one that is a schedule.
    Recorded,
}

impl SchedulePolicy {
    /// The names that [`named`](Self::named) knows.
    pub const NAMES: [&'static str; 5] = ["warp", "round-robin", "sequential", "random", "recorded"];

    /// The policy of a name, if there is one; `seed` is for random ones.
    pub fn named(name: &str, seed: u64) -> Option<Self> {
        Some(match name {
            "warp" => SchedulePolicy::Warp,
            "round-robin" => SchedulePolicy::RoundRobin,
            "sequential" => SchedulePolicy::Sequential,
            "random" => SchedulePolicy::Random { seed },
            "recorded" => SchedulePolicy::Recorded,
            _ => return None,
        })
    }

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            SchedulePolicy::Warp => "warp",
            SchedulePolicy::RoundRobin => "round-robin",
            SchedulePolicy::Sequential => "sequential",
            SchedulePolicy::Random { .. } => "random",
            SchedulePolicy::Recorded => "recorded",
        }
    }
}

/// Positions of accesses in their order. A barrier holds the threads of its block only; C applies it to all.
pub fn order(trace: &Trace, policy: SchedulePolicy, warp: WarpShape) -> Vec<u32> {
    match policy {
        SchedulePolicy::Recorded => match trace.recorded() {
            Some(recorded) => recorded.to_vec(),
            None => (0..number(trace.accesses().len())).collect(),
        },
        SchedulePolicy::Warp => by_warps(trace, warp),
        SchedulePolicy::RoundRobin => Threads::new(trace).in_turn(1),
        SchedulePolicy::Sequential => Threads::new(trace).in_turn(usize::MAX),
        SchedulePolicy::Random { seed } => Threads::new(trace).at_random(seed),
    }
}

/// One instruction of every warp in turn: warp 0 of all blocks, warp 1 of all blocks, and so on.
fn by_warps(trace: &Trace, shape: WarpShape) -> Vec<u32> {
    let grouping = if trace.has_instructions() { Grouping::Instruction } else { Grouping::Position };
    let mut steps = WarpSteps::new(trace, grouping);
    let (threads, blocks) = (trace.block_threads(), trace.blocks());
    let mut warps = Vec::new();
    for warp in 0..shape.warps(threads) {
        for block in 0..blocks {
            let mut queue = Queue { block, ..Queue::default() };
            steps.visit(trace, shape.threads(threads, block, warp), |lanes| queue.add(trace, lanes));
            warps.push(queue);
        }
    }
    let mut out = Vec::with_capacity(trace.accesses().len());
    let mut waiting = vec![0_usize; blocks];
    let mut left: Vec<usize> = vec![shape.warps(threads); blocks];
    let mut active: Vec<usize> = (0..warps.len()).collect();
    while !active.is_empty() {
        let before = out.len();
        active.retain(|&w| {
            let queue = &mut warps[w];
            let more = queue.step(trace, &mut out, &mut waiting);
            left[queue.block] -= usize::from(!more);
            more
        });
        let mut opened = false;
        for &w in &active {
            let queue = &mut warps[w];
            if queue.waits && waiting[queue.block] == left[queue.block] {
                queue.waits = false;
                opened = true;
            }
        }
        for (block, count) in waiting.iter_mut().enumerate() {
            if *count == left[block] {
                *count = 0;
            }
        }
        debug_assert!(opened || out.len() > before || active.is_empty());
    }
    out
}

/// The instructions of a warp that are still to come.
#[derive(Default)]
struct Queue {
    block: usize,
    accesses: Vec<u32>,
    ends: Vec<usize>,
    next: usize,
    waits: bool,
}

impl Queue {
    fn add(&mut self, _: &Trace, lanes: &[Lane]) {
        self.accesses.extend(lanes.iter().map(|l| l.access));
        self.ends.push(self.accesses.len());
    }

    /// Does an instruction, or waits at a barrier; whether there is more.
    fn step(&mut self, trace: &Trace, out: &mut Vec<u32>, waiting: &mut [usize]) -> bool {
        if self.waits {
            return true;
        }
        let Some(&end) = self.ends.get(self.next) else { return false };
        let from = self.next.checked_sub(1).map_or(0, |i| self.ends[i]);
        let lanes = &self.accesses[from..end];
        self.next += 1;
        if lanes.first().is_some_and(|&a| trace.accesses()[a as usize].kind == TraceKind::Barrier) {
            self.waits = true;
            waiting[self.block] += 1;
        } else {
            out.extend_from_slice(lanes);
        }
        true
    }
}

/// Threads one by one.
struct Threads<'t> {
    trace: &'t Trace,
    next: Vec<usize>,
    /// Threads of each block that are neither done nor at a barrier.
    running: Vec<usize>,
}

impl<'t> Threads<'t> {
    fn new(trace: &'t Trace) -> Self {
        let block = trace.block_threads();
        let next: Vec<usize> = (0..trace.threads()).map(|t| trace.range(t).start).collect();
        let mut all = Self { trace, next, running: vec![0; trace.blocks()] };
        for t in 0..trace.threads() {
            all.running[t / block] += usize::from(all.can_run(t));
        }
        all
    }

    fn can_run(&self, thread: usize) -> bool {
        let at = self.next[thread];
        at < self.trace.range(thread).end && self.trace.accesses()[at].kind != TraceKind::Barrier
    }

    /// One access of a thread that can run; whether it can go on.
    fn step(&mut self, thread: usize, out: &mut Vec<u32>) -> bool {
        out.push(number(self.next[thread]));
        self.next[thread] += 1;
        let goes_on = self.can_run(thread);
        if !goes_on {
            self.running[thread / self.trace.block_threads()] -= 1;
        }
        goes_on
    }

    /// Lets the threads of a block pass a barrier that all have reached; whether any passed.
    fn open(&mut self, block: usize) -> bool {
        let size = self.trace.block_threads();
        let threads = block * size..((block + 1) * size).min(self.trace.threads());
        let mut opened = false;
        for t in threads {
            if self.next[t] < self.trace.range(t).end && !self.can_run(t) {
                self.next[t] += 1;
                opened = true;
                self.running[block] += usize::from(self.can_run(t));
            }
        }
        opened
    }

    fn in_turn(mut self, most: usize) -> Vec<u32> {
        let mut out = Vec::with_capacity(self.trace.accesses().len());
        let mut left: Vec<usize> = (0..self.trace.threads()).collect();
        while !left.is_empty() {
            for &t in &left {
                for _ in 0..most {
                    if !self.can_run(t) || !self.step(t, &mut out) {
                        break;
                    }
                }
            }
            for block in 0..self.running.len() {
                while self.running[block] == 0 && self.open(block) {}
            }
            left.retain(|&t| self.next[t] < self.trace.range(t).end);
        }
        out
    }

    fn at_random(mut self, seed: u64) -> Vec<u32> {
        let mut random = Random::new(seed);
        let mut out = Vec::with_capacity(self.trace.accesses().len());
        let size = self.trace.block_threads();
        for block in 0..self.running.len() {
            while self.running[block] == 0 && self.open(block) {}
        }
        let mut able: Vec<usize> = (0..self.trace.threads()).filter(|&t| self.can_run(t)).collect();
        while !able.is_empty() {
            let at = random.below(able.len());
            let thread = able[at];
            if self.step(thread, &mut out) {
                continue;
            }
            able.swap_remove(at);
            let block = thread / size;
            if self.running[block] == 0 {
                while self.running[block] == 0 && self.open(block) {}
                let threads = block * size..((block + 1) * size).min(self.trace.threads());
                able.extend(threads.filter(|&t| self.can_run(t)));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Dim3, Header, Tables, TraceAccess, TraceBuilder};

    /// Two blocks of four threads: load, barrier, load; thread 5 has no second load.
    fn trace() -> Trace {
        let header = Header { kernel: None, block: Dim3([4, 1, 1]), grid: None };
        let mut builder = TraceBuilder::new(header, false);
        for t in 0..8 {
            builder.push(TraceAccess::plain(t, TraceKind::Load, u64::from(t), 4));
            builder.push(TraceAccess::plain(t, TraceKind::Barrier, 0, 0));
            if t != 5 {
                builder.push(TraceAccess::plain(t, TraceKind::Load, 100 + u64::from(t), 4));
            }
        }
        builder.finish(Tables::default())
    }

    #[test]
    fn every_policy_keeps_threads_and_barriers_in_order() {
        let trace = trace();
        let warp = WarpShape::new(2).unwrap();
        let policies = [
            SchedulePolicy::Warp,
            SchedulePolicy::RoundRobin,
            SchedulePolicy::Sequential,
            SchedulePolicy::Random { seed: 3 },
        ];
        for policy in policies {
            let order = order(&trace, policy, warp);
            let addresses: Vec<u64> = order.iter().map(|&i| trace.accesses()[i as usize].address).collect();
            assert_eq!(addresses.len(), 15, "{policy:?}");
            for block in 0..2_u64 {
                let of = |a: &u64| a % 100 / 4 == block;
                let own: Vec<u64> = addresses.iter().copied().filter(of).collect();
                assert!(own[..4].iter().all(|&a| a < 100), "{policy:?} {own:?}");
                assert!(own[4..].iter().all(|&a| a >= 100), "{policy:?} {own:?}");
            }
        }
    }

    #[test]
    fn warps_of_blocks_take_turns() {
        let order = order(&trace(), SchedulePolicy::Warp, WarpShape::new(2).unwrap());
        let trace = trace();
        let threads: Vec<u32> = order[..8].iter().map(|&i| trace.accesses()[i as usize].thread).collect();
        assert_eq!(threads, [0, 1, 4, 5, 2, 3, 6, 7]);
    }
}
