//! Compiled kernels: texts of PTX, and reading kernel documents out of them.

pub mod run;
pub mod syntax;
