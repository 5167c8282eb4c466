//! What kind of document of Wavecast a text is, where another one is expected.

use super::{Diagnostic, Node};

/// Keys that say what kind of document it is.
const KINDS: [(&str, &str); 5] = [
    ("wavecast", "a kernel document"),
    ("wavecast-device", "a device file"),
    ("wavecast-curves", "a curve file"),
    ("wavecast-set", "a set file"),
    ("wavecast-confidence", "a file of widths"),
];

/// What is wrong with a document that is of another kind than the one whose key is `expected`.
pub(crate) fn of_another_kind(document: &Node, expected: &str) -> Option<Diagnostic> {
    let kind = |key: &str| KINDS.iter().find(|kind| kind.0 == key).map_or("another document", |kind| kind.1);
    if document.get(expected).is_some() {
        return None;
    }
    let (key, found) = KINDS.iter().find(|(key, _)| document.get(key).is_some())?;
    let message = format!("this is {found}, not {}", kind(expected));
    let span = document.get(key).map_or(document.span, |node| node.span);
    let help = format!("{} has the key `{expected}`", kind(expected));
    Some(Diagnostic::error("other-kind", span, message).help(help))
}
