//! Lines of an input, of limited length.

use std::io::{self, BufRead, ErrorKind};

/// What came of reading a line.
#[derive(Debug, PartialEq)]
pub(super) enum Read {
    /// Whether more of the input is there already.
    Line {
        more: bool,
    },
    TooLong,
    End,
}

/// Reads a line into `line`, but no more than `most` bytes; the rest of a longer one is skipped.
pub(super) fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>, most: usize) -> io::Result<Read> {
    let mut too_long = false;
    loop {
        let available = match input.fill_buf() {
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            other => other?,
        };
        if available.is_empty() {
            return Ok(match (too_long, line.is_empty()) {
                (true, _) => Read::TooLong,
                (false, true) => Read::End,
                (false, false) => Read::Line { more: false },
            });
        }
        let end = memchr::memchr(b'\n', available);
        let part = &available[..end.unwrap_or(available.len())];
        too_long |= line.len() + part.len() > most;
        if too_long {
            line.clear();
        } else {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        let more = used < available.len();
        input.consume(used);
        if end.is_some() {
            return Ok(if too_long { Read::TooLong } else { Read::Line { more } });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_end_with_the_input_and_long_ones_are_skipped() {
        // A buffer of three bytes: lines arrive in pieces.
        let mut input = BufReader::with_capacity(3, &b"one\n\nlonger than six\nsix: 6\nend"[..]);
        let mut next = || {
            let mut line = Vec::new();
            let read = read_line(&mut input, &mut line, 6).unwrap();
            (read, String::from_utf8(line).unwrap())
        };
        let wanted = [
            (Read::Line { more: true }, "one"),
            (Read::Line { more: true }, ""),
            (Read::TooLong, ""),
            (Read::Line { more: true }, "six: 6"),
            (Read::Line { more: false }, "end"),
            (Read::End, ""),
        ];
        for (read, line) in wanted {
            assert_eq!(next(), (read, line.to_owned()));
        }
        // Each line ends where its piece does.
        let mut input = BufReader::with_capacity(4, &b"abc\ndef\n"[..]);
        for _ in 0..2 {
            assert_eq!(read_line(&mut input, &mut Vec::new(), 6).unwrap(), Read::Line { more: false });
        }
        let mut input = &b"too long and without an end"[..];
        assert_eq!(read_line(&mut input, &mut Vec::new(), 6).unwrap(), Read::TooLong);
    }
}
