//! From trees to types, reporting every fault with its place instead of stopping at the first.

use super::{Diagnostic, Fault, Mapping, Node, Scalar, Severity, Span, Value, nearest};

/// A value and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub span: Span,
}

/// Collects what is wrong while a tree is decoded.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The findings so far.
    pub diagnostics: Vec<Diagnostic>,
    errors: usize,
}

/// A type that a tree can be decoded to. `None` means that the reason has been reported.
pub trait Decode: Sized {
    /// Decodes a node.
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self>;
}

impl Decoder {
    /// Reports a finding. Of errors, far more than a fault shows are not remembered.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        if diagnostic.severity == Severity::Warning {
            self.diagnostics.push(diagnostic);
        } else if !self.flooded() {
            self.errors += 1;
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether there are errors.
    pub fn failed(&self) -> bool {
        self.errors > 0
    }

    /// Whether so many errors were reported that no further ones need be looked for.
    pub fn flooded(&self) -> bool {
        self.errors > 10 * Fault::MOST
    }

    /// Reports that something else was expected here.
    pub fn expected(&mut self, node: &Node, what: &str) {
        let message = format!("expected {what}, found {}", node.describe());
        self.report(Diagnostic::error("wrong-type", node.span, message));
    }

    /// Shows how a value is written where it, or a part of it, was reported since `before` to have another form and
    /// nothing else helps.
    pub(crate) fn show_form(&mut self, before: usize, node: &Node, form: Option<&str>) {
        let Some(form) = form else { return };
        let is_of_node = |span: Span| {
            span == node.span
                || match &node.value {
                    Value::List(items) => items.iter().any(|item| item.span == span),
                    Value::Map(map) => map.iter().any(|entry| entry.value.span == span),
                    Value::Scalar(_) => false,
                }
        };
        for wrong in self.diagnostics.iter_mut().skip(before) {
            if wrong.code == "wrong-type" && wrong.help.is_none() && wrong.span.is_some_and(is_of_node) {
                wrong.help = Some(format!("for example `{form}`"));
            }
        }
    }

    /// The entries of a mapping, or a report that `what` must be one.
    pub fn mapping<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n Mapping> {
        if let Value::Map(map) = &node.value {
            return Some(map);
        }
        self.expected(node, &format!("{what} (a mapping)"));
        None
    }

    /// The scalar, or a report that `what` must be one.
    pub fn scalar<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n Scalar> {
        if let Value::Scalar(scalar) = &node.value
            && !scalar.is_null()
        {
            return Some(scalar);
        }
        self.expected(node, what);
        None
    }

    /// What one of a few words stands for, or a report of them. `others` are words that people write in their
    /// place, each with the word that they mean.
    pub(crate) fn word<T: Copy>(
        &mut self,
        node: &Node,
        what: &str,
        words: &[(&'static str, T)],
        others: &[(&str, &str)],
    ) -> Option<T> {
        let text = self.scalar(node, what)?.text.as_str();
        if let Some((_, meant)) = words.iter().find(|w| w.0 == text) {
            return Some(*meant);
        }
        let known = || words.iter().map(|w| w.0);
        let near = others.iter().find(|o| o.0 == text).map(|o| o.1).or_else(|| nearest(text, known()));
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let help = format!("{near}known: {}", known().collect::<Vec<_>>().join(", "));
        let message = format!("`{}` is not {what}", shorten(text));
        self.report(Diagnostic::error("unknown-word", node.span, message).help(help));
        None
    }

    /// Reports a key that `what` does not have; returns the key it was probably meant to be.
    pub fn unknown_key<'k>(
        &mut self,
        key: &str,
        span: Span,
        what: &str,
        known: &[&'k str],
    ) -> Option<&'k str> {
        if self.flooded() {
            return None;
        }
        let near = nearest(key, known.iter().copied());
        let help = match (key, near) {
            ("<<", _) => "`<<` is not a merge key in YAML 1.2; use `like` or write the keys out".to_owned(),
            (_, Some(near)) => format!("did you mean `{near}`?"),
            (_, None) => format!("known keys: {}", known.join(", ")),
        };
        let message = format!("unknown key `{}` in {what}", shorten(key));
        self.report(Diagnostic::error("unknown-key", span, message).help(help));
        near
    }

    /// Reports that a required key is missing; `help` says how it is written.
    pub fn missing_key(&mut self, node: &Node, what: &str, key: &str, help: &str) {
        let first = match &node.value {
            Value::Map(map) if !map.is_empty() => map[0].key_span,
            _ => node.span,
        };
        let message = format!("{what} needs the key `{key}`");
        self.report(Diagnostic::error("missing-key", first, message).help(help));
    }
}

/// A text short enough for a message.
pub(crate) fn shorten(text: &str) -> String {
    if text.chars().count() <= 60 {
        return text.to_owned();
    }
    text.chars().take(57).chain("...".chars()).collect()
}

/// Names for a message: a generator may have made thousands.
pub(crate) fn some_of(names: &[&str]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| shorten(name)).collect();
    let more = if names.len() > SHOWN { ", ..." } else { "" };
    format!("{}{more}", shown.join(", "))
}

impl Decode for String {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        decoder.scalar(node, "a string").map(|s| s.text.as_str().to_owned())
    }
}

impl<T: Decode> Decode for Spanned<T> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        T::decode(node, decoder).map(|value| Spanned { value, span: node.span })
    }
}

impl Decode for i64 {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        let value = decoder.scalar(node, "an integer")?.as_int();
        if value.is_none() {
            decoder.expected(node, "an integer");
        }
        value
    }
}

impl Decode for f64 {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        let value = decoder.scalar(node, "a number")?.as_float();
        if value.is_none() {
            decoder.expected(node, "a number");
        }
        value
    }
}

impl Decode for bool {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        let value = decoder.scalar(node, "true or false")?.as_bool();
        if value.is_none() {
            decoder.expected(node, "true or false");
        }
        value
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        let Value::List(items) = &node.value else {
            decoder.expected(node, "a list");
            return None;
        };
        // Every item is decoded before the first failure counts: each fault is reported.
        let decoded: Vec<Option<T>> = items.iter().map(|item| T::decode(item, decoder)).collect();
        decoded.into_iter().collect()
    }
}

/// A mapping whose keys the user names, in document order.
#[derive(Debug, Clone)]
pub struct Named<T>(pub Vec<(Spanned<String>, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

#[cfg(test)]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Named<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Named_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let value = generator.subschema_for::<T>();
        schemars::json_schema!({"type": "object", "additionalProperties": value})
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Spanned<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }

    fn inline_schema() -> bool {
        T::inline_schema()
    }
}

impl<T: Decode> Decode for Named<T> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        let map = decoder.mapping(node, "names and their values")?;
        let decoded: Vec<Option<_>> = map
            .iter()
            .map(|e| {
                let value = T::decode(&e.value, decoder)?;
                Some((Spanned { value: e.key.as_str().to_owned(), span: e.key_span }, value))
            })
            .collect();
        decoded.into_iter().collect::<Option<_>>().map(Named)
    }
}

/// The key that a field of a [`record!`] stands for: `r#for` is `for`.
pub(crate) const fn key_name(field: &'static str) -> &'static str {
    let bytes = field.as_bytes();
    if bytes.len() > 2 && bytes[0] == b'r' && bytes[1] == b'#' { field.split_at(2).1 } else { field }
}

/// Declares a mapping with fixed keys: the struct, its JSON Schema and its decoding in one place,
/// so that what is documented is what is parsed.
///
/// Every field is optional in the struct; one that a document needs has beside it how it is written, for the message
/// where it is missing. `damaged` names the keys that were given but could not be
/// read (or were misspelt), so that a later check does not complain of what follows from that.
macro_rules! record {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident, $what:literal {
            $( $(#[$field_attribute:meta])* $field:ident : $type:ty $([$required:ident: $example:literal])? $({$form:literal})? ),* $(,)?
        }
    ) => {
        #[derive(Debug, Clone, Default)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[cfg_attr(test, schemars(deny_unknown_fields))]
        $(#[$attribute])*
        $visibility struct $name {
            $( $(#[$field_attribute])* $(#[cfg_attr(test, schemars($required))])? pub $field: Option<$type>, )*
            /// Keys that were given but could not be read.
            #[cfg_attr(test, schemars(skip))]
            pub damaged: Vec<&'static str>,
            /// Where the mapping stands.
            #[cfg_attr(test, schemars(skip))]
            pub span: $crate::text::Span,
        }

        impl $name {
            /// The keys of this mapping.
            pub const KEYS: &'static [&'static str] = &[$( $crate::text::key_name(stringify!($field)) ),*];
        }

        impl $crate::text::Decode for $name {
            fn decode(
                node: &$crate::text::Node,
                decoder: &mut $crate::text::Decoder,
            ) -> Option<Self> {
                let map = decoder.mapping(node, $what)?;
                let mut out = Self { span: node.span, ..Self::default() };
                for entry in map {
                    // A null is what a generator writes for a key it has nothing to say about.
                    if entry.value.is_null() && Self::KEYS.contains(&entry.key.as_str()) {
                        continue;
                    }
                    $( if entry.key == $crate::text::key_name(stringify!($field)) {
                        let before = decoder.diagnostics.len();
                        out.$field = $crate::text::Decode::decode(&entry.value, decoder);
                        decoder.show_form(before, &entry.value, record!(@form $($form)?));
                        if out.$field.is_none() {
                            out.damaged.push($crate::text::key_name(stringify!($field)));
                        }
                        continue;
                    } )*
                    if let Some(meant) =
                        decoder.unknown_key(&entry.key, entry.key_span, $what, Self::KEYS)
                    {
                        out.damaged.push(meant);
                    }
                }
                $( $( record!(@required $required);
                    let key = $crate::text::key_name(stringify!($field));
                    if out.$field.is_none() && !out.damaged.contains(&key) {
                        decoder.missing_key(node, $what, key, $example);
                        out.damaged.push(key);
                    }
                )? )*
                Some(out)
            }
        }
    };
    (@required required) => {};
    (@form) => { None };
    (@form $form:literal) => { Some($form) };
}

pub(crate) use record;
