//! Finished results as text, JSON, CSV and Markdown. Nothing is decided here.

mod answer;
mod check;
mod compared;
mod devices;
#[cfg(feature = "explain")]
mod difference;
mod error;
#[cfg(feature = "explain")]
mod explanation;
#[cfg(feature = "fit")]
mod fit;
mod json;
#[cfg(feature = "explain")]
mod page;
mod prediction;
#[cfg(feature = "trace")]
pub mod probe;
mod ranking;
mod reading;
mod schema;
#[cfg(feature = "fit")]
mod sets;
#[cfg(feature = "cli")]
mod svg;
#[cfg(feature = "explain")]
mod sweep;
mod table;
mod touches;
#[cfg(feature = "trace")]
pub mod trace;
mod units;
#[cfg(feature = "fit")]
mod validation;
mod yaml;

pub use answer::{Answer, View, write_line};
pub use check::{Check, SetsSummary, Warning, check, check_sets, kernels_warnings};
pub use compared::{Compared, OnDevice, device_shares};
pub use devices::{DeviceFile, DevicesDocument, ListedDevice, device_list, device_numbers};
#[cfg(feature = "explain")]
pub use difference::{DifferenceDocument, Side, SideChoice, difference_document};
pub use error::{ErrorDocument, ErrorEntry, render_fault, render_warnings};
#[cfg(feature = "explain")]
pub use explanation::{ExplanationDocument, Sentence, explanation_document};
#[cfg(feature = "fit")]
pub use fit::{FitDocument, curve_file, fit_document};
pub use json::json_line;
pub(crate) use json::{Layout, json_text, write_json};
#[cfg(feature = "explain")]
pub use page::{ExplainedRanking, LaunchDetails, answers_page, ranking_page};
pub use prediction::{
    ConfidenceDocument, LongRanking, PredictionDocument, RankingDocument, ResultDocument,
    prediction_document, ranking_document,
};
pub(crate) use ranking::{ENDED_EARLY, empty_table as ranking_columns};
pub use reading::{EntriesDocument, ReadingDocument, entries_document, reading_document};
#[cfg(test)]
pub(crate) use schema::assert_current;
pub(crate) use schema::schemas;
pub use schema::{SCHEMAS, schema};
#[cfg(feature = "fit")]
pub use sets::{
    SetFitDocument, SetReport, SetValidationDocument, set_fit_document, set_page, set_validation_document,
};
#[cfg(all(feature = "cli", feature = "fit"))]
pub use svg::fit_picture;
#[cfg(all(feature = "cli", feature = "trace"))]
pub use svg::{PlottedAccess, places_picture, probe_picture};
#[cfg(feature = "explain")]
pub use sweep::{SweepDocument, SweptDevice, sweep_document, sweep_point, swept_device};
pub use table::{Align, Table};
pub use touches::TouchLine;
#[cfg(feature = "fit")]
pub use validation::{ModelDocument as ValidationModel, ValidationDocument, validation_document};
pub use yaml::yaml_text;
