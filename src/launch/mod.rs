//! Launches: candidates, grids, folding, occupancy, and the waves in which blocks run.

mod candidate;
mod chosen;
mod domain;
mod extents;
mod folding;
mod geometry;
mod infeasible;
mod items;
mod occupancy;
mod once;
mod parts;
mod positions;
mod program;
mod shapes;
mod simplified;
mod single;
mod thread;
mod touched;
mod unfolded;
mod wave;
mod working;

pub use candidate::{Candidate, candidates};
pub use chosen::{Chosen, ChosenReason};
pub use extents::{extents, whole};
pub use geometry::{ASSUMED_REGISTERS, Launch};
pub use infeasible::Infeasible;
pub use items::{are_points, work_items};
pub use occupancy::{Limit, Occupancy, occupancy};
pub use parts::{Part, stretches};
pub use positions::Items;
pub use program::{Instruction, Item, Program, ProgramLoop, Step};
pub use shapes::Shapes;
pub use thread::{Event, NotRun, Touch, visit_events, visit_thread};
pub use touched::{Touched, Touching};
pub use wave::{BlockBox, blocks_of_wave};
pub use working::Working;
