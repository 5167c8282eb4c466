//! Variants: documents merged over the top level, for generators whose candidates are different programs.

use crate::text::{Diagnostic, Node, Value};

/// A document and the variant it became.
pub(super) struct Variant {
    /// Name of the variant; `None` for a document without variants.
    pub name: Option<String>,
    /// The merged tree.
    pub node: Node,
}

/// Most nodes of all variants of a document, each with the document it is merged over.
const MAX_NODES: usize = 50_000_000;

/// A document as its variants, or alone. One at a time is merged: together they may be much larger
/// than the text.
pub(super) enum Variants {
    /// A document without variants.
    Alone(Box<Node>),
    /// A document and what is merged over it.
    Merged(Box<Node>, Vec<Node>),
}

impl Variants {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Variants::Alone(_) => 1,
            Variants::Merged(_, changes) => changes.len(),
        }
    }

    /// Merges one after the other.
    pub fn one_by_one(self) -> impl Iterator<Item = Result<Variant, Diagnostic>> {
        let (alone, document, changes) = match self {
            Variants::Alone(node) => (Some(Variant { name: None, node: *node }), None, Vec::new()),
            Variants::Merged(document, changes) => (None, Some(document), changes),
        };
        let merged = changes
            .into_iter()
            .enumerate()
            .filter_map(move |(i, change)| document.as_ref().map(|document| merged(document, change, i)));
        alone.into_iter().map(Ok).chain(merged)
    }
}

/// Splits a document into its variants, of which `most` are read.
pub(super) fn split(mut document: Node, most: usize, errors: &mut Vec<Diagnostic>) -> Variants {
    let Some(list) = take(&mut document, "variants") else { return Variants::Alone(Box::new(document)) };
    let mut changes = Vec::new();
    match list.value {
        Value::List(items) if items.is_empty() => errors.push(
            Diagnostic::error("no-variants", list.span, "the list of variants is empty")
                .help("leave the key out"),
        ),
        Value::List(items) if items.len() > most => {
            let message = format!("{} variants; at most {most} are read", items.len());
            errors.push(
                Diagnostic::error("too-many-variants", list.span, message)
                    .help("raise it with --limit variants=N"),
            );
        }
        Value::List(items) => changes = items,
        _ => {
            let message = format!("`variants` must be a list of documents, found {}", list.describe());
            errors.push(Diagnostic::error("wrong-type", list.span, message));
        }
    }
    let nodes = document.count().saturating_mul(changes.len());
    if nodes > MAX_NODES {
        let message =
            format!("the variants come to {nodes} values with what they share; at most {MAX_NODES} are read");
        errors.push(
            Diagnostic::error("too-many-variants", list.span, message).help("split the text into several"),
        );
        changes.clear();
    }
    Variants::Merged(Box::new(document), changes)
}

fn merged(document: &Node, mut change: Node, number: usize) -> Result<Variant, Diagnostic> {
    let Value::Map(_) = change.value else {
        let message = format!("a variant must be a mapping, found {}", change.describe());
        return Err(Diagnostic::error("wrong-type", change.span, message));
    };
    if let Some(inner) = take(&mut change, "variants") {
        let error = Diagnostic::error("wrong-type", inner.span, "a variant has no variants of its own");
        return Err(error.help("list all of them at the top level"));
    }
    let name = match take(&mut change, "name").map(|n| n.value) {
        Some(Value::Scalar(name)) => name.text.into(),
        _ => format!("variant {}", number + 1),
    };
    let mut node = document.clone();
    node.merge(&change);
    Ok(Variant { name: Some(name), node })
}

/// Removes a key and returns its value, null counting as absent.
fn take(node: &mut Node, key: &str) -> Option<Node> {
    let Value::Map(entries) = &mut node.value else { return None };
    let at = entries.iter().position(|e| e.key == key)?;
    Some(entries.remove(at).value).filter(|n| !n.is_null())
}
