//! Compiled kernels: texts of PTX, and reading kernel documents out of them.

pub mod syntax;
