//! What single threads touch, a line for each access.

use serde::Serialize;

use crate::space::{BlockIndex, Thread};

/// An access of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TouchLine {
    /// The block's place in the grid.
    pub block: BlockIndex,
    /// The thread's place in the block.
    pub thread: Thread,
    /// `load`, `store` or `atomic`.
    pub op: &'static str,
    /// `global`, `shared`, `local` or `constant`.
    pub space: &'static str,
    /// The field; of local memory none.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub field: String,
    /// Bytes behind the first byte of the field.
    pub offset_bytes: i64,
    /// Bytes.
    pub width: i64,
    /// Of kernels in PTX: the number of the instruction in its function, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<u32>,
    /// Of kernels in PTX: the line of the text, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Of kernels in PTX: the function, where it is not the entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Of kernels in PTX: false where the address, or whether it is accessed, rests on data that was not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<bool>,
}
