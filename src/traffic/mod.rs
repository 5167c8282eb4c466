//! How much moves at each level of the memory hierarchy.

pub mod l1;
