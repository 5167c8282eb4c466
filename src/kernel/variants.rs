//! Variants: documents merged over the top level, for generators whose candidates are different programs.

use crate::source::{Diagnostic, Node, Value};

/// A document and the variant it became.
pub(super) struct Variant {
    /// Name of the variant; `None` for a document without variants.
    pub name: Option<String>,
    /// The merged tree.
    pub node: Node,
}

/// Splits a document into its variants, or returns it alone.
pub(super) fn expand(mut document: Node, most: usize, errors: &mut Vec<Diagnostic>) -> Vec<Variant> {
    let Some(list) = take(&mut document, "variants") else {
        return vec![Variant { name: None, node: document }];
    };
    let Value::List(items) = &list.value else {
        let message = format!("`variants` must be a list of documents, found {}", list.describe());
        errors.push(Diagnostic::error("wrong-type", list.span, message));
        return Vec::new();
    };
    if items.is_empty() {
        errors.push(
            Diagnostic::error("no-variants", list.span, "the list of variants is empty")
                .help("leave the key out"),
        );
    }
    if items.len() > most {
        let message = format!("{} variants; at most {most} are read", items.len());
        errors.push(
            Diagnostic::error("too-many-variants", list.span, message)
                .help("raise it with --limit variants=N"),
        );
        return Vec::new();
    }
    items.iter().enumerate().filter_map(|(i, item)| merged(&document, item, i, errors)).collect()
}

fn merged(document: &Node, item: &Node, number: usize, errors: &mut Vec<Diagnostic>) -> Option<Variant> {
    let Value::Map(_) = item.value else {
        let message = format!("a variant must be a mapping, found {}", item.describe());
        errors.push(Diagnostic::error("wrong-type", item.span, message));
        return None;
    };
    let mut change = item.clone();
    let name = match take(&mut change, "name").map(|n| n.value) {
        Some(Value::Scalar(name)) => name.text,
        _ => format!("variant {}", number + 1),
    };
    let mut node = document.clone();
    node.merge(&change);
    Some(Variant { name: Some(name), node })
}

/// Removes a key and returns its value, null counting as absent.
fn take(node: &mut Node, key: &str) -> Option<Node> {
    let Value::Map(entries) = &mut node.value else { return None };
    let at = entries.iter().position(|e| e.key == key)?;
    Some(entries.remove(at).value).filter(|n| !n.is_null())
}
