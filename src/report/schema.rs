//! JSON Schemas of everything that is read or written.
//!
//! They are made from the types, by the tests of this file, and kept in `grammar/`: so the program prints them, and who
//! builds it does not compile what makes them.

/// The kinds of documents of a room: their names, what they describe, the files of their schemas in `grammar/`, and
/// the types that the schemas are made from.
macro_rules! schemas {
    ($($(#[$when:meta])* ($kind:literal, $what:literal, $file:literal, $type:ty),)+) => {
        /// The kinds that have a schema, with what they describe.
        pub const SCHEMAS: &[(&str, &str)] = &[$($(#[$when])* ($kind, $what)),+];

        /// The JSON Schema of a kind, as text.
        pub fn schema(kind: &str) -> Option<&'static str> {
            Some(match kind {
                $($(#[$when])* $kind => include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/grammar/", $file)),)+
                _ => return None,
            })
        }

        #[cfg(test)]
        #[test]
        fn schemas_are_current() {
            $crate::report::assert_current(&[$($(#[$when])* ($file, schemars::schema_for!($type))),+]);
        }
    };
}

pub(crate) use schemas;

schemas! {
    ("kernel", "a kernel document (input)", "kernel.schema.json", crate::kernel::KernelDoc),
    ("device", "what `devices show` prints; an input file may leave out what it inherits", "device.schema.json", crate::device::Device),
    ("check", "what `check --format json` prints", "outputs/check.json", super::Check),
    ("reading", "what `read --entry NAME --format json` prints", "outputs/reading.json", super::ReadingDocument),
    ("entries", "what `read --format json` prints", "outputs/entries.json", super::EntriesDocument),
    ("ranking", "what `rank --format json` prints", "outputs/ranking.json", super::RankingDocument),
    ("prediction", "what `predict --format json` prints", "outputs/prediction.json", super::PredictionDocument),
    #[cfg(feature = "explain")]
    ("sweep", "what `sweep --format json` prints", "outputs/sweep.json", super::SweepDocument),
    #[cfg(feature = "explain")]
    ("explanation", "what `explain --format json` prints", "outputs/explanation.json", super::ExplanationDocument),
    #[cfg(feature = "explain")]
    ("diff", "what `diff --format json` prints", "outputs/diff.json", super::DifferenceDocument),
    #[cfg(feature = "fit")]
    ("comparison", "what `compare --format json` prints", "outputs/comparison.json", super::trace::ComparisonDocument),
    #[cfg(feature = "trace")]
    ("trace-info", "what `trace info --format json` prints", "outputs/trace-info.json", super::trace::TraceInfoDocument),
    #[cfg(feature = "trace")]
    ("reuse", "what `trace reuse --format json` prints", "outputs/reuse.json", super::trace::ReuseDocument),
    #[cfg(feature = "trace")]
    ("cache", "what `trace cache --format json` prints", "outputs/cache.json", super::trace::SimulatedCacheDocument),
    #[cfg(feature = "trace")]
    ("trace-sweep", "what `trace sweep --format json` prints", "outputs/trace-sweep.json", super::trace::TraceSweepDocument),
    #[cfg(feature = "trace")]
    ("experiment", "what `trace experiment --format json` prints", "outputs/experiment.json", super::trace::ExperimentDocument),
    #[cfg(feature = "trace")]
    ("hot", "what `trace hot --format json` prints", "outputs/hot.json", super::trace::HotDocument),
    #[cfg(feature = "trace")]
    ("probe", "what `cache-probe --format json` prints", "outputs/probe.json", super::probe::ProbeDocument),
    #[cfg(feature = "fit")]
    ("validation", "what `validate --format json` prints", "outputs/validation.json", super::ValidationDocument),
    #[cfg(feature = "fit")]
    ("set", "a set file (input)", "set.schema.json", crate::measure::sets::SetDocument),
    #[cfg(feature = "fit")]
    ("set-validation", "what `validate --format json` prints of set files", "outputs/set-validation.json", super::SetValidationDocument),
    #[cfg(feature = "fit")]
    ("fit", "what `fit --format json` prints", "outputs/fit.json", super::FitDocument),
    #[cfg(feature = "fit")]
    ("set-fit", "what `fit --format json` prints of set files", "outputs/set-fit.json", super::SetFitDocument),
    ("error", "errors in JSON mode", "outputs/error.json", super::ErrorDocument),
}

/// Holds the files of schemas against the types; writes them anew where `WAVECAST_UPDATE=1` asks for it.
#[cfg(test)]
pub(crate) fn assert_current(made: &[(&str, schemars::Schema)]) {
    let update = std::env::var_os("WAVECAST_UPDATE").is_some_and(|v| v == "1");
    let mut stale = Vec::new();
    for (file, schema) in made {
        // Editors and people read the schemas of inputs; those of outputs are for programs, `outputs.txt` lists them.
        let text = match file.strip_suffix(".schema.json") {
            Some("device") => serde_json::to_string_pretty(&versioned(schema, "wavecast-device")),
            Some("set") => serde_json::to_string_pretty(&versioned(schema, "wavecast-set")),
            Some(_) => serde_json::to_string_pretty(schema),
            None => serde_json::to_string(schema),
        };
        let text = text.unwrap() + "\n";
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("grammar").join(file);
        if update {
            std::fs::write(&path, &text).unwrap();
        }
        if std::fs::read_to_string(path).ok() != Some(text) {
            stale.push(*file);
        }
    }
    assert!(
        stale.is_empty(),
        "grammar/ is not current: {}. Run `WAVECAST_UPDATE=1 cargo test --lib --test schemas schema`, look at the \
         difference (fields may only be added), and commit it.",
        stale.join(", ")
    );
}

/// A schema of files that begin with the version of their format.
#[cfg(test)]
fn versioned(schema: &schemars::Schema, key: &str) -> schemars::Schema {
    let mut schema = schema.clone();
    if let Some(properties) = schema.get_mut("properties").and_then(|p| p.as_object_mut()) {
        let version = serde_json::json!({"description": "Version of the format.", "const": 1});
        properties.insert(key.to_owned(), version);
    }
    if let Some(required) = schema.get_mut("required").and_then(|r| r.as_array_mut()) {
        required.insert(0, key.into());
    }
    schema
}
