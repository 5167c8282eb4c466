//! From measurements to a curve file: hit rates (sections 4.5 and 5.6 of the paper), bandwidths and
//! latencies of one device.

mod curves;
mod launches;
mod origins;
mod parts;
mod run;
mod sets;
mod simulate;
mod time;
mod timed;

pub use curves::{CurveFit, CurveForm, CurveOutcome, RatePoint};
pub use run::{FitRequest, Fitting, NoFit, Scores, fit};
pub use sets::{FittedSet, PredictedGroups, SetFitRequest, SetFitting, fit_sets, left_out};
pub use simulate::{Design, Simulated, design, simulate};
pub use time::{TimeFitOutcome, time_coefficients};
