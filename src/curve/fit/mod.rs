//! Fitting curves to rates: bounded, robust against outliers, from several starts, with intervals.
//!
//! ```
//! use wavecast::curve::fit::{FitOptions, Points, CurveShape, fit};
//! let rate = |o: f64| 0.7 * (-4.6 * (-0.8 * o).exp()).exp();
//! let points = Points::of_rates((0..40).map(|i| f64::from(i) * 0.2).map(|o| (o, rate(o))));
//! let found = fit(&points, CurveShape::Rising, &FitOptions::default()).unwrap();
//! assert!((found.values()[0] - 0.7).abs() < 1e-6);
//! ```

mod bootstrap;
mod covariance;
mod loss;
mod noise;
mod points;
mod refuse;
mod robust;
mod shape;
mod side;
mod solver;
mod starts;
mod widths;

pub use bootstrap::bootstrap;
pub(crate) use covariance::inverse;
pub use loss::Loss;
pub use noise::Noise;
pub use points::Points;
pub use refuse::FitRefusal;
pub use robust::{FitOptions, FittedCurve, fit};
pub use shape::CurveShape;
pub(crate) use side::Observation;
pub use solver::ParameterBounds;
pub(crate) use solver::{Enough, LeastSquares, Normal, minimise};
pub(crate) use widths::WidthFit;
