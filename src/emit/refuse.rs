//! Why there is no program.

use crate::expr::Excess;
use crate::launch::Infeasible;

/// Why there is no program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unemitted {
    /// Addresses cannot be computed.
    #[error("the addresses cannot be computed: {0}")]
    Excess(#[from] Excess),
    /// No candidate can be launched.
    #[error("no candidate can be launched: {0}")]
    Infeasible(#[from] Infeasible),
    /// There is no candidate.
    #[error("there is no candidate")]
    NoCandidate,
    /// Nothing is accessed in global memory.
    #[error("the kernel accesses no global memory")]
    NoAccess,
    /// No instruction has such a width.
    #[error("`{field}` is accessed in {bytes} bytes at a time; GPUs load and store 1, 2, 4, 8 or 16")]
    Width {
        /// The field.
        field: String,
        /// Bytes.
        bytes: i64,
    },
    /// A wide access that need not lie on a multiple of its width.
    #[error("an access to `{field}` of {bytes} bytes need not lie on a multiple of {bytes}")]
    Misaligned {
        /// The field.
        field: String,
        /// Bytes.
        bytes: i64,
    },
    /// Atomics of other widths do not exist everywhere.
    #[error("an atomic on {bytes} bytes of `{field}`; programs have those of 4 and 8 bytes")]
    Atomic {
        /// The field.
        field: String,
        /// Bytes.
        bytes: i64,
    },
    /// An access would leave its array, and the program could crash.
    #[error("an access leaves its field: {0}")]
    OutOfBounds(String),
    /// More arrays than arguments of a kernel.
    #[error("{0} arrays are more than a kernel can have as arguments ({1})")]
    TooManyArrays(i64, i64),
}

impl Unemitted {
    /// A stable name of the reason, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Unemitted::Excess(_) => "address",
            Unemitted::Infeasible(why) => why.code(),
            Unemitted::NoCandidate => "no-candidate",
            Unemitted::NoAccess => "no-access",
            Unemitted::Width { .. } => "width",
            Unemitted::Misaligned { .. } => "misaligned",
            Unemitted::Atomic { .. } => "atomic",
            Unemitted::OutOfBounds(_) => "out-of-bounds",
            Unemitted::TooManyArrays(..) => "arrays",
        }
    }

    /// What to do.
    pub fn help(&self) -> &'static str {
        match self {
            Unemitted::Excess(_) | Unemitted::Infeasible(_) => {
                "`wavecast check --candidates` shows the launches"
            }
            Unemitted::NoCandidate => "give `launch.block` in the file, or --block",
            Unemitted::NoAccess => "a benchmark measures loads and stores: describe some",
            Unemitted::Width { .. } => "give `width` or `dtype` another size, or describe several accesses",
            Unemitted::Misaligned { .. } => {
                "write the index as a multiple of the vector's length, and `offset` too"
            }
            Unemitted::Atomic { .. } => "describe it as a load and a store",
            Unemitted::OutOfBounds(_) => {
                "give the field a `halo` or a larger `shape`, or the access a `when`"
            }
            Unemitted::TooManyArrays(..) => "lower `multiplicity`",
        }
    }
}
