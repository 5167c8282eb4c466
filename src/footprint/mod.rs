//! Footprints: how many distinct lines a set of threads touches through a set of accesses.
//!
//! A [`Query`] is a union of boxes of threads under accesses; a [`Counter`] answers it exactly or says
//! why not. The closed form answers what is affine at a cost that does not depend on the number of
//! threads; enumeration answers everything that is small.

mod addresses;
mod along;
mod apart;
mod arms;
mod bounded;
mod boxes;
mod cells;
mod clamped;
mod continued;
mod counter;
mod cover;
mod cuts;
mod dense;
mod digits;
mod division;
mod engine;
mod enumerate;
mod grid;
mod intervals;
#[cfg(feature = "isl")]
mod isl;
mod iterations;
mod linear;
mod lone;
mod pattern;
mod placed;
mod points;
mod progression;
mod query;
mod ranges;
mod reach;
mod reached;
mod region;
mod remembered;
mod rows;
mod runs;
mod sampling;
mod split;
mod spread;
mod steps;
mod sum;
mod threads;

pub use counter::{Counter, LineCount, Uncounted};
pub(crate) use division::{gcd, quotient, remainder};
pub use engine::{Engine, UnknownEngine};
#[cfg(feature = "isl")]
pub use isl::{IslError, ShownSets, show_sets};
pub use query::{CoordRange, CoordRanges, Piece, Query, Refusal};
pub use threads::{Addressing, FieldTouches, Threads};

/// How much an engine may do before it gives up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Most points that enumeration visits.
    pub points: u128,
    /// Most segments that runs follow.
    pub segments: u64,
    /// Most elementary operations of isl; fewer where the steps of the launch allow no more.
    pub operations: u64,
    /// Steps of a launch that such an operation counts for; whoever asks for isl means it.
    pub steps_of_operation: u64,
    /// Lines that sampling looks for.
    pub samples: u32,
}

impl Default for Budget {
    /// A second for most engines; isl takes five to a hundred microseconds for an operation.
    fn default() -> Self {
        Self {
            points: 1 << 22,
            segments: 1 << 25,
            operations: 20_000_000,
            steps_of_operation: 4000,
            samples: 1 << 14,
        }
    }
}

/// Distinct lines of a query, and the engine that counted them: the cheapest exact one that can.
pub fn count(query: &Query) -> Result<(u128, Engine), Refusal> {
    let mut why = Refusal::Budget;
    for engine in Engine::ALL.into_iter().filter(|e| e.is_exact()) {
        match count_with(query, engine) {
            Ok(lines) => return Ok((lines, engine)),
            Err(refusal) => why = refusal,
        }
    }
    Err(why)
}

/// Distinct lines as one engine counts them, or why it does not.
pub fn count_with(query: &Query, engine: Engine) -> Result<u128, Refusal> {
    count_within(query, engine, &Budget::default()).map(|count| count.lines)
}

/// What one engine counts within a budget.
fn count_within(query: &Query, engine: Engine, budget: &Budget) -> Result<LineCount, Refusal> {
    if query.line < 1 {
        return Err(Refusal::Line);
    }
    let lines = match engine {
        Engine::Linear => linear::count(query),
        Engine::Runs => runs::count(query, budget.segments),
        Engine::Enumeration => enumerate::count(query, budget.points),
        #[cfg(feature = "isl")]
        Engine::Isl => isl::count_within(query, budget),
        #[cfg(not(feature = "isl"))]
        Engine::Isl => Err(Refusal::Missing),
        Engine::Sampling => return sampling::count(query, budget.samples),
    };
    Ok(LineCount { lines: lines?, engine, verified_by: None, interval_lines: None })
}
