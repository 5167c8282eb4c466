//! What is counted: boxes of points and the bytes that each point touches; and why an engine does not
//! count it.

use std::sync::Arc;

use crate::effort::Spent;
use crate::expr::{Cond, Coord, Form};

/// A variable with its first and last value; never empty.
pub type CoordRange = (Coord, i64, i64);
/// The variables of a box.
pub type CoordRanges = Arc<[CoordRange]>;

/// A box of threads (and loop iterations) under one access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The array; arrays do not share lines.
    pub array: usize,
    /// The variables. Shared: many accesses are made by the same threads.
    pub ranges: CoordRanges,
    /// Only points for which this holds.
    pub when: Option<Cond<i64>>,
    /// First byte that a point touches. Shared: many threads make the same access.
    pub address: Arc<Form<i64>>,
    /// Bytes touched from there on; at least 1.
    pub width: i64,
}

impl Piece {
    /// Whether it is known to be another piece, moved by the difference of the constants of their addresses.
    pub(super) fn is_moved(&self, other: &Self) -> bool {
        self.address.shares_terms(&other.address)
            && (self.array, self.width) == (other.array, other.width)
            && self.ranges == other.ranges
            && self.when == other.when
    }

    /// Number of points of the box, before `when`.
    pub fn points(&self) -> u128 {
        self.ranges.iter().map(|r| u128::from(r.2.abs_diff(r.1)) + 1).product()
    }
}

/// How many distinct lines do these pieces touch?
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The pieces; their union is counted.
    pub pieces: Vec<Piece>,
    /// Bytes of a line.
    pub line: i64,
}

impl From<Spent> for Refusal {
    fn from(_: Spent) -> Self {
        Refusal::Spent
    }
}

/// Why an engine did not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The address is not affine.
    #[error("the address is not affine")]
    NotAffine,
    /// Points are chosen by a condition.
    #[error("a condition chooses the points")]
    Conditional,
    /// The strides do not nest as those of an array do.
    #[error("the strides do not nest")]
    Strides,
    /// An access was written as a pointer, so that it has no indices.
    #[error("an access in pointer form has no grid address")]
    NotGrid,
    /// isl used up its quota of operations.
    #[error("isl gave no answer within its quota")]
    Isl,
    /// isl has no form for it, as for tables, or reported an error.
    #[error("isl cannot express it")]
    NotIsl,
    /// This program was built without the engine.
    #[error("this program was built without it")]
    Missing,
    /// It would take too long.
    #[error("there are more points than the budget allows")]
    Budget,
    /// It would take more steps than the launch has left.
    #[error("it takes more steps than are left")]
    Spent,
    /// A line must have a byte.
    #[error("a line must have at least one byte")]
    Line,
    /// A number left 64 bits, or an index its table.
    #[error("a number does not fit into 64 bits")]
    Overflow,
}
