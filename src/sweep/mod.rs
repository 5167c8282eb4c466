//! Series: the same kernel over a parameter, a key of the device, or the block.

mod run;
mod value;
mod values;
mod vary;

pub use run::{Point, Refused, SweepPlan, Varied, run};
pub use value::{MOST_POINTS, VaryValue};
pub use vary::{Vary, VaryKind, parse};
