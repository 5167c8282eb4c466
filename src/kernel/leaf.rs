//! The small types that a kernel document is made of, each decoding itself.

#[cfg(test)]
use std::borrow::Cow;

#[cfg(test)]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::expr::{Expr, Kind, Range, parse_expression, parse_range};
use crate::named::named;
use crate::text::{Decode, Decoder, Diagnostic, Node, Spanned, Value, nearest, shorten};

/// An integer or an expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula(pub Expr);

impl Decode for Formula {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        let scalar = decoder.scalar(node, "an integer or an expression")?;
        // Tables may be long.
        if let Some(n) = scalar.as_int().filter(|&n| n >= 0) {
            let span = scalar.origin.span(0..scalar.text.len());
            return Some(Formula(Expr { kind: Kind::Int(n), span }));
        }
        // 4.0 and 1e3 are integers of YAML; the grammar knows only digits.
        let integral = scalar.as_int().filter(|_| scalar.text.contains(['.', 'e', 'E', 'o']));
        let text = integral.map_or_else(|| scalar.text.as_str().to_owned(), |n| n.to_string());
        parse_expression(&text, scalar.origin).map(Formula).map_err(|d| decoder.report(d)).ok()
    }
}

/// The schema of what may be an integer or a text of the grammar.
#[cfg(test)]
fn integer_or_text(description: &str) -> Schema {
    json_schema!({"description": description, "type": ["integer", "string"]})
}

#[cfg(test)]
impl JsonSchema for Formula {
    fn schema_name() -> Cow<'static, str> {
        "Expression".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        integer_or_text("An integer or an expression of grammar/expression.ebnf.")
    }
}

/// A number that need not be whole, or an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Number {
    /// A fraction.
    Float(f64),
    /// Anything of the grammar.
    Formula(Formula),
}

impl Decode for Number {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        if let Value::Scalar(scalar) = &node.value
            && scalar.as_int().is_none()
            && let Some(float) = scalar.as_float()
        {
            return Some(Number::Float(float));
        }
        Formula::decode(node, decoder).map(Number::Formula)
    }
}

#[cfg(test)]
impl JsonSchema for Number {
    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"description": "A number or an expression.", "type": ["number", "string"]})
    }
}

/// One or several ranges: `1..R`, `4`, `[1..R, -1]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranges(pub Vec<Range>);

impl Decode for Ranges {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        if let Value::List(items) = &node.value {
            let ranges: Vec<Option<Range>> = items.iter().map(|item| decode_range(item, decoder)).collect();
            return ranges.into_iter().collect::<Option<_>>().map(Ranges);
        }
        decode_range(node, decoder).map(|range| Ranges(vec![range]))
    }
}

fn decode_range(node: &Node, decoder: &mut Decoder) -> Option<Range> {
    let scalar = decoder.scalar(node, "a range such as 1..R, pow2(1..1024) or an integer")?;
    parse_range(&scalar.text, scalar.origin).map_err(|d| decoder.report(d)).ok()
}

#[cfg(test)]
impl JsonSchema for Ranges {
    fn schema_name() -> Cow<'static, str> {
        "Ranges".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A range (1..R, 0..n-1 step 2, pow2(1..1024)), an integer, or a list of these.",
            "anyOf": [
                {"type": ["integer", "string"]},
                {"type": "array", "items": {"type": ["integer", "string"]}}
            ]
        })
    }
}

/// One value or a list of them.
#[derive(Debug, Clone, PartialEq)]
pub enum OneOrMany<T> {
    /// A single value.
    One(T),
    /// A list.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// The values.
    pub fn as_slice(&self) -> &[T] {
        match self {
            OneOrMany::One(value) => std::slice::from_ref(value),
            OneOrMany::Many(values) => values,
        }
    }
}

impl<T: Decode> Decode for OneOrMany<T> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        if let Value::List(_) = node.value {
            return Vec::decode(node, decoder).map(OneOrMany::Many);
        }
        T::decode(node, decoder).map(OneOrMany::One)
    }
}

#[cfg(test)]
impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMany_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({"anyOf": [one, {"type": "array", "items": one}]})
    }

    fn inline_schema() -> bool {
        true
    }
}

/// Declares an enumeration that is written as one of a few words.
macro_rules! words {
    (
        $(#[$attribute:meta])*
        $name:ident, $what:literal { $( $(#[$variant_attribute:meta])* $variant:ident = $word:literal ),* $(,)? }
        other names { $( $alias:literal => $meant:literal ),* $(,)? }
    ) => {
        named! {
            $(#[$attribute])*
            pub enum $name { $( $(#[$variant_attribute])* $variant = $word, )* }
        }

        impl Decode for $name {
            fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
                decoder.word(node, $what, &Self::NAMED, &[$(($alias, $meant)),*])
            }
        }
    };
}

words! {
    /// The order of an array's indices in memory.
    Order, "an order" {
        /// The first index is fastest.
        First = "F",
        /// The last index is fastest.
        Last = "C",
    }
    other names { "fortran" => "F", "column-major" => "F", "row-major" => "C", "c" => "C", "f" => "F" }
}

words! {
    /// Where a field lives.
    Space, "a memory space" {
        /// Device memory.
        Global = "global",
        /// The on-chip memory of a block.
        Shared = "shared",
        /// Memory of each thread: what CUDA calls local memory, arrays of a thread and spilled registers. It lies in
        /// device memory; lanes lie side by side, and a block takes the place of one that has ended.
        Private = "private",
    }
    other names { "local" => "shared", "lds" => "shared", "device" => "global" }
}

impl Space {
    /// Whether it lies in device memory, behind the caches.
    pub fn in_memory(self) -> bool {
        self != Space::Shared
    }
}

words! {
    /// The precision in which the floating-point operations of `work.flops` are done.
    Precision, "a precision" {
        /// Double.
        F64 = "f64",
        /// Single.
        F32 = "f32",
        /// Half.
        F16 = "f16",
    }
    other names { "double" => "f64", "float" => "f32", "half" => "f16", "float64" => "f64", "float32" => "f32" }
}

/// An element type: all that matters of it is its name and size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DType {
    /// As the document names it.
    pub name: String,
    /// Bytes of one element.
    pub bytes: i64,
}

const DTYPES: [(&str, i64); 13] = [
    ("f16", 2),
    ("f32", 4),
    ("f64", 8),
    ("i8", 1),
    ("i16", 2),
    ("i32", 4),
    ("i64", 8),
    ("u8", 1),
    ("u16", 2),
    ("u32", 4),
    ("u64", 8),
    ("c64", 8),
    ("c128", 16),
];

const DTYPE_ALIASES: [(&str, &str); 10] = [
    ("double", "f64"),
    ("float64", "f64"),
    ("float", "f32"),
    ("float32", "f32"),
    ("half", "f16"),
    ("float16", "f16"),
    ("int", "i32"),
    ("int32", "i32"),
    ("int64", "i64"),
    ("complex128", "c128"),
];

/// Largest element in bytes.
const MAX_ELEMENT: i64 = 1 << 20;

impl Decode for DType {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        let scalar = decoder.scalar(node, "an element type such as f64")?;
        let text = scalar.text.as_str();
        if let Some(&(name, bytes)) = DTYPES.iter().find(|d| d.0 == text) {
            return Some(DType { name: name.to_owned(), bytes });
        }
        if let Some(bytes) = scalar.as_int() {
            if (1..=MAX_ELEMENT).contains(&bytes) {
                return Some(DType { name: format!("{bytes} B"), bytes });
            }
            let message = format!("an element of {bytes} bytes; sizes from 1 to {MAX_ELEMENT} are possible");
            decoder.report(Diagnostic::error("dtype", node.span, message));
            return None;
        }
        let known = DTYPES.map(|d| d.0);
        let alias = DTYPE_ALIASES.iter().find(|a| a.0 == text).map(|a| a.1);
        let near = alias.or_else(|| nearest(text, known)).map(|n| format!("did you mean `{n}`? "));
        let help = format!("{}known: {}, or a size in bytes", near.unwrap_or_default(), known.join(" "));
        let message = format!("`{}` is not an element type", crate::text::shorten(text));
        decoder.report(Diagnostic::error("dtype", node.span, message).help(help));
        None
    }
}

#[cfg(test)]
impl JsonSchema for DType {
    fn schema_name() -> Cow<'static, str> {
        "DType".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = DTYPES.map(|d| d.0);
        json_schema!({
            "description": "An element type, or the size of an element in bytes.",
            "anyOf": [{"enum": names}, {"type": "integer", "minimum": 1, "maximum": MAX_ELEMENT}]
        })
    }
}

/// Names and values in a fixed order: a mapping, or a list of one-key mappings where a generator
/// cannot keep the order of a mapping.
#[derive(Debug, Clone)]
pub struct Ordered(pub Vec<(Spanned<String>, Formula)>);

/// A mapping that names the extents of a list or a single one, where that is all that is missing.
fn nameless(node: &Node) -> Option<String> {
    let extents = match &node.value {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let text = |node: &Node| match &node.value {
        Value::Scalar(scalar) if !scalar.is_null() => Some(shorten(scalar.text.as_str())),
        _ => None,
    };
    let texts: Vec<String> = extents.iter().map(text).collect::<Option<_>>()?;
    let named: Vec<String> =
        ["x", "y", "z"].iter().zip(&texts).map(|(axis, n)| format!("{axis}: {n}")).collect();
    (1..=3).contains(&texts.len()).then(|| format!("{{{}}}", named.join(", ")))
}

impl Decode for Ordered {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        let single = std::slice::from_ref(node);
        if let Some(named) = nameless(node) {
            let message = "the axes have no names";
            decoder
                .report(Diagnostic::error("wrong-type", node.span, message).help(format!("write `{named}`")));
            return None;
        }
        let mut out = Vec::new();
        let mut whole = true;
        for part in if let Value::List(items) = &node.value { items } else { single } {
            let Some(map) = decoder.mapping(part, "axis names and their extents") else {
                whole = false;
                continue;
            };
            for entry in map {
                match Formula::decode(&entry.value, decoder) {
                    Some(value) => {
                        out.push((
                            Spanned { value: entry.key.as_str().to_owned(), span: entry.key_span },
                            value,
                        ));
                    }
                    None => whole = false,
                }
            }
        }
        whole.then_some(Ordered(out))
    }
}

#[cfg(test)]
impl JsonSchema for Ordered {
    fn schema_name() -> Cow<'static, str> {
        "Axes".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let extent = generator.subschema_for::<Formula>();
        let map = json_schema!({"type": "object", "additionalProperties": extent, "minProperties": 1, "maxProperties": 3});
        json_schema!({
            "description": "Axis names with their extents in work items, fastest first; at most three.",
            "anyOf": [map, {"type": "array", "items": map, "minItems": 1, "maxItems": 3}]
        })
    }
}

/// Any value, checked later.
#[derive(Debug, Clone, Default)]
pub struct Anything;

impl Decode for Anything {
    fn decode(_: &Node, _: &mut Decoder) -> Option<Self> {
        Some(Anything)
    }
}

#[cfg(test)]
impl JsonSchema for Anything {
    fn schema_name() -> Cow<'static, str> {
        "Variant".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"description": "Keys of a kernel document, merged over it, and a name.", "type": "object"})
    }
}
