//! Kernels in which all that a thread touches follows from its work items. Blocks of the same work items
//! then touch the same, however many threads share them.

use std::borrow::Cow;

use super::candidate::Candidate;
use super::geometry::Launch;
use super::program::Program;
use super::simplified::simplified;
use crate::expr::{Coefficient, Cond, Coord, Excess, Form, LaunchSizes, Scale};
use crate::kernel::{Access, Kernel, Loop, Space, Statement};
use crate::space::{Block, Fold, Grid};

impl Candidate {
    /// Along which dimensions a thread has one work item.
    pub fn one_item(&self) -> [bool; 3] {
        self.fold().map(|n| n == 1)
    }
}

impl Launch {
    /// The launch in which every work item has a thread of its own, in the same blocks.
    #[must_use]
    pub fn unfolded(&self) -> Self {
        let (block, fold) = (self.candidate.block(), self.candidate.fold());
        let block = Block::known(std::array::from_fn(|d| block[d].saturating_mul(fold[d])));
        let sizes = LaunchSizes { block, ..self.sizes };
        Self { candidate: Candidate::shaped(block, Fold::ONE), sizes, ..self.clone() }
    }
}

impl Program<Scale> {
    /// What one work item does, with a launch in blocks of a single one, if that says what it does in any
    /// launch: only in terms of work items and loops. Along dimensions that are `unfolded` a thread has one
    /// work item, and is it.
    pub fn of_item(kernel: &Kernel, unfolded: [bool; 3]) -> Option<(Launch, Self)> {
        if kernel.launch.grid.is_some() || kernel.launch.units_per_thread.is_some() {
            return None;
        }
        let kernel = simplified(kernel, unfolded).ok()?;
        let kernel = items_for_threads(&kernel, unfolded).ok()?;
        if !only_items(&kernel) {
            return None;
        }
        let candidate = Candidate::shaped(Block::ONE, Fold::ONE);
        let sizes = LaunchSizes { block: Block::ONE, grid: Grid::known(kernel.extents().into()) };
        let launch = Launch { candidate, sizes, registers: 1, registers_assumed: true, shared_bytes: 0 };
        Some((launch, Self::folded(&kernel, Fold::ONE).ok()?))
    }
}

/// The kernel with work items for threads along some dimensions.
fn items_for_threads(kernel: &Kernel, dims: [bool; 3]) -> Result<Cow<'_, Kernel>, Excess> {
    if dims == [false; 3] {
        return Ok(Cow::Borrowed(kernel));
    }
    let named = |coord| match coord {
        Coord::Thread(d) if dims[d.index()] => Some(Coord::Axis(d)),
        other => Some(other),
    };
    // Indices are as they were written.
    let form = |form: &Form<Scale>| form.with_threads()?.rename(&named);
    let body = renamed(&kernel.body, &form)?;
    let guard = kernel.guard.as_ref().map(|g| g.changed(&form)).transpose()?;
    let of_loop = |l: &Loop| Ok(Loop { from: form(&l.from)?, to: form(&l.to)?, ..l.clone() });
    let loops = kernel.loops.iter().map(of_loop).collect::<Result<_, Excess>>()?;
    Ok(Cow::Owned(Kernel { body, loops, guard, ..kernel.clone() }))
}

type Rename<'r> = &'r dyn Fn(&Form<Scale>) -> Result<Form<Scale>, Excess>;

fn renamed(body: &[Statement], form: Rename<'_>) -> Result<Vec<Statement>, Excess> {
    let one = |statement: &Statement| {
        Ok(match statement {
            Statement::Sync => Statement::Sync,
            Statement::Loop(id, inner) => Statement::Loop(*id, renamed(inner, form)?),
            Statement::Access(access) => Statement::Access(Access {
                element: form(&access.element)?,
                indices: match &access.indices {
                    Some(indices) => Some(indices.iter().map(form).collect::<Result<_, _>>()?),
                    None => None,
                },
                when: access.when.as_ref().map(|w| w.changed(form)).transpose()?,
                ..access.clone()
            }),
        })
    };
    body.iter().map(one).collect()
}

fn only_items(kernel: &Kernel) -> bool {
    kernel.guard.as_ref().is_none_or(cond_of_items)
        && kernel.loops.iter().all(|l| of_items(&l.from) && of_items(&l.to) && l.step.as_int().is_some())
        && all_accesses(&kernel.body, &|a| {
            a.when.as_ref().is_none_or(cond_of_items) && (is_shared(kernel, a) || is_plain(a))
        })
}

fn all_accesses(body: &[Statement], test: &dyn Fn(&Access) -> bool) -> bool {
    body.iter().all(|statement| match statement {
        Statement::Access(access) => test(access),
        Statement::Loop(_, inner) => all_accesses(inner, test),
        Statement::Sync => true,
    })
}

/// Shared memory has no lines.
fn is_shared(kernel: &Kernel, access: &Access) -> bool {
    kernel.field(access.field).space == Space::Shared
}

fn is_plain(access: &Access) -> bool {
    let mut indices = access.indices.iter().flat_map(|i| i.iter());
    of_items(&access.element) && indices.all(of_items)
}

/// Whether a form mentions neither threads and blocks nor their numbers.
fn of_items(form: &Form<Scale>) -> bool {
    form.is_fixed() && !form.mentions(&|c| !matches!(c, Coord::Axis(_) | Coord::Loop(_)))
}

fn cond_of_items(cond: &Cond<Scale>) -> bool {
    match cond {
        Cond::Const(_) => true,
        Cond::NonNegative(form) | Cond::Zero(form) => of_items(form),
        Cond::All(parts) | Cond::Any(parts) => parts.iter().all(cond_of_items),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::load;

    fn kernel(index: &str) -> Kernel {
        let text = format!(
            "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f64, size: 1000}}}}\ndomain: {{x: 100, y: 4}}\n\
             guard: {index} > 3\nbody: ['load a[{index} + 100*y]']\n"
        );
        load("k", &text, &Default::default()).unwrap().kernels.remove(0)
    }

    #[test]
    fn threads_with_one_work_item_are_that_item() {
        let of = |index: &str, unfolded| Program::of_item(&kernel(index), unfolded);
        let plain = of("x", [false; 3]).unwrap();
        for index in ["tidx", "(blockIdx.x*blockDim.x + threadIdx.x)"] {
            assert_eq!(of(index, [true; 3]).unwrap().1, plain.1, "{index}");
            assert_eq!(of(index, [true, false, false]).unwrap().1, plain.1, "{index}");
            assert!(of(index, [false, true, true]).is_none(), "{index}");
        }
        assert!(of("(threadIdx.x + 1)", [true; 3]).is_none());
    }
}
