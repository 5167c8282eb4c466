//! Lists and mappings in brackets, over as many lines as they take.

use super::{LONGEST_KEY, Reader, node};
use crate::text::bounds::MAX_DEPTH;
use crate::text::keys::drop_repeated;
use crate::text::{Entry, Node, Value};

impl Reader<'_> {
    /// A list or mapping in brackets.
    pub(super) fn flow(&mut self, indent: usize) -> Option<Node> {
        let start = self.at;
        let is_map = self.peek()? == b'{';
        let close = if is_map { b'}' } else { b']' };
        if self.depth + 1 >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        self.at += 1;
        let (mut entries, mut items) = (Vec::new(), Vec::new());
        self.flow_blanks(indent)?;
        while self.peek()? != close {
            if is_map {
                let begin = self.at;
                let key = self.scalar(true)?;
                if self.peek() != Some(b':') || !self.is_space(self.at + 1) || self.at - begin > LONGEST_KEY {
                    return None;
                }
                self.at += 1;
                self.flow_blanks(indent)?;
                let value = self.flow_value(indent)?;
                let key_span = key.origin.span(0..key.text.len());
                entries.push(Entry { key: key.text, key_span, value });
            } else {
                items.push(self.flow_value(indent)?);
            }
            self.flow_blanks(indent)?;
            match self.peek()? {
                b',' => {
                    self.at += 1;
                    self.flow_blanks(indent)?;
                    if self.peek()? == close {
                        return None;
                    }
                }
                other if other == close => {}
                _ => return None,
            }
        }
        self.at += 1;
        self.depth -= 1;
        // Brackets may be a key, or stand before what does not belong there.
        if !matches!(self.peek(), None | Some(b' ' | b'\n' | b',' | b'}' | b']')) {
            return None;
        }
        // What follows on the line and says nothing counts as a part of it.
        let blank = self.peek() == Some(b' ');
        self.blanks();
        if blank && self.peek() == Some(b'#') {
            self.pass_rest_of_line();
        }
        let mut errors = Vec::new();
        drop_repeated(&mut entries, &mut errors);
        entries.shrink_to_fit();
        items.shrink_to_fit();
        let value = if is_map { Value::Map(entries) } else { Value::List(items) };
        errors.is_empty().then(|| self.until_here(start, value))
    }

    fn flow_value(&mut self, indent: usize) -> Option<Node> {
        if matches!(self.peek()?, b'{' | b'[') {
            return self.flow(indent);
        }
        let scalar = self.scalar(true)?;
        Some(node(scalar))
    }

    /// Blanks and ends of lines between brackets. Lines have to be indented more than what is around.
    fn flow_blanks(&mut self, indent: usize) -> Option<()> {
        loop {
            self.blanks();
            match self.peek() {
                Some(b'\n') => {
                    self.at += 1;
                    self.line = self.at;
                    self.blanks();
                    let is_blank = matches!(self.peek(), Some(b'\n'));
                    if !is_blank && self.column() <= indent {
                        return None;
                    }
                }
                Some(b'#') if matches!(self.bytes[self.at - 1], b' ' | b'\n') => self.pass_rest_of_line(),
                Some(b'#') | None => return None,
                Some(_) => return Some(()),
            }
        }
    }
}
