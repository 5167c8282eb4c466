//! Lists in kernel documents: tables of integers, and shapes.

#[cfg(test)]
use std::borrow::Cow;

#[cfg(test)]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::leaf::Formula;
use crate::text::{Decode, Decoder, Diagnostic, Node, Spanned, Value};

/// Three extents; shorter lists are padded with 1.
pub type ShapeDoc = Spanned<Vec<Formula>>;

/// A table: nested lists of integers.
#[derive(Debug, Clone)]
pub struct TableDoc {
    /// Entries along each dimension.
    pub shape: Vec<usize>,
    /// The entries, last dimension fastest.
    pub entries: Vec<Formula>,
}

impl Decode for TableDoc {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        let mut table = TableDoc { shape: Vec::new(), entries: Vec::new() };
        let mut level = node;
        while let Value::List(items) = &level.value {
            table.shape.push(items.len());
            let Some(first) = items.first() else {
                decoder.report(Diagnostic::error("table", level.span, "a table needs at least one entry"));
                return None;
            };
            level = first;
        }
        if table.shape.is_empty() {
            decoder.expected(node, "a table (a list of integers, or of lists of equal length)");
            return None;
        }
        let shape = table.shape.clone();
        collect_entries(node, &shape, &mut table.entries, decoder).then_some(table)
    }
}

fn collect_entries(node: &Node, shape: &[usize], out: &mut Vec<Formula>, decoder: &mut Decoder) -> bool {
    let (Value::List(items), Some((&extent, inner))) = (&node.value, shape.split_first()) else {
        let entry = Formula::decode(node, decoder);
        let good = entry.is_some();
        out.extend(entry);
        return good;
    };
    if items.len() != extent {
        let message = format!("this row has {} entries, the first one {extent}", items.len());
        decoder.report(
            Diagnostic::error("table", node.span, message).help("all rows of a table have equal length"),
        );
        return false;
    }
    let mut good = true;
    for item in items {
        let nested = matches!(item.value, Value::List(_));
        if nested == inner.is_empty() {
            let wanted = if inner.is_empty() { "an integer" } else { "a list, as the first row has" };
            decoder.expected(item, wanted);
            good = false;
        } else {
            good &= collect_entries(item, inner, out, decoder);
        }
    }
    good
}

#[cfg(test)]
impl JsonSchema for TableDoc {
    fn schema_name() -> Cow<'static, str> {
        "Table".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"description": "Integers, or lists of equal length, nested as deep as the table has indices.", "type": "array"})
    }
}

/// A list of shapes.
#[derive(Debug, Clone)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(transparent))]
pub struct ShapeDocs(pub Vec<ShapeDoc>);

impl Decode for ShapeDocs {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        let lone = match &node.value {
            Value::List(items) => items.first().is_some_and(|first| matches!(first.value, Value::Scalar(_))),
            Value::Scalar(_) => true,
            Value::Map(_) => false,
        };
        if lone {
            let message = "a list of shapes is needed here, not one shape";
            let error = Diagnostic::error("wrong-type", node.span, message);
            decoder.report(error.help("put it into another pair of brackets: [[256, 1, 1]]"));
            return None;
        }
        Vec::decode(node, decoder).map(ShapeDocs)
    }
}
