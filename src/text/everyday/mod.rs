//! Everyday YAML into trees: mappings and lists by indentation or in brackets, and scalars that stand on one line. Most
//! documents use no more of YAML, and reading it takes a fifth of what all of YAML takes.
//!
//! What is read here is read as the parser of all of YAML reads it, to the last place in the text. Whatever is anything
//! else is left to that parser: what is no YAML at all, texts over several lines, escapes, anchors, tags, and several
//! documents.

mod brackets;
mod scalar;

use super::bounds::{Bounds, MAX_DEPTH};
use super::keys::drop_repeated;
use super::{Entry, FileId, Node, Scalar, Span, Value};

/// Bytes of a key beyond which it may be none.
const LONGEST_KEY: usize = 512;

/// Reads the document of a text; `None` if it has to be read as YAML may be.
pub(super) fn read(text: &str, file: FileId, bounds: Bounds) -> Option<Node> {
    // Every node takes a byte of the text at least, as does every key.
    if text.len() > bounds.nodes || !text.bytes().all(is_everyday) || text.contains('\u{feff}') {
        return None;
    }
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, line: 0, file, depth: 0 };
    reader.next_line()?;
    if reader.at == text.len() || reader.column() != 0 {
        return None;
    }
    let document = reader.block(0)?;
    (reader.at == text.len()).then_some(document)
}

/// Whether a byte is of a printable character or ends a line. Of characters beyond ASCII those that may stand anywhere
/// begin with other bytes than the first ones of `\u{80}` and of `\u{2028}`.
fn is_everyday(byte: u8) -> bool {
    matches!(byte, b'\n' | b' '..=b'~' | 0x80..=0xff) && !matches!(byte, 0xc2 | 0xe2)
}

/// A place in a text, at which nothing but a token begins.
struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    /// Where the line begins.
    line: usize,
    file: FileId,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn column(&self) -> usize {
        self.at - self.line
    }

    /// Whether a blank, the end of a line, or the end of the text stands at a byte.
    fn is_space(&self, at: usize) -> bool {
        matches!(self.bytes.get(at), None | Some(b' ' | b'\n'))
    }

    /// Whether a byte means something between brackets.
    fn is_mark(&self, at: usize) -> bool {
        matches!(self.bytes.get(at), Some(b',' | b'[' | b']' | b'{' | b'}'))
    }

    fn blanks(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    /// Goes on to the first token of a line, behind the rest of this one, which has none.
    fn next_line(&mut self) -> Option<()> {
        loop {
            let before = self.at;
            self.blanks();
            match self.peek() {
                None => return Some(()),
                Some(b'\n') => {
                    self.at += 1;
                    self.line = self.at;
                }
                Some(b'#') if self.at > before || self.at == self.line => {
                    self.pass_rest_of_line();
                }
                Some(_) if self.at - self.line == self.at - before && before == self.line => {
                    // Marks between documents, and directives.
                    let marks = self.column() == 0
                        && (matches!(self.peek(), Some(b'%'))
                            || ["---", "..."].iter().any(|m| self.text[self.at..].starts_with(m)));
                    return (!marks).then_some(());
                }
                Some(_) => return None,
            }
        }
    }

    fn pass_rest_of_line(&mut self) {
        let end = self.bytes[self.at..].iter().position(|b| *b == b'\n');
        self.at = end.map_or(self.bytes.len(), |length| self.at + length);
    }

    /// Whether a list by indentation goes on here.
    fn is_item(&self) -> bool {
        self.peek() == Some(b'-') && self.is_space(self.at + 1)
    }

    /// A list, a mapping or a scalar by itself, on a line of its own or behind the dash of an item.
    fn block(&mut self, indent: usize) -> Option<Node> {
        if self.is_item() {
            return self.nested(|reader| reader.items(false));
        }
        let start = self.at;
        if matches!(self.peek()?, b'{' | b'[') {
            let node = self.flow(indent)?;
            self.next_line()?;
            // A key may be in brackets.
            return Some(node);
        }
        let first = self.scalar(false)?;
        if self.peek() == Some(b':') && self.is_space(self.at + 1) {
            self.at = start;
            return self.nested(Reader::entries);
        }
        self.next_line()?;
        Some(node(first))
    }

    /// One level deeper.
    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<Node>) -> Option<Node> {
        if self.depth + 1 >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    /// The entries of a mapping by indentation.
    fn entries(&mut self) -> Option<Node> {
        let (start, column) = (self.at, self.column());
        let mut entries = Vec::new();
        while self.at < self.bytes.len() && self.column() == column && !self.is_item() {
            let begin = self.at;
            let key = self.scalar(false)?;
            if self.peek() != Some(b':') || !self.is_space(self.at + 1) || self.at - begin > LONGEST_KEY {
                return None;
            }
            self.at += 1;
            self.blanks();
            let value = if matches!(self.peek(), None | Some(b'\n' | b'#')) {
                self.next_line()?;
                let deeper = self.column() > column || (self.column() == column && self.is_item());
                if self.at == self.bytes.len() || !deeper {
                    return None;
                }
                if self.column() == column {
                    self.nested(|reader| reader.items(true))?
                } else {
                    self.block(column)?
                }
            } else {
                self.inline(column)?
            };
            let key_span = key.origin.span(0..key.text.len());
            entries.push(Entry { key: key.text, key_span, value });
        }
        self.ended(column)?;
        let mut errors = Vec::new();
        drop_repeated(&mut entries, &mut errors);
        entries.shrink_to_fit();
        errors.is_empty().then(|| self.until_here(start, Value::Map(entries)))
    }

    /// The items of a list by indentation. One that stands no deeper than its key begins with its first item, not with
    /// the dash before that.
    fn items(&mut self, as_deep_as_key: bool) -> Option<Node> {
        let (mut start, column) = (self.at, self.column());
        let mut items = Vec::new();
        while self.at < self.bytes.len() && self.column() == column && self.is_item() {
            self.at += 1;
            self.blanks();
            if matches!(self.peek(), None | Some(b'\n' | b'#')) {
                return None;
            }
            if items.is_empty() && as_deep_as_key {
                start = self.at;
            }
            items.push(self.block(column)?);
        }
        self.ended(column)?;
        items.shrink_to_fit();
        Some(self.until_here(start, Value::List(items)))
    }

    /// Whether what follows a list or mapping that begins in this column belongs to something around it.
    fn ended(&self, column: usize) -> Option<()> {
        (self.at == self.bytes.len() || self.column() <= column).then_some(())
    }

    fn until_here(&self, start: usize, value: Value) -> Node {
        Node { span: Span::new(self.file, start..self.at), value }
    }

    /// A value on the line of its key.
    fn inline(&mut self, indent: usize) -> Option<Node> {
        if self.is_item() {
            return None;
        }
        let node = if matches!(self.peek()?, b'{' | b'[') {
            self.flow(indent)?
        } else {
            let scalar = self.scalar(false)?;
            node(scalar)
        };
        self.next_line()?;
        Some(node)
    }
}

fn node(scalar: Scalar) -> Node {
    Node { span: scalar.origin.span(0..scalar.text.len()), value: Value::Scalar(scalar) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::yaml::parse_yaml;
    use super::*;
    use crate::random::Random;

    const BOUNDS: Bounds = Bounds { bytes: 1 << 20, nodes: 1 << 20 };

    /// Whether a text is everyday YAML; if so it is read as the other parser reads it.
    fn is_read_alike(text: &str) -> bool {
        let Some(document) = read(text, FileId(0), BOUNDS) else { return false };
        let (documents, errors) = parse_yaml(text, FileId(0), BOUNDS);
        assert_eq!(errors, [], "{text}");
        assert_eq!(documents, [document], "{text}");
        true
    }

    fn texts() -> Vec<String> {
        let mut found = Vec::new();
        for folder in ["kernels", "devices", "fits", "sets", "tests/bad"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
            for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.extension().is_some_and(|extension| extension == "yaml") {
                    found.extend(std::fs::read_to_string(path));
                }
            }
        }
        found.sort();
        found
    }

    #[test]
    fn most_documents_are_everyday_ones_and_read_alike() {
        let texts = texts();
        let number = texts.iter().filter(|text| is_read_alike(text)).count();
        assert!(texts.len() > 100 && number * 4 > texts.len() * 3, "{number} of {}", texts.len());
    }

    /// Some lines of documents, changed here and there: what is still read is what YAML says, place by place.
    #[test]
    fn changed_documents_are_read_alike_or_not_at_all() {
        let pieces = [
            " ", "\n", "  ", ":", ": ", "- ", "-", "#", " #", "'", "\"", "{", "}", "[", "]", ",", "a", "1",
            "? ", "&a ", "*a", "!t ", "|", ">", "\n  ", "\n- ", "\n  - ", "%", "@", "~", "---\n", "...",
            "\\", "é", "\u{2028}", "\u{85}", "\t", "\r", "\n\n", "a: b", "{a: 1}", "[]", "{}", ": {", ", ",
        ];
        let (texts, mut random, mut alike) = (texts(), Random::new(3), 0);
        for _ in 0..20_000 {
            let lines: Vec<&str> = texts[random.below(texts.len())].lines().collect();
            let from = random.below(lines.len().max(1));
            let some = &lines[from.min(lines.len())..(from + 1 + random.below(12)).min(lines.len())];
            let indent = |line: &&&str| line.len() - line.trim_start().len();
            let least = some.iter().filter(|l| !l.trim().is_empty()).map(|l| indent(&l)).min().unwrap_or(0);
            let mut text: String = some.iter().flat_map(|l| [l.get(least..).unwrap_or(""), "\n"]).collect();
            for _ in 0..random.below(4) {
                let places: Vec<usize> = text.char_indices().map(|c| c.0).chain([text.len()]).collect();
                let at = random.below(places.len());
                let to = places[(at + random.below(2)).min(places.len() - 1)];
                let piece = if random.below(3) == 0 { "" } else { pieces[random.below(pieces.len())] };
                text.replace_range(places[at]..to, piece);
            }
            if !text.trim_start().starts_with(['{', '[']) {
                alike += usize::from(is_read_alike(&text));
            }
        }
        assert!(alike > 3000, "{alike}");
    }
}
