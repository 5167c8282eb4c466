//! Values of options that may be written in more than one way.

#[cfg(test)]
use std::borrow::Cow;

#[cfg(test)]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::Value;

use super::super::asker::Asker;
use crate::device::RunClock;
use crate::space::Shape;
use crate::text::Fault;

/// Most threads along an axis, and most work items of a thread.
const MOST: i64 = 65_536;

/// Names and values: a mapping, or a list of `NAME=VALUE`.
#[derive(Debug, Clone, Default)]
pub struct Assignments(Vec<String>);

impl Assignments {
    /// As `NAME=VALUE`.
    pub(super) fn texts(&self) -> &[String] {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Assignments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let texts = match Value::deserialize(deserializer)? {
            Value::Object(map) => map.iter().map(|(k, v)| Some(format!("{k}={}", text(v)?))).collect(),
            Value::Array(items) => items.iter().map(|i| i.as_str().map(str::to_owned)).collect(),
            Value::Null => Some(Vec::new()),
            _ => None,
        };
        let expected = "expected a mapping from names to numbers or texts, or a list of \"NAME=VALUE\"";
        texts.map(Assignments).ok_or_else(|| D::Error::custom(expected))
    }
}

/// Shapes of blocks or folds: one or a list of them.
#[derive(Debug, Clone)]
pub struct ShapeList<T>(Vec<T>);

impl<T> Default for ShapeList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Shape> ShapeList<T> {
    /// All of them.
    pub(super) fn all(&self) -> &[T] {
        &self.0
    }

    /// All of them, none of which may be longer than `most` along a dimension.
    pub(super) fn up_to(&self, most: i64, option: &str) -> Result<&Self, Fault> {
        let too_long = self.0.iter().flat_map(|shape| shape.iter()).find(|&&extent| extent > most);
        too_long.map_or(Ok(self), |extent| {
            let message = format!("`options.{option}` has the extent {extent}; the most is {most}");
            Err(Asker::Program.wrong(message, None))
        })
    }

    /// The only one, if any was given, for an operation that takes one.
    pub(super) fn only(&self, option: &str, operation: &str) -> Result<Option<T>, Fault> {
        match self.0.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(*one)),
            many => {
                let message = format!("`options.{option}` has {} shapes; {operation} takes one", many.len());
                Err(Asker::Program.wrong(message, Some("use rank for several")))
            }
        }
    }
}

impl<'de, T: Shape> Deserialize<'de> for ShapeList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let shapes = match &value {
            Value::Null => Some(Vec::new()),
            Value::Array(items) if items.iter().any(Value::is_array) => items.iter().map(shape).collect(),
            one => shape(one).map(|s| vec![s]),
        };
        let expected =
            "expected a shape such as [256, 1, 2], its numbers from 1 to 65536, or a list of shapes";
        shapes.map(ShapeList).ok_or_else(|| D::Error::custom(expected))
    }
}

/// Up to three numbers, missing ones being 1.
fn shape<T: Shape>(value: &Value) -> Option<T> {
    let mut shape = [1; 3];
    let numbers = match value {
        Value::Array(numbers) if (1..=3).contains(&numbers.len()) => numbers.as_slice(),
        Value::Number(_) => std::slice::from_ref(value),
        _ => return None,
    };
    for (extent, number) in shape.iter_mut().zip(numbers) {
        *extent = number.as_i64().filter(|n| (1..=MOST).contains(n))?;
    }
    T::shaped(shape)
}

/// A number or a list of numbers.
#[derive(Debug, Clone, Default)]
pub struct WholeNumbers(pub(super) Vec<i64>);

impl<'de> Deserialize<'de> for WholeNumbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "expected a number from 1 to 65536, or a list of them";
        let number = |n: &Value| n.as_i64().filter(|n| (1..=MOST).contains(n));
        one_or_many(deserializer, number, expected).map(WholeNumbers)
    }
}

/// A text or a list of texts.
#[derive(Debug, Clone, Default)]
pub struct Texts(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = |t: &Value| t.as_str().map(str::to_owned);
        one_or_many(deserializer, text, "expected a text or a list of texts").map(Texts)
    }
}

/// A value or a list of values; none at all for null.
fn one_or_many<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    read: impl Fn(&Value) -> Option<T>,
    expected: &str,
) -> Result<Vec<T>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let all = match &value {
        Value::Null => &[],
        Value::Array(all) => all.as_slice(),
        one => std::slice::from_ref(one),
    };
    all.iter().map(read).collect::<Option<_>>().ok_or_else(|| D::Error::custom(expected))
}

/// A clock with its unit; none for null.
pub(super) fn clock<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RunClock>, D::Error> {
    let text = match Value::deserialize(deserializer)? {
        Value::Null => return Ok(None),
        Value::String(text) => text,
        other => other.to_string(),
    };
    text.parse().map(Some).map_err(|why| D::Error::custom(format!("`options.clock`: {why}")))
}

macro_rules! schema_of {
    ($type:ident $(<$of:ident>)?, $name:literal, $schema:tt) => {
        #[cfg(test)]
        impl $(<$of>)? JsonSchema for $type $(<$of>)? {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

schema_of!(Assignments, "Given", {
    "description": "Names and values: a mapping, or a list of `NAME=VALUE`.",
    "anyOf": [
        {"type": "object", "additionalProperties": {"type": ["string", "number"]}},
        {"type": "array", "items": {"type": "string"}},
        {"type": "null"}
    ]
});
schema_of!(ShapeList<T>, "ShapeList", {
    "description": "A shape, up to three numbers along x, y, z, or a list of shapes.",
    "anyOf": [
        {"type": "integer", "minimum": 1, "maximum": 65_536},
        {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 65_536}, "maxItems": 3},
        {"type": "array", "items": {"anyOf": [
            {"type": "integer", "minimum": 1, "maximum": 65_536},
            {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 65_536}, "maxItems": 3}
        ]}},
        {"type": "null"}
    ]
});
schema_of!(WholeNumbers, "WholeNumbers", {
    "description": "A number or a list of numbers.",
    "anyOf": [
        {"type": "integer", "minimum": 1, "maximum": 65_536},
        {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 65_536}},
        {"type": "null"}
    ]
});

schema_of!(Texts, "Texts", {
    "description": "A text or a list of texts.",
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}},
        {"type": "null"}
    ]
});

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;
    use crate::space::Block;

    #[test]
    fn shapes_may_be_one_or_many() {
        let read = |value: Value| {
            from_value::<ShapeList<Block>>(value)
                .map(|s| s.0.iter().map(|block| **block).collect::<Vec<[i64; 3]>>())
                .map_err(|e| e.to_string())
        };
        assert_eq!(read(json!(64)), Ok(vec![[64, 1, 1]]));
        assert_eq!(read(json!([16, 2])), Ok(vec![[16, 2, 1]]));
        assert_eq!(read(json!([[16, 2, 32], 64])), Ok(vec![[16, 2, 32], [64, 1, 1]]));
        assert_eq!(read(json!(null)), Ok(vec![]));
        for wrong in
            [json!([1, 2, 3, 4]), json!([0]), json!("16,2"), json!([1.5]), json!([[65_537]]), json!([])]
        {
            assert!(read(wrong.clone()).unwrap_err().contains("[256, 1, 2]"), "{wrong}");
        }
    }

    #[test]
    fn names_and_values_may_be_a_mapping_or_texts() {
        let read = |value: Value| from_value::<Assignments>(value).map(|g| g.0);
        assert_eq!(read(json!({"N": 3, "M": "2*N"})).unwrap(), ["N=3", "M=2*N"]);
        assert_eq!(read(json!(["N=3"])).unwrap(), ["N=3"]);
        assert!(
            read(json!({"N": [3]})).is_err() && read(json!(["N", 3])).is_err() && read(json!("N=3")).is_err()
        );
    }
}
