//! From what profilers and tuners write to the measurement format. `docs/measurements.md` says what is
//! taken from each.

mod amd;
mod checks;
mod detect;
mod format;
mod launches;
mod lookups;
mod mapped;
mod metrics;
mod ncu;
mod number;
mod problems;
mod repair;
mod requests;
mod run;
mod source;
mod tally;
mod tuners;

pub use format::ProfileFormat;
pub use launches::{ImportOptions, Imported, Rename};
pub use lookups::{Lookups, lookups};
pub use metrics::known_metrics;
pub use number::Decimal;
pub use run::import;
pub use source::{FileSource, Source, TextSource};
pub use tally::Metrics;
