//! Texts between quotes, with what JSON wants escaped.

use std::fmt;

/// Each byte of a word alike.
const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x8080_8080_8080_8080;

/// A text between quotes.
pub(super) fn put_text(text: &str, buffer: &mut Vec<u8>) {
    buffer.reserve(text.len() + 2);
    buffer.push(b'"');
    put_escaped(text, buffer);
    buffer.push(b'"');
}

/// The name of a field of a type and a separator: a text in which nothing is escaped.
pub(super) fn put_name(name: &'static str, separator: &str, buffer: &mut Vec<u8>) {
    debug_assert!(is_plain(name.as_bytes()), "{name}");
    buffer.reserve(name.len() + separator.len() + 2);
    buffer.push(b'"');
    buffer.extend_from_slice(name.as_bytes());
    buffer.push(b'"');
    buffer.extend_from_slice(separator.as_bytes());
}

/// What a value prints, between quotes.
pub(super) fn put_shown(value: &(impl fmt::Display + ?Sized), buffer: &mut Vec<u8>) -> fmt::Result {
    /// What is written into it is escaped.
    struct Escaping<'b>(&'b mut Vec<u8>);

    impl fmt::Write for Escaping<'_> {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            put_escaped(text, self.0);
            Ok(())
        }
    }

    buffer.push(b'"');
    let written = fmt::write(&mut Escaping(buffer), format_args!("{value}"));
    buffer.push(b'"');
    written
}

fn put_escaped(text: &str, buffer: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    if is_plain(bytes) {
        return buffer.extend_from_slice(bytes);
    }
    for &byte in bytes {
        match byte {
            b'"' => buffer.extend_from_slice(b"\\\""),
            b'\\' => buffer.extend_from_slice(b"\\\\"),
            b'\n' => buffer.extend_from_slice(b"\\n"),
            b'\r' => buffer.extend_from_slice(b"\\r"),
            b'\t' => buffer.extend_from_slice(b"\\t"),
            8 => buffer.extend_from_slice(b"\\b"),
            12 => buffer.extend_from_slice(b"\\f"),
            byte if byte < 0x20 => {
                let digit = |n: u8| b"0123456789abcdef"[usize::from(n & 15)];
                buffer.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte)]);
            }
            byte => buffer.push(byte),
        }
    }
}

/// Whether nothing of it is escaped.
fn is_plain(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    match bytes.last_chunk::<8>() {
        // The last eight bytes may be some that were looked at.
        Some(last) => words.iter().chain([last]).all(|word| is_plain_word(u64::from_ne_bytes(*word))),
        None => !rest.iter().any(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\'),
    }
}

/// Whether none of eight bytes is escaped.
fn is_plain_word(word: u64) -> bool {
    // The top bit of a byte is set where it is less than so much, and no byte of other alphabets.
    let less = |word: u64, than: u8| word.wrapping_sub(ONES.wrapping_mul(u64::from(than))) & !word & TOPS;
    let zero_where = |byte: u8| word ^ ONES.wrapping_mul(u64::from(byte));
    less(word, 0x20) | less(zero_where(b'"'), 1) | less(zero_where(b'\\'), 1) == 0
}
