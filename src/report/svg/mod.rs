//! Pictures, as SVG.

mod axis;
mod canvas;
mod colour;
mod frame;
#[cfg(feature = "trace")]
mod probe;
mod ranking;
#[cfg(feature = "fit")]
mod rates;
#[cfg(feature = "fit")]
mod scatter;
mod series;
#[cfg(feature = "fit")]
mod sets;
#[cfg(feature = "trace")]
mod trace;

#[cfg(feature = "trace")]
pub use probe::probe_picture;
pub use ranking::ranking_picture;
#[cfg(feature = "fit")]
pub use rates::fit_picture;
#[cfg(feature = "fit")]
pub use scatter::validation_picture;
pub use series::sweep_picture;
#[cfg(feature = "fit")]
pub use sets::sets_picture;
#[cfg(feature = "trace")]
pub use trace::{
    PlottedAccess, ablation_picture, experiment_picture, places_picture, reuse_picture, trace_sweep_picture,
};
