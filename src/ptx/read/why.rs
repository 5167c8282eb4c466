//! Why something is not known.

use crate::ptx::value::WhyId;

/// The kind of reason.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::ptx) enum Cause {
    /// It was read from memory.
    Memory,
    /// It is a floating-point number, or made of one.
    Float,
    /// It comes from other threads, or says which there are.
    Lanes,
    /// A parameter without a value.
    Argument(usize),
    /// The instruction is not known to the reader, or not as a formula.
    Instruction,
    /// It was computed from something that is not known.
    Through,
    /// It is no sum of coordinates times numbers.
    Formula,
    /// It changes from iteration to iteration in no regular way.
    Iterations,
    /// Which of several values it is depends on data.
    Choice,
    /// Nothing was put into the register.
    Unset,
    /// How often the loop runs is not known.
    Trips,
    /// Where the loop is left is not known.
    Exit,
    /// A function was called that is not read.
    Call(String),
    /// One that calls itself.
    Recursion(String),
    /// One by its address.
    CallByAddress,
    /// The address does not start at an array.
    NoArray,
    /// The address starts at more than one array, or at one of several.
    Arrays,
    /// Where in a thread's own memory it lies is not known.
    LocalPlace,
    /// Where in a table of the module it lies is not known.
    TablePlace,
    /// Something that is not read.
    NotRead(&'static str),
}

/// A reason, where it arose, and the one behind it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::ptx) struct Why {
    pub instruction: usize,
    pub cause: Cause,
    pub from: Option<WhyId>,
}
