//! Source texts and places in them.

use std::ops::Range;

/// Which text of a [`Sources`] a span points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct FileId(pub u32);

/// A half-open range of bytes in one source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The text.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span of `file` over the bytes `range`.
    pub fn new(file: FileId, range: Range<usize>) -> Self {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { file, start: clamp(range.start), end: clamp(range.end) }
    }

    /// The smallest span that covers both, which must lie in one text.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// Where the characters of a piece of text lie in its source.
///
/// A YAML scalar that stands in the file as it reads (plain or quoted without escapes) maps byte by
/// byte; of a folded or escaped one only the whole is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    span: Span,
    verbatim: bool,
}

impl Origin {
    /// Text that stands at `span` character by character.
    pub fn verbatim(span: Span) -> Self {
        Self { span, verbatim: true }
    }

    /// Text made from what stands at `span`.
    pub fn whole(span: Span) -> Self {
        Self { span, verbatim: false }
    }

    /// The span of the bytes `range` of the text.
    pub fn span(&self, range: Range<usize>) -> Span {
        if !self.verbatim {
            return self.span;
        }
        let start = self.span.start as usize;
        Span::new(self.span.file, start + range.start..start + range.end)
    }
}

/// Lines from one mark in a text to the next.
const STEP: usize = 64;

/// One text with a name: a file, standard input, or a command-line argument.
#[derive(Debug, Clone)]
pub struct NamedText {
    name: String,
    text: String,
    /// Where every `STEP`th line begins: a text may have more lines than an index of all has room for.
    marks: Vec<usize>,
    /// Lines of the file before this text.
    before: usize,
}

impl NamedText {
    fn new(name: String, text: String) -> Self {
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|i| i + 1));
        let marks = starts.step_by(STEP).collect();
        Self { name, text, marks, before: 0 }
    }

    /// The name by which a message calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text itself.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column of a byte offset, both counted from 1, columns in characters.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let offset = floor_boundary(&self.text, offset);
        let mark = self.marks.partition_point(|&start| start <= offset).saturating_sub(1);
        let (mut line, mut start) = (mark * STEP + 1, self.marks.get(mark).copied().unwrap_or(0));
        for end in memchr::memchr_iter(b'\n', &self.text.as_bytes()[start..offset]) {
            (line, start) = (line + 1, self.marks[mark] + end + 1);
        }
        (line + self.before, self.text[start..offset].chars().count() + 1)
    }

    /// The text of a line counted from 1, without its end.
    pub fn line(&self, line: usize) -> &str {
        let Some(line) = line.checked_sub(self.before) else { return "" };
        let Some(line) = line.checked_sub(1) else { return "" };
        let Some(rest) = self.marks.get(line / STEP).and_then(|&mark| self.text.get(mark..)) else {
            return "";
        };
        rest.split('\n').nth(line % STEP).unwrap_or("").trim_end_matches('\r')
    }
}

/// The largest character boundary at or before `offset`.
fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// All texts of one run.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    texts: Vec<NamedText>,
}

impl Sources {
    /// No texts yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text and returns the id that spans of it carry.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let id = FileId(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        self.texts.push(NamedText::new(name.into(), text.into()));
        id
    }

    /// Adds a part of a text that is not kept as a whole; it starts at this line, counted from 1.
    pub fn add_excerpt(&mut self, name: impl Into<String>, text: impl Into<String>, line: usize) -> FileId {
        let id = self.add(name, text);
        if let Some(text) = self.texts.last_mut() {
            text.before = line.saturating_sub(1);
        }
        id
    }

    /// The text of an id, if it is one of these.
    pub fn get(&self, id: FileId) -> Option<&NamedText> {
        self.texts.get(id.0 as usize)
    }

    /// What stands at a span; empty if it lies outside.
    pub fn snippet(&self, span: Span) -> &str {
        self.get(span.file).and_then(|t| t.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let mut sources = Sources::new();
        let id = sources.add("t", "aé\nxyz\n");
        let text = sources.get(id).unwrap();
        assert_eq!(text.position(0), (1, 1));
        assert_eq!(text.position(3), (1, 3), "é takes two bytes and one column");
        assert_eq!(text.position(4), (2, 1));
        assert_eq!(text.position(6), (2, 3));
        assert_eq!(text.position(99), (3, 1), "past the end is the end");
        assert_eq!((text.line(1), text.line(2), text.line(3), text.line(9)), ("aé", "xyz", "", ""));
    }

    #[test]
    fn lines_are_found_between_marks() {
        let lines: Vec<String> = (1..=1000).map(|i| format!("é{i}\n")).collect();
        let many = lines.concat();
        let mut sources = Sources::new();
        let id = sources.add("t", many.as_str());
        let text = sources.get(id).unwrap();
        for n in [1, 63, 64, 65, 128, 129, 999, 1000] {
            let at = many.find(&format!("é{n}\n")).unwrap();
            assert_eq!((text.position(at), text.position(at + 2)), ((n, 1), (n, 2)));
            assert_eq!(text.line(n), format!("é{n}"));
        }
        assert_eq!((text.position(many.len()), text.line(1001), text.line(5000)), ((1001, 1), "", ""));
    }

    #[test]
    fn an_excerpt_has_the_lines_of_its_file() {
        let mut sources = Sources::new();
        let id = sources.add_excerpt("t", "ab\ncd", 41);
        let text = sources.get(id).unwrap();
        assert_eq!((text.position(1), text.position(4)), ((41, 2), (42, 2)));
        assert_eq!((text.line(40), text.line(41), text.line(42), text.line(1)), ("", "ab", "cd", ""));
    }

    #[test]
    fn a_span_off_the_text_is_harmless() {
        let mut sources = Sources::new();
        let id = sources.add("t", "é");
        assert_eq!(sources.snippet(Span::new(id, 1..2)), "");
        assert_eq!(sources.snippet(Span::new(FileId(7), 0..1)), "");
    }
}
