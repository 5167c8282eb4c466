//! How a trace is to be read, and what was met while reading it.

use serde::{Serialize, Serializer};

use super::kind::TraceFormat;
use crate::trace::limits::TraceLimits;

/// How a trace is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; by default found by content.
    pub format: Option<TraceFormat>,
    /// Counts and skips malformed lines.
    pub lenient: bool,
    /// How much is unpacked, and held where a format says only at its end what it begins with.
    pub limits: TraceLimits,
}

/// What was met on the way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reading {
    /// Name of the format; `kernel` for a kernel document, of which nothing was read.
    #[serde(serialize_with = "format_name")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub format: Option<TraceFormat>,
    /// Lines read.
    pub lines: u64,
    /// Malformed lines that were skipped.
    pub skipped: u64,
    /// Number of the first of them.
    pub first_skipped: Option<u64>,
    /// Accesses to shared, local or other memory, which no cache of ours sees: they are left out.
    pub elsewhere: u64,
}

impl Reading {
    /// Name of the format; `kernel` of a kernel document.
    pub fn format_name(&self) -> &'static str {
        name(self.format)
    }
}

fn name(format: Option<TraceFormat>) -> &'static str {
    format.map_or("kernel", TraceFormat::word)
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn format_name<S: Serializer>(format: &Option<TraceFormat>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(name(*format))
}
