//! Programs of which a part is affine: accesses of shared memory that all lanes make alike are counted from
//! their addresses, for all warps, and only the rest is run lane by lane, where the budget then goes further.

use super::affine;
use super::counts::L1Counts;
use super::lockstep;
use super::pipe::Pipe;
use super::plan::AffinePlan;
use crate::expr::{Coord, Term};
use crate::kernel::{Kernel, Space};
use crate::launch::{Instruction, Launch, NotRun, Program, Step, Working};
use crate::quantity::ItemCount;

/// Counts both parts; `None` where no access of shared memory can be told from the rest.
pub fn count(
    kernel: &Kernel,
    launch: &Launch,
    program: &Program<i64>,
    pipe: &Pipe,
) -> Option<Result<L1Counts, NotRun>> {
    if !is_even(kernel, launch, program) {
        return None;
    }
    let is_regular = |i: &Instruction<i64>| kernel.field(i.field).space == Space::Shared && regular(i);
    let chosen: Vec<bool> = program.instructions.iter().map(is_regular).collect();
    let (regular, rest) = part(&program.steps, &chosen, program);
    if regular.is_empty() || rest.is_empty() || !is_costly(launch, &chosen) {
        return None;
    }
    let regular = Program { steps: regular, ..program.clone() };
    let rest = Program { steps: rest, ..program.clone() };
    let planned = affine::count(&AffinePlan::new(kernel, launch, &regular, pipe)?, pipe);
    Some(planned.and_then(|planned| {
        let mut counts = lockstep::run_once(kernel, launch, &rest, pipe)?;
        merge(&mut counts, &planned);
        counts.add_up(kernel, program, pipe);
        Ok(counts)
    }))
}

/// Whether all blocks do the same, so that one stands for all: nothing chooses among threads or blocks, and the domain
/// cuts none.
fn is_even(kernel: &Kernel, launch: &Launch, program: &Program<i64>) -> bool {
    let cuts = |d: usize| {
        let of_block = launch.sizes.block[d].saturating_mul(program.fold[d]).max(1);
        kernel.extents()[d] % of_block != 0
    };
    let clipped = program.instructions.iter().any(|i| i.clipped);
    program.items.iter().all(|item| item.guard.is_none())
        && !(clipped && (0..3).any(cuts))
        && Working::new(kernel, launch, program).is_even()
}

/// Whether running the chosen accesses would take more than may be run: otherwise that is as exact, and needs no
/// parting.
fn is_costly(launch: &Launch, chosen: &[bool]) -> bool {
    let accesses = chosen.iter().filter(|&&c| c).count();
    let blocks = usize::try_from(launch.blocks().min(lockstep::MOST_BLOCKS)).unwrap_or(usize::MAX);
    let threads = usize::try_from(launch.threads_per_block()).unwrap_or(usize::MAX);
    accesses.saturating_mul(threads).saturating_mul(blocks) > lockstep::MOST_ACCESSES
}

/// Whether an access has an affine address and no condition.
fn regular(instruction: &Instruction<i64>) -> bool {
    let is_affine = |term: &Term<i64>| {
        matches!(term, Term::Coord(Coord::ThreadIdx(_) | Coord::BlockIdx(_) | Coord::Loop(_)))
    };
    instruction.when.is_none() && instruction.element.terms().iter().all(|(term, _)| is_affine(term))
}

/// The steps with the chosen accesses in loops of a known length, and the others. Both keep barriers.
fn part(steps: &[Step], chosen: &[bool], program: &Program<i64>) -> (Vec<Step>, Vec<Step>) {
    let (mut regular, mut rest) = (Vec::new(), Vec::new());
    for step in steps {
        match step {
            Step::Sync => {
                regular.push(Step::Sync);
                rest.push(Step::Sync);
            }
            Step::Access(position) if chosen[*position] => regular.push(step.clone()),
            Step::Access(_) => rest.push(step.clone()),
            Step::Loop(id, body) => {
                let range = &program.loops[usize::from(id.0)];
                if range.from.as_constant().is_none() || range.to.as_constant().is_none() {
                    rest.push(step.clone());
                    continue;
                }
                let (inner, others) = part(body, chosen, program);
                for (body, into) in [(inner, &mut regular), (others, &mut rest)] {
                    if has_access(&body) {
                        into.push(Step::Loop(*id, body));
                    }
                }
            }
        }
    }
    let none = |steps: Vec<Step>| if has_access(&steps) { steps } else { Vec::new() };
    (none(regular), none(rest))
}

fn has_access(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Step::Access(_) => true,
        Step::Sync => false,
        Step::Loop(_, body) => has_access(body),
    })
}

/// Adds what was planned for a whole block to what the blocks that were run do on average.
fn merge(counts: &mut L1Counts, planned: &L1Counts) {
    let has_items = planned.work_items > ItemCount::ZERO && counts.work_items > ItemCount::ZERO;
    let scale = if has_items { counts.work_items / planned.work_items } else { 1.0 };
    for (into, of) in counts.instructions.iter_mut().zip(&planned.instructions) {
        into.add(of, scale);
    }
    counts.warps = counts.warps.max(planned.warps * scale);
}
