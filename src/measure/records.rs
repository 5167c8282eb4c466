//! Comma-separated values line by line, with the place of every cell.
//!
//! A file is never held as a whole: exports of profilers have millions of lines. Each record knows its
//! line and where its cells stand in it, so that an error can point at one. This is why the crate `csv` does
//! not read here: it tells where a record starts, but neither its text nor the place of a cell; a quote that is
//! left open would swallow the rest of the file; and quotes behind a blank would be letters.

use std::io::BufRead;
use std::ops::Range;

/// Longest record: beyond it a quote was left open, or the file is none of text.
const LONGEST: usize = 1 << 20;
/// Most lines that a quoted cell goes on in.
const MOST_LINES: usize = 16;

/// Whether the first letter of a text is that of a JSON object.
pub fn starts_json(reader: &mut impl BufRead) -> std::io::Result<bool> {
    let start = reader.fill_buf()?;
    let first = start.iter().find(|b| !b.is_ascii_whitespace() && !b"\xef\xbb\xbf".contains(b));
    Ok(first == Some(&b'{'))
}

/// Reads records from a file.
#[derive(Debug)]
pub struct Records<R> {
    reader: R,
    bytes: Vec<u8>,
    record: Record,
    /// Lines read.
    lines: usize,
}

/// The cells of one line, or of several if a quoted cell goes on.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// The line where it starts, from 1.
    pub line: usize,
    text: String,
    cells: Vec<Range<usize>>,
    /// Cells with doubled quotes, which stand without them here.
    plain: Vec<(usize, String)>,
    /// The cell whose quote is never closed.
    open: Option<usize>,
}

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// It is too long.
    #[error("line {0} is longer than a mebibyte")]
    TooLong(usize),
}

impl<R: BufRead> Records<R> {
    /// From the start of a text.
    pub fn new(reader: R) -> Self {
        Self { reader, bytes: Vec::new(), record: Record::default(), lines: 0 }
    }

    /// The next line that is not blank, with its cells.
    pub fn read(&mut self) -> Result<Option<&Record>, Unreadable> {
        if !self.line(true)? {
            return Ok(None);
        }
        self.record.split(',');
        Ok(Some(&self.record))
    }

    /// The next line that is not blank, whole.
    pub fn read_whole(&mut self) -> Result<Option<&Record>, Unreadable> {
        if !self.line(false)? {
            return Ok(None);
        }
        let all = 0..self.record.text.len();
        self.record.cells.clear();
        self.record.plain.clear();
        self.record.open = None;
        self.record.cells.push(all);
        Ok(Some(&self.record))
    }

    /// Reads a line that is not blank, and those that a quoted cell goes on in; false at the end.
    fn line(&mut self, quotes: bool) -> Result<bool, Unreadable> {
        loop {
            self.bytes.clear();
            self.record.line = self.lines + 1;
            if !self.append()? {
                return Ok(false);
            }
            if quotes {
                self.close()?;
            }
            let text = String::from_utf8_lossy(&self.bytes);
            let text = text.trim_end_matches(['\n', '\r']);
            let text = if self.record.line == 1 { text.trim_start_matches('\u{feff}') } else { text };
            self.record.text.clear();
            self.record.text.push_str(text);
            if !text.trim().is_empty() {
                return Ok(true);
            }
        }
    }

    /// Reads on while a quote is open.
    fn close(&mut self) -> Result<(), Unreadable> {
        let odd = |bytes: &[u8]| bytes.iter().fold(false, |odd, &b| odd ^ (b == b'"'));
        let (mut open, mut seen) = (odd(&self.bytes), self.bytes.len());
        let mut left = MOST_LINES;
        while open && left > 0 && self.append()? {
            open ^= odd(&self.bytes[seen..]);
            seen = self.bytes.len();
            left -= 1;
        }
        Ok(())
    }

    fn append(&mut self) -> Result<bool, Unreadable> {
        let most = (LONGEST + 1).saturating_sub(self.bytes.len()) as u64;
        let read = std::io::Read::take(&mut self.reader, most).read_until(b'\n', &mut self.bytes)?;
        if self.bytes.len() > LONGEST {
            return Err(Unreadable::TooLong(self.record.line));
        }
        self.lines += usize::from(read > 0);
        Ok(read > 0)
    }
}

impl Record {
    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The cell whose quote is never closed, if there is one.
    pub fn open(&self) -> Option<usize> {
        self.open
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// A cell without its quotes and the blanks around it; empty if there are not so many.
    pub fn cell(&self, i: usize) -> &str {
        if !self.plain.is_empty()
            && let Some((_, text)) = self.plain.iter().find(|p| p.0 == i)
        {
            return text;
        }
        self.cells.get(i).map_or("", |c| &self.text[c.clone()])
    }

    /// All cells.
    pub fn cells(&self) -> impl Iterator<Item = &str> {
        (0..self.cells.len()).map(|i| self.cell(i))
    }

    /// The bytes of the text that a cell takes; the end of the line if there are not so many.
    pub fn range(&self, i: usize) -> Range<usize> {
        self.cells.get(i).cloned().unwrap_or(self.text.len()..self.text.len())
    }

    fn split(&mut self, comma: char) {
        self.cells.clear();
        self.plain.clear();
        self.open = None;
        let mut from = 0;
        loop {
            let rest = &self.text[from..];
            let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            let end = if rest[blanks..].starts_with('"') {
                self.quoted(from + blanks, comma)
            } else {
                let end = from + rest.find(comma).unwrap_or(rest.len());
                let cell = &self.text[from + blanks.min(end - from)..end];
                let start = from + blanks.min(end - from);
                self.cells.push(start..start + cell.trim_end().len());
                end
            };
            if end >= self.text.len() {
                return;
            }
            from = end + comma.len_utf8();
        }
    }

    /// A cell in quotes that starts at a place; returns the place of the comma behind it.
    fn quoted(&mut self, start: usize, comma: char) -> usize {
        let from = start + 1;
        let mut at = from;
        let mut doubled = false;
        let end = loop {
            let Some(quote) = self.text[at..].find('"').map(|i| at + i) else {
                self.open = Some(self.cells.len());
                break self.text.len();
            };
            if self.text[quote + 1..].starts_with('"') {
                doubled = true;
                at = quote + 2;
            } else {
                break quote;
            }
        };
        if doubled {
            self.plain.push((self.cells.len(), self.text[from..end].replace("\"\"", "\"")));
        }
        self.cells.push(from..end);
        let behind = (end + 1).min(self.text.len());
        let next = behind + self.text[behind..].find(comma).unwrap_or(self.text.len() - behind);
        // The quote that closes it opened a cell of a later line.
        if !self.text[behind..next].trim().is_empty() {
            self.open = Some(self.cells.len() - 1);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<(usize, Vec<String>)> {
        let mut records = Records::new(text.as_bytes());
        let mut out = Vec::new();
        while let Some(record) = records.read().unwrap() {
            out.push((record.line, record.cells().map(str::to_owned).collect()));
        }
        out
    }

    #[test]
    fn cells_have_their_lines() {
        let found = all("\u{feff}a, b ,\r\n\n\"x, y\",\"say \"\"hi\"\"\", \"two\nlines\" \nlast");
        let lines: Vec<usize> = found.iter().map(|f| f.0).collect();
        assert_eq!(lines, [1, 3, 5]);
        assert_eq!(found[0].1, ["a", "b", ""]);
        assert_eq!(found[1].1, ["x, y", "say \"hi\"", "two\nlines"]);
        assert_eq!(found[2].1, ["last"]);
    }

    #[test]
    fn a_quote_that_is_left_open_is_known() {
        let open = |text: &str| Records::new(text.as_bytes()).read().unwrap().unwrap().open();
        assert_eq!(open("a,\"b,c\n"), Some(1));
        // The quote of the next line closes it.
        assert_eq!(open("a,\"8,32,1\nb,\"8,64,1\"\n"), Some(1));
        assert_eq!(open("\"a\" ,\"e\"\"f\"\n"), None);
    }

    #[test]
    fn a_quote_that_never_ends_takes_some_lines() {
        let text = format!("a,\"b\n{}c,d\n", "x\n".repeat(MOST_LINES));
        let found = all(&text);
        assert_eq!((found.len(), found[0].1[0].as_str()), (2, "a"));
        assert_eq!(found[1], (MOST_LINES + 2, vec!["c".to_owned(), "d".to_owned()]));
        assert!(matches!(
            Records::new("x".repeat(LONGEST + 2).as_bytes()).read(),
            Err(Unreadable::TooLong(1))
        ));
    }
}
