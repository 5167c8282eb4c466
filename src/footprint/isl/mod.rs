//! Sets of threads and maps from threads to addresses as isl knows them.
//!
//! Everything goes through isl's functions, never through formatted text, and through the wrapper in
//! `session`, which makes the hazards of the bindings impossible.

mod build;
mod count;
mod digits;
mod image;
mod session;
mod show;

pub use session::IslError;
pub use show::{ShownSets, show_sets};

use super::Budget;
use super::query::{Query, Refusal};
use crate::effort::{is_limited, left, spend};

/// Operations of the first try.
const FIRST: u64 = 1 << 9;

/// Distinct lines of a query within a quota of elementary operations and the steps that are left.
pub(super) fn count_within(query: &Query, budget: &Budget) -> Result<u128, Refusal> {
    let (quota, steps) = (budget.operations, budget.steps_of_operation.max(1));
    let of = |quota| count::count(query, quota).map_err(|e| refusal(&e));
    if !is_limited() {
        return of(quota);
    }
    // isl does not say how many operations it used. So it is asked again and again, each time with more of
    // them: what they cost then is known about.
    let mut allowed = FIRST;
    loop {
        let now = allowed.min(quota).min(left() / steps);
        if now == 0 {
            return Err(Refusal::Spent);
        }
        spend(now.saturating_mul(steps))?;
        match of(now) {
            Err(Refusal::Isl) if now < quota => allowed *= 4,
            other => return other,
        }
    }
}

/// What an error means to one who wants a count.
pub(super) fn refusal(error: &IslError) -> Refusal {
    match error {
        IslError::Quota => Refusal::Isl,
        IslError::Unsupported(_) | IslError::Unbounded | IslError::Library(_) => Refusal::NotIsl,
    }
}
