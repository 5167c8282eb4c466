//! How control flows through a function: blocks, which of them dominate which, loops, and which registers live where.

mod blocks;
mod dominate;
mod inline;
mod live;
mod loops;
mod needed;
mod places;
mod region;
mod rename;

pub(super) use blocks::{End, Graph};
pub(super) use dominate::dominators;
pub(super) use inline::{callee, inlined, recursive};
pub(super) use live::{RegisterSet, live_at_start, most_alive, writes, writes_one};
pub(super) use loops::Loops;
pub(super) use needed::{changed, needed};
pub(super) use places::{Place, places};
pub(super) use region::Region;
