//! Three numbers along x, y and z by what they count or where they point: sizes of blocks, folds, grids and domains,
//! places of threads, blocks and work items. Each kind is a type of its own, so that a fold is not taken for a
//! block; sizes cannot be empty.

mod place;
mod size;

pub use place::{BlockIndex, Extents, ItemOffset, Strides, Thread};
pub use size::{Block, Domain, EmptyExtent, Fold, Grid, Shape};

/// What all kinds share: read access as an array, and how they are written.
macro_rules! triple {
    ($(#[$attribute:meta])* $name:ident) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name([i64; 3]);

        impl std::ops::Deref for $name {
            type Target = [i64; 3];

            fn deref(&self) -> &[i64; 3] {
                &self.0
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        /// As a shape: `32x4x1`.
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let [x, y, z] = self.0;
                write!(f, "{x}x{y}x{z}")
            }
        }

        impl PartialEq<[i64; 3]> for $name {
            fn eq(&self, other: &[i64; 3]) -> bool {
                self.0 == *other
            }
        }

        impl IntoIterator for $name {
            type Item = i64;
            type IntoIter = std::array::IntoIter<i64, 3>;

            fn into_iter(self) -> Self::IntoIter {
                self.0.into_iter()
            }
        }

        impl From<$name> for [i64; 3] {
            fn from(triple: $name) -> Self {
                triple.0
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }

        #[cfg(test)]
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <[i64; 3]>::json_schema(generator)
            }
        }
    };
}

use triple;
