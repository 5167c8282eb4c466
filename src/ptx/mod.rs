//! Compiled kernels: texts of PTX, and reading kernel documents out of them.

mod flow;
mod read;
pub mod syntax;
mod value;
