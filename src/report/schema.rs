//! JSON Schemas of everything that is read or written, generated from the types.

use schemars::{Schema, schema_for};

/// The kinds that have a schema, with what they describe.
pub const SCHEMAS: [(&str, &str); 4] = [
    ("kernel", "a kernel document (input)"),
    ("device", "a device file after inheritance (input, and what `devices show` prints)"),
    ("check", "what `check --format json` prints"),
    ("error", "errors in JSON mode"),
];

/// The schema of a kind.
pub fn schema(kind: &str) -> Option<Schema> {
    Some(match kind {
        "kernel" => schema_for!(crate::kernel::KernelDoc),
        "device" => schema_for!(crate::device::Device),
        "check" => schema_for!(super::Check),
        "error" => schema_for!(super::ErrorDocument),
        _ => return None,
    })
}
