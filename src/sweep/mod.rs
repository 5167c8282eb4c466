//! Series: the same kernel over a parameter, a key of the device, or the block.

mod run;
mod value;
mod values;
mod vary;

pub use run::{Point, Refused, Request, run};
pub use value::{MOST_POINTS, Value};
pub use vary::{Subject, Vary, parse};
