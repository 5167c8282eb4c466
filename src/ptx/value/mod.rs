//! Integers and conditions that are known as formulas of threads, blocks and loop counters.
//!
//! A [`Poly`] is a sum of atoms times numbers. It stands for a whole number, not for bits: that a register holds `p`
//! means that its bits are `p` modulo 2^width. Additions and products need no thought then, and
//! [`Algebra::integer`] says which number the bits are where it matters.

mod algebra;
mod bits;
mod bounds;
pub(super) mod comparing;
mod cond;
mod divide;
mod evaluate;
mod integer;
mod parity;
mod poly;
mod replace;
mod within;

pub(super) use algebra::{Algebra, Atom, BlockAndGrid};
pub(super) use cond::{Cond, Raw, Rel, WhyId};
pub(super) use evaluate::Point;
pub(super) use poly::{AtomId, Interval, Poly, gcd};
pub(super) use within::Ranges;
