//! Scalars of one line: in quotes, or plain.

use super::Reader;
use crate::text::{Origin, Scalar, Span};

impl Reader<'_> {
    /// A scalar that ends on its line; the place is behind it and the blanks that follow.
    pub(super) fn scalar(&mut self, in_brackets: bool) -> Option<Scalar> {
        let start = self.at;
        match self.peek()? {
            quote @ (b'"' | b'\'') => {
                let rest = &self.bytes[start + 1..];
                let length = rest.iter().position(|b| *b == quote || matches!(b, b'\\' | b'\n'))?;
                if rest[length] != quote || (quote == b'\'' && rest.get(length + 1) == Some(&quote)) {
                    return None;
                }
                self.at = start + length + 2;
                let span = Span::new(self.file, start + 1..start + 1 + length);
                let ended = self.is_space(self.at) || matches!(self.peek(), Some(b':' | b',' | b'}' | b']'));
                self.blanks();
                let text = self.text[start + 1..start + 1 + length].into();
                ended.then(|| Scalar { text, plain: false, origin: Origin::verbatim(span) })
            }
            b'-' | b'?' | b':' if self.is_space(start + 1) => None,
            b'-' | b'?' | b':' if in_brackets && self.is_mark(start + 1) => None,
            b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'%' | b'@'
            | b'`' => None,
            _ => {
                let mut end = start;
                loop {
                    match self.peek() {
                        None | Some(b'\n') => break,
                        Some(b':') if self.is_space(self.at + 1) => break,
                        Some(b':' | b'-') if in_brackets && self.is_mark(self.at + 1) => return None,
                        Some(b',' | b'[' | b']' | b'{' | b'}') if in_brackets => break,
                        Some(b'#') if self.at > start && self.bytes[self.at - 1] == b' ' => break,
                        Some(b' ') => self.at += 1,
                        Some(_) => {
                            self.at += 1;
                            end = self.at;
                        }
                    }
                }
                let span = Span::new(self.file, start..end);
                Some(Scalar {
                    text: self.text[start..end].into(),
                    plain: true,
                    origin: Origin::verbatim(span),
                })
            }
        }
    }
}
