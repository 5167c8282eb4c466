//! From characters to tokens.

use crate::text::{Diagnostic, FileId, Span};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name: letters, digits, `_`, `$`, and `%` in front.
    Word,
    /// A dot with what follows it: `.global`, `.L2::128B`.
    Dotted,
    /// A number of any notation, without its sign.
    Number,
    /// Text in quotes.
    Text,
    /// A single character.
    Sign(u8),
    /// The end, after the last token.
    End,
}

/// A token and its place in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: u32,
    pub end: u32,
    /// Its line, from 1.
    pub line: u32,
}

/// Which bytes stand in words: most of a text do, and each is asked about.
const IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    loop {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
        if byte == u8::MAX {
            break table;
        }
        byte += 1;
    }
};

fn in_word(byte: u8) -> bool {
    IN_WORD[usize::from(byte)]
}

/// The tokens of a text, with one of kind `End` after them.
pub(super) fn tokens(text: &str, file: FileId) -> Result<Vec<Token>, Diagnostic> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::with_capacity(bytes.len() / 4 + 1);
    let (mut at, mut line) = (0, 1);
    let place = |from: usize, to: usize| Span::new(file, from..to);
    while at < bytes.len() {
        let start = at;
        let kind = match bytes[at] {
            b'\n' => {
                (at, line) = (at + 1, line + 1);
                continue;
            }
            b if b.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let Some(length) = memchr::memmem::find(&bytes[at + 2..], b"*/") else {
                    let message = "the comment that begins here has no end";
                    return Err(Diagnostic::error("ptx-syntax", place(start, start + 2), message)
                        .help("close it with `*/`"));
                };
                let end = at + 2 + length + 2;
                line += small(memchr::memchr_iter(b'\n', &bytes[at..end]).count());
                at = end;
                continue;
            }
            b'"' => {
                let length = memchr::memchr2(b'"', b'\n', &bytes[at + 1..]);
                let Some(length) = length.filter(|n| bytes[at + 1 + n] == b'"') else {
                    let message = "the text in quotes that begins here has no end";
                    return Err(Diagnostic::error("ptx-syntax", place(start, start + 1), message)
                        .help("close it on the same line"));
                };
                at += length + 2;
                Kind::Text
            }
            b if b.is_ascii_digit() => {
                at = number(bytes, at);
                Kind::Number
            }
            b'.' if bytes.get(at + 1).is_some_and(|&b| in_word(b)) => {
                at += 1;
                while at < bytes.len() && (in_word(bytes[at]) || joined(bytes, at)) {
                    at += if in_word(bytes[at]) { 1 } else { 2 };
                }
                Kind::Dotted
            }
            b if in_word(b) || (b == b'%' && bytes.get(at + 1).is_some_and(|&b| in_word(b))) => {
                at += 1;
                while at < bytes.len() && in_word(bytes[at]) {
                    at += 1;
                }
                Kind::Word
            }
            b if b.is_ascii_graphic() => {
                at += 1;
                Kind::Sign(b)
            }
            _ => {
                let c = text[start..].chars().next().unwrap_or('\u{fffd}');
                let span = place(start, start + c.len_utf8());
                let message = format!("the character {c:?} has no place in PTX");
                return Err(Diagnostic::error("ptx-syntax", span, message)
                    .help("is this a text of PTX, as `nvcc -ptx` or NVRTC write it? Binary files (.cubin, .fatbin) are not read"));
            }
        };
        tokens.push(token(kind, start, at, line));
    }
    tokens.push(token(Kind::End, at, at, line));
    Ok(tokens)
}

fn token(kind: Kind, start: usize, end: usize, line: u32) -> Token {
    Token { kind, start: small(start), end: small(end), line }
}

/// A place in the text, or a number of lines.
fn small(n: usize) -> u32 {
    // Texts are shorter than 4 GiB: `parse` looks.
    u32::try_from(n).expect("the text was found to be short")
}

/// Whether `::` stands here and a word goes on after it.
fn joined(bytes: &[u8], at: usize) -> bool {
    bytes[at..].starts_with(b"::") && bytes.get(at + 2).is_some_and(|&b| in_word(b))
}

/// Where a number ends that begins at `at`: all notations are digits and letters, but for the point and the signed
/// exponent of decimal fractions.
fn number(bytes: &[u8], mut at: usize) -> usize {
    let start = at;
    while at < bytes.len() && bytes[at].is_ascii_alphanumeric() {
        at += 1;
    }
    let decimal = bytes[start..at].iter().all(u8::is_ascii_digit);
    if decimal && bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
        at += 1;
        while at < bytes.len() && bytes[at].is_ascii_alphanumeric() {
            at += 1;
        }
    }
    let exponent = at > start + 1 && matches!(bytes[at - 1], b'e' | b'E');
    let digits = bytes[start..at - 1].iter().all(|b| b.is_ascii_digit() || *b == b'.');
    if exponent && digits && matches!(bytes.get(at), Some(b'+' | b'-')) {
        at += 1;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            at += 1;
        }
    }
    at
}
