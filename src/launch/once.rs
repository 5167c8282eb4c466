//! Loops that a launch makes run once in every thread: what they do, without the loop. Blocks that are as long as a step
//! make such loops of `threadIdx.x..N`. Compilers leave them out, so that both have to be counted alike.

use super::geometry::Launch;
use super::program::{Instruction, Program, ProgramLoop, Step};
use crate::expr::{Cond, Coord, Excess, Form, LoopId, Scale};

impl Program<Scale> {
    /// The program without one of the loops that run once in this launch; `None` if there are none. `at` is the same
    /// program with the sizes of the launch put in.
    pub(super) fn with_loop_put_in(
        &self,
        launch: &Launch,
        at: &Program<i64>,
    ) -> Result<Option<Self>, Excess> {
        let Some(id) = single(&at.steps, &|id| runs_once(&at.loops[usize::from(id.0)], launch)) else {
            return Ok(None);
        };
        let number = usize::from(id.0);
        let value = &self.loops[number].from;
        let with = |c| (c == Coord::Loop(id)).then(|| value.clone());
        // Threads by their place in the grid, as documents without the loop name them.
        let put_in = |form: &Form<Scale>| form.substitute(&with)?.with_threads();
        let within = |c| match (c, self.within) {
            (Coord::Thread(d), Some(domain)) => Some((0, domain[d.index()] - 1)),
            _ => None,
        };
        let mut program = self.clone();
        for other in &mut program.loops {
            (other.from, other.to) = (put_in(&other.from)?, put_in(&other.to)?);
        }
        // What remains of the loop itself has no meaning.
        program.loops[number] =
            ProgramLoop { from: Form::int(0), to: Form::int(0), step: self.loops[number].step.clone() };
        for instruction in &mut program.instructions {
            *instruction = Instruction {
                element: put_in(&instruction.element)?,
                written: match &instruction.written {
                    Some(indices) => Some(indices.iter().map(put_in).collect::<Result<_, _>>()?),
                    None => None,
                },
                when: match &instruction.when {
                    Some(when) => {
                        Some(when.changed(&put_in)?.within(&within)?).filter(|w| *w != Cond::Const(true))
                    }
                    None => None,
                },
                ..instruction.clone()
            };
        }
        program.steps = without(id, program.steps);
        Ok(Some(program))
    }
}

/// The first loop, from the outermost on, of which this holds.
fn single(steps: &[Step], holds: &dyn Fn(LoopId) -> bool) -> Option<LoopId> {
    steps.iter().find_map(|step| match step {
        Step::Loop(id, _) if holds(*id) => Some(*id),
        Step::Loop(_, inner) => single(inner, holds),
        Step::Access(_) | Step::Sync => None,
    })
}

/// Whether a loop runs once, in whatever thread.
fn runs_once(of_loop: &ProgramLoop<i64>, launch: &Launch) -> bool {
    let sizes = &launch.sizes;
    let within = |coord| match coord {
        Coord::ThreadIdx(d) => Some((0, sizes.block[d.index()] - 1)),
        Coord::BlockIdx(d) => Some((0, sizes.grid[d.index()] - 1)),
        Coord::Thread(d) => Some((0, sizes.block[d.index()].checked_mul(sizes.grid[d.index()])? - 1)),
        Coord::Axis(_) | Coord::Loop(_) => None,
    };
    let distance =
        if of_loop.step > 0 { of_loop.to.minus(&of_loop.from) } else { of_loop.from.minus(&of_loop.to) };
    // A distance that is too large to be written down is none of a single iteration.
    let Some((least, most)) = distance.ok().and_then(|d| d.interval(&within)) else { return false };
    least >= 0 && most < of_loop.step.abs()
}

/// The steps, with those of a loop in the place of the loop.
fn without(id: LoopId, steps: Vec<Step>) -> Vec<Step> {
    let mut out = Vec::with_capacity(steps.len());
    for step in steps {
        match step {
            Step::Loop(found, inner) if found == id => out.extend(inner),
            Step::Loop(other, inner) => out.push(Step::Loop(other, without(id, inner))),
            step => out.push(step),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::load;
    use crate::launch::Candidate;
    use crate::space::Fold;

    /// The programs of two bodies in one launch.
    fn programs(bodies: [&str; 2], block: [i64; 3]) -> [Program<i64>; 2] {
        bodies.map(|body| {
            let text = format!(
                "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f32, shape: [100, 100]}}, b: {{like: a}}}}\n\
                 domain: {{x: 64, y: 64}}\nbody: {body}\nlaunch: {{block: [[32, 8]]}}\n"
            );
            let kernel = load("k", &text, &Default::default()).unwrap().kernels.remove(0);
            let launch = Launch::new(&kernel, Candidate::new(block, [1; 3]).unwrap()).unwrap();
            Program::folded(&kernel, Fold::ONE).unwrap().at(&launch).unwrap()
        })
    }

    #[test]
    fn loops_that_run_once_are_gone() {
        let start = "[{loop: {j: {from: threadIdx.y, to: 7, step: 8}}, body: [{loop: {i: {from: threadIdx.x + 2, to: \
                     33, step: 32}}, body: ['load a[i, j]']}]}, sync, 'store b[x, y]']";
        let stride = "[{loop: {j: {from: blockDim.y*blockIdx.y, to: 63, step: blockDim.y*gridDim.y}}, body: [{at: 'load \
                      a[x, j + threadIdx.y]', when: 'j + threadIdx.y < 64'}]}, sync, 'store b[x, y]']";
        for (flat, looped) in [("load a[threadIdx.x + 2, threadIdx.y]", start), ("load a[x, tidy]", stride)] {
            let flat = format!("['{flat}', sync, 'store b[x, y]']");
            let [flat, looped] = programs([&flat, looped], [32, 8, 1]);
            assert_eq!(flat.steps, looped.steps);
            for (one, other) in flat.instructions.iter().zip(&looped.instructions) {
                assert_eq!((&one.element, &one.written), (&other.element, &other.written));
                assert_eq!(one.when, other.when);
            }
        }
    }

    #[test]
    fn loops_that_run_twice_in_a_thread_or_not_at_all_stay() {
        for to in ["1", "33", "30 + tidy"] {
            let body = format!(
                "[{{loop: {{i: {{from: threadIdx.x, to: {to}, step: 32}}}}, body: ['load a[i, y]']}}, 'store b[x, y]']"
            );
            let [program, _] = programs([&body, &body], [32, 8, 1]);
            assert!(matches!(program.steps[0], Step::Loop(..)), "{to}");
        }
    }
}
