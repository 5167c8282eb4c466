//! Kernels in which all that a thread touches follows from its work items. Blocks of the same work items
//! then touch the same, however many threads share them.

use std::borrow::Cow;

use super::actions::Actions;
use super::candidate::Candidate;
use super::geometry::Launch;
use super::program::Program;
use crate::expr::{Alike, Coefficient, Cond, Coord, Excess, Form, LaunchSizes, Scale};
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
    /// What one work item does, of a kernel said simply, with a launch in blocks of a single one, if that says what it does in any
    /// launch: only in terms of work items and loops. Along dimensions that are `unfolded` a thread has one
    /// work item, and is it.
    pub(crate) fn of_item(simple: &Actions<'_>, unfolded: [bool; 3]) -> Option<(Launch, Self)> {
        let kernel = simple.kernel;
        if kernel.launch.grid.is_some() || kernel.launch.units_per_thread.is_some() {
            return None;
        }
        let of_items = items_for_threads(simple, unfolded)?;
        let candidate = Candidate::shaped(Block::ONE, Fold::ONE);
        let sizes = LaunchSizes { block: Block::ONE, grid: Grid::known(kernel.extents().into()) };
        let launch = Launch { candidate, sizes, registers: 1, registers_assumed: true, shared_bytes: 0 };
        Some((launch, Self::of_actions(&of_items, Fold::ONE).ok()?))
    }
}

/// What a kernel does, with work items for threads along some dimensions; `None` if it then still mentions threads,
/// blocks or their numbers.
fn items_for_threads<'k>(simple: &Actions<'k>, dims: [bool; 3]) -> Option<Actions<'k>> {
    let named = |coord| match coord {
        Coord::Thread(d) if dims[d.index()] => Some(Coord::Axis(d)),
        other => Some(other),
    };
    // Indices are as they were written.
    let form = |form: &Form<Scale>| match dims {
        [false, false, false] => Ok(form.clone()),
        _ => form.with_threads()?.rename(&named),
    };
    let (kernel, alike) = (simple.kernel, Alike::new());
    let guard = simple.guard().map(|g| g.changed(&form)).transpose().ok()?;
    // A loop runs as a thread says, which has one work item here and is known by its place.
    let bound = |bound: &Form<Scale>| {
        let by_item = form(bound).ok()?;
        of_items(&by_item).then(|| by_item.rename(&threads_for_items).ok())?
    };
    let of_loop = |l: &Loop| {
        let of_loop = Loop { from: bound(&l.from)?, to: bound(&l.to)?, ..l.clone() };
        of_loop.step.as_int().is_some().then_some(of_loop)
    };
    let loops: Vec<Loop> = simple.loops.iter().map(of_loop).collect::<Option<_>>()?;
    if !guard.as_ref().is_none_or(cond_of_items) {
        return None;
    }
    let body = renamed(kernel, &simple.body, &|of| alike.change(of, form))?;
    Some(Actions { kernel, body: Cow::Owned(body), loops: Cow::Owned(loops), guard: guard.map(Cow::Owned) })
}

#[expect(clippy::unnecessary_wraps, reason = "a renaming may leave coordinates out")]
fn threads_for_items(coord: Coord) -> Option<Coord> {
    match coord {
        Coord::Axis(d) => Some(Coord::Thread(d)),
        other => Some(other),
    }
}

type Rename<'r> = &'r dyn Fn(&Form<Scale>) -> Result<Form<Scale>, Excess>;

fn renamed(kernel: &Kernel, body: &[Statement], form: Rename<'_>) -> Option<Vec<Statement>> {
    let one = |statement: &Statement| {
        Some(match statement {
            Statement::Sync => Statement::Sync,
            Statement::Loop(id, inner) => Statement::Loop(*id, renamed(kernel, inner, form)?),
            Statement::Access(access) => {
                let element = form(&access.element).ok()?;
                let indices = match &access.indices {
                    Some(indices) => Some(indices.iter().map(form).collect::<Result<_, _>>().ok()?),
                    None => None,
                };
                let when = access.when.as_ref().map(|w| w.changed(form)).transpose().ok()?;
                let &Access { kind, field, width, by_item, per_item_address, span, .. } = access;
                let access =
                    Access { kind, field, element, indices, width, when, by_item, per_item_address, span };
                let known = access.when.as_ref().is_none_or(cond_of_items)
                    && (is_shared(kernel, &access) || is_plain(&access));
                return known.then_some(Statement::Access(access));
            }
        })
    };
    body.iter().map(one).collect()
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
        let of = |index: &str, unfolded| {
            let kernel = kernel(index);
            Program::of_item(&Actions::simplified(&kernel, unfolded).unwrap(), unfolded)
        };
        let plain = of("x", [false; 3]).unwrap();
        for index in ["tidx", "(blockIdx.x*blockDim.x + threadIdx.x)"] {
            assert_eq!(of(index, [true; 3]).unwrap().1, plain.1, "{index}");
            assert_eq!(of(index, [true, false, false]).unwrap().1, plain.1, "{index}");
            assert!(of(index, [false, true, true]).is_none(), "{index}");
        }
        assert!(of("(threadIdx.x + 1)", [true; 3]).is_none());
    }
}
