//! What a thread does, in order.

use crate::ptx::syntax::StateSpace;
use crate::ptx::value::{AtomId, Cond, Poly, WhyId};

/// What is done to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::ptx) enum Operation {
    Load,
    Store,
    Atomic,
}

/// A touch of memory.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ptx) struct Access {
    /// Number of the instruction.
    pub instruction: usize,
    pub operation: Operation,
    pub space: StateSpace,
    /// Which array, and bytes from its beginning; or why that is not known.
    pub place: Result<(u32, Poly), WhyId>,
    /// Bytes.
    pub width: u64,
    /// When it is done.
    pub cond: Cond,
}

/// Something that a thread does.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ptx) enum Event {
    Access(Access),
    /// A barrier of the block.
    Sync,
    /// These instructions are done under this condition: for counting them.
    Work(std::ops::Range<usize>, Cond),
    /// A loop.
    Loop {
        /// Its first instruction.
        instruction: usize,
        counter: AtomId,
        /// The last value of the counter, which starts at 0; or why it is not known.
        last: Result<Poly, WhyId>,
        /// Data may leave the loop earlier.
        early: Option<WhyId>,
        body: Vec<Event>,
    },
}
