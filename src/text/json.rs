//! JSON into trees. It is YAML, but programs write it, in sizes for which a reader of YAML needs much memory.

use super::bounds::{Budget, MAX_DEPTH};
use super::keys::drop_repeated;
use super::{Diagnostic, Entry, FileId, Node, Origin, Scalar, Span, Value, Word};

/// What was read of a text that may be JSON.
pub(super) struct Read {
    /// The documents before the first mistake.
    pub(super) documents: Vec<Node>,
    /// Where the first document begins that is no JSON; the end of the text if all are.
    pub(super) rest: usize,
}

/// Why reading ended.
enum Stop {
    /// This is no JSON.
    Other,
    /// It goes beyond a limit.
    Limit(Box<Diagnostic>),
}

/// Reads JSON documents that follow each other, as in JSON lines. Repeated keys are reported to `errors`.
pub(super) fn read(
    text: &str,
    file: FileId,
    budget: &mut Budget,
    errors: &mut Vec<Diagnostic>,
) -> Result<Read, Diagnostic> {
    let mut reader = Reader { text, at: 0, file, depth: 0, budget, errors };
    let mut documents = Vec::new();
    loop {
        reader.blanks();
        let rest = reader.at;
        if rest == text.len() {
            return Ok(Read { documents, rest });
        }
        match reader.value() {
            Ok(document) => documents.push(document),
            Err(Stop::Other) => return Ok(Read { documents, rest }),
            Err(Stop::Limit(error)) => return Err(*error),
        }
    }
}

struct Reader<'r> {
    text: &'r str,
    at: usize,
    file: FileId,
    depth: usize,
    budget: &'r mut Budget,
    errors: &'r mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Stop> {
        if self.peek() != Some(byte) {
            return Err(Stop::Other);
        }
        self.at += 1;
        Ok(())
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.file, start..self.at)
    }

    fn one_more(&mut self) -> Result<(), Stop> {
        let here = Span::new(self.file, self.at..self.at + 1);
        self.budget.one_more(here).map_err(|e| Stop::Limit(Box::new(e)))
    }

    fn value(&mut self) -> Result<Node, Stop> {
        self.one_more()?;
        match self.peek() {
            Some(b'[') => self.nested(Self::list),
            Some(b'{') => self.nested(Self::map),
            Some(b'"') => {
                let scalar = self.string()?;
                Ok(Node { span: scalar.origin.span(0..scalar.text.len()), value: Value::Scalar(scalar) })
            }
            _ => self.plain(),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, Stop>) -> Result<Node, Stop> {
        let start = self.at;
        if self.depth >= MAX_DEPTH {
            let message = format!("nested deeper than {MAX_DEPTH} levels");
            let span = Span::new(self.file, start..start + 1);
            return Err(Stop::Limit(Box::new(Diagnostic::error("nested-too-deep", span, message))));
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(Node { span: self.span(start), value })
    }

    /// The items of a list behind its bracket.
    fn list(&mut self) -> Result<Value, Stop> {
        let mut items = Vec::new();
        self.items(b']', |reader| {
            items.push(reader.value()?);
            Ok(())
        })?;
        items.shrink_to_fit();
        Ok(Value::List(items))
    }

    /// The entries of a mapping behind its brace.
    fn map(&mut self) -> Result<Value, Stop> {
        let mut entries = Vec::new();
        self.items(b'}', |reader| {
            reader.one_more()?;
            let key = reader.string()?;
            reader.blanks();
            reader.expect(b':')?;
            reader.blanks();
            let key_span = key.origin.span(0..key.text.len());
            entries.push(Entry { key: key.text, key_span, value: reader.value()? });
            Ok(())
        })?;
        drop_repeated(&mut entries, self.errors);
        entries.shrink_to_fit();
        Ok(Value::Map(entries))
    }

    /// What stands between commas, up to a closing bracket.
    fn items(&mut self, close: u8, mut item: impl FnMut(&mut Self) -> Result<(), Stop>) -> Result<(), Stop> {
        self.blanks();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.blanks();
            item(self)?;
            self.blanks();
            if self.peek() == Some(close) {
                self.at += 1;
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// A number, a truth value or null.
    fn plain(&mut self) -> Result<Node, Stop> {
        let start = self.at;
        while let Some(b'a'..=b'z' | b'0'..=b'9' | b'E' | b'+' | b'-' | b'.') = self.peek() {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        if !matches!(text, "null" | "true" | "false") && !is_number(text) {
            return Err(Stop::Other);
        }
        let span = self.span(start);
        let scalar = Scalar { text: text.into(), plain: true, origin: Origin::verbatim(span) };
        Ok(Node { span, value: Value::Scalar(scalar) })
    }

    fn string(&mut self) -> Result<Scalar, Stop> {
        let start = self.at;
        self.expect(b'"')?;
        let inside = self.at;
        let bytes = self.text.as_bytes();
        let length = bytes[inside..].iter().position(|b| matches!(b, b'"' | b'\\' | 0..=0x1f));
        self.at += length.ok_or(Stop::Other)?;
        let (text, origin): (Word, Origin) = if bytes.get(self.at) == Some(&b'"') {
            (self.text[inside..self.at].into(), Origin::verbatim(self.span(inside)))
        } else {
            let text = self.escaped(inside)?;
            let whole = Span::new(self.file, start..self.at + 1);
            (text.into(), Origin::whole(whole))
        };
        self.at += 1;
        Ok(Scalar { text, plain: false, origin })
    }

    /// The text of a string with escapes, up to its closing quote.
    fn escaped(&mut self, inside: usize) -> Result<String, Stop> {
        let mut out = self.text[inside..self.at].to_owned();
        loop {
            match self.peek() {
                Some(b'"') => return Ok(out),
                Some(b'\\') => {
                    self.at += 1;
                    out.push(self.escape()?);
                }
                None | Some(0..=0x1f) => return Err(Stop::Other),
                Some(_) => {
                    let rest = &self.text[self.at..];
                    let end = rest.bytes().position(|b| matches!(b, b'"' | b'\\' | 0..=0x1f));
                    let piece = &rest[..end.ok_or(Stop::Other)?];
                    out.push_str(piece);
                    self.at += piece.len();
                }
            }
        }
    }

    /// The character of an escape behind its backslash.
    fn escape(&mut self) -> Result<char, Stop> {
        let letter = self.peek().ok_or(Stop::Other)?;
        self.at += 1;
        Ok(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let high = self.hex()?;
                if let Some(character) = char::from_u32(high) {
                    return Ok(character);
                }
                // Two halves of a character beyond 16 bits.
                self.expect(b'\\')?;
                self.expect(b'u')?;
                let halves = [u16::try_from(high), u16::try_from(self.hex()?)].map(Result::unwrap_or_default);
                return char::decode_utf16(halves).next().and_then(Result::ok).ok_or(Stop::Other);
            }
            _ => return Err(Stop::Other),
        })
    }

    fn hex(&mut self) -> Result<u32, Stop> {
        let digits = self.text.get(self.at..self.at + 4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let value = digits.and_then(|d| u32::from_str_radix(d, 16).ok()).ok_or(Stop::Other)?;
        self.at += 4;
        Ok(value)
    }
}

/// Whether a text is a number as JSON writes it.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::bounds::Bounds;
    use super::super::stream::parse_stream;
    use super::super::yaml::parse_yaml;
    use super::*;

    fn bounds(nodes: usize) -> Bounds {
        Bounds { bytes: 1 << 20, nodes }
    }

    /// JSON values, written with and without blanks and escapes.
    fn value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Into::into),
            "[ -~é漢🦀\"\\\\\n\t/]{0,12}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::vec(("[a-cé\" ]{0,3}", inner), 0..6)
                    .prop_map(|e| serde_json::Value::Object(e.into_iter().collect())),
            ]
        })
    }

    /// What serde reads, told by a tree.
    fn is_same(node: &Node, value: &serde_json::Value) -> bool {
        use serde_json::Value as Json;
        match (&node.value, value) {
            (Value::List(items), Json::Array(values)) => {
                items.len() == values.len() && items.iter().zip(values).all(|(n, v)| is_same(n, v))
            }
            (Value::Map(entries), Json::Object(map)) => {
                entries.len() == map.len()
                    && entries.iter().all(|e| map.get(e.key.as_str()).is_some_and(|v| is_same(&e.value, v)))
            }
            (Value::Scalar(s), Json::String(text)) => !s.plain && s.text == text.as_str(),
            (Value::Scalar(s), Json::Null) => s.is_null(),
            (Value::Scalar(s), Json::Bool(b)) => s.as_bool() == Some(*b),
            (Value::Scalar(s), Json::Number(n)) => s.as_float() == n.as_f64(),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn json_is_read_as_serde_and_as_yaml_read_it(value in value(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let text = format!("[{}]\n", text.unwrap());
            let (documents, errors) = parse_stream(&text, FileId(0), bounds(1 << 20));
            prop_assert_eq!(&errors, &[]);
            prop_assert!(is_same(&documents[0], &serde_json::Value::Array(vec![value])));
            // Places are those of YAML, too, which reads long keys and tabs otherwise than JSON, and takes the
            // first half of an escaped backslash for the whole.
            let (yaml, errors) = parse_yaml(&text, FileId(0), bounds(1 << 20));
            if errors.is_empty() && !text.contains("\\\\") {
                prop_assert_eq!(&documents, &yaml);
            }
        }

        #[test]
        fn texts_are_json_where_serde_says_so(text in "[\\[{]([\\[\\]{}:,\"0-2.eE+\\-a\\\\u \n]|true|null|\"a\":){0,12}") {
            let (mut left, mut errors) = (Budget::new(1 << 20), Vec::new());
            let found = read(&text, FileId(0), &mut left, &mut errors).unwrap();
            let mut values = serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>();
            let good = values.by_ref().take_while(Result::is_ok).count();
            // Serde wants a blank between two numbers, where this reader takes what there is.
            prop_assert!(found.documents.len() >= good.min(1) && (good < 1 || found.rest > 0), "{}", text);
            if found.rest == text.len() && found.documents.len() == 1 {
                let serde = serde_json::from_str::<serde_json::Value>(&text);
                // A number stays text here, however large it is.
                prop_assert!(serde.map_or_else(|e| e.to_string().contains("out of range"), |_| true), "{}", text);
            }
        }
    }

    #[test]
    fn escapes_are_characters() {
        let text = r#"{"a": "\u00e9\ud83e\udd80\n\/", "b\"": ["\\x"]}"#;
        let (documents, errors) = parse_stream(text, FileId(0), bounds(100));
        assert_eq!(errors, []);
        let Some(Value::Scalar(scalar)) = documents[0].get("a").map(|n| &n.value) else { panic!() };
        assert_eq!(scalar.text, "é🦀\n/");
        assert!(documents[0].get("b\"").is_some());
        assert!(parse_stream(r#"["\ud83e"]"#, FileId(0), bounds(100)).1.len() == 1, "half a character");
    }

    #[test]
    fn what_is_too_much_is_refused_at_once() {
        let of = |text: &str| parse_stream(text, FileId(0), bounds(1000)).1;
        assert_eq!(of(&"[0,".repeat(400))[0].code, "nested-too-deep");
        for text in ["0,", "[],", "{\"a\":0},", "\"x\",", "a,", "a: b, ", "'a',"] {
            let found = of(&format!("[{}", text.repeat(20_000)));
            assert_eq!((found.len(), found[0].code), (1, "too-many-nodes"), "{text}");
        }
        assert_eq!(of(&format!("[{}0]", "0,".repeat(998))), []);
    }
}
