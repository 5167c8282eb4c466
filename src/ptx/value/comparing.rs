//! How much conditions are compared while a kernel is read.
//!
//! Conditions are made shorter wherever they are put together, by holding each of their parts against each other. What
//! that takes grows with the square of their length, and texts that branch without end make them long. So there is a
//! limit for each kernel, and it is kept here and not by those who ask: they are all over the reader.

use std::cell::Cell;

/// Pairs of parts that may be compared while a kernel is read: ten times what any kernel of the tests needs.
const MOST: u64 = 250_000;

thread_local! {
    /// Pairs that may still be compared. A kernel is read by one thread.
    static LEFT: Cell<u64> = const { Cell::new(MOST) };
}

/// Begins with another kernel.
pub(in crate::ptx) fn begin() {
    LEFT.set(MOST);
}

/// Whether this kernel has come to the limit: its conditions are right from then on, but no longer made shorter.
pub(in crate::ptx) fn used_up() -> bool {
    LEFT.get() == 0
}

/// Whether so many pairs may be compared; they are taken from what is left.
pub(super) fn allowed(pairs: usize) -> bool {
    let left = LEFT.get().saturating_sub(pairs as u64);
    LEFT.set(left);
    left > 0
}
