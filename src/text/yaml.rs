//! YAML 1.2 (and with it JSON) into trees with places.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::bounds::{Bounds, Budget, MAX_DEPTH};
use super::characters::Characters;
use super::keys::drop_repeated;
use super::{Diagnostic, Entry, FileId, Node, Origin, Scalar, Span, Value, Word};

/// Most nodes that aliases may add to a stream ("billion laughs").
const MAX_ALIASED: usize = 100_000;
/// Most nodes under anchors, each as often as anchors are around it: all are copied.
const MAX_ANCHORED: usize = 1_000_000;
/// Bytes of text that weigh as much as a node, where nodes are copied.
const BYTES_OF_NODE: usize = 64;

/// Parses all documents of a stream as YAML.
pub(super) fn parse_yaml(text: &str, file: FileId, bounds: Bounds) -> (Vec<Node>, Vec<Diagnostic>) {
    yaml_from(text, 0, file, Budget::new(bounds.nodes))
}

/// Parses what stands from a byte on.
pub(super) fn yaml_from(
    text: &str,
    start: usize,
    file: FileId,
    budget: Budget,
) -> (Vec<Node>, Vec<Diagnostic>) {
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
            characters: Characters::new(text.get(start..).unwrap_or("")),
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
        _ if info.contains("flow mapping") => {
            "inside {}, quote keys and expressions that contain `,`, `[` or `]`, as in {\"time [us]\": t} or {at: \
             \"src[x, y]\"}; or write each key on a line of its own without {}"
        }
        _ if info.contains("flow") => {
            "inside [] and {}, quote every expression that contains `,`, `[` or `]`: [\"src[x, y]\"]"
        }
        _ if info.contains("tab") => "indent with spaces, not tabs",
        _ => "quote an expression that begins with `!`, `*`, `&` or contains `: `; indent with spaces",
    };
    Diagnostic::error("yaml", span, format!("this is not valid YAML: {info}")).help(help)
}
