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
pub use registry::{Curves, for_device, read, shipped, shipped_ids};
#[cfg(feature = "fit")]
pub(crate) use widths::LEAST_ROWS;
pub use widths::{ReasonWidth, SetCoverage, Width, Widths, read_widths, widths};

/// Holds a file of the repository to a text; `WAVECAST_UPDATE=1` writes it anew, for the next build.
#[cfg(test)]
fn held(path: &str, text: &str) {
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("WAVECAST_UPDATE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == text,
        "{path} is not what it is made of: WAVECAST_UPDATE=1 cargo test --lib writes it anew"
    );
}
