//! YAML 1.2 (and with it JSON) into trees with places.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::{Diagnostic, Entry, Fault, FileId, Node, Origin, Scalar, Span, Value, shorten};

/// Deepest nesting of lists and mappings.
const MAX_DEPTH: usize = 64;
/// Most nodes that aliases may add to a stream ("billion laughs").
const MAX_ALIASED: usize = 100_000;
/// Most nodes under anchors, each as often as anchors are around it: all are copied.
const MAX_ANCHORED: usize = 1_000_000;
/// Bytes of text that weigh as much as a node, where nodes are copied.
const BYTES_OF_NODE: usize = 64;

/// Parses all documents of a stream. What was read before an error is returned beside it.
pub fn parse_stream(text: &str, file: FileId, max_bytes: usize) -> (Vec<Node>, Vec<Diagnostic>) {
    if text.len() > max_bytes || u32::try_from(text.len()).is_err() {
        let message = format!("the document has {} bytes; the limit is {max_bytes}", text.len());
        let error = Diagnostic::error("document-too-large", Span::new(file, 0..0), message)
            .help("raise it with --limit document-bytes=N if this is meant");
        return (Vec::new(), vec![error]);
    }
    let mut builder = Builder::new(text, file);
    let parts = json_documents(text);
    let outcome = parts.into_iter().try_for_each(|part| builder.read(part));
    let mut errors = builder.errors;
    errors.extend(outcome.err());
    (builder.documents, errors)
}

/// Where the JSON documents of a text lie that follow each other without separators, as in JSON lines:
/// YAML would want `---` between them. Any other text is one part, in which YAML finds its documents.
fn json_documents(text: &str) -> Vec<Range<usize>> {
    let whole = 0..text.len();
    if !text.trim_start().starts_with(['{', '[']) {
        return Vec::from([whole]);
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    let (mut parts, mut start) = (Vec::new(), 0);
    while let Some(value) = values.next() {
        if value.is_err() {
            break;
        }
        parts.push(start..values.byte_offset());
        start = values.byte_offset();
    }
    match parts.len() {
        0 | 1 => Vec::from([whole]),
        // What is not JSON, if anything, is for the YAML parser to complain about.
        _ if start < text.len() && !text.get(start..).unwrap_or("").trim().is_empty() => {
            parts.push(start..text.len());
            parts
        }
        _ => parts,
    }
}

/// A list or mapping that is not finished yet.
struct Open {
    span: Span,
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, seen: HashSet<String>, key: Key },
}

/// What the next node of a mapping is.
enum Key {
    /// A key.
    Awaited,
    /// The value of a key.
    Taken(String, Span),
    /// The value of a key that appeared before, to be dropped.
    Repeated,
}

struct Builder<'t> {
    text: &'t str,
    file: FileId,
    /// First byte of the part that is being read.
    start: usize,
    /// Byte offset of every character of the part, where bytes and characters differ.
    bytes_of_chars: Option<Vec<u32>>,
    stack: Vec<Open>,
    anchors: HashMap<usize, Node>,
    aliased: usize,
    anchored: usize,
    documents: Vec<Node>,
    errors: Vec<Diagnostic>,
}

impl<'t> Builder<'t> {
    fn new(text: &'t str, file: FileId) -> Self {
        let (stack, anchors, documents, errors) = (Vec::new(), HashMap::new(), Vec::new(), Vec::new());
        let (start, bytes_of_chars) = (0, None);
        Self { text, file, start, bytes_of_chars, stack, anchors, aliased: 0, anchored: 0, documents, errors }
    }

    fn byte(&self, character: usize) -> usize {
        let within = match &self.bytes_of_chars {
            None => character,
            Some(starts) => starts.get(character).map_or(self.text.len(), |&b| b as usize),
        };
        self.start.saturating_add(within).min(self.text.len())
    }

    fn span(&self, span: saphyr_parser::Span) -> Span {
        let (start, end) = (self.byte(span.start.index()), self.byte(span.end.index()));
        Span::new(self.file, start..end.max(start))
    }

    /// Reads the documents of a part of the text.
    fn read(&mut self, part: Range<usize>) -> Result<(), Diagnostic> {
        self.start = part.start;
        let text = self.text.get(part).unwrap_or("");
        self.bytes_of_chars = (!text.is_ascii()).then(|| {
            let starts = text.char_indices().map(|(i, _)| i).chain([text.len()]);
            starts.map(|i| u32::try_from(i).unwrap_or(u32::MAX)).collect()
        });
        let mut parser = Parser::new_from_str(text);
        loop {
            let event = match parser.next_event() {
                None => return Ok(()),
                Some(Ok(event)) => event,
                Some(Err(e)) => {
                    let at = self.byte(e.marker().index());
                    return Err(yaml_error(Span::new(self.file, at..at), e.info()));
                }
            };
            let span = self.span(event.1);
            match event.0 {
                Event::SequenceStart(anchor, _) => self.open(span, anchor, Content::List(Vec::new()))?,
                Event::MappingStart(anchor, _) => {
                    let map = Content::Map { entries: Vec::new(), seen: HashSet::new(), key: Key::Awaited };
                    self.open(span, anchor, map)?;
                }
                Event::SequenceEnd | Event::MappingEnd => self.close(span)?,
                Event::Scalar(text, style, anchor, tag) => {
                    let scalar = self.scalar(text.into_owned(), style, tag.is_some(), span);
                    let node =
                        Node { span: scalar.origin.span(0..scalar.text.len()), value: Value::Scalar(scalar) };
                    self.finish(node, anchor)?;
                }
                Event::Alias(anchor) => {
                    let node = self.alias(anchor, span)?;
                    self.finish(node, 0)?;
                }
                Event::DocumentStart(_) => self.anchors.clear(),
                Event::StreamEnd => return Ok(()),
                Event::Nothing | Event::StreamStart | Event::DocumentEnd => {}
            }
        }
    }

    fn scalar(&self, text: String, style: ScalarStyle, tagged: bool, span: Span) -> Scalar {
        let start = span.start as usize;
        let quote = usize::from(matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted));
        let verbatim = self.text.get(start + quote..).is_some_and(|rest| rest.starts_with(text.as_str()));
        let origin = if verbatim {
            Origin::verbatim(Span::new(self.file, start + quote..start + quote + text.len()))
        } else {
            Origin::whole(span)
        };
        // A tag such as !!str makes a plain scalar text; other types a tag could claim have no use here.
        Scalar { text, plain: style == ScalarStyle::Plain && !tagged, origin }
    }

    fn open(&mut self, span: Span, anchor: usize, content: Content) -> Result<(), Diagnostic> {
        if let Some(Open { content: Content::Map { key: Key::Awaited, .. }, .. }) = self.stack.last() {
            return Err(Diagnostic::error(
                "complex-key",
                span,
                "a key must be a plain name, not a list or mapping",
            )
            .help("quote the key if it begins with `[` or `{`"));
        }
        if self.stack.len() >= MAX_DEPTH {
            return Err(Diagnostic::error(
                "nested-too-deep",
                span,
                format!("nested deeper than {MAX_DEPTH} levels"),
            ));
        }
        self.stack.push(Open { span, anchor, content });
        Ok(())
    }

    fn close(&mut self, end: Span) -> Result<(), Diagnostic> {
        let Some(open) = self.stack.pop() else { return Ok(()) };
        let value = match open.content {
            Content::List(items) => Value::List(items),
            Content::Map { entries, .. } => Value::Map(entries),
        };
        self.finish(Node { span: open.span.to(end), value }, open.anchor)
    }

    /// Puts a finished node where it belongs.
    fn finish(&mut self, node: Node, anchor: usize) -> Result<(), Diagnostic> {
        if anchor != 0 {
            self.anchored += size(&node, MAX_ANCHORED);
            if self.anchored >= MAX_ANCHORED {
                let message = format!("more than {MAX_ANCHORED} nodes under anchors");
                return Err(Diagnostic::error("alias-expansion", node.span, message)
                    .help("remove anchors that nothing refers to"));
            }
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.stack.last_mut() else {
            self.documents.push(node);
            return Ok(());
        };
        match &mut open.content {
            Content::List(items) => items.push(node),
            Content::Map { entries, seen, key } => match std::mem::replace(key, Key::Awaited) {
                Key::Taken(key, key_span) => entries.push(Entry { key, key_span, value: node }),
                Key::Repeated => {}
                Key::Awaited => {
                    let Value::Scalar(scalar) = node.value else {
                        return Err(Diagnostic::error(
                            "complex-key",
                            node.span,
                            "a key must be a plain name",
                        ));
                    };
                    *key = if seen.insert(scalar.text.clone()) {
                        Key::Taken(scalar.text, node.span)
                    } else {
                        // More than a fault shows need not be remembered.
                        if self.errors.len() <= Fault::MOST {
                            let key = shorten(&scalar.text);
                            let message = format!("the key `{key}` appears twice in this mapping");
                            let help = "keep one of them; the second is not taken as an override";
                            self.errors
                                .push(Diagnostic::error("duplicate-key", node.span, message).help(help));
                        }
                        Key::Repeated
                    };
                }
            },
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<Node, Diagnostic> {
        let Some(target) = self.anchors.get(&anchor) else {
            let message = "an alias to something that is not finished yet or belongs to another document";
            return Err(Diagnostic::error("unknown-alias", span, message));
        };
        self.aliased += size(target, MAX_ALIASED);
        if self.aliased >= MAX_ALIASED {
            let message = format!("aliases expand to more than {MAX_ALIASED} nodes");
            return Err(Diagnostic::error("alias-expansion", span, message)
                .help("write the repeated part with `for`"));
        }
        Ok(target.clone())
    }
}

/// Number of nodes in a tree, long texts counting as several, counted no further than `most`.
fn size(node: &Node, most: usize) -> usize {
    let children: &mut dyn Iterator<Item = (&str, &Node)> = match &node.value {
        Value::Scalar(scalar) => return 1 + scalar.text.len() / BYTES_OF_NODE,
        Value::List(items) => &mut items.iter().map(|n| ("", n)),
        Value::Map(entries) => &mut entries.iter().map(|e| (e.key.as_str(), &e.value)),
    };
    let mut total = 1;
    for (key, child) in children {
        total += key.len() / BYTES_OF_NODE + size(child, most);
        if total >= most {
            break;
        }
    }
    total
}

fn yaml_error(span: Span, info: &str) -> Diagnostic {
    let help = match info {
        _ if info.contains("flow") => {
            "inside [] and {}, quote every expression that contains `,`, `[` or `]`: [\"src[x, y]\"]"
        }
        _ if info.contains("tab") => "indent with spaces, not tabs",
        _ => "quote an expression that begins with `!`, `*`, `&` or contains `: `; indent with spaces",
    };
    Diagnostic::error("yaml", span, format!("this is not valid YAML: {info}")).help(help)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    fn parse(text: &str) -> (Vec<Node>, Vec<Diagnostic>) {
        parse_stream(text, FileId(0), 1 << 20)
    }

    fn snippets(text: &str, node: &Node, out: &mut Vec<String>) {
        match &node.value {
            Value::Scalar(_) => out.push(text[node.span.start as usize..node.span.end as usize].to_owned()),
            Value::List(items) => items.iter().for_each(|n| snippets(text, n, out)),
            Value::Map(entries) => entries.iter().for_each(|e| {
                out.push(text[e.key_span.start as usize..e.key_span.end as usize].to_owned());
                snippets(text, &e.value, out);
            }),
        }
    }

    #[test]
    fn spans_point_at_the_characters_of_a_scalar() {
        let text = "ä: 1\nlist: [b, \"c d\", 'e']\nlast: f[x, y]  # comment\n";
        let (documents, errors) = parse(text);
        assert_eq!(errors, []);
        let mut found = Vec::new();
        snippets(text, &documents[0], &mut found);
        assert_eq!(found, ["ä", "1", "list", "b", "c d", "e", "last", "f[x, y]"]);
    }

    #[test]
    fn streams_have_several_documents() {
        let (documents, errors) = parse("a: 1\n---\nb: 2\n...\n---\nc: 3\n");
        assert_eq!((documents.len(), errors.len()), (3, 0));
        assert_eq!(parse("").0.len(), 0);
    }

    #[test]
    fn json_documents_need_no_separator() {
        let text = "{\"a\": \"ä\"}\n{\"a\": \"b\"} {\"a\": [1]}\n";
        let (documents, errors) = parse(text);
        assert_eq!((documents.len(), errors), (3, vec![]));
        let mut found = Vec::new();
        for document in &documents {
            snippets(text, document, &mut found);
        }
        assert_eq!(found, ["a", "ä", "a", "b", "a", "1"]);
        // A mistake in a later line is found at its place, and what stands before is kept.
        let (documents, errors) = parse("{\"a\": 1}\n{\"a\": 2}\n{\"a\": [\n");
        assert_eq!((documents.len(), errors[0].code), (2, "yaml"));
        assert!(errors[0].span.unwrap().start > 20);
        assert_eq!(parse("{a: 1}\n---\n{a: 2}\n").0.len(), 2, "flow style of YAML is no JSON");
    }

    #[test]
    fn duplicate_keys_are_errors_and_reading_goes_on() {
        let (documents, errors) = parse("a: 1\na: {b: 2}\nc: 3\n");
        assert_eq!(errors[0].code, "duplicate-key");
        assert!(documents[0].get("c").is_some());
        assert_eq!(documents[0].get("a").unwrap().describe(), "an integer");
    }

    #[test]
    fn aliases_are_followed_but_not_without_end() {
        let (documents, errors) = parse("a: &n [1, 2]\nb: *n\n");
        assert_eq!(errors, []);
        assert_eq!(documents[0].get("a").unwrap().value, documents[0].get("b").unwrap().value);
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for i in 1..9 {
            let previous = format!("*a{}", i - 1);
            let list = [previous.as_str(); 10].join(", ");
            let _ = writeln!(bomb, "a{i}: &a{i} [{list}]");
        }
        assert_eq!(parse(&bomb).1[0].code, "alias-expansion");
    }

    #[test]
    fn deep_nesting_and_complex_keys_are_refused() {
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert_eq!(parse(&deep).1[0].code, "nested-too-deep");
        assert_eq!(parse(&"[".repeat(100_000)).1.len(), 1);
        assert_eq!(parse("? [a, b]\n: 1\n").1[0].code, "complex-key");
        assert_eq!(parse("a: [1").1[0].code, "yaml");
    }

    #[test]
    fn json_is_yaml() {
        let (documents, errors) = parse("{\"a\":[1,2.5,\"x\\u00e9\"],\n\t\"b\":{\"c\":null,\"d\":true}}");
        assert_eq!(errors, []);
        assert!(documents[0].get("b").unwrap().get("c").unwrap().is_null());
    }
}
