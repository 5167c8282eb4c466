//! YAML 1.2 (and with it JSON) into trees with places.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::characters::Characters;
use super::json;
use super::{Diagnostic, Entry, Fault, FileId, Node, Origin, Scalar, Span, Value, Word, shorten};

/// Deepest nesting of lists and mappings.
pub(super) const MAX_DEPTH: usize = 64;
/// Most nodes that aliases may add to a stream ("billion laughs").
const MAX_ALIASED: usize = 100_000;
/// Most nodes under anchors, each as often as anchors are around it: all are copied.
const MAX_ANCHORED: usize = 1_000_000;
/// Bytes of text that weigh as much as a node, where nodes are copied.
const BYTES_OF_NODE: usize = 64;

/// Commas, brackets and colons of a node of YAML, with some to spare.
const MARKS_OF_NODE: usize = 2;

/// How large a text may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of the text.
    pub bytes: usize,
    /// Values and keys in it.
    pub nodes: usize,
}

impl Bounds {
    /// So many bytes, of which every second may be a value.
    pub fn of_bytes(bytes: usize) -> Self {
        Self { bytes, nodes: bytes }
    }
}

/// Parses all documents of a stream. What was read before an error is returned beside it.
pub fn parse_stream(text: &str, file: FileId, bounds: Bounds) -> (Vec<Node>, Vec<Diagnostic>) {
    if text.len() > bounds.bytes || u32::try_from(text.len()).is_err() {
        let message = format!("the document has {} bytes; the limit is {}", text.len(), bounds.bytes);
        let error = Diagnostic::error("document-too-large", Span::new(file, 0..0), message)
            .help("raise it with --limit document-bytes=N if this is meant");
        return (Vec::new(), vec![error]);
    }
    if !text.trim_start().starts_with(['{', '[']) {
        return parse_yaml(text, file, bounds);
    }
    let (mut budget, mut errors) = (Budget::new(bounds.nodes), Vec::new());
    match json::read(text, file, &mut budget, &mut errors) {
        // What one document goes on with may be `---`, which is for YAML, as is what is no JSON at all.
        Ok(read) if read.rest < text.len() && read.documents.len() < 2 => parse_yaml(text, file, bounds),
        Ok(read) => {
            let (more, wrong) = yaml_from(text, read.rest, file, budget);
            (read.documents.into_iter().chain(more).collect(), errors.into_iter().chain(wrong).collect())
        }
        Err(error) => {
            errors.push(error);
            (Vec::new(), errors)
        }
    }
}

/// Parses all documents of a stream as YAML.
pub(super) fn parse_yaml(text: &str, file: FileId, bounds: Bounds) -> (Vec<Node>, Vec<Diagnostic>) {
    yaml_from(text, 0, file, Budget::new(bounds.nodes))
}

/// Parses what stands from a byte on.
fn yaml_from(text: &str, start: usize, file: FileId, budget: Budget) -> (Vec<Node>, Vec<Diagnostic>) {
    if let Err(error) = budget.check_marks(text, file) {
        return (Vec::new(), vec![error]);
    }
    let mut builder = Builder::new(text, start, file, budget);
    let outcome = builder.read();
    builder.leave();
    let mut errors = builder.errors;
    errors.extend(outcome.err());
    (builder.documents, errors)
}

/// How many nodes may still come.
pub(super) struct Budget {
    left: usize,
    most: usize,
}

impl Budget {
    pub(super) fn new(most: usize) -> Self {
        Self { left: most, most }
    }

    /// Takes one.
    pub(super) fn one_more(&mut self, span: Span) -> Result<(), Diagnostic> {
        let Some(left) = self.left.checked_sub(1) else {
            let message = format!("the document has more than {} values and keys", self.most);
            return Err(Diagnostic::error("too-many-nodes", span, message)
                .help("raise the limit with --limit nodes=N if this is meant"));
        };
        self.left = left;
        Ok(())
    }

    /// Refuses a text with more commas, brackets and colons than nodes need. The parser holds lists and mappings
    /// in brackets as a whole before it tells of their first item, in ten times the memory of their nodes.
    fn check_marks(&self, text: &str, file: FileId) -> Result<(), Diagnostic> {
        let most = self.most.saturating_mul(MARKS_OF_NODE);
        // Most texts are far too short.
        if text.len() <= most {
            return Ok(());
        }
        let is_mark =
            |b: &u8| matches!(b, b',' | b'[' | b']' | b'{' | b'}' | b':' | b'?' | b'&' | b'*' | b'!' | b'%');
        let marks = text.bytes().filter(is_mark).count();
        if marks <= most {
            return Ok(());
        }
        let message = format!("the document has {marks} commas, brackets and colons; the limit is {most}");
        Err(Diagnostic::error("too-many-nodes", Span::new(file, 0..0), message)
            .help("write it as JSON, or raise the limit with --limit nodes=N"))
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
    /// Entries, and the key of the next, if it has been read.
    Map(Vec<Entry>, Option<(Word, Span)>),
}

struct Builder<'t> {
    text: &'t str,
    file: FileId,
    /// First byte that is read.
    start: usize,
    /// Where the characters from there on are.
    characters: Characters<'t>,
    budget: Budget,
    stack: Vec<Open>,
    anchors: HashMap<usize, Node>,
    aliased: usize,
    anchored: usize,
    documents: Vec<Node>,
    errors: Vec<Diagnostic>,
}

impl<'t> Builder<'t> {
    fn new(text: &'t str, start: usize, file: FileId, budget: Budget) -> Self {
        Self {
            text,
            file,
            start,
            characters: Characters::of(text.get(start..).unwrap_or("")),
            budget,
            stack: Vec::new(),
            anchors: HashMap::new(),
            aliased: 0,
            anchored: 0,
            documents: Vec::new(),
            errors: Vec::new(),
        }
    }

    fn byte(&self, character: usize) -> usize {
        self.start.saturating_add(self.characters.byte(character)).min(self.text.len())
    }

    fn span(&self, span: saphyr_parser::Span) -> Span {
        let (start, end) = (self.byte(span.start.index()), self.byte(span.end.index()));
        Span::new(self.file, start..end.max(start))
    }

    /// Reads all documents.
    fn read(&mut self) -> Result<(), Diagnostic> {
        let mut parser = Parser::new_from_str(self.text.get(self.start..).unwrap_or(""));
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
                    self.open(span, anchor, Content::Map(Vec::new(), None))?;
                }
                Event::SequenceEnd | Event::MappingEnd => self.close(span)?,
                Event::Scalar(text, style, anchor, tag) => {
                    let scalar = self.scalar(text.into_owned(), style, tag.is_some(), span);
                    self.budget.one_more(span)?;
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
        let text = text.into();
        // A tag such as !!str makes a plain scalar text; other types a tag could claim have no use here.
        Scalar { text, plain: style == ScalarStyle::Plain && !tagged, origin }
    }

    /// Looks through what an error left open.
    fn leave(&mut self) {
        for open in std::mem::take(&mut self.stack) {
            if let Content::Map(mut entries, _) = open.content {
                drop_repeated(&mut entries, &mut self.errors);
            }
        }
    }

    fn open(&mut self, span: Span, anchor: usize, content: Content) -> Result<(), Diagnostic> {
        self.budget.one_more(span)?;
        if let Some(Open { content: Content::Map(_, None), .. }) = self.stack.last() {
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
            Content::List(mut items) => {
                items.shrink_to_fit();
                Value::List(items)
            }
            Content::Map(mut entries, _) => {
                drop_repeated(&mut entries, &mut self.errors);
                entries.shrink_to_fit();
                Value::Map(entries)
            }
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
            Content::Map(entries, key) => match (key.take(), node.value) {
                (Some((key, key_span)), value) => {
                    entries.push(Entry { key, key_span, value: Node { span: node.span, value } });
                }
                (None, Value::Scalar(scalar)) => *key = Some((scalar.text, node.span)),
                (None, _) => {
                    return Err(Diagnostic::error("complex-key", node.span, "a key must be a plain name"));
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

/// Drops and reports entries whose key an earlier one has.
pub(super) fn drop_repeated(entries: &mut Vec<Entry>, errors: &mut Vec<Diagnostic>) {
    let mut by_key: Vec<usize> = (0..entries.len()).collect();
    // Equal keys stay in the order of the document.
    by_key.sort_by(|&a, &b| entries[a].key.as_str().cmp(&entries[b].key));
    let mut repeated: Vec<usize> =
        by_key.windows(2).filter(|w| entries[w[0]].key == entries[w[1]].key).map(|w| w[1]).collect();
    if repeated.is_empty() {
        return;
    }
    repeated.sort_unstable();
    // More than a fault shows need not be remembered.
    for &i in repeated.iter().take((Fault::MOST + 1).saturating_sub(errors.len())) {
        let message = format!("the key `{}` appears twice in this mapping", shorten(&entries[i].key));
        let help = "keep one of them; the second is not taken as an override";
        errors.push(Diagnostic::error("duplicate-key", entries[i].key_span, message).help(help));
    }
    let (mut at, mut dropped) = (0, repeated.iter().peekable());
    entries.retain(|_| {
        at += 1;
        dropped.next_if(|&&i| i == at - 1).is_none()
    });
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
        parse_stream(text, FileId(0), Bounds::of_bytes(1 << 20))
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
    fn values_and_keys_are_limited() {
        let parse = |text: &str, nodes| parse_stream(text, FileId(0), Bounds { bytes: 1 << 20, nodes }).1;
        assert_eq!(parse("{a: [1, 2], b: 3}", 7), []);
        for text in [
            "{a: [1, 2], b: 3}",
            "[1, 2, 3, 4, 5, 6]",
            "- 1\n- [2, 3]\n- [4]\n",
            "1\n---\n2\n--- \n[[[[]]]]\n",
        ] {
            assert_eq!(
                parse(text, 6).first().map(|e| e.code),
                Some("too-many-nodes").filter(|_| !text.contains("---")),
                "{text}"
            );
            assert_eq!(parse(text, 5).first().map(|e| e.code), Some("too-many-nodes"), "{text}");
        }
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
