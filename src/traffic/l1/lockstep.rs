//! Running warps lane by lane: any address, any condition.

use rustc_hash::FxHashMap;

use super::blocks::Phases;
use super::counts::L1Counts;
use super::pipe::Pipe;
use super::prepared::Prepared;
use super::repeated;
use super::running::ThreadParts;
use super::strata::{self, Behaviour, Deciding, Looked, Pair};
use super::tally::WarpTally;
use super::warp::RunningWarp;
use super::warps::{self, WarpClass};
use crate::effort::left;
use crate::expr::Coord;
use crate::kernel::Kernel;
use crate::launch::{Launch, NotRun, Program, Step, Working};
use crate::random::Digest;
use crate::space::{Block, BlockIndex, Thread};

/// Most blocks that are looked at.
pub(super) const MOST_BLOCKS: i64 = 16;
/// Most accesses of lanes that are evaluated; at least one warp is.
pub(super) const MOST_ACCESSES: usize = 1 << 15;

/// Most parts of forms that are kept for the warps of other blocks.
const MOST_KEPT: usize = 1 << 12;

/// Counts warps of blocks that are spread over the grid, as many as the budget allows.
pub fn count(
    kernel: &Kernel,
    launch: &Launch,
    program: &Program<i64>,
    pipe: &Pipe,
) -> Result<L1Counts, NotRun> {
    let mut counts = run_once(kernel, launch, program, pipe)?;
    counts.add_up(kernel, program, pipe);
    Ok(counts)
}

/// The same without totals and sums per field.
pub fn run_once(
    kernel: &Kernel,
    launch: &Launch,
    program: &Program<i64>,
    pipe: &Pipe,
) -> Result<L1Counts, NotRun> {
    let working = Working::new(kernel, launch, program);
    let blocks = working.some(MOST_BLOCKS);
    let mut tally = WarpTally::new(kernel, program, pipe, &blocks);
    tally.counts.sampled = working.blocks.count() > MOST_BLOCKS;
    run(tally, launch, program, &blocks, MOST_ACCESSES)
}

/// Counts all warps of given blocks.
pub fn count_blocks(
    kernel: &Kernel,
    launch: &Launch,
    program: &Program<i64>,
    pipe: &Pipe,
    phases: Phases,
) -> Result<L1Counts, NotRun> {
    let blocks = phases.blocks();
    let mut tally = WarpTally::new(kernel, program, pipe, &blocks);
    tally.counts.sampled = phases.cut;
    let mut counts = run(tally, launch, program, &blocks, usize::MAX)?;
    counts.add_up(kernel, program, pipe);
    Ok(counts)
}

/// Lanes of the warps of a block.
fn warps_of(block: Block, warp: usize) -> Vec<Vec<Thread>> {
    let classes = warps::classes(block, warp, &[]);
    let of = |c: &WarpClass| -> Vec<Vec<Thread>> {
        let around = c.arrangement.lanes();
        let lanes = |f: &Thread| around.iter().map(|l| Thread::along(|d| f[d] + l[d])).collect();
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
struct Warps<'w> {
    launch: &'w Launch,
    program: &'w Program<i64>,
    prepared: &'w Prepared<'w>,
    blocks: &'w [BlockIndex],
    /// Lanes of the warps of a block.
    lanes: Vec<Vec<Thread>>,
    /// What threads contribute to forms is the same in all blocks, and kept if it is not too much.
    thread_parts: Vec<ThreadParts>,
    is_kept: bool,
    /// Steps of the warp that took most.
    dearest: u64,
}

impl<'w> Warps<'w> {
    fn new(
        launch: &'w Launch,
        (program, prepared): (&'w Program<i64>, &'w Prepared<'w>),
        blocks: &'w [BlockIndex],
        pipe: &Pipe,
    ) -> Self {
        let lanes = warps_of(launch.candidate.block(), pipe.warp);
        let is_kept = lanes.len().saturating_mul(prepared.gains) <= MOST_KEPT;
        let mut thread_parts: Vec<ThreadParts> = Vec::new();
        thread_parts.resize_with(if is_kept { lanes.len() } else { 1 }, Vec::new);
        Self { launch, program, prepared, blocks, lanes, thread_parts, is_kept, dearest: 0 }
    }

    fn number(&self) -> usize {
        self.blocks.len() * self.lanes.len()
    }

    /// All of them, so that any first few are spread over blocks and warps.
    fn spread(&self) -> impl Iterator<Item = Pair> + use<> {
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
        RunningWarp::new(kernel, self.launch, read, self.blocks[block], &self.lanes[warp], parts)
    }

    fn run(&mut self, pair: Pair, tally: &mut WarpTally<'_>) -> Result<(), NotRun> {
        let before = left();
        self.begin(tally.kernel, pair).run(tally)?;
        self.dearest = self.dearest.max(before - left());
        Ok(())
    }

    /// What each warp does, in the order in which they are to be run; `None` where finding out would take more than half of
    /// the steps that are left.
    fn behaviours(&mut self, kernel: &Kernel) -> Result<Option<Vec<(Pair, Behaviour)>>, NotRun> {
        let enough = left() / 2;
        let Looked { alike, by_block } = Looked::new(self.program, self.prepared);
        let mut of_warps = Vec::with_capacity(self.lanes.len());
        for warp in 0..self.lanes.len() {
            if left() < enough {
                return Ok(None);
            }
            of_warps.push(self.begin(kernel, (0, warp)).behaviour(&alike)?);
        }
        // Blocks are alike which the domain cuts alike and in which what follows from the block is decided alike.
        let cut = |&block: &BlockIndex| Some((self.cut(kernel, block), self.decided(block, &by_block)?));
        let decided: Vec<Option<(u64, u64)>> = self.blocks.iter().map(cut).collect();
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
            all.push((pair, behaviour));
        }
        Ok(Some(all))
    }

    /// How it is decided for all threads of a block what follows from it, if it is.
    fn decided(&self, block: BlockIndex, by_block: &Deciding) -> Option<u64> {
        let shape = self.launch.candidate.block();
        let within = |coord: Coord| match coord {
            Coord::ThreadIdx(d) => Some((0, shape[d.index()] - 1)),
            Coord::BlockIdx(d) => Some((block[d.index()], block[d.index()])),
            Coord::Loop(_) | Coord::Axis(_) | Coord::Thread(_) => None,
        };
        by_block.in_block(self.program, self.prepared, &within)
    }

    /// Below which threads the domain leaves something of a block, as one number.
    fn cut(&self, kernel: &Kernel, block: BlockIndex) -> u64 {
        let shape = self.launch.candidate.block();
        let mut digest = Digest::default();
        for item in &self.program.items {
            for d in 0..3 {
                // As where warps are run: (block * shape + thread) * fold + offset < extent
                let before = i128::from(block[d]) * i128::from(shape[d]);
                let left = i128::from(kernel.extents()[d]) - i128::from(item.offset[d]);
                let end = -(-left).div_euclid(self.program.fold[d].into()) - before;
                let below = i64::try_from(end.clamp(0, shape[d].into()));
                digest.add_signed(below.expect("within a block"));
            }
        }
        digest.get()
    }

    /// Accesses of lanes of a warp, if all conditions held and loops repeated as they do for the first thread.
    fn lanes_at_most(&self, steps: &[Step]) -> usize {
        let of_step = |step: &Step| match step {
            Step::Sync => 0,
            Step::Access(_) => self.lanes.first().map_or(0, Vec::len),
            Step::Loop(id, body) => {
                let range = &self.program.loops[usize::from(id.0)];
                let [from, to] = [&range.from, &range.to].map(|form| form.evaluate(&|_| Some(0)));
                let iterations =
                    from.zip(to).and_then(|(from, to)| repeated::iterations(from, to, range.step));
                let run = iterations.unwrap_or(1).clamp(0, repeated::MOST_ITERATIONS);
                self.lanes_at_most(body).saturating_mul(usize::try_from(run).unwrap_or(usize::MAX))
            }
        };
        steps.iter().map(of_step).fold(0, usize::saturating_add)
    }

    /// Whether so many steps are left that the next warp cannot use them up.
    fn may_go_on(&self) -> bool {
        left() / 2 > self.dearest
    }
}

/// Runs warps of some blocks until about so many accesses of lanes were evaluated, at least one warp.
fn run(
    mut tally: WarpTally<'_>,
    launch: &Launch,
    program: &Program<i64>,
    blocks: &[BlockIndex],
    most: usize,
) -> Result<L1Counts, NotRun> {
    let prepared = Prepared::new(program);
    let mut warps = Warps::new(launch, (program, &prepared), blocks, tally.pipe);
    let all = warps.number();
    let mut done = 0;
    if warps.lanes_at_most(&program.steps).saturating_mul(all) <= most {
        // Where no more steps are left, the warps before stand for the next ones.
        for pair in warps.spread() {
            if done > 0 && (tally.spent >= most || !warps.may_go_on()) {
                break;
            }
            warps.run(pair, &mut tally)?;
            done += 1;
        }
        if done == all || !warps.may_go_on() {
            return Ok(tally.finish(done, all, blocks.len()));
        }
        tally.take();
    }
    let (covered, run) = run_some(&mut warps, &mut tally, most)?;
    tally.counts.sampled |= run < all;
    Ok(tally.finish(covered, all, blocks.len()))
}

/// Runs some warps of each kind, until about so many accesses of lanes were evaluated, at least one warp. Says for how
/// many they stand, and how many were run.
fn run_some(warps: &mut Warps, tally: &mut WarpTally<'_>, most: usize) -> Result<(usize, usize), NotRun> {
    // Each kind takes one warp at least, and several where they differ in more than the kind says.
    let affordable = most / warps.lanes_at_most(&warps.program.steps).max(1);
    let strata = match warps.behaviours(tally.kernel) {
        Ok(Some(behaviours)) => strata::strata(&behaviours, affordable / 2),
        // Where there are no steps for that, the first ones stand for all.
        Ok(None) | Err(NotRun::Spent(_)) => vec![warps.spread().collect()],
        Err(why) => return Err(why),
    };
    tally.spent = 0;
    let mut sum = tally.take();
    let (mut rest, mut covered, mut run) = (warps.number(), 0, 0);
    for pairs in strata {
        // What kinds that do little do not use is left to those that do more.
        let share = most.saturating_sub(tally.spent).saturating_mul(pairs.len()) / rest.max(1);
        let (begin, mut done) = (tally.spent, 0);
        for &pair in &pairs {
            // Half of another warp must fit.
            let so_far = tally.spent - begin;
            let full = done > 0 && so_far.saturating_add(so_far / done / 2) >= share;
            if full || run + done > 0 && !warps.may_go_on() {
                break;
            }
            warps.run(pair, tally)?;
            done += 1;
        }
        rest -= pairs.len();
        run += done;
        if done > 0 {
            covered += pairs.len();
            sum.add_warps(&tally.take(), pairs.len() as f64 / done as f64);
        }
    }
    tally.counts = sum;
    Ok((covered, run))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;
    use crate::kernel::load;
    use crate::launch::Candidate;
    use crate::random::Random;

    /// A program of many accesses, parts of which only some threads do, which begin with a tile filled by all of them.
    fn random_program(random: &mut Random) -> String {
        let one = |random: &mut Random, of: &[&str]| of[random.below(of.len())].to_owned();
        let condition = |random: &mut Random| {
            let of_threads =
                ["threadIdx.y < 5", "threadIdx.x < 22 && threadIdx.y < 22", "threadIdx.x % 4 == 0"];
            let others =
                ["threadIdx.x + threadIdx.y < 20", "x + 2*y < 3000", "x >= 3 && y >= 3", "(x + y) % 3 > 0"];
            one(random, &[of_threads.as_slice(), &others].concat())
        };
        let element = |random: &mut Random| {
            one(random, &["x + 4096*y + k", "x + 4100*(y + k)", "3*x + 40*k + 4096*y", "x/3 + 4096*y + 5*k"])
        };
        let from = one(random, &["threadIdx.y", "threadIdx.x", "0", "threadIdx.x % 5"]);
        let (last, step, many) = (5 + random.below(60), 1 + random.below(20), 10 + random.below(80));
        let conditions = [condition(random), condition(random), condition(random)];
        let elements = [element(random), element(random), element(random).replace('k', "i")];
        let after = if random.below(2) == 0 { "k <= threadIdx.x" } else { conditions[2].as_str() };
        format!(
            "wavecast: 1\nkernel: k\nfields:\n  a: {{dtype: f32, size: 100000000}}\n  b: {{dtype: f64, size: 100000000}}\n  \
             t: {{dtype: f64, size: 6000, space: shared}}\ndomain: {{x: 4096, y: 4096}}\nbody:\n  \
             - loop: {{i: {{from: {from}, to: {last}, step: {step}}}}}\n    body:\n      - when: {}\n        at: ['load a + {}', \
             store t + threadIdx.x + 3*i]\n  - sync\n  - for: {{k: 0..{many}}}\n    when: {}\n    at: ['load t + threadIdx.x + k', \
             'load b + {}']\n  - loop: {{k: 0..{}}}\n    body:\n      - {{when: {after}, at: 'load a + {}'}}\n",
            conditions[0],
            elements[2],
            conditions[1],
            elements[0],
            random.below(200),
            elements[1],
        )
    }

    fn parts(counts: &L1Counts) -> [f64; 5] {
        let total = &counts.total;
        let cycles = total.cycles.get();
        [total.issues.get(), total.lanes.get(), cycles, total.sectors.get(), total.data.get()]
    }

    /// Errors of the parts, without their signs.
    fn errors(some: &L1Counts, all: &L1Counts) -> impl Iterator<Item = f64> + use<> {
        parts(some).into_iter().zip(parts(all)).map(|(some, all)| (some / all - 1.0).abs())
    }

    #[test]
    fn some_warps_are_about_what_all_are() {
        let mut random = Random::new(29);
        let pipe = Pipe::new(&device::find("a100-40gb", &[]).unwrap());
        let (mut by_kind, mut first_ones): (Vec<f64>, Vec<f64>) = Default::default();
        for round in 0..60 {
            let text = random_program(&mut random);
            let block = [[32, 32, 1], [256, 4, 1], [1024, 1, 1], [16, 16, 1], [33, 15, 1]][round % 5];
            let kernel = load("kernel", &text, &Default::default()).unwrap().kernels.remove(0);
            let candidate = Candidate::new(block, [1; 3]).unwrap();
            let launch = Launch::new(&kernel, candidate).unwrap();
            let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
            let blocks = Working::new(&kernel, &launch, &program).some(MOST_BLOCKS);
            let tally = || WarpTally::new(&kernel, &program, &pipe, &blocks);
            let totals = |mut counts: L1Counts| {
                counts.add_up(&kernel, &program, &pipe);
                counts
            };
            let count = |most: usize| totals(run(tally(), &launch, &program, &blocks, most).unwrap());
            let (some, all) = (count(MOST_ACCESSES), count(usize::MAX));
            by_kind.extend(errors(&some, &all));

            let prepared = Prepared::new(&program);
            let mut warps = Warps::new(&launch, (&program, &prepared), &blocks, &pipe);
            let (mut tally, mut done) = (tally(), 0);
            for pair in warps.spread() {
                if tally.spent >= MOST_ACCESSES {
                    break;
                }
                warps.run(pair, &mut tally).unwrap();
                done += 1;
            }
            let first = totals(tally.finish(done, warps.number(), blocks.len()));
            first_ones.extend(errors(&first, &all));
        }
        let mean = |errors: &[f64]| errors.iter().sum::<f64>() / errors.len() as f64;
        let most = |errors: &[f64]| errors.iter().copied().fold(0.0, f64::max);
        let (mean, most) = ([mean(&by_kind), mean(&first_ones)], [most(&by_kind), most(&first_ones)]);
        assert!(mean[0] < 0.03 && mean[0] < mean[1] / 2.0, "{mean:?}");
        assert!(most[0] < 0.25 && most[0] < most[1] / 2.0, "{most:?}");
    }
}
