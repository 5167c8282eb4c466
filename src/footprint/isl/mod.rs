//! Sets of threads and maps from threads to addresses as isl knows them.
//!
//! Everything goes through isl's functions, never through formatted text, and through the wrapper in
//! `session`, which makes the hazards of the bindings impossible.

mod build;
mod count;
mod session;
mod show;

pub(super) use count::count;
pub use session::IslError;
pub use show::{ShownSets, show_sets};
