//! Why an entry could not be run.

use crate::effort::Spent;

/// Why an entry could not be run, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryNotRun {
    /// The module has no entry of this name.
    #[error("there is no entry `{0}`")]
    NoEntry(String),
    /// Arguments do not fit to the parameters.
    #[error("{0}")]
    Arguments(String),
    /// An instruction that is not known, or in a form that is not.
    #[error("line {line}: {what}, so it cannot be run")]
    Instruction {
        /// Line of the text, from 1.
        line: u32,
        /// What is not known.
        what: String,
    },
    /// An address at which nothing lies.
    #[error("line {line}: nothing lies at the address {address:#x} of {memory} memory")]
    Address {
        /// Line of the text, from 1.
        line: u32,
        /// The address.
        address: u64,
        /// Global, shared, local or parameter.
        memory: &'static str,
    },
    /// A function that calls itself.
    #[error("`{0}` calls itself, directly or through others; such functions cannot be run")]
    Recursion(String),
    /// Something takes more memory than it may.
    #[error("{0} takes more memory than it may")]
    TooLarge(&'static str),
    /// Threads wait for each other forever.
    #[error("line {0}: threads wait for others that never come")]
    Deadlock(u32),
    /// A trap was run into, as a failed assertion does.
    #[error("line {0}: the kernel stops itself with `trap`")]
    Trap(u32),
    /// It takes longer than it may.
    #[error(
        "it takes more than {0} steps; a loop whose length depends on data that was not given may never end"
    )]
    Steps(u64),
    /// The steps of the thread that asked are used up.
    #[error(transparent)]
    Spent(#[from] Spent),
}
