//! Running an entry as a machine would, thread by thread, and writing down what each accesses.
//!
//! It shares nothing with the reading of kernel documents but the parser: one is held against the other. All integers
//! are exact. Values that are read from memory of which nobody said what it holds are zero, and not known; what is
//! computed from them is not known either, and an access says whether its address and the way to it are.
//!
//! Threads of a warp run one after the other, up to where they exchange something or meet at a barrier. Which of them
//! comes first at an atomic is not known, so what an atomic returns is not either.

mod block;
mod code;
mod convert;
mod decode;
mod field;
mod float;
mod given;
mod half;
mod integer;
mod lane;
mod layout;
mod machine;
mod memory;
mod npy;
mod record;
mod refusal;
mod step;
mod warp;
mod word;
mod world;

#[cfg(test)]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "bits are meant"
)]
mod operation_tests;

pub use field::EntryField;
pub use given::given;
pub use machine::{Argument, Machine, MachineRun, Sizes, Who};
pub use npy::{Array, NotAnArray, npy};
pub use record::{AccessOperation, Memory, Place, ThreadAccess, ThreadEvent};
pub use refusal::EntryNotRun;
