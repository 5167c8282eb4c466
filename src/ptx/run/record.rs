//! What a thread does, as it is written down.

use crate::named::named;

named! {
    /// What an access does.
    pub enum AccessOperation {
        /// Reads.
        Load = "load",
        /// Writes.
        Store = "store",
        /// Both, in the L2 cache or in shared memory.
        Atomic = "atomic",
    }
}

named! {
    /// Where an access goes.
    pub enum Memory {
        /// Arrays, and variables that all blocks see.
        Global = "global",
        /// What a block has for itself.
        Shared = "shared",
        /// What a thread has for itself.
        Local = "local",
        /// Variables that the kernel only reads.
        Constant = "constant",
    }
}

/// One access of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadAccess {
    /// The step, see [`Machine::place`](super::Machine::place).
    pub step: u32,
    /// What it does.
    pub operation: AccessOperation,
    /// Where.
    pub memory: Memory,
    /// The field, see [`Machine::name`](super::Machine::name).
    pub field: u32,
    /// Bytes behind the first byte of the field.
    pub offset: i64,
    /// Bytes in all.
    pub bytes: u32,
    /// Whether address and way there rest on values that are known: not on data that was not given.
    pub sure: bool,
}

/// What a thread does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThreadEvent {
    /// It accesses memory.
    Access(ThreadAccess),
    /// It comes to a barrier of the block.
    Barrier,
    /// It decides where it goes on, or whether it accesses memory, by what is not known.
    Guess {
        /// The step, as in [`ThreadAccess::step`].
        step: u32,
    },
}

/// The instruction that a step belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place<'m> {
    /// Name of the function that it stands in.
    pub function: &'m str,
    /// Number of the instruction in its function, from 0.
    pub instruction: u32,
    /// Line of the text, from 1.
    pub line: u32,
}
