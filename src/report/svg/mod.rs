//! Pictures, as SVG.

mod axis;
mod canvas;
mod colour;
mod frame;
mod probe;
mod ranking;
mod rates;
mod scatter;
mod series;
mod sets;
mod trace;

pub use probe::probe_picture;
pub use ranking::ranking_picture;
pub use rates::fit_picture;
pub use scatter::validation_picture;
pub use series::sweep_picture;
pub use sets::sets_picture;
pub use trace::{
    PlottedAccess, ablation_picture, experiment_picture, places_picture, reuse_picture, trace_sweep_picture,
};
