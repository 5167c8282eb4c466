//! Compiled code in the place of accesses: the key `code`, and what is asked of whoever reads it.

#[cfg(test)]
use std::borrow::Cow;
use std::collections::BTreeMap;

#[cfg(test)]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::leaf::{Formula, Number, OneOrMany};
use crate::expr::{Excess, Expr, Kind, LaunchSizes, Scale, parse_expression};
use crate::readable::readable;
use crate::space::{Block, Domain, Grid};
use crate::text::{Decode, Decoder, Diagnostic, FileId, Named, Node, Sources, Span, Spanned, Value, record};

record! {
    /// Compiled code that says what threads touch and compute, in the place of loads, stores, atomics, body, guard and
    /// work.
    pub struct CodeDoc, "code" {
        /// PTX: the path of a file, as seen from the document, or the text itself. Each of several is a variant.
        ptx: OneOrMany<Spanned<String>> [required: "a file or the text, for example `code: {ptx: saxpy.ptx}`"],
        /// The entry; not needed where there is only one.
        entry: String,
        /// What the parameters of the entry get: by their names or their numbers from 0, or a list in their order.
        args: ArgumentsDoc,
        /// How often loops run that only data end, by a line of PTX that is in them.
        trips: Named<Formula>,
        /// How probable it is that a branch or predicate holds, where data decide, by its line of PTX.
        branch: Named<Number>,
        /// Addresses in the place of those that data say, by their lines of PTX.
        assume: Named<String>,
    }
}

/// What a parameter gets.
#[derive(Debug, Clone)]
pub enum ArgumentDoc {
    /// A fraction.
    Fraction(String),
    /// A number or a field, with an offset in bytes.
    Formula(Expr),
    /// A field with its type and size: `x:f32[1024]`.
    Text(String),
}

impl Decode for ArgumentDoc {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        let scalar = decoder.scalar(node, "a number, an expression, or a field")?;
        let text = scalar.text.as_str();
        if let Some(truth) = scalar.as_bool() {
            return Some(Self::Fraction(i32::from(truth).to_string()));
        }
        if scalar.as_int().is_none() && scalar.as_float().is_some() {
            return Some(Self::Fraction(text.to_owned()));
        }
        if text.contains(':') {
            return Some(Self::Text(text.to_owned()));
        }
        if let Some(n) = scalar.as_int().filter(|n| *n >= 0) {
            return Some(Self::Formula(Expr { kind: Kind::Int(n), span: node.span }));
        }
        parse_expression(text, scalar.origin).map(Self::Formula).map_err(|d| decoder.report(d)).ok()
    }
}

#[cfg(test)]
impl JsonSchema for ArgumentDoc {
    fn schema_name() -> Cow<'static, str> {
        "Argument".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number, an expression of parameters, or a field, also some bytes behind its beginning (x + 8).",
            "type": ["number", "string", "boolean"]
        })
    }
}

/// The arguments of an entry: each with the name or number of its parameter.
#[derive(Debug, Clone)]
pub struct ArgumentsDoc(pub Vec<(String, Spanned<ArgumentDoc>)>);

impl Decode for ArgumentsDoc {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        let each: Vec<(String, &Node)> = if let Value::List(items) = &node.value {
            items.iter().enumerate().map(|(i, item)| (i.to_string(), item)).collect()
        } else {
            let map = decoder.mapping(node, "parameters and what they get")?;
            map.iter().map(|e| (e.key.as_str().to_owned(), &e.value)).collect()
        };
        let given = each.into_iter().filter(|(_, value)| !value.is_null());
        let decoded: Vec<Option<_>> =
            given.map(|(name, value)| Some((name, Decode::decode(value, decoder)?))).collect();
        decoded.into_iter().collect::<Option<_>>().map(Self)
    }
}

#[cfg(test)]
impl JsonSchema for ArgumentsDoc {
    fn schema_name() -> Cow<'static, str> {
        "Arguments".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<Option<ArgumentDoc>>();
        json_schema!({
            "description": "What parameters get, by name or number, or in their order; null is a field of the parameter's name.",
            "anyOf": [{"type": "object", "additionalProperties": one}, {"type": "array", "items": one}]
        })
    }
}

/// Code that a document wants read, with all that it says of it.
#[derive(Debug, Clone)]
pub struct CodeRequest {
    /// Where the document asks for it.
    pub span: Span,
    /// Texts of PTX, or the paths of files; a text has more than one line.
    pub ptx: Vec<Spanned<String>>,
    /// The entry.
    pub entry: Option<String>,
    /// Arguments as `NAME=VALUE`, each with its place.
    pub args: Vec<Spanned<String>>,
    /// Iterations of loops as `LINE=N`.
    pub trips: Vec<String>,
    /// Probabilities of branches as `LINE=P`.
    pub branch: Vec<String>,
    /// Addresses as `LINE: ADDRESS`.
    pub assume: Vec<String>,
    /// The blocks of the document.
    pub blocks: Option<Vec<Block>>,
    /// Its grid.
    pub grid: Option<CodeGrid>,
    /// Its shared memory of a block.
    pub shared: Option<Scale>,
    /// Work items along x, y, z.
    pub domain: Option<Domain>,
    /// Its global fields.
    pub fields: Vec<CodeField>,
}

/// A grid that a document gives.
#[derive(Debug, Clone)]
pub struct CodeGrid {
    /// Blocks along x, y, z.
    pub extents: [Scale; 3],
    /// The same in the grammar of documents.
    pub texts: Vec<String>,
    /// Where it stands.
    pub span: Span,
}

impl CodeGrid {
    /// The grid for a block.
    pub fn at(&self, block: Block) -> Result<[i64; 3], Excess> {
        let sizes = LaunchSizes { block, grid: Grid::ONE };
        let [x, y, z] = &self.extents;
        Ok([x.at(&sizes)?, y.at(&sizes)?, z.at(&sizes)?])
    }
}

/// A field as a document knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeField {
    /// Its name.
    pub name: String,
    /// Bytes of an element.
    pub element: u64,
    /// Bytes of all of it.
    pub bytes: u64,
}

readable! {
    /// Where the accesses of a kernel were read.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Code {
        /// The text.
        text: FileId,
        /// What messages call it.
        name: String,
        /// The entry.
        entry: String,
        /// The blocks that it was read for: of others nothing is known.
        blocks: Vec<Block>,
        /// The most threads of a block that the entry allows, if it says so (`.maxntid`).
        most_threads: Option<i64>,
        /// The lines that its lines were compiled from, where that is known, as `saxpy.cu:4`.
        lines: BTreeMap<u32, String>,
    }
}

/// What was read of some code.
#[derive(Debug)]
pub struct CodeRead {
    /// Whether it is one of several, and which.
    pub(crate) variant: Option<String>,
    /// The document of it, for what the document that asked leaves out.
    pub(crate) document: Node,
    /// Where it was read.
    pub(crate) code: Code,
    /// What deserves a look.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Somebody who can read code.
pub trait ReadCode {
    /// What was read of it. The texts are kept in `sources`.
    fn read(&self, wanted: &CodeRequest, sources: &mut Sources) -> Result<Vec<CodeRead>, Vec<Diagnostic>>;
}

/// Nobody, where no code can be read.
pub(super) struct Nobody;

impl ReadCode for Nobody {
    fn read(&self, wanted: &CodeRequest, _: &mut Sources) -> Result<Vec<CodeRead>, Vec<Diagnostic>> {
        let message = "`code` is not read here";
        let help = "read the document with `wavecast::ask::KernelSource`";
        Err(vec![Diagnostic::error("code", wanted.span, message).help(help)])
    }
}

/// A document with what was read of its code in the place of the key; what it says itself counts.
pub(super) fn filled(mut document: Node, read: Node) -> Node {
    remove(&mut document, "code");
    if let Some(launch) = entry(&mut document, "launch") {
        // The blocks are those that the code was read for, and the grid is there only where it does not follow.
        remove(launch, "block");
        remove(launch, "grid");
    }
    under(&mut document, read, 0);
    document
}

/// Adds what a mapping does not say, and so on in the mappings of it that say different things under their keys.
fn under(document: &mut Node, read: Node, depth: usize) {
    let Value::Map(more) = read.value else { return };
    for mut new in more {
        match entry(document, new.key.as_str()) {
            Some(known) if known.is_null() => *known = new.value,
            // An axis or a field is a whole.
            Some(_) if new.key == "domain" || depth > 1 => {}
            Some(known) if new.key == "fields" => under(known, new.value, 2),
            Some(known) => under(known, new.value, depth + 1),
            None => {
                let Value::Map(entries) = &mut document.value else { return };
                new.key_span = new.value.span;
                entries.push(new);
            }
        }
    }
}

fn entry<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    let Value::Map(entries) = &mut node.value else { return None };
    entries.iter_mut().find(|e| e.key == key).map(|e| &mut e.value)
}

fn remove(node: &mut Node, key: &str) {
    if let Value::Map(entries) = &mut node.value {
        entries.retain(|e| e.key != key);
    }
}
