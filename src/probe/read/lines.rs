//! The lines of a log, one after the other, so that its text is never held whole.

use std::io::{BufRead, BufReader, Read};

use super::error::{LogError, UNPACKED};

/// Bytes of a line beyond which it is none.
const LONGEST: u64 = 1 << 16;

/// Whether the end of a line was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Whole,
    /// The text ended first: the line may have been cut.
    Cut,
}

/// Lines of a text of at most so many bytes.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    number: usize,
    most: u64,
    left: u64,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R, most: u64) -> Self {
        Self {
            input: BufReader::with_capacity(1 << 16, input),
            line: Vec::new(),
            number: 0,
            most,
            left: most,
        }
    }

    /// The next line without its end; none after the last.
    pub(super) fn next(&mut self) -> Result<Option<(&[u8], Ending)>, LogError> {
        self.line.clear();
        self.number += 1;
        let read = self.input.by_ref().take(LONGEST + 1).read_until(b'\n', &mut self.line)? as u64;
        if read == 0 {
            return Ok(None);
        }
        if read > LONGEST {
            let found = crate::text::shorten(&String::from_utf8_lossy(&self.line));
            return Err(LogError::Malformed {
                line: self.number,
                expected: "a line of at most 64 KiB",
                found,
            });
        }
        self.left =
            self.left.checked_sub(read).ok_or(LogError::TooLarge { most: self.most, what: UNPACKED })?;
        let line = self.line.as_slice();
        let Some(whole) = line.strip_suffix(b"\n") else { return Ok(Some((line, Ending::Cut))) };
        Ok(Some((whole.strip_suffix(b"\r").unwrap_or(whole), Ending::Whole)))
    }
}
