//! What is known of kernels whatever the launch and the device: programs ask for launches of one kernel again and again,
//! and finding this out takes longer than the rest of a prediction.
//!
//! What is remembered follows from the kernel and the way of counting alone. Each part has steps of its own, so that
//! it makes no difference but for the time whether something was remembered.

use std::sync::{Arc, Mutex, OnceLock};

use super::work_part::WorkPart;
use crate::effort::{self, stopped};
use crate::expr::{Excess, Scale};
use crate::kernel::Kernel;
use crate::launch::{Actions, Program};
use crate::space::Fold;
use crate::traffic::{Counting, WorkItems};

/// Kernels that are remembered, and folds of each. Together with [`MOST_STATEMENTS`] some 20 MB at most.
const KERNELS: usize = 16;
const FOLDS: usize = 16;
/// Statements of a kernel that is remembered at most.
const MOST_STATEMENTS: usize = 100;

/// What is known of one kernel.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// By the dimensions along which threads have one work item.
    items: [OnceLock<Option<Arc<WorkItems>>>; 8],
    programs: Mutex<Vec<(Fold, Arc<Program<Scale>>)>>,
}

/// A kernel by its number, and how its lines are counted.
type Key = (u64, Counting);

impl Known {
    /// What is known of a kernel so far: nothing where it is large, or where another thread is asking.
    pub(super) fn remembered(kernel: &Kernel, counting: &Counting) -> Arc<Self> {
        static KNOWN: Mutex<Vec<(Key, Arc<Known>)>> = Mutex::new(Vec::new());
        let key = (kernel.identity.number(), *counting);
        // In a process that was forked off nobody may ever open the lock.
        let Some(mut known) = KNOWN.try_lock().ok().filter(|_| kernel.body.len() <= MOST_STATEMENTS) else {
            return Arc::default();
        };
        if let Some((_, found)) = known.iter().find(|k| k.0 == key) {
            return Arc::clone(found);
        }
        if known.len() >= KERNELS {
            known.remove(0);
        }
        let new = Arc::<Self>::default();
        known.push((key, Arc::clone(&new)));
        new
    }

    /// What work items touch in launches whose threads have one of them along some dimensions; `None` if more of the
    /// launch matters.
    pub(super) fn items(
        &self,
        kernel: &Kernel,
        along: [bool; 3],
        counting: &Counting,
    ) -> Option<Arc<WorkItems>> {
        let number = along.iter().fold(0, |number, &one| 2 * number + usize::from(one));
        let place = &self.items[number];
        if let Some(known) = place.get() {
            return known.clone();
        }
        // Made before anybody is kept out.
        let steps = WorkPart::Footprints.steps(kernel.steps);
        let simple = || Actions::simplified(kernel, along).ok();
        let made = effort::within(steps, || WorkItems::unfolded(&simple()?, along, counting)).map(Arc::new);
        // What was stopped on the way is to be thrown away.
        if stopped() { made } else { place.get_or_init(|| made).clone() }
    }

    /// The folded program of a fold.
    pub(super) fn program(&self, kernel: &Kernel, fold: Fold) -> Result<Arc<Program<Scale>>, Excess> {
        let known = |all: &Vec<(Fold, Arc<_>)>| all.iter().find(|k| k.0 == fold).map(|k| Arc::clone(&k.1));
        if let Some(program) = self.programs.try_lock().ok().and_then(|all| known(&all)) {
            return Ok(program);
        }
        let steps = WorkPart::Program.steps(kernel.steps);
        let made = Arc::new(effort::within(steps, || Program::folded(kernel, fold))?);
        if let Ok(mut all) = self.programs.try_lock()
            && all.len() < FOLDS
            && !stopped()
        {
            all.push((fold, Arc::clone(&made)));
        }
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;
    use crate::launch::candidates;
    use crate::predict::Estimator;

    /// Another kernel, or the same one changed, is not taken for one that is known, however many there are.
    #[test]
    fn what_is_known_of_a_kernel_is_its_own() {
        let device = device::find("a100", &[]).unwrap();
        let of = |size: i64| {
            let text = format!(
                "{{wavecast: 1, kernel: k, params: {{N: {size}}}, fields: {{a: {{dtype: f64, size: 2*N}}}},
                domain: {{x: N}}, loads: ['a[x]', 'a[x + N]'], launch: {{block: {{x: 64}}, fold: [[1], [2]]}}}}"
            );
            crate::kernel::load("k", &text, &Default::default()).unwrap().kernels.remove(0)
        };
        let kernels: Vec<Kernel> = (1..=2 * i64::try_from(KERNELS).unwrap()).map(|n| of(n * 4096)).collect();
        for turn in 0..3 {
            for kernel in &kernels {
                for candidate in candidates(kernel) {
                    let again = Estimator::new(kernel, &device).predict(candidate).unwrap();
                    // A copy is another kernel, of which nothing is known.
                    let copy = kernel.clone();
                    let first = Estimator::new(&copy, &device).predict(candidate).unwrap();
                    assert_eq!(again.summary, first.summary, "{turn}");
                }
            }
        }
    }

    #[test]
    fn the_same_kernel_is_found_again() {
        let text =
            "{wavecast: 1, kernel: k, fields: {a: {dtype: f64, size: 64}}, domain: {x: 64}, loads: ['a[x]']}";
        let kernel = crate::kernel::load("k", text, &Default::default()).unwrap().kernels.remove(0);
        let counting = Counting::default();
        for _ in 0..100 {
            // Tests of other threads may be asking.
            let [one, other] = [(); 2].map(|()| Known::remembered(&kernel, &counting));
            if Arc::ptr_eq(&one, &other) {
                return;
            }
        }
        panic!("it was never found again");
    }
}
