//! Compiled kernels: texts of PTX, and reading kernel documents out of them.

pub mod agreement;
mod answer;
mod argument;
mod assembled;
mod assume;
mod document;
mod fitting;
mod flow;
mod given;
mod launches;
mod lower;
mod read;
pub mod run;
mod symbol;
pub mod syntax;
mod together;
mod value;

pub use answer::{Around, Compiled, InstructionCount, Read, ReadAccess};
pub use assembled::{Assembled, assembled};
pub use given::{Given, KnownField, RegistersTold};
pub(crate) use symbol::source_name;
