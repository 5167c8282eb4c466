//! Running warps lane by lane: any address, any condition.

use super::block_warps::Warps;
use super::blocks::{Phases, Standing};
use super::counts::L1Counts;
use super::inside::Inside;
use super::kinds;
use super::parts;
use super::pipe::Pipe;
use super::prepared::Prepared;
use super::sampled;
use super::tally::WarpTally;
use crate::kernel::Kernel;
use crate::launch::{Launch, NotRun, Program, Working};

/// Most blocks that are looked at.
pub(super) const MOST_BLOCKS: i64 = 16;
/// Most accesses of lanes that are evaluated; at least one warp is.
pub(super) const MOST_ACCESSES: usize = 1 << 15;

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
    let prepared = Prepared::new(program);
    let blocks = kinds::blocks(kernel, launch, &working, (program, &prepared), MOST_BLOCKS);
    let mut tally = WarpTally::new(kernel, program, pipe, &blocks);
    tally.counts.sampled = working.blocks.count() > MOST_BLOCKS;
    run(tally, launch, (program, &prepared), &blocks, MOST_ACCESSES)
}

/// Counts all warps of given blocks.
pub fn count_blocks(
    kernel: &Kernel,
    launch: &Launch,
    program: &Program<i64>,
    pipe: &Pipe,
    phases: Phases,
) -> Result<L1Counts, NotRun> {
    let blocks: Vec<Standing> = phases.blocks().into_iter().map(|block| (block, 1.0)).collect();
    let mut tally = WarpTally::new(kernel, program, pipe, &blocks);
    tally.counts.sampled = phases.cut;
    let mut counts = run(tally, launch, (program, &Prepared::new(program)), &blocks, usize::MAX)?;
    counts.add_up(kernel, program, pipe);
    Ok(counts)
}

/// Runs warps of some blocks until about so many accesses of lanes were evaluated, at least one warp.
fn run(
    mut tally: WarpTally<'_>,
    launch: &Launch,
    read: (&Program<i64>, &Prepared),
    blocks: &[Standing],
    most: usize,
) -> Result<L1Counts, NotRun> {
    let items = Inside::new(tally.kernel, launch, read.0).mean_items(read.0, blocks);
    let mut warps = Warps::new(launch, read, blocks, tally.pipe);
    let (number, of_blocks) = (warps.number(), warps.of_blocks());
    let all = of_blocks * warps.lanes.len() as f64;
    let (mut done, mut covered) = (0, 0.0);
    let of_fields = warps.lanes_at_most(&read.0.steps);
    if parts::total(&of_fields).saturating_mul(number) <= most {
        // Where no more steps are left, the warps before stand for the next ones.
        for pair in warps.spread() {
            if done > 0 && (tally.spent >= most || !warps.may_go_on()) {
                break;
            }
            warps.run(pair, &mut tally)?;
            done += 1;
            covered += warps.weight(pair);
        }
        tally.counts.sampled |= done < number;
        if done == number || !warps.may_go_on() {
            return Ok(tally.finish(all / covered / of_blocks, items));
        }
        tally.take();
    }
    let behaviours = match warps.behaviours(tally.kernel) {
        Ok(behaviours) => behaviours,
        // Where there are no steps for that, the first ones stand for all.
        Err(NotRun::Spent(_)) => None,
        Err(why) => return Err(why),
    };
    let mut sum = tally.take();
    let parts = parts::parts(tally.kernel, read.0, &of_fields, most);
    let mut left = most;
    for part in &parts {
        (warps.steps, warps.longest_pass) = (&part.steps, 0);
        let (covered, run) = sampled::run_some(&mut warps, &mut tally, behaviours.as_deref(), part, left)?;
        // What one part does not need may be enough for all warps of the next one.
        left = left.saturating_sub(tally.spent);
        tally.counts.sampled |= run < number;
        sum.add_part(&tally.take(), all / covered);
    }
    tally.counts = sum;
    Ok(tally.finish(1.0 / of_blocks, items))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;
    use crate::kernel::load;
    use crate::launch::Candidate;
    use crate::quantity::ItemCount;
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
            let blocks: Vec<Standing> = blocks.into_iter().map(|block| (block, 1.0)).collect();
            let prepared = Prepared::new(&program);
            let tally = || WarpTally::new(&kernel, &program, &pipe, &blocks);
            let totals = |mut counts: L1Counts| {
                counts.add_up(&kernel, &program, &pipe);
                counts
            };
            let count =
                |most: usize| totals(run(tally(), &launch, (&program, &prepared), &blocks, most).unwrap());
            let (some, all) = (count(MOST_ACCESSES), count(usize::MAX));
            by_kind.extend(errors(&some, &all));

            let mut warps = Warps::new(&launch, (&program, &prepared), &blocks, &pipe);
            let (mut tally, mut done) = (tally(), 0);
            for pair in warps.spread() {
                if tally.spent >= MOST_ACCESSES {
                    break;
                }
                warps.run(pair, &mut tally).unwrap();
                done += 1;
            }
            let first = totals(
                tally.finish(warps.number() as f64 / f64::from(done) / blocks.len() as f64, ItemCount::ZERO),
            );
            first_ones.extend(errors(&first, &all));
        }
        let mean = |errors: &[f64]| errors.iter().sum::<f64>() / errors.len() as f64;
        let most = |errors: &[f64]| errors.iter().copied().fold(0.0, f64::max);
        let (mean, most) = ([mean(&by_kind), mean(&first_ones)], [most(&by_kind), most(&first_ones)]);
        assert!(mean[0] < 0.015 && mean[0] < mean[1] / 5.0, "{mean:?}");
        assert!(most[0] < 0.25 && most[0] < most[1] / 2.0, "{most:?}");
    }
}
