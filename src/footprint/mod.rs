//! Footprints: how many distinct lines a set of threads touches through a set of accesses.
//!
//! A [`Query`] is a union of boxes of threads under accesses; [`count`] answers it exactly or says
//! why not. The closed form answers what is affine at a cost that does not depend on the number of
//! threads; enumeration answers everything that is small.

mod enumerate;
mod grid;
#[cfg(feature = "isl")]
mod isl;
mod linear;
mod pattern;
mod query;
mod region;
mod rows;
mod runs;
mod split;
mod threads;

#[cfg(feature = "isl")]
pub use isl::{IslError, ShownSets, show_sets};
pub use query::{Engine, Piece, Query, Range, Ranges, Refusal};
pub use threads::{Addressing, Threads, Touched};

/// Most points that enumeration visits.
pub const ENUMERATION_BUDGET: u128 = 1 << 22;
/// Most elementary operations of isl for one count.
#[cfg(feature = "isl")]
const ISL_QUOTA: u64 = 20_000_000;

/// Distinct lines of a query, and the engine that counted them: the cheapest that can.
pub fn count(query: &Query) -> Result<(u128, Engine), Refusal> {
    let mut why = Refusal::Budget;
    for engine in [Engine::Linear, Engine::Runs, Engine::Enumeration, Engine::Isl] {
        match count_with(query, engine) {
            Ok(lines) => return Ok((lines, engine)),
            Err(refusal) => why = refusal,
        }
    }
    Err(why)
}

/// Distinct lines as one engine counts them, or why it does not.
pub fn count_with(query: &Query, engine: Engine) -> Result<u128, Refusal> {
    match engine {
        Engine::Linear => linear::count(query),
        Engine::Runs => runs::count(query),
        Engine::Enumeration => enumerate::count(query, ENUMERATION_BUDGET),
        #[cfg(feature = "isl")]
        Engine::Isl => isl::count(query, ISL_QUOTA).map_err(|_| Refusal::Isl),
        #[cfg(not(feature = "isl"))]
        Engine::Isl => Err(Refusal::Isl),
    }
}
