//! Hit-rate curves and the coefficients of the time model: fitted numbers with their provenance.
//!
//! ```
//! let curves = wavecast::curve::for_device(&wavecast::device::find("v100", &[]).unwrap());
//! assert!(curves.fit.volumes.l1_redundant.miss(0.1) < 0.01);
//! assert!(curves.own);
//! ```

mod coefficient;
mod document;
#[cfg(feature = "fit")]
pub mod fit;
mod form;
mod interval;
mod registry;
mod widths;

pub use coefficient::{COEFFICIENTS, FittedOn, Known, coefficient, rounded};
pub use document::{CoefficientSource, CoefficientValue, Fit, TimeFit, VolumeFit};
pub use form::Curve;
pub use interval::Interval;
pub use registry::{Curves, for_device, read, shipped};
#[cfg(feature = "fit")]
pub(crate) use widths::LEAST_ROWS;
pub use widths::{ReasonWidth, SetCoverage, Width, Widths, read_widths, widths};
