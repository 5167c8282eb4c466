//! What kind of document of Wavecast a text is, where another one is expected.

use super::{Diagnostic, Node, Span, Value};

/// Keys that say what kind of document it is.
const KINDS: [(&str, &str); 5] = [
    ("wavecast", "a kernel document"),
    ("wavecast-device", "a device file"),
    ("wavecast-curves", "a curve file"),
    ("wavecast-set", "a set file"),
    ("wavecast-confidence", "a file of widths"),
];

/// The schema of an answer, and where it stands.
fn answer(document: &Node) -> Option<(&str, Span)> {
    let schema = document.get("schema")?;
    match &schema.value {
        Value::Scalar(name) if name.text.starts_with("wavecast/") => Some((&name.text, schema.span)),
        _ => None,
    }
}

/// What is wrong with a document that is of another kind than the one whose key is `expected`.
pub(crate) fn of_another_kind(document: &Node, expected: &str) -> Option<Diagnostic> {
    let kind = |key: &str| KINDS.iter().find(|kind| kind.0 == key).map_or("another document", |kind| kind.1);
    if document.get(expected).is_some() {
        return None;
    }
    if let Some((schema, span)) = answer(document) {
        let message = format!("this is an answer of Wavecast (`{schema}`), not {}", kind(expected));
        let help = match (schema, expected) {
            ("wavecast/fit/1", "wavecast-curves") => {
                "`wavecast fit -o x.yaml` writes a curve file".to_owned()
            }
            _ => format!("{} has the key `{expected}`", kind(expected)),
        };
        return Some(Diagnostic::error("other-kind", span, message).help(help));
    }
    let (key, found) = KINDS.iter().find(|(key, _)| document.get(key).is_some())?;
    let message = format!("this is {found}, not {}", kind(expected));
    let span = document.get(key).map_or(document.span, |node| node.span);
    let help = format!("{} has the key `{expected}`", kind(expected));
    Some(Diagnostic::error("other-kind", span, message).help(help))
}
