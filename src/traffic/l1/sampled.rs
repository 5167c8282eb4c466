//! Warps of which only some are run: some of each kind, and how often all of them issue each instruction.

use super::block_warps::Warps;
use super::counts::L1Counts;
use super::parts::ProgramPart;
use super::strata::{self, Behaviour, Pair, Stratum};
use super::tally::WarpTally;
use super::unseen::{Passed, Unseen};
use crate::kernel::{Kernel, Space};
use crate::launch::{NotRun, Program, Step};

/// The first so many warps of a kind that do alike stand for all of it; of those that access shared memory alone, where
/// it does not matter where a block lies, so many.
const ALIKE: usize = 8;
const ALIKE_IN_SHARED: usize = 2;
/// Most warp-wide instructions that are passed to find out how often each is issued.
const MOST_PASSED: usize = 1 << 14;

/// Runs some warps of each kind, until about so many accesses of lanes were evaluated, at least one warp; or all of them if
/// `enough_for_all` accesses are as many as those that have work make. Says for how many they stand, and how many were run.
pub(super) fn run_some(
    warps: &mut Warps,
    tally: &mut WarpTally<'_>,
    behaviours: Option<&[(Pair, Behaviour)]>,
    part: &ProgramPart,
    enough_for_all: usize,
) -> Result<(f64, usize), NotRun> {
    // Each kind takes one warp at least, and several where they differ in more than the kind says.
    let most = part.most;
    let affordable = most / part.of_warp.max(1);
    let strata = match behaviours {
        Some(behaviours) => strata::strata(behaviours, affordable / 2),
        None => vec![Stratum::one(warps.spread())],
    };
    (tally.spent, tally.passed) = (0, 0);
    let in_shared = only_shared(tally.kernel, warps.program, warps.steps);
    let enough = if in_shared { ALIKE_IN_SHARED } else { ALIKE };
    // In memory, warps that do alike may be followed by others that do not.
    let working: usize = strata.iter().filter(|s| !s.is_idle).map(|s| s.pairs.len()).sum();
    let all_fit = !in_shared && part.of_warp.saturating_mul(working) <= enough_for_all;
    let mut sum = tally.take();
    let mut unseen = Unseen::default();
    let mut rest = warps.of_blocks() * warps.lanes.len() as f64;
    let (mut covered, mut run) = (0.0, 0);
    let mut kinds_left: usize = strata.iter().map(|stratum| stratum.kinds.len()).sum();
    for stratum in strata {
        let all: f64 = stratum.pairs.iter().map(|&pair| warps.weight(pair)).sum();
        // What kinds that do little do not use is left to those that do more.
        let share = most.saturating_sub(tally.spent) as f64 * all / rest.max(1.0);
        let (begin, mut done, mut weight) = (tally.spent, 0, 0.0);
        let (mut last, mut alike) = (None, 0);
        for &pair in &stratum.pairs {
            // Half of another warp must fit.
            let so_far = (tally.spent - begin) as f64;
            let full = done > 0 && so_far * (1.0 + 0.5 / done as f64) >= share;
            if full && !all_fit || run + done > 0 && !warps.may_go_on() {
                break;
            }
            warps.run(pair, tally)?;
            done += 1;
            weight += warps.weight(pair);
            alike = if last == Some(tally.done.get()) { alike + 1 } else { 1 };
            last = Some(tally.done.get());
            if alike == done && alike >= enough && !all_fit {
                break;
            }
        }
        let share = stratum.kinds.len() as f64 / kinds_left.max(1) as f64;
        kinds_left -= stratum.kinds.len();
        rest -= all;
        run += done;
        if done > 0 {
            covered += all;
            let mut some = tally.take();
            let passes = if done < stratum.pairs.len() {
                passes(warps, tally, &stratum, (all, share), &mut unseen)?
            } else {
                None
            };
            let times = match passes {
                Some(passes) => {
                    some.become_as_often(&passes, warps.program, &mut unseen);
                    1.0
                }
                None => all / weight,
            };
            sum.add_warps(&some, times);
        }
    }
    for (pair, instructions) in unseen.add_to(&mut sum) {
        if warps.may_go_on() {
            add_alone(warps, tally, part, (pair, &instructions), &mut sum)?;
        }
    }
    tally.counts = sum;
    Ok((covered, run))
}

/// Runs of a warp what no other that was run does, and adds what that costs.
fn add_alone(
    warps: &mut Warps,
    tally: &mut WarpTally<'_>,
    part: &ProgramPart,
    (pair, instructions): (Pair, &[Passed]),
    sum: &mut L1Counts,
) -> Result<(), NotRun> {
    let steps = part.steps_with(&|position| instructions.iter().any(|passed| passed.0 == position));
    let mut passed = tally.take();
    for (position, of_one) in instructions {
        // Warps of several strata may issue it.
        passed.instructions[*position].add(of_one, 1.0);
    }
    warps.run_steps(pair, &steps, tally)?;
    let mut alone = tally.take();
    alone.become_as_often(&passed, warps.program, &mut Unseen::default());
    sum.add_warps(&alone, 1.0);
    Ok(())
}

/// Whether steps access shared memory alone.
fn only_shared(kernel: &Kernel, program: &Program<i64>, steps: &[Step]) -> bool {
    steps.iter().all(|step| match step {
        Step::Sync => true,
        Step::Access(position) => kernel.field(program.instructions[*position].field).space == Space::Shared,
        Step::Loop(_, body) => only_shared(kernel, program, body),
    })
}

/// How often instructions are issued in all warps of a stratum, found for one warp of each of its kinds, the most numerous
/// first; `None` where there is one kind, or where those that may be passed are not even most of it.
fn passes(
    warps: &mut Warps,
    tally: &mut WarpTally<'_>,
    stratum: &Stratum,
    (all, share): (f64, f64),
    unseen: &mut Unseen,
) -> Result<Option<L1Counts>, NotRun> {
    if stratum.kinds.len() < 2 {
        return Ok(None);
    }
    let weight = |kind: &Vec<Pair>| kind.iter().map(|&pair| warps.weight(pair)).sum::<f64>();
    let mut kinds: Vec<(f64, Pair)> = stratum.kinds.iter().map(|kind| (weight(kind), kind[0])).collect();
    kinds.sort_by(|a, b| b.0.total_cmp(&a.0));
    let budget = MOST_PASSED.saturating_sub(tally.passed) as f64 * share;
    let (begin, mut covered, mut rest) = (tally.passed, 0.0, all);
    for (number, &(weight, pair)) in kinds.iter().enumerate() {
        let (passed, of_one) = ((tally.passed - begin) as f64, warps.longest_pass.max(1) as f64);
        let affordable = (budget - passed) / of_one;
        // Those that come are no more numerous than this one.
        let is_most = covered + weight * affordable.min((kinds.len() - number) as f64) > all / 2.0;
        if affordable < 1.0 || !is_most || !warps.may_go_on() {
            break;
        }
        let before = tally.passed;
        warps.pass(pair, weight, tally)?;
        unseen.note(pair, &tally.counts.instructions);
        warps.longest_pass = warps.longest_pass.max(tally.passed - before);
        covered += weight;
        rest -= weight;
    }
    let mut passes = tally.take();
    if covered > all / 2.0 && rest > 0.0 {
        let some = std::mem::replace(&mut passes, tally.take());
        passes.add_warps(&some, all / covered);
    }
    Ok((covered > all / 2.0).then_some(passes))
}
