//! How large a document may be, and how much of that is left while it is read.

use super::{Diagnostic, FileId, Span};

/// Deepest nesting of lists and mappings.
pub(super) const MAX_DEPTH: usize = 64;
/// Commas, brackets and colons of a node of YAML, with some to spare.
const MARKS_OF_NODE: usize = 2;

/// How large a text may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of the text.
    pub bytes: usize,
    /// Values and keys in it.
    pub nodes: usize,
}

impl Bounds {
    /// So many bytes, of which every second may be a value.
    pub fn of_bytes(bytes: usize) -> Self {
        Self { bytes, nodes: bytes }
    }
}

/// How many nodes may still come.
pub(super) struct Budget {
    left: usize,
    most: usize,
}

impl Budget {
    pub(super) fn new(most: usize) -> Self {
        Self { left: most, most }
    }

    /// Takes one.
    pub(super) fn one_more(&mut self, span: Span) -> Result<(), Diagnostic> {
        let Some(left) = self.left.checked_sub(1) else {
            let message = format!("the document has more than {} values and keys", self.most);
            return Err(Diagnostic::error("too-many-nodes", span, message)
                .help("raise the limit with --limit nodes=N if this is meant"));
        };
        self.left = left;
        Ok(())
    }

    /// Refuses a text with more commas, brackets and colons than nodes need. The parser holds lists and mappings
    /// in brackets as a whole before it tells of their first item, in ten times the memory of their nodes.
    pub(super) fn check_marks(&self, text: &str, file: FileId) -> Result<(), Diagnostic> {
        let most = self.most.saturating_mul(MARKS_OF_NODE);
        // Most texts are far too short.
        if text.len() <= most {
            return Ok(());
        }
        let is_mark =
            |b: &u8| matches!(b, b',' | b'[' | b']' | b'{' | b'}' | b':' | b'?' | b'&' | b'*' | b'!' | b'%');
        let marks = text.bytes().filter(is_mark).count();
        if marks <= most {
            return Ok(());
        }
        let message = format!("the document has {marks} commas, brackets and colons; the limit is {most}");
        Err(Diagnostic::error("too-many-nodes", Span::new(file, 0..0), message)
            .help("write it as JSON, or raise the limit with --limit nodes=N"))
    }
}
