//! Which format a file has.

use super::format::ProfileFormat;
use crate::measure::records::Record;

/// Lines that programs write before the head of a table.
pub(super) const MOST_BEFORE: usize = 10_000;

/// The format of a table by its head; none if the line is no head.
pub(super) fn of_head(record: &Record) -> Option<ProfileFormat> {
    let has = |name: &str| record.cells().any(|c| c == name);
    if has("Metric Name") && has("Metric Value") {
        return Some(ProfileFormat::NcuLong);
    }
    if has("Kernel Name") && record.cells().any(|c| c.contains("__")) {
        return Some(ProfileFormat::NcuRaw);
    }
    if has("Counter_Name") && has("Counter_Value") {
        return Some(ProfileFormat::Rocprof);
    }
    let is_wide = record.cells().any(|c| c == "Kernel_Name" || c == "KernelName");
    if is_wide
        && record.cells().any(|c| super::metrics::is_counter(c) || super::metrics::meaning(c).is_some())
    {
        return Some(ProfileFormat::RocprofCompute);
    }
    None
}

/// The format of a JSON document by its keys; the text may be cut off.
pub(super) fn of_json(start: &str) -> Option<ProfileFormat> {
    let has = |key: &str| start.contains(&format!("\"{key}\""));
    if has("tune_params_keys") || (has("cache") && has("kernel_name")) {
        Some(ProfileFormat::KernelTuner)
    } else if has("Results") && (has("Metadata") || has("KernelName")) {
        Some(ProfileFormat::Ktt)
    } else if has("results") && (has("schema_version") || has("configuration")) {
        Some(ProfileFormat::T4)
    } else {
        None
    }
}
