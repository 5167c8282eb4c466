//! From instructions as they stand in the text to steps that run.

mod arithmetic;
mod builder;
mod control;
mod functions;
mod memory;
mod operand;

pub(super) use functions::code;
