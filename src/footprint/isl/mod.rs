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

pub(super) use count::count;
pub use session::IslError;
pub use show::{ShownSets, show_sets};

use super::query::Refusal;

/// What an error means to one who wants a count.
pub(super) fn refusal(error: &IslError) -> Refusal {
    match error {
        IslError::Quota => Refusal::Isl,
        IslError::Unsupported(_) | IslError::Unbounded | IslError::Library(_) => Refusal::NotIsl,
    }
}
