//! Scheduling (N 4.1, C 5): threads to warps, warps to blocks, blocks to cores, and the order of accesses.

mod cores;
mod order;
mod policy;
mod warp;

pub use cores::{Assignment, assign};
pub use order::{ProgramOrder, ProgramOrderBuilder};
pub use policy::{SchedulePolicy, order};
pub use warp::{Grouping, Lane, WarpShape, WarpSteps};
