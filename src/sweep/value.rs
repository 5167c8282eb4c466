//! A value of something that varies.

#[cfg(test)]
use std::borrow::Cow;
use std::fmt;

#[cfg(test)]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use crate::space::{Block, Fold};

/// Most points of a series: beyond it neither a table nor a picture says anything.
pub const MOST_POINTS: usize = 10_000;

/// A value of something that varies.
#[derive(Debug, Clone, PartialEq)]
pub enum VaryValue {
    /// Of a parameter, or of one extent.
    Integer(i64),
    /// Of a device, as it is written there; the number and its unit where it has them.
    Amount {
        /// As it is written.
        text: String,
        /// The number before the unit.
        number: Option<f64>,
        /// The unit, empty for a plain number.
        unit: String,
    },
    /// A block.
    Block(Block),
    /// A fold.
    Fold(Fold),
}

impl VaryValue {
    /// Where it lies on an axis.
    pub fn number(&self) -> Option<f64> {
        match self {
            VaryValue::Integer(n) => Some(*n as f64),
            VaryValue::Amount { number, .. } => *number,
            VaryValue::Block(_) | VaryValue::Fold(_) => None,
        }
    }

    /// Its unit, if it has one.
    pub fn unit(&self) -> Option<&str> {
        match self {
            VaryValue::Amount { unit, number: Some(_), .. } if !unit.is_empty() => Some(unit),
            _ => None,
        }
    }
}

/// An integer, or a text such as `10 MiB` or `512x2x1`.
impl Serialize for VaryValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            VaryValue::Integer(n) => serializer.serialize_i64(*n),
            other => serializer.collect_str(other),
        }
    }
}

#[cfg(test)]
impl JsonSchema for VaryValue {
    fn schema_name() -> Cow<'static, str> {
        "VaryValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "An integer, or a text such as `10 MiB` or `512x2x1`.",
            "type": ["integer", "string"]
        })
    }
}

impl fmt::Display for VaryValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VaryValue::Integer(n) => write!(f, "{n}"),
            VaryValue::Amount { text, .. } => f.write_str(text),
            VaryValue::Block(block) => block.fmt(f),
            VaryValue::Fold(fold) => fold.fmt(f),
        }
    }
}
