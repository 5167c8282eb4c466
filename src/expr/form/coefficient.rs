//! What may multiply a coordinate: integers, or sizes of the launch as symbols.

use std::fmt::Debug;
use std::hash::Hash;

use super::Term;
use crate::effort::Spent;

/// Why an exact form could not be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Excess {
    /// A number left 64 bits.
    #[error("a number does not fit into 64 bits")]
    Overflow,
    /// The form outgrew the limit that protects the tool.
    #[error("the expression is too complex")]
    TooComplex,
    /// A divisor that depends on the launch is not positive for it.
    #[error("the divisor {0} is not positive")]
    Divisor(i64),
    /// It takes more steps than it may.
    #[error(transparent)]
    Spent(#[from] Spent),
}

/// What may multiply a coordinate.
pub trait Coefficient: Clone + Debug + Eq + Ord + Hash {
    /// An integer.
    fn int(value: i64) -> Self;
    /// The value, if it is just an integer.
    fn as_int(&self) -> Option<i64>;
    /// Sum.
    fn plus(&self, other: &Self) -> Result<Self, Excess>;
    /// Product.
    fn times(&self, other: &Self) -> Result<Self, Excess>;
    /// A term without coordinates as a coefficient.
    fn absorb(term: &Term<Self>) -> Option<Self>;
    /// Number of parts.
    fn size(&self) -> usize;
    /// How deep terms nest in it.
    fn depth(&self) -> usize;
}

impl Coefficient for i64 {
    fn int(value: i64) -> Self {
        value
    }

    fn as_int(&self) -> Option<i64> {
        Some(*self)
    }

    fn plus(&self, other: &Self) -> Result<Self, Excess> {
        self.checked_add(*other).ok_or(Excess::Overflow)
    }

    fn times(&self, other: &Self) -> Result<Self, Excess> {
        self.checked_mul(*other).ok_or(Excess::Overflow)
    }

    fn absorb(_: &Term<Self>) -> Option<Self> {
        None
    }

    fn size(&self) -> usize {
        1
    }

    fn depth(&self) -> usize {
        0
    }
}
