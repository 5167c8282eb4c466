//! Statements of a body as types: accesses, barriers, loops, and parts that parameters decide on.

#[cfg(test)]
use std::borrow::Cow;

#[cfg(test)]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::leaf::{Formula, OneOrMany, Ranges};
use super::model::AccessKind;
use crate::expr::parse_expression;
use crate::text::{
    Decode, Decoder, Diagnostic, Named, Node, Origin, Span, Spanned, Value, nearest, record, shorten,
};

record! {
    /// Statements that share ranges, width or condition.
    pub struct StatementGroupDoc, "a statement" {
        /// Variables to unroll over; each combination is a separate instruction.
        r#for: Named<Ranges>,
        /// One or several statements `load EXPR`, `store EXPR`, `atomic EXPR`.
        at: OneOrMany<AccessStatement> [required: "for example `at: [\"load a[x]\", \"store b[x]\"]`"],
        /// Bytes touched from the element's address on; the element's size.
        width: Formula,
        /// Only where this holds.
        when: Formula,
    }
}

record! {
    /// A serial loop in the thread.
    pub struct LoopDoc, "a loop" {
        /// The variable and its range.
        r#loop: Named<LoopRangeDoc> [required: "for example `loop: {k: 0..K-1}`"],
        /// What is repeated.
        body: Vec<StatementDoc> [required: "what is done in each iteration, for example `body: [\"load a[k]\"]`"],
    }
}

record! {
    /// Bounds of a loop.
    pub struct LoopBoundsDoc, "a loop range" {
        /// First value.
        from: Formula [required: "the first value, for example `{from: 0, to: N - 1}`"],
        /// Last value that may occur.
        to: Formula [required: "the last value that may occur, for example `{from: 0, to: N - 1}`"],
        /// Distance; 1.
        step: Formula,
        /// How many iterations are enough to look at, as the author sees it. Results are those of the whole loop, with it or without.
        sample: Formula,
    }
}

record! {
    /// Statements, loops and barriers among them, that are written out for each combination of variables, or left
    /// out under a condition on parameters.
    pub struct PartDoc, "a part of a body" {
        /// Variables to unroll over.
        r#for: Named<Ranges>,
        /// Only where this holds; a condition on parameters and variables.
        when: Formula,
        /// What is written out.
        body: Vec<StatementDoc> [required: "statements, for example `body: [\"load a[x]\", \"store b[x]\"]`"],
    }
}

/// `load EXPR`, `store EXPR`, `atomic EXPR`.
#[derive(Debug, Clone)]
pub struct AccessStatement {
    /// What is done.
    pub kind: AccessKind,
    /// Where.
    pub at: Formula,
}

impl Decode for AccessStatement {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        let scalar = decoder.scalar(node, "`load EXPR`, `store EXPR` or `atomic EXPR`")?;
        let text = scalar.text.as_str();
        let verb = text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
        let kinds =
            [("load", AccessKind::Load), ("store", AccessKind::Store), ("atomic", AccessKind::Atomic)];
        let Some((_, kind)) = kinds.iter().find(|k| k.0 == verb) else {
            let near =
                nearest(verb, ["load", "store", "atomic", "sync"]).map(|n| format!("did you mean `{n}`?"));
            let message = format!("`{}` is not a statement", shorten(text));
            decoder.report(
                Diagnostic::error("statement", node.span, message)
                    .help("statements are `load EXPR`, `store EXPR`, `atomic EXPR`, `sync` and {loop: ..., body: [...]}")
                    .maybe_help(near),
            );
            return None;
        };
        let start = text.len() - text[verb.len()..].trim_start().len();
        let inside = scalar.origin.span(start..text.len());
        let verbatim = (inside.end - inside.start) as usize == text.len() - start;
        let origin = if verbatim { Origin::verbatim(inside) } else { Origin::whole(inside) };
        match parse_expression(&text[start..], origin) {
            Ok(at) => Some(AccessStatement { kind: *kind, at: Formula(at) }),
            Err(d) => {
                decoder.report(d);
                None
            }
        }
    }
}

#[cfg(test)]
impl JsonSchema for AccessStatement {
    fn schema_name() -> Cow<'static, str> {
        "AccessStatement".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^(load|store|atomic)\\b"})
    }
}

/// A statement of a body.
#[derive(Debug, Clone)]
pub enum StatementDoc {
    /// A barrier of the block.
    Sync(Span),
    /// One access.
    Access(AccessStatement),
    /// Several accesses.
    Group(StatementGroupDoc),
    /// A loop.
    Loop(LoopDoc),
    /// Statements for several values or under a condition on parameters.
    Part(PartDoc),
}

impl Decode for StatementDoc {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        match &node.value {
            Value::Scalar(s) if s.text == "sync" => Some(StatementDoc::Sync(node.span)),
            Value::Map(_) if node.get("loop").is_some() => {
                LoopDoc::decode(node, decoder).map(StatementDoc::Loop)
            }
            Value::Map(_) if node.get("body").is_some() => {
                PartDoc::decode(node, decoder).map(StatementDoc::Part)
            }
            Value::Map(_) => StatementGroupDoc::decode(node, decoder).map(StatementDoc::Group),
            _ => AccessStatement::decode(node, decoder).map(StatementDoc::Access),
        }
    }
}

#[cfg(test)]
impl JsonSchema for StatementDoc {
    fn schema_name() -> Cow<'static, str> {
        "Statement".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let access = generator.subschema_for::<AccessStatement>();
        let group = generator.subschema_for::<StatementGroupDoc>();
        let repeat = generator.subschema_for::<LoopDoc>();
        let part = generator.subschema_for::<PartDoc>();
        json_schema!({"anyOf": [{"const": "sync"}, access, group, repeat, part]})
    }
}

/// The range of a loop.
#[derive(Debug, Clone)]
pub enum LoopRangeDoc {
    /// `0..K-1`.
    Ranges(Spanned<Ranges>),
    /// With step, sample, or bounds that depend on the block.
    Bounds(Box<LoopBoundsDoc>),
}

impl Decode for LoopRangeDoc {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        match node.value {
            Value::Map(_) => LoopBoundsDoc::decode(node, decoder).map(Box::new).map(LoopRangeDoc::Bounds),
            _ => Spanned::decode(node, decoder).map(LoopRangeDoc::Ranges),
        }
    }
}

#[cfg(test)]
impl JsonSchema for LoopRangeDoc {
    fn schema_name() -> Cow<'static, str> {
        "LoopRange".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (ranges, bounds) =
            (generator.subschema_for::<Ranges>(), generator.subschema_for::<LoopBoundsDoc>());
        json_schema!({"anyOf": [ranges, bounds]})
    }
}
