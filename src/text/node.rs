//! The tree that a YAML or JSON document parses to, with the place of every part.

use std::collections::HashMap;

use super::{Origin, Span, Word};

/// A node and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub value: Value,
}

/// The three shapes of YAML. A scalar is kept as text; what type it has is for the reader to ask,
/// so that `y` and `no` stay strings and a name may look like a number.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A single value.
    Scalar(Scalar),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping with text keys, in the order of the document.
    Map(Mapping),
}

/// A single value as text.
#[derive(Debug, Clone, PartialEq)]
pub struct Scalar {
    /// The text after unquoting and unescaping.
    pub text: Word,
    /// Whether it stood without quotes (only then is it a number, a truth value or null).
    pub plain: bool,
    /// Where its characters came from.
    pub origin: Origin,
}

impl Scalar {
    /// Whether this is YAML 1.2's null.
    pub fn is_null(&self) -> bool {
        self.plain && matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }

    /// A truth value of the YAML 1.2 core schema.
    pub fn as_bool(&self) -> Option<bool> {
        match self.text.as_str() {
            "true" | "True" | "TRUE" if self.plain => Some(true),
            "false" | "False" | "FALSE" if self.plain => Some(false),
            _ => None,
        }
    }

    /// An integer of the core schema; a float with an integral value counts as one.
    pub fn as_int(&self) -> Option<i64> {
        if !self.plain {
            return None;
        }
        let text = self.text.as_str();
        if let Some(hex) = text.strip_prefix("0x") {
            return i64::from_str_radix(hex, 16).ok().filter(|_| !hex.starts_with(['+', '-']));
        }
        if let Some(octal) = text.strip_prefix("0o") {
            return i64::from_str_radix(octal, 8).ok().filter(|_| !octal.starts_with(['+', '-']));
        }
        text.parse().ok().or_else(|| {
            let float = self.as_float()?;
            // Beyond 2^53 not every integer is a float, so that the text would not say which is meant.
            #[expect(clippy::cast_possible_truncation, reason = "integral and below 2^53")]
            (float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0).then_some(float as i64)
        })
    }

    /// A finite number of the core schema.
    pub fn as_float(&self) -> Option<f64> {
        let digits = |b: u8| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'e' | b'E');
        let numeric =
            self.plain && self.text.bytes().all(digits) && self.text.bytes().any(|b| b.is_ascii_digit());
        numeric.then(|| self.text.parse().ok()).flatten().filter(|f: &f64| f.is_finite())
    }
}

/// A mapping in document order; keys are unique.
pub type Mapping = Vec<Entry>;

/// One key of a mapping and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Word,
    /// Where the key stands.
    pub key_span: Span,
    /// Its value.
    pub value: Node,
}

impl Node {
    /// What a person would call this.
    pub fn describe(&self) -> &'static str {
        match &self.value {
            Value::Scalar(s) if s.is_null() => "nothing",
            Value::Scalar(s) if s.as_bool().is_some() => "a truth value",
            Value::Scalar(s) if s.as_int().is_some() => "an integer",
            Value::Scalar(s) if s.as_float().is_some() => "a number",
            Value::Scalar(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    /// Whether this is YAML's null.
    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar(s) if s.is_null())
    }

    /// The value of a key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Map(map) => map.iter().find(|e| e.key == key).map(|e| &e.value),
            _ => None,
        }
    }

    /// Number of nodes, this one included.
    pub fn count(&self) -> usize {
        match &self.value {
            Value::Scalar(_) => 1,
            Value::List(items) => 1 + items.iter().map(Node::count).sum::<usize>(),
            Value::Map(entries) => 1 + entries.iter().map(|e| e.value.count()).sum::<usize>(),
        }
    }

    /// Lays `over` on this tree: mappings merge, lists and scalars replace, null deletes.
    pub fn merge(&mut self, over: &Node) {
        let (Value::Map(base), Value::Map(changes)) = (&mut self.value, &over.value) else {
            *self = over.clone();
            return;
        };
        // Both may be long: each key is looked up once.
        let mut left: HashMap<&str, &Entry> = changes.iter().map(|e| (e.key.as_str(), e)).collect();
        base.retain_mut(|entry| {
            let Some(change) = left.remove(entry.key.as_str()) else { return true };
            entry.value.merge(&change.value);
            entry.key_span = change.key_span;
            !change.value.is_null()
        });
        let new = changes.iter().filter(|e| left.contains_key(e.key.as_str()) && !e.value.is_null());
        base.extend(new.cloned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Scalar {
        Scalar { text: text.into(), plain: true, origin: Origin::whole(Span::default()) }
    }

    #[test]
    fn nodes_are_small() {
        assert!(size_of::<Node>() <= 56, "{}", size_of::<Node>());
        assert!(size_of::<Entry>() <= 88, "{}", size_of::<Entry>());
    }

    #[test]
    fn scalars_follow_yaml_1_2() {
        for text in ["y", "no", "on", "Off", "yes", "1_000", "1:30", "0x", "1e", ".", "nan", "inf", ".inf"] {
            let s = plain(text);
            assert_eq!((s.as_bool(), s.as_int(), s.as_float()), (None, None, None), "{text} is a string");
        }
        assert_eq!(plain("0x1F").as_int(), Some(31));
        assert_eq!(plain("0o17").as_int(), Some(15));
        assert_eq!(plain("017").as_int(), Some(17), "no C octal");
        assert_eq!(plain("4.0").as_int(), Some(4));
        assert_eq!(plain("1e3").as_int(), Some(1000));
        assert_eq!(plain("1e300").as_int(), None);
        assert_eq!(plain("4.5").as_int(), None);
        assert_eq!(plain("-3").as_int(), Some(-3));
        assert_eq!(plain("9223372036854775808").as_int(), None);
        assert!(plain("~").is_null() && plain("").is_null());
        assert_eq!(Scalar { plain: false, ..plain("4") }.as_int(), None, "quoted is text");
    }
}
