//! Text of trees, most of which is short.

use std::fmt;
use std::ops::Deref;

/// Bytes that need no memory of their own.
const SHORT: usize = 7;

/// A piece of text in the size of a pointer and a length. A tree of a million numbers holds a million of these.
#[derive(Clone)]
pub struct Word(Inner);

#[derive(Clone)]
enum Inner {
    /// The number of bytes, and the bytes.
    Short(u8, [u8; SHORT]),
    Long(Box<str>),
}

impl Word {
    /// The text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            // What was made from a text is one.
            Inner::Short(length, bytes) => {
                bytes.get(..usize::from(*length)).and_then(|b| std::str::from_utf8(b).ok()).unwrap_or("")
            }
            Inner::Long(text) => text,
        }
    }

    fn bytes(&self) -> &[u8] {
        match &self.0 {
            Inner::Short(length, bytes) => bytes.get(..usize::from(*length)).unwrap_or(&[]),
            Inner::Long(text) => text.as_bytes(),
        }
    }

    fn short(text: &str) -> Option<Self> {
        let mut bytes = [0; SHORT];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Self(Inner::Short(u8::try_from(text.len()).ok()?, bytes)))
    }
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Self::short(text).unwrap_or_else(|| Self(Inner::Long(text.into())))
    }
}

impl From<String> for Word {
    fn from(text: String) -> Self {
        Self::short(&text).unwrap_or_else(|| Self(Inner::Long(text.into_boxed_str())))
    }
}

impl From<Word> for String {
    fn from(word: Word) -> Self {
        match word.0 {
            Inner::Short(..) => word.as_str().to_owned(),
            Inner::Long(text) => text.into_string(),
        }
    }
}

impl Deref for Word {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for Word {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl PartialEq<str> for Word {
    fn eq(&self, other: &str) -> bool {
        self.bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for Word {
    fn eq(&self, other: &&str) -> bool {
        self.bytes() == other.as_bytes()
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_small_and_keep_their_text() {
        assert_eq!(size_of::<Word>(), 16);
        for text in ["", "4096", "NX*NY*N", "NX*NY*NZ", "é漢🦀", "a longer text"] {
            let word = Word::from(text);
            assert_eq!((word.as_str(), String::from(word.clone())), (text, text.to_owned()));
            assert_eq!(word, Word::from(text.to_owned()));
        }
    }
}
