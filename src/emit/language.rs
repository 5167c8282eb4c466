//! The three languages and how they spell what differs.

use crate::named::named;

named! {
    /// A language of programs.
    pub enum Language {
        /// NVIDIA's.
        Cuda = "cuda",
        /// AMD's, which spells CUDA's functions otherwise.
        Hip = "hip",
        /// `OpenCL` C with a host program in C.
        OpenCl = "opencl",
    }
}

impl Language {
    /// How files end.
    pub fn extension(self) -> &'static str {
        match self {
            Language::Cuda => "cu",
            Language::Hip => "hip",
            Language::OpenCl => "c",
        }
    }
}

/// Where code runs: the same statements stand in kernels and in the loop that checks them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A kernel of CUDA or HIP.
    Gpu,
    /// A kernel of `OpenCL`.
    OpenCl,
    /// The processor.
    Host,
}

impl Place {
    /// Before a pointer to global memory.
    pub(super) fn global(self) -> &'static str {
        if self == Place::OpenCl { "__global " } else { "" }
    }

    /// Before a pointer to the memory of a block.
    pub(super) fn shared(self) -> &'static str {
        if self == Place::OpenCl { "__local " } else { "" }
    }

    /// Before small functions.
    pub(super) fn inline(self) -> &'static str {
        match self {
            Place::Gpu => "static __device__ inline ",
            Place::OpenCl => "static inline ",
            Place::Host => "static ",
        }
    }
}
