//! Compiled kernels: texts of PTX, and reading kernel documents out of them.

pub mod agreement;
pub mod run;
pub mod syntax;
