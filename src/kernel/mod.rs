//! Kernel documents: YAML or JSON text into a validated [`Kernel`].
//!
//! `document` holds the types that mirror the format (and give its JSON Schema), `build` turns them
//! into the types of `model`, whose invariants hold by construction.

mod build;
mod code;
mod document;
mod identity;
mod leaf;
mod limits;
mod lists;
mod load;
mod model;
mod outside;
mod statements;
mod variants;
mod work;

pub use code::Code;
pub(crate) use code::{CodeField, CodeRead, CodeRequest, ReadCode};
pub use document::KernelDoc;
pub use identity::Identity;
pub use leaf::{DType, Order, Precision, Space};
pub(crate) use limits::STEPS;
pub use limits::{Limits, MAX_FOLD};
pub use load::{Loaded, Options, load};
pub(crate) use load::{load_read, load_with, requests};
pub use model::{
    Access, AccessKind, Axis, BlockRule, Field, FieldId, Kernel, LaunchRules, Loop, RegisterRule, Statement,
    Work,
};
pub(crate) use outside::Outside;
pub use work::{InstructionClass, Instructions};
