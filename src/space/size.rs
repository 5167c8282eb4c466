//! Sizes, none of whose extents is less than 1.

use std::hash::Hash;
use std::ops::Deref;

use super::triple;

/// A size with an extent below 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the {what} {}x{}x{} has an extent below 1", .extents[0], .extents[1], .extents[2])]
pub struct EmptyExtent {
    /// What has it: `block`, `fold`, `grid` or `domain`.
    pub what: &'static str,
    /// Its extents.
    pub extents: [i64; 3],
}

/// A block, a fold or a grid, for what reads all of them.
pub trait Shape: Copy + Eq + Hash + Deref<Target = [i64; 3]> {
    /// So many along x, y, z; `None` if an extent is below 1.
    fn shaped(extents: [i64; 3]) -> Option<Self>;
}

impl Shape for Block {
    fn shaped(extents: [i64; 3]) -> Option<Self> {
        Self::new(extents).ok()
    }
}

impl Shape for Fold {
    fn shaped(extents: [i64; 3]) -> Option<Self> {
        Self::new(extents).ok()
    }
}

impl Shape for Grid {
    fn shaped(extents: [i64; 3]) -> Option<Self> {
        Self::new(extents).ok()
    }
}

macro_rules! size {
    ($(#[$attribute:meta])* $name:ident, $what:literal) => {
        triple! {
            $(#[$attribute])*
            $name
        }

        impl $name {
            /// One along each dimension.
            pub const ONE: Self = Self([1; 3]);

            /// So many along x, y, z.
            pub fn new(extents: [i64; 3]) -> Result<Self, EmptyExtent> {
                if extents.iter().all(|&extent| extent >= 1) {
                    Ok(Self(extents))
                } else {
                    Err(EmptyExtent { what: $what, extents })
                }
            }

            /// Extents that were checked where they were read.
            #[allow(dead_code, reason = "some sizes are made of others only")]
            pub(crate) fn known(extents: [i64; 3]) -> Self {
                debug_assert!(extents.iter().all(|&extent| extent >= 1), "{extents:?}");
                Self(extents)
            }

            /// The same with another extent along a dimension, from 0 for x to 2 for z.
            pub fn with(mut self, dimension: usize, extent: i64) -> Result<Self, EmptyExtent> {
                self.0[dimension] = extent;
                Self::new(self.0)
            }

            /// The product of its extents.
            pub fn volume(&self) -> i64 {
                self.0.iter().product()
            }
        }

    };
}

size! {
    /// Threads of a block along x, y, z.
    Block, "block"
}

size! {
    /// Work items of a thread along x, y, z.
    Fold, "fold"
}

size! {
    /// Blocks of a launch along x, y, z.
    Grid, "grid"
}

size! {
    /// Work items of a kernel along x, y, z; 1 where there is no axis.
    Domain, "domain"
}

impl Domain {
    /// The fewest blocks that have a thread for each work item.
    pub(crate) fn blocks_of(self, block: Block) -> Grid {
        Grid([0, 1, 2].map(|d| (self[d] - 1) / block[d] + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_sizes_cannot_be_made() {
        assert_eq!(Block::new([32, 2, 1]).map(|b| b.volume()), Ok(64));
        let why = Fold::new([1, -2, 1]).unwrap_err().to_string();
        assert_eq!(why, "the fold 1x-2x1 has an extent below 1");
        assert_eq!(Grid::new([0; 3]).unwrap_err().what, "grid");
    }

    #[test]
    fn sizes_are_written_as_shapes_and_as_lists() {
        let block = Block::new([256, 1, 2]).unwrap();
        assert_eq!(
            (format!("{block}"), format!("{block:?}")),
            ("256x1x2".to_owned(), "[256, 1, 2]".to_owned())
        );
        assert_eq!(serde_json::to_string(&block).unwrap(), "[256,1,2]");
        assert_eq!(block, [256, 1, 2]);
    }
}
