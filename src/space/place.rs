//! Places and distances, which may be 0 or negative.

use super::triple;

macro_rules! place {
    ($(#[$attribute:meta])* $name:ident) => {
        triple! {
            $(#[$attribute])*
            $name
        }

        impl $name {
            /// 0 along each dimension.
            pub const ZERO: Self = Self([0; 3]);

            /// What a function of the dimension gives, from 0 for x to 2 for z.
            pub fn along(value: impl FnMut(usize) -> i64) -> Self {
                Self(std::array::from_fn(value))
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::ZERO
            }
        }

        impl From<[i64; 3]> for $name {
            fn from(along: [i64; 3]) -> Self {
                Self(along)
            }
        }

        impl std::ops::DerefMut for $name {
            fn deref_mut(&mut self) -> &mut [i64; 3] {
                &mut self.0
            }
        }
    };
}

place! {
    /// The place of a thread in its block: `threadIdx`.
    Thread
}

place! {
    /// The place of a block in its grid: `blockIdx`.
    BlockIndex
}

place! {
    /// The place of a work item among those of its thread.
    ItemOffset
}

place! {
    /// How far something moves from one to the next along x, y, z.
    Strides
}

place! {
    /// So many along x, y, z, or how far something reaches; may be 0.
    Extents
}
