//! Finished results as text, JSON, CSV and Markdown. Nothing is decided here.

mod check;
mod devices;
mod error;
#[cfg(feature = "cli")]
mod explanation;
#[cfg(feature = "fit")]
mod fit;
mod prediction;
#[cfg(feature = "trace")]
pub mod probe;
mod ranking;
mod schema;
#[cfg(feature = "cli")]
mod svg;
#[cfg(feature = "cli")]
mod sweep;
mod table;
#[cfg(feature = "trace")]
pub mod trace;
mod units;
#[cfg(feature = "fit")]
mod validation;

pub use check::{Check, SetsSummary, Warning, check, check_sets, check_table, check_text, kernels_warnings};
pub use devices::{DeviceFile, device_list, device_numbers};
pub use error::{ErrorDocument, ErrorEntry, render_fault, render_warnings};
#[cfg(feature = "cli")]
pub use explanation::{ExplanationDocument, explanation_document, explanation_table, explanation_text};
#[cfg(feature = "fit")]
pub use fit::{FitDocument, curve_file, fit_document, fit_markdown, fit_table, fit_text};
pub use prediction::{
    PredictionDocument, RankingDocument, ResultDocument, prediction_document, prediction_text,
    ranking_document,
};
pub use ranking::{ranking_table, ranking_text};
pub use schema::{SCHEMAS, schema};
#[cfg(feature = "cli")]
pub use svg::{
    Place, ablation_picture, experiment_picture, fit_picture, places_picture, probe_picture, ranking_picture,
    reuse_picture, sweep_picture, trace_sweep_picture, validation_picture,
};
#[cfg(feature = "cli")]
pub use sweep::{SweepDocument, sweep_document, sweep_point, sweep_table, sweep_text};
pub use table::{Align, Table};
#[cfg(feature = "fit")]
pub use validation::{
    ModelDocument as ValidationModel, ValidationDocument, validation_document, validation_markdown,
    validation_table, validation_text,
};
