//! Footprints: how many distinct lines a set of threads touches through a set of accesses.
//!
//! A [`Query`] is a union of boxes of threads under accesses; [`count`] answers it exactly or says
//! why not. The closed form answers what is affine at a cost that does not depend on the number of
//! threads; enumeration answers everything that is small.

mod enumerate;
#[cfg(feature = "isl")]
mod isl;
mod linear;
mod query;
mod rows;
mod threads;

#[cfg(feature = "isl")]
pub use isl::{IslError, ShownSets, show_sets};
pub use query::{Engine, Piece, Query, Refusal};
pub use threads::{Addressing, Threads};

/// Most points that enumeration visits unless told otherwise.
pub const ENUMERATION_BUDGET: u128 = 1 << 22;

/// Distinct lines of a query, and the engine that counted them: the first that can.
pub fn count(query: &Query) -> Result<(u128, Engine), Refusal> {
    count_with(query, Engine::Linear)
        .map(|lines| (lines, Engine::Linear))
        .or_else(|_| count_with(query, Engine::Enumeration).map(|lines| (lines, Engine::Enumeration)))
}

/// Distinct lines as one engine counts them, or why it does not.
pub fn count_with(query: &Query, engine: Engine) -> Result<u128, Refusal> {
    match engine {
        Engine::Linear => linear::count(query),
        Engine::Enumeration => enumerate::count(query, ENUMERATION_BUDGET),
    }
}
