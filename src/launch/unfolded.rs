//! Kernels in which all that a thread touches follows from its work items. Blocks of the same work items
//! then touch the same, however many threads share them.

use super::candidate::{Candidate, Launch};
use super::program::Program;
use super::simplified::simplified;
use crate::expr::{Coefficient, Cond, Coord, Form, LaunchSizes, Scale};
use crate::kernel::{Access, Kernel, Space, Statement};

impl Launch {
    /// The launch in which every work item has a thread of its own, in the same blocks.
    #[must_use]
    pub fn unfolded(&self) -> Self {
        let Candidate { block, fold } = self.candidate;
        let block = std::array::from_fn(|d| block[d].saturating_mul(fold[d]));
        let sizes = LaunchSizes { block, ..self.sizes };
        Self { candidate: Candidate { block, fold: [1; 3] }, sizes, ..self.clone() }
    }
}

impl Program<Scale> {
    /// What one work item does, with a launch in blocks of a single one, if that says what it does in any
    /// launch: only in terms of work items and loops.
    pub fn of_item(kernel: &Kernel) -> Option<(Launch, Self)> {
        let kernel = simplified(kernel, None).ok()?;
        if !only_items(&kernel) {
            return None;
        }
        let candidate = Candidate { block: [1; 3], fold: [1; 3] };
        let sizes = LaunchSizes { block: [1; 3], grid: kernel.extents() };
        let launch = Launch { candidate, sizes, registers: 1, registers_assumed: true, shared_bytes: 0 };
        Some((launch, Self::folded(&kernel, [1; 3]).ok()?))
    }
}

fn only_items(kernel: &Kernel) -> bool {
    kernel.launch.grid.is_none()
        && kernel.launch.units_per_thread.is_none()
        && kernel.guard.as_ref().is_none_or(cond_of_items)
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
