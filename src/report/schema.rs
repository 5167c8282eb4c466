//! JSON Schemas of everything that is read or written, generated from the types.

use schemars::{Schema, schema_for};

/// The kinds that have a schema, with what they describe.
pub const SCHEMAS: &[(&str, &str)] = &[
    ("kernel", "a kernel document (input)"),
    ("device", "what `devices show` prints; an input file may leave out what it inherits"),
    ("check", "what `check --format json` prints"),
    ("reading", "what `read --entry NAME --format json` prints"),
    ("entries", "what `read --format json` prints"),
    ("ranking", "what `rank --format json` prints"),
    ("prediction", "what `predict --format json` prints"),
    #[cfg(feature = "explain")]
    ("sweep", "what `sweep --format json` prints"),
    #[cfg(feature = "explain")]
    ("explanation", "what `explain --format json` prints"),
    #[cfg(feature = "fit")]
    ("comparison", "what `compare --format json` prints"),
    #[cfg(feature = "trace")]
    ("trace-info", "what `trace info --format json` prints"),
    #[cfg(feature = "trace")]
    ("reuse", "what `trace reuse --format json` prints"),
    #[cfg(feature = "trace")]
    ("cache", "what `trace cache --format json` prints"),
    #[cfg(feature = "trace")]
    ("trace-sweep", "what `trace sweep --format json` prints"),
    #[cfg(feature = "trace")]
    ("experiment", "what `trace experiment --format json` prints"),
    #[cfg(feature = "trace")]
    ("hot", "what `trace hot --format json` prints"),
    #[cfg(feature = "trace")]
    ("probe", "what `cache-probe --format json` prints"),
    #[cfg(feature = "fit")]
    ("validation", "what `validate --format json` prints"),
    #[cfg(feature = "fit")]
    ("set", "a set file (input)"),
    #[cfg(feature = "fit")]
    ("set-validation", "what `validate --format json` prints of set files"),
    #[cfg(feature = "fit")]
    ("fit", "what `fit --format json` prints"),
    #[cfg(feature = "fit")]
    ("set-fit", "what `fit --format json` prints of set files"),
    ("error", "errors in JSON mode"),
];

/// The schema of a kind.
pub fn schema(kind: &str) -> Option<Schema> {
    Some(match kind {
        "kernel" => schema_for!(crate::kernel::KernelDoc),
        "device" => device_schema(),
        "check" => schema_for!(super::Check),
        "reading" => schema_for!(super::ReadingDocument),
        "entries" => schema_for!(super::EntriesDocument),
        "ranking" => schema_for!(super::RankingDocument),
        "prediction" => schema_for!(super::PredictionDocument),
        #[cfg(feature = "explain")]
        "sweep" => schema_for!(super::SweepDocument),
        #[cfg(feature = "explain")]
        "explanation" => schema_for!(super::ExplanationDocument),
        #[cfg(feature = "fit")]
        "comparison" => schema_for!(super::trace::ComparisonDocument),
        #[cfg(feature = "trace")]
        "trace-info" => schema_for!(super::trace::TraceInfoDocument),
        #[cfg(feature = "trace")]
        "reuse" => schema_for!(super::trace::ReuseDocument),
        #[cfg(feature = "trace")]
        "cache" => schema_for!(super::trace::SimulatedCacheDocument),
        #[cfg(feature = "trace")]
        "trace-sweep" => schema_for!(super::trace::TraceSweepDocument),
        #[cfg(feature = "trace")]
        "experiment" => schema_for!(super::trace::ExperimentDocument),
        #[cfg(feature = "trace")]
        "hot" => schema_for!(super::trace::HotDocument),
        #[cfg(feature = "trace")]
        "probe" => schema_for!(super::probe::ProbeDocument),
        #[cfg(feature = "fit")]
        "validation" => schema_for!(super::ValidationDocument),
        #[cfg(feature = "fit")]
        "set" => set_schema(),
        #[cfg(feature = "fit")]
        "set-validation" => schema_for!(super::SetValidationDocument),
        #[cfg(feature = "fit")]
        "fit" => schema_for!(super::FitDocument),
        #[cfg(feature = "fit")]
        "set-fit" => schema_for!(super::SetFitDocument),
        "error" => schema_for!(super::ErrorDocument),
        _ => return None,
    })
}

/// The schema of a device with the version key that a file carries beside it.
fn device_schema() -> Schema {
    versioned(schema_for!(crate::device::Device), "wavecast-device")
}

/// The schema of a set file with its version key.
#[cfg(feature = "fit")]
fn set_schema() -> Schema {
    versioned(schema_for!(crate::measure::sets::SetDocument), "wavecast-set")
}

/// A schema of files that begin with the version of their format.
fn versioned(mut schema: Schema, key: &str) -> Schema {
    if let Some(properties) = schema.get_mut("properties").and_then(|p| p.as_object_mut()) {
        let version = serde_json::json!({"description": "Version of the format.", "const": 1});
        properties.insert(key.to_owned(), version);
    }
    if let Some(required) = schema.get_mut("required").and_then(|r| r.as_array_mut()) {
        required.insert(0, key.into());
    }
    schema
}
