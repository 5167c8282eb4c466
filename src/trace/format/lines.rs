//! The lines of a text, without copying them and without holding the text.

use std::io::Read;

use super::error::ReadError;
use super::reading::Reading;

const CHUNK: usize = 1 << 20;
/// A warp instruction with 32 addresses has less than a kilobyte.
const LONGEST: usize = 1 << 20;

/// Line by line over a reader.
pub(super) struct Lines<'r> {
    input: &'r mut dyn Read,
    buffer: Vec<u8>,
    /// What of the buffer has been handed out.
    at: usize,
    /// What of it has been filled.
    end: usize,
    ended: bool,
    reading: Reading,
    lenient: bool,
    /// Bytes that a reader may still hold, of all that it may.
    room: u64,
    memory: u64,
}

impl<'r> Lines<'r> {
    pub(super) fn new(input: &'r mut dyn Read, lenient: bool, memory: u64) -> Self {
        Self {
            input,
            buffer: vec![0; CHUNK],
            at: 0,
            end: 0,
            ended: false,
            reading: Reading::default(),
            lenient,
            room: memory,
            memory,
        }
    }

    /// The beginning of the text, up to a chunk.
    pub(super) fn peek(&mut self) -> Result<&[u8], ReadError> {
        while !self.ended && self.end - self.at < CHUNK {
            self.fill()?;
        }
        Ok(&self.buffer[self.at..self.end])
    }

    /// The next line without its end.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, ReadError> {
        let found = memchr::memchr(b'\n', &self.buffer[self.at..self.end]);
        let length = match found {
            Some(length) => length,
            None => match self.more()? {
                Some(length) => length,
                None => return Ok(None),
            },
        };
        let from = self.at;
        let to = from + length;
        self.at = (to + 1).min(self.end);
        self.reading.lines += 1;
        let line = &self.buffer[from..to];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Fills the buffer until it has a whole line; its length.
    #[cold]
    #[inline(never)]
    fn more(&mut self) -> Result<Option<usize>, ReadError> {
        loop {
            let before = self.end - self.at;
            if before > LONGEST {
                return Err(ReadError::LongLine { line: self.reading.lines + 1, most: LONGEST });
            }
            if self.ended {
                return Ok((before > 0).then_some(before));
            }
            self.fill()?;
            // The buffer may have moved.
            let rest = &self.buffer[self.at + before..self.end];
            if let Some(found) = memchr::memchr(b'\n', rest) {
                return Ok(Some(before + found));
            }
        }
    }

    fn fill(&mut self) -> Result<(), ReadError> {
        self.buffer.copy_within(self.at..self.end, 0);
        self.end -= self.at;
        self.at = 0;
        if self.buffer.len() < self.end + CHUNK {
            self.buffer.resize(self.end + CHUNK, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.end += n,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e.into()),
            }
            return Ok(());
        }
    }

    /// Number of the line handed out last, from 1.
    pub(super) fn number(&self) -> u64 {
        self.reading.lines
    }

    /// Notes that an access has to be held until the end of the file.
    pub(super) fn hold(&mut self) -> Result<(), ReadError> {
        // An entry with its place in a vector that grows, and its share of the tables.
        const ENTRY: u64 = 160;
        let what = "the accesses of this format, which have to be held until its end,";
        let left = self.room.checked_sub(ENTRY);
        self.room = left.ok_or(ReadError::Memory { what, limit: self.memory })?;
        Ok(())
    }

    /// An access to a memory that is not modelled.
    pub(super) fn elsewhere(&mut self) {
        self.reading.elsewhere += 1;
    }

    /// Skips the line handed out last, or refuses it.
    #[cold]
    pub(super) fn refuse(&mut self, expected: &'static str, found: &str) -> Result<(), ReadError> {
        let line = self.reading.lines;
        if !self.lenient {
            let found = found.chars().take(60).collect();
            return Err(ReadError::Malformed { line, expected, found });
        }
        self.reading.skipped += 1;
        self.reading.first_skipped.get_or_insert(line);
        Ok(())
    }

    /// Refuses the end of the text, unless truncated ones are welcome.
    pub(super) fn truncated(&mut self, expected: &'static str) -> Result<(), ReadError> {
        if self.lenient {
            self.reading.skipped += 1;
            return Ok(());
        }
        Err(ReadError::Truncated { line: self.reading.lines, expected })
    }

    pub(super) fn reading(&self) -> Reading {
        self.reading
    }
}

/// A line as it is shown.
pub(super) fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(&line[..line.len().min(240)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_any_way() {
        let mut text = &b"a\r\nbc\n\nd"[..];
        let mut lines = Lines::new(&mut text, false, 0);
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push(line.to_vec());
        }
        assert_eq!(all, [&b"a"[..], b"bc", b"", b"d"]);
        assert_eq!(lines.number(), 4);
    }

    #[test]
    fn a_text_longer_than_the_buffer_is_read_whole() {
        let text = (0..400_000).map(|i| i.to_string()).collect::<Vec<_>>().join("\n");
        let mut bytes = text.as_bytes();
        let mut lines = Lines::new(&mut bytes, false, 0);
        assert_eq!(lines.peek().unwrap()[..4], *b"0\n1\n");
        let mut n = 0;
        while let Some(line) = lines.next().unwrap() {
            assert_eq!(line, n.to_string().as_bytes());
            n += 1;
        }
        assert_eq!(n, 400_000);
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut text = std::io::repeat(b'x');
        let mut lines = Lines::new(&mut text, false, 0);
        assert!(matches!(lines.next(), Err(ReadError::LongLine { line: 1, .. })));
    }
}
