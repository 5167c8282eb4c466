//! The warps of the blocks that are looked at, and what each of them does before any is run.

use rustc_hash::FxHashMap;

use super::blocks::Standing;
use super::inside::Inside;
use super::pipe::Pipe;
use super::prepared::Prepared;
use super::repeated;
use super::running::ThreadParts;
use super::strata::{Behaviour, Deciding, Looked, Pair};
use super::tally::WarpTally;
use super::warp::{RunningWarp, WarpLanes};
use super::warps::{self, WarpClass};
use crate::effort::left;
use crate::expr::Coord;
use crate::kernel::Kernel;
use crate::launch::{Launch, NotRun, Program, Step};
use crate::random::Digest;
use crate::space::{Block, BlockIndex, Thread};

/// Most parts of forms that are kept for the warps of other blocks.
const MOST_KEPT: usize = 1 << 12;

/// Lanes of the warps of a block.
fn warps_of(block: Block, warp: usize) -> Vec<WarpLanes> {
    let classes = warps::classes(block, warp, &[]);
    let of = |c: &WarpClass| -> Vec<WarpLanes> {
        let around = c.arrangement.lanes();
        let lanes =
            |f: &Thread| WarpLanes::new(around.iter().map(|l| Thread::along(|d| f[d] + l[d])).collect());
        c.firsts.iter().map(lanes).collect()
    };
    classes.iter().flat_map(of).collect()
}

/// The `i`-th pair of block and warp, so that any first few are spread over both.
fn spread(i: usize, blocks: usize, warps: usize) -> (usize, usize) {
    // Block by block in turn; within a block warps by steps that share no divisor with their number.
    let gcd = |a: usize, b: usize| {
        let (mut a, mut b) = (a, b);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let near_golden = (warps * 5 / 8).max(1);
    let step = (near_golden..near_golden + warps).find(|&s| gcd(s, warps) == 1).unwrap_or(1);
    let (block, turn) = (i % blocks, i / blocks);
    (block, (turn * step + block) % warps)
}

/// The warps of some blocks.
pub(super) struct Warps<'w> {
    launch: &'w Launch,
    pub(super) program: &'w Program<i64>,
    prepared: &'w Prepared<'w>,
    /// What is run: the steps of the program, or a part of them.
    pub(super) steps: &'w [Step],
    blocks: &'w [Standing],
    /// Lanes of the warps of a block.
    pub(super) lanes: Vec<WarpLanes>,
    /// What threads contribute to forms is the same in all blocks, and kept if it is not too much.
    thread_parts: Vec<ThreadParts>,
    is_kept: bool,
    /// Steps of the warp that took most.
    dearest: u64,
    /// Instructions of the warp of which most were passed.
    pub(super) longest_pass: usize,
}

impl<'w> Warps<'w> {
    pub(super) fn new(
        launch: &'w Launch,
        (program, prepared): (&'w Program<i64>, &'w Prepared<'w>),
        blocks: &'w [Standing],
        pipe: &Pipe,
    ) -> Self {
        let lanes = warps_of(launch.candidate.block(), pipe.warp);
        let is_kept = lanes.len().saturating_mul(prepared.gains) <= MOST_KEPT;
        let mut thread_parts: Vec<ThreadParts> = Vec::new();
        thread_parts.resize_with(if is_kept { lanes.len() } else { 1 }, Vec::new);
        let steps = &program.steps;
        Self {
            launch,
            program,
            prepared,
            steps,
            blocks,
            lanes,
            thread_parts,
            is_kept,
            dearest: 0,
            longest_pass: 0,
        }
    }

    pub(super) fn number(&self) -> usize {
        self.blocks.len() * self.lanes.len()
    }

    /// All of them, so that any first few are spread over blocks and warps.
    pub(super) fn spread(&self) -> impl Iterator<Item = Pair> + use<> {
        let (blocks, warps) = (self.blocks.len(), self.lanes.len());
        (0..self.number()).map(move |i| spread(i, blocks, warps))
    }

    /// A warp that begins.
    fn begin(&mut self, kernel: &Kernel, (block, warp): Pair) -> RunningWarp<'_> {
        let parts = &mut self.thread_parts[if self.is_kept { warp } else { 0 }];
        if !self.is_kept {
            parts.clear();
        }
        let read = (self.program, self.prepared);
        RunningWarp::new(kernel, self.launch, read, self.blocks[block].0, &self.lanes[warp], parts)
    }

    pub(super) fn run(&mut self, pair: Pair, tally: &mut WarpTally<'_>) -> Result<(), NotRun> {
        let before = left();
        let (steps, weight) = (self.steps, self.weight(pair));
        self.begin(tally.kernel, pair).run(steps, weight, tally)?;
        self.dearest = self.dearest.max(before - left());
        Ok(())
    }

    /// Runs some steps of a warp that stands for itself alone.
    pub(super) fn run_steps(
        &mut self,
        pair: Pair,
        steps: &[Step],
        tally: &mut WarpTally<'_>,
    ) -> Result<(), NotRun> {
        self.begin(tally.kernel, pair).run(steps, 1.0, tally)
    }

    /// Finds how often each instruction is issued in a warp, which stands for so many.
    pub(super) fn pass(&mut self, pair: Pair, weight: f64, tally: &mut WarpTally<'_>) -> Result<(), NotRun> {
        tally.only_passes = true;
        let steps = self.steps;
        let passed = self.begin(tally.kernel, pair).run(steps, weight, tally);
        tally.only_passes = false;
        passed
    }

    /// For how many warps one stands: as many as its block for others.
    pub(super) fn weight(&self, (block, _): Pair) -> f64 {
        self.blocks[block].1
    }

    /// For how many blocks all stand.
    pub(super) fn of_blocks(&self) -> f64 {
        self.blocks.iter().map(|standing| standing.1).sum()
    }

    /// What each warp does, in the order in which they are to be run; `None` where finding out would take more than half of
    /// the steps that are left.
    pub(super) fn behaviours(&mut self, kernel: &Kernel) -> Result<Option<Vec<(Pair, Behaviour)>>, NotRun> {
        let enough = left() / 2;
        let Looked { alike, by_block, by_both } = Looked::new(self.program, self.prepared, self.number());
        let mut of_warps = Vec::with_capacity(self.lanes.len());
        for warp in 0..self.lanes.len() {
            if left() < enough {
                return Ok(None);
            }
            of_warps.push(self.begin(kernel, (0, warp)).behaviour(&alike)?);
        }
        // Blocks are alike which the domain cuts alike and in which what follows from the block is decided alike.
        let cut = |&(block, _): &Standing| Some((self.cut(kernel, block), self.decided(block, &by_block)?));
        let decided: Vec<Option<(u64, u64)>> = self.blocks.iter().map(cut).collect();
        let of_both = |&(block, _): &Standing| self.parts_decided(block, &by_both);
        let of_both: Vec<u64> = self.blocks.iter().map(of_both).collect();
        let mut known: FxHashMap<((u64, u64), usize), Behaviour> = FxHashMap::default();
        let mut all = Vec::with_capacity(self.number());
        for pair in self.spread() {
            if left() < enough {
                return Ok(None);
            }
            let key = decided[pair.0].map(|decided| (decided, pair.1));
            let behaviour = match key.and_then(|key| known.get(&key)) {
                Some(known) => *known,
                None => self.begin(kernel, pair).behaviour_here(of_warps[pair.1], &by_block)?,
            };
            if let Some(key) = key {
                known.insert(key, behaviour);
            }
            all.push((pair, if by_both.is_empty() { behaviour } else { behaviour.and(of_both[pair.0]) }));
        }
        Ok(Some(all))
    }

    /// How those parts of some conditions are decided in a block that follow from it alone, as one number.
    fn parts_decided(&self, block: BlockIndex, conditions: &[usize]) -> u64 {
        let mut digest = Digest::default();
        for &condition in conditions {
            let decided = self.prepared.conditions[condition]
                .decide(&|coord| self.within(block, coord), &mut |held| digest.add(held.into()));
            digest.add(if decided.is_some() { 2 } else { 3 });
        }
        digest.get()
    }

    /// How it is decided for all threads of a block what follows from it, if it is.
    fn decided(&self, block: BlockIndex, by_block: &Deciding) -> Option<u64> {
        by_block.in_block(self.program, self.prepared, &|coord| self.within(block, coord))
    }

    /// Between which numbers a coordinate lies in a block.
    fn within(&self, block: BlockIndex, coord: Coord) -> Option<(i64, i64)> {
        match coord {
            Coord::ThreadIdx(d) => Some((0, self.launch.candidate.block()[d.index()] - 1)),
            Coord::BlockIdx(d) => Some((block[d.index()], block[d.index()])),
            Coord::Loop(id) => {
                // Loops come after those around them.
                let range = &self.program.loops[usize::from(id.0)];
                let [from, to] =
                    [&range.from, &range.to].map(|form| form.interval(&|c| self.within(block, c)));
                let (from, to) = (from?, to?);
                Some((from.0.min(to.0), from.1.max(to.1)))
            }
            Coord::Axis(_) | Coord::Thread(_) => None,
        }
    }

    /// Below which threads the domain leaves something of a block, as one number.
    fn cut(&self, kernel: &Kernel, block: BlockIndex) -> u64 {
        let place = Inside::new(kernel, self.launch, self.program);
        let mut digest = Digest::default();
        for item in &self.program.items {
            place.threads(item.offset, block).into_iter().for_each(|end| digest.add_signed(end));
        }
        digest.get()
    }

    /// Accesses of lanes of a warp by field, if all conditions held and loops repeated as they do for the first thread.
    pub(super) fn lanes_at_most(&self, steps: &[Step]) -> Vec<usize> {
        let fields = self.program.instructions.iter().map(|i| usize::from(i.field.0) + 1).max().unwrap_or(0);
        let mut of_fields = vec![0; fields];
        self.add_lanes(steps, self.lanes.first().map_or(0, |lanes| lanes.threads.len()), &mut of_fields);
        of_fields
    }

    fn add_lanes(&self, steps: &[Step], times: usize, of_fields: &mut [usize]) {
        for step in steps {
            match step {
                Step::Sync => {}
                Step::Access(position) => {
                    let of_field = &mut of_fields[usize::from(self.program.instructions[*position].field.0)];
                    *of_field = of_field.saturating_add(times);
                }
                Step::Loop(id, body) => {
                    let range = &self.program.loops[usize::from(id.0)];
                    let [from, to] = [&range.from, &range.to].map(|form| form.evaluate(&|_| Some(0)));
                    let iterations =
                        from.zip(to).and_then(|(from, to)| repeated::iterations(from, to, range.step));
                    let run = iterations.unwrap_or(1).clamp(0, repeated::MOST_ITERATIONS);
                    let run = usize::try_from(run).unwrap_or(usize::MAX);
                    self.add_lanes(body, times.saturating_mul(run), of_fields);
                }
            }
        }
    }

    /// Whether so many steps are left that the next warp cannot use them up.
    pub(super) fn may_go_on(&self) -> bool {
        left() / 2 > self.dearest
    }
}
