//! Finished results as text, JSON, CSV and Markdown. Nothing is decided here.

mod check;
mod devices;
mod error;
mod schema;
mod table;
mod units;

pub use check::{Check, SetsSummary, check, check_sets, check_table, check_text};
pub use devices::{DeviceFile, device_list, device_numbers};
pub use error::{ErrorDocument, render_fault, render_warnings};
pub use schema::{SCHEMAS, schema};
pub use table::{Align, Table};
