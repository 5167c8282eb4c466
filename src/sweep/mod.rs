//! Series: the same kernel over a parameter, a key of the device, or the block.

mod run;
mod values;
mod vary;

pub use run::{Point, Refused, Request, run};
pub use vary::{MOST_POINTS, Subject, Value, Vary, parse};
