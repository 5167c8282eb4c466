//! JSON Schemas of requests and answers, generated from the types.

use schemars::{Schema, schema_for};

/// The kinds that have a schema here, with what they describe.
pub const SCHEMAS: [(&str, &str); 2] =
    [("request", "what `serve` reads, one a line"), ("answer", "what `serve` answers, one a line")];

/// The schema of a kind.
pub fn schema(kind: &str) -> Option<Schema> {
    Some(match kind {
        "request" => schema_for!(super::RequestLine),
        "answer" => schema_for!(super::AnswerLine),
        _ => return None,
    })
}
