//! `--device-set l2.effective=80MiB`: changing a number of a device that is otherwise real.

use super::sourced::{BELOW, WAS};
use crate::text::{Diagnostic, Entry, Node, Origin, Scalar, Span, Value, nearest};

/// Key of the source that an overridden number gets.
pub(super) const SOURCE: &str = "given";

/// Path and value of a `PATH=VALUE` text.
pub(super) fn parts(text: &str) -> Option<(String, String)> {
    text.split_once('=').map(|(path, value)| (path.trim().to_owned(), value.trim().to_owned()))
}

/// Changes one number in a device tree; `text` is `PATH=VALUE` at `span`.
pub(super) fn apply(tree: &mut Node, text: &str, span: Span) -> Result<(), Diagnostic> {
    let Some((path, value)) = text.split_once('=') else {
        return Err(Diagnostic::error("usage", span, format!("`{text}` does not say what to set"))
            .help("write --device-set PATH=VALUE, for example l2.effective=80MiB"));
    };
    let start = span.start as usize;
    let value_span = Span::new(span.file, start + path.len() + 1..span.end as usize);
    let mut node = tree;
    for part in path.trim().split('.') {
        let Value::Map(entries) = &mut node.value else {
            return Err(unknown(path, part, &[], span));
        };
        let known: Vec<String> = entries.iter().map(|e| e.key.as_str().to_owned()).collect();
        match entries.iter_mut().find(|e| e.key == part) {
            Some(entry) => node = &mut entry.value,
            None => return Err(unknown(path, part, &known, span)),
        }
    }
    let scalar = |text: &str, span: Span| {
        let origin = Origin::whole(span);
        Node { span, value: Value::Scalar(Scalar { text: text.into(), plain: true, origin }) }
    };
    match &node.value {
        Value::Map(entries) if entries.iter().any(|e| e.key == "value") => {
            // Of several changes the first knows what the device has.
            let before = entries.iter().find(|e| e.key == WAS).or(entries.iter().find(|e| e.key == "value"));
            let before = before.map(|e| Entry { key: WAS.into(), ..e.clone() });
            let entry = |key: &str, text: &str, at: Span| Entry {
                key: key.into(),
                key_span: span,
                value: scalar(text, at),
            };
            let mut changed = vec![entry("value", value.trim(), value_span), entry("source", SOURCE, span)];
            changed.extend(before);
            changed.extend(entries.iter().find(|e| e.key == BELOW).cloned());
            node.value = Value::Map(changed);
            node.span = span;
            Ok(())
        }
        Value::Scalar(_) => {
            *node = scalar(value.trim(), value_span);
            Ok(())
        }
        Value::Map(entries) => {
            let keys: Vec<&str> = entries.iter().map(|e| e.key.as_str()).collect();
            let message = format!("`{}` is not a number but a group", path.trim());
            Err(Diagnostic::error("device-set", span, message).help(format!("it holds: {}", keys.join(", "))))
        }
        Value::List(_) => Err(Diagnostic::error(
            "device-set",
            span,
            format!("`{}` cannot be changed this way", path.trim()),
        )),
    }
}

fn unknown(path: &str, part: &str, known: &[String], span: Span) -> Diagnostic {
    let names = || known.iter().map(String::as_str);
    let help = match nearest(part, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known here: {}", names().collect::<Vec<_>>().join(", ")),
    };
    Diagnostic::error("device-set", span, format!("a device has no `{}`", path.trim())).help(help)
}
