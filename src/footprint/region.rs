//! Where the points of a box go.

use super::addresses::Addresses;
use super::points::Points;

/// Points that touch so many bytes each.
#[derive(Debug, Clone)]
pub(super) struct Region {
    pub(super) points: Points,
    pub(super) addresses: Addresses,
    pub(super) width: i64,
}
