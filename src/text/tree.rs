//! Trees for types that serde reads. Limits and places are those of the tree; the first mistake is the last.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::{Diagnostic, Entry, Node, Scalar, Span, Value};

/// Reads a type that serde knows from a tree. `code` is that of the error, if there is one.
pub fn from_tree<T: DeserializeOwned>(node: &Node, code: &'static str) -> Result<T, Diagnostic> {
    T::deserialize(node).map_err(|e| Diagnostic::error(code, e.span.unwrap_or(node.span), e.message))
}

/// What is wrong, and where as soon as it is known.
#[derive(Debug)]
pub struct TreeError {
    message: String,
    span: Option<Span>,
}

impl TreeError {
    /// The innermost place is the right one.
    fn at(self, span: Span) -> Self {
        Self { span: self.span.or(Some(span)), ..self }
    }
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TreeError {}

impl Error for TreeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), span: None }
    }
}

impl Scalar {
    /// The type that the text of a plain scalar has by itself.
    fn visit<'de, V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, TreeError> {
        if self.is_null() {
            visitor.visit_unit()
        } else if let Some(value) = self.as_bool() {
            visitor.visit_bool(value)
        } else if let Some(value) = self.as_int() {
            visitor.visit_i64(value)
        } else if let Some(value) = self.as_float() {
            visitor.visit_f64(value)
        } else {
            visitor.visit_str(&self.text)
        }
    }
}

impl<'de> Deserializer<'de> for &Node {
    type Error = TreeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TreeError> {
        let read = match &self.value {
            Value::Scalar(scalar) => scalar.visit(visitor),
            Value::List(items) => {
                let mut left = Items(items.iter());
                // A visitor that wants a certain number leaves the rest.
                match visitor.visit_seq(&mut left) {
                    Ok(_) if left.0.len() > 0 => Err(TreeError::invalid_length(items.len(), &"fewer items")),
                    read => read,
                }
            }
            Value::Map(entries) => visitor.visit_map(Entries { left: entries.iter(), value: None }),
        };
        read.map_err(|e| e.at(self.span))
    }

    /// A name may look like a number.
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TreeError> {
        match &self.value {
            Value::Scalar(scalar) if !scalar.is_null() => {
                visitor.visit_str(&scalar.text).map_err(|e: TreeError| e.at(self.span))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TreeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TreeError> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, TreeError> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}

struct Items<'t>(std::slice::Iter<'t, Node>);

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = TreeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, TreeError> {
        self.0.next().map(|node| value_at(node, seed)).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Entries<'t> {
    left: std::slice::Iter<'t, Entry>,
    value: Option<&'t Node>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = TreeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, TreeError> {
        let Some(entry) = self.left.next() else { return Ok(None) };
        self.value = Some(&entry.value);
        let key: StrDeserializer<'_, TreeError> = entry.key.as_str().into_deserializer();
        seed.deserialize(key).map(Some).map_err(|e| e.at(entry.key_span))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, TreeError> {
        let Some(value) = self.value.take() else { return Err(TreeError::custom("a value without a key")) };
        value_at(value, seed)
    }
}

/// Reads a part of a tree. Mistakes in a tagged enum are found after it was read, and have no other place.
fn value_at<'de, T: DeserializeSeed<'de>>(node: &Node, seed: T) -> Result<T::Value, TreeError> {
    seed.deserialize(node).map_err(|e| e.at(node.span))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;
    use crate::text::{Bounds, FileId, parse_stream};

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct All {
        name: String,
        number: f64,
        #[serde(default)]
        count: Option<u8>,
        pairs: BTreeMap<String, [f64; 2]>,
        form: Form,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(tag = "form", rename_all = "kebab-case")]
    enum Form {
        Hill { k: f64 },
    }

    const TEXT: &str = "name: 17\nnumber: 4\ncount: ~\npairs: {a: [1, 2.5]}\nform: {form: hill, k: 3}\n";

    fn read(text: &str) -> Result<All, (String, usize)> {
        let tree = parse_stream(text, FileId(0), Bounds::of_bytes(1 << 20)).0.remove(0);
        from_tree(&tree, "test").map_err(|d| (d.message, d.span.unwrap().start as usize))
    }

    #[test]
    fn what_serde_knows_is_read() {
        let pairs = BTreeMap::from([("a".to_owned(), [1.0, 2.5])]);
        let all = All { name: "17".into(), number: 4.0, count: None, pairs, form: Form::Hill { k: 3.0 } };
        assert_eq!(read(TEXT), Ok(all));
    }

    #[test]
    fn mistakes_have_their_place() {
        for (from, to, said) in [
            ("number: 4", "number: four", "invalid type: string \"four\", expected f64"),
            ("count: ~", "count: 300", "invalid value: integer `300`, expected u8"),
            ("count: ~", "cuont: ~", "unknown field `cuont`"),
            ("2.5", "2.5, 3", "invalid length 3"),
            ("k: 3", "k: x", "expected f64"),
        ] {
            let text = TEXT.replace(from, to);
            let (message, at) = read(&text).unwrap_err();
            assert!(message.contains(said), "{message}");
            let wrong = text.find(to).unwrap();
            assert!(
                at >= text[..wrong].rfind('\n').map_or(0, |i| i + 1) && at <= wrong + to.len(),
                "{said}: {at}"
            );
        }
    }
}
