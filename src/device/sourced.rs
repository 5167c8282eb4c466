//! A number and where it comes from.

#[cfg(test)]
use std::borrow::Cow;

#[cfg(test)]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::quantity::{Quantity, is_zero};
use crate::text::{Decode, Decoder, Diagnostic, Node, Span, Value};

/// Where a changed number keeps what it was.
pub(super) const WAS: &str = "was";
/// Where a number of somebody's own file keeps what the device has that the file inherits.
pub(super) const BELOW: &str = "below";

/// A number, the key of its source, and what is to be said about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sourced<T> {
    pub(crate) value: T,
    /// Key of its source in the device's `sources`.
    pub(crate) source: String,
    /// How it was read off or derived.
    pub(crate) note: Option<String>,
    /// The device from which it was taken, if not this one.
    pub(crate) inherited: Option<String>,
    /// What it was before somebody asked what if it were another.
    pub(crate) was: Option<T>,
    /// What the device has that comes with Wavecast, where somebody's own file inherits it and gives another number.
    pub(crate) below: Option<T>,
    /// Where it was written.
    pub(crate) span: Span,
}

impl<T: Copy> Sourced<T> {
    /// The number.
    pub fn value(&self) -> T {
        self.value
    }
}

impl<T> Sourced<T> {
    /// How many times as large it is as before somebody changed it; 1 if nobody did. What was fitted on the real device
    /// changes as much.
    pub(crate) fn times_as_large(&self, number: impl Fn(&T) -> f64) -> f64 {
        self.over(self.was.as_ref(), number)
    }

    /// How many times as large it is as that of the device that comes with Wavecast: one that is asked about with another
    /// number, or that somebody's own file inherits.
    pub(crate) fn times_the_shipped(&self, number: impl Fn(&T) -> f64) -> f64 {
        self.over(self.below.as_ref().or(self.was.as_ref()), number)
    }

    fn over(&self, before: Option<&T>, number: impl Fn(&T) -> f64) -> f64 {
        let before = before.map(&number).filter(|before| *before > 0.0);
        before.map_or(1.0, |before| number(&self.value) / before)
    }

    /// Key of its source in the device's `sources`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// How it was read off or derived.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// The device from which it was taken, if not this one.
    pub fn inherited(&self) -> Option<&str> {
        self.inherited.as_deref()
    }
}

impl<T: Quantity> Decode for Sourced<T> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        let map = decoder.mapping(node, "a number with its source: {value: ..., source: ...}")?;
        let (mut value, mut source, mut note, mut inherited) = (None, None, None, None);
        let (mut was, mut below) = (None, None);
        for entry in map {
            match entry.key.as_str() {
                "value" => value = quantity(&entry.value, decoder),
                "source" => source = String::decode(&entry.value, decoder),
                "note" => note = String::decode(&entry.value, decoder),
                "inherited" => inherited = String::decode(&entry.value, decoder),
                // Only a change of a number and a file that inherits one write these.
                WAS => was = quantity(&entry.value, decoder),
                BELOW => below = quantity(&entry.value, decoder),
                key => {
                    let known = ["value", "source", "note", "inherited"];
                    decoder.unknown_key(key, entry.key_span, "a number", &known);
                }
            }
        }
        for key in ["value", "source"].into_iter().filter(|k| node.get(k).is_none()) {
            decoder.missing_key(
                node,
                "a number",
                key,
                "a number is written as {value: 1.41 GHz, source: NAME}, and `sources` says what NAME is",
            );
        }
        Some(Sourced { value: value?, source: source?, note, inherited, was, below, span: node.span })
    }
}

fn quantity<T: Quantity>(node: &Node, decoder: &mut Decoder) -> Option<T> {
    let text = match &node.value {
        Value::Scalar(scalar) => scalar.text.as_str().to_owned(),
        Value::List(items) => {
            let texts: Vec<&str> = items
                .iter()
                .map(|item| if let Value::Scalar(s) = &item.value { s.text.as_str() } else { "?" })
                .collect();
            texts.join(", ")
        }
        Value::Map(_) => String::new(),
    };
    let parsed = T::parse(&text);
    if parsed.is_none() {
        let text = crate::text::shorten(&text);
        let message = match T::LEAST.filter(|_| is_zero(&text)) {
            Some(least) => format!("`{text}` is too small: it must be {least}"),
            None => format!("`{text}` is not a value of this kind"),
        };
        decoder.report(Diagnostic::error("quantity", node.span, message).help(format!(
            "for example {}{}",
            T::EXAMPLE,
            units::<T>()
        )));
    }
    parsed
}

/// The units of a kind of number, in words; nothing of one without.
fn units<T: Quantity>() -> String {
    match T::UNITS {
        [] => String::new(),
        [only] => format!("; its unit is {only}"),
        several => format!("; its units are {}", several.join(", ")),
    }
}

impl<T: Quantity> Serialize for Sourced<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match (self.value.plain(), self.value.flag()) {
            (Some(number), _) => map.serialize_entry("value", &number)?,
            (None, Some(flag)) => map.serialize_entry("value", &flag)?,
            (None, None) => map.serialize_entry("value", &self.value.to_string())?,
        }
        map.serialize_entry("source", &self.source)?;
        if let Some(note) = &self.note {
            map.serialize_entry("note", note)?;
        }
        if let Some(inherited) = &self.inherited {
            map.serialize_entry("inherited", inherited)?;
        }
        map.end()
    }
}

#[cfg(test)]
impl<T: Quantity> JsonSchema for Sourced<T> {
    fn schema_name() -> Cow<'static, str> {
        "SourcedNumber".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "A value with its unit, and its source.",
            "required": ["value", "source"],
            "additionalProperties": false,
            "properties": {
                "value": {"description": "The value with its unit.", "type": ["string", "integer", "boolean", "array"]},
                "source": {"description": "A key of `sources`.", "type": "string"},
                "note": {"description": "How it was read off or derived.", "type": "string"},
                "inherited": {"description": "The device it was taken from.", "type": "string"}
            }
        })
    }
}

/// One number of a device as a list shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceNumber<'d> {
    /// Its path, such as `l2.capacity`.
    pub path: String,
    /// The value with its unit.
    pub value: String,
    /// Key of its source.
    pub source: &'d str,
    /// How it was read off or derived.
    pub note: Option<&'d str>,
    /// The device it was taken from.
    pub inherited: Option<&'d str>,
}

/// What holds sourced numbers and lets them be listed and completed.
pub(super) trait Visit {
    /// Calls `f` for every number with its path.
    fn entries<'d>(&'d self, path: &str, f: &mut dyn FnMut(DeviceNumber<'d>));
    /// Calls `f` with place, source and inheritance of every number.
    fn origins(&mut self, f: &mut dyn FnMut(Span, &str, &mut Option<String>));
}

impl<T: Quantity> Visit for Sourced<T> {
    fn entries<'d>(&'d self, path: &str, f: &mut dyn FnMut(DeviceNumber<'d>)) {
        f(DeviceNumber {
            path: path.to_owned(),
            value: self.value.to_string(),
            source: &self.source,
            note: self.note.as_deref(),
            inherited: self.inherited.as_deref(),
        });
    }

    fn origins(&mut self, f: &mut dyn FnMut(Span, &str, &mut Option<String>)) {
        f(self.span, &self.source, &mut self.inherited);
    }
}

impl<T: Visit> Visit for Option<T> {
    fn entries<'d>(&'d self, path: &str, f: &mut dyn FnMut(DeviceNumber<'d>)) {
        if let Some(inner) = self {
            inner.entries(path, f);
        }
    }

    fn origins(&mut self, f: &mut dyn FnMut(Span, &str, &mut Option<String>)) {
        if let Some(inner) = self {
            inner.origins(f);
        }
    }
}

/// Declares types of the device format that hold no sourced numbers.
macro_rules! plain {
    ($($type:ty),* $(,)?) => {
        $(impl Visit for $type {
            fn entries<'d>(&'d self, _: &str, _: &mut dyn FnMut(DeviceNumber<'d>)) {}
            fn origins(&mut self, _: &mut dyn FnMut(Span, &str, &mut Option<String>)) {}
        })*
    };
}

pub(super) use plain;
