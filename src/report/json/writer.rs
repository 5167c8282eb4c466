//! What writes JSON into a buffer, and lets go of it.

use std::io::{self, Write};

use serde::ser;

use super::text::put_name;

/// Bytes after which what is written goes on its way.
const ENOUGH: usize = 1 << 15;
/// Bytes that there is room for at first: what most predictions take.
const FIRST: usize = 1 << 12;

/// Where JSON has white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Nowhere: all is on one line.
    Line,
    /// A line for each value, indented by two spaces for each object and array around it.
    Indented,
}

/// What is written, until it goes on its way.
pub(super) struct JsonWriter<'w> {
    pub(super) buffer: Vec<u8>,
    /// Where it goes; nowhere if the buffer is what is wanted.
    out: Option<&'w mut dyn Write>,
    layout: Layout,
    /// Objects and arrays around what comes next.
    depth: usize,
}

/// Why a document cannot be written.
#[derive(Debug)]
pub(super) struct Unwritable(pub(super) io::Error);

impl std::fmt::Display for Unwritable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Unwritable {}

impl ser::Error for Unwritable {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self(io::Error::other(message.to_string()))
    }
}

pub(super) type Written = Result<(), Unwritable>;

impl<'w> JsonWriter<'w> {
    pub(super) fn new(layout: Layout, out: Option<&'w mut dyn Write>) -> Self {
        Self { buffer: Vec::with_capacity(FIRST), out, layout, depth: 0 }
    }

    pub(super) fn put(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
    }

    /// Begins a line for what comes next, if it is to have one.
    pub(super) fn line(&mut self) {
        if self.layout == Layout::Indented {
            self.buffer.push(b'\n');
            self.buffer.resize(self.buffer.len() + 2 * self.depth, b' ');
        }
    }

    /// The name of a value.
    pub(super) fn name(&mut self, name: &'static str) {
        put_name(name, self.colon(), &mut self.buffer);
    }

    /// What stands between a name and its value.
    pub(super) fn colon(&self) -> &'static str {
        if self.layout == Layout::Line { ":" } else { ": " }
    }

    /// Begins an object or an array.
    pub(super) fn open(&mut self, bracket: u8) {
        self.buffer.push(bracket);
        self.depth += 1;
    }

    /// Ends one.
    pub(super) fn close(&mut self, bracket: u8, empty: bool) {
        self.depth -= 1;
        if !empty {
            self.line();
        }
        self.buffer.push(bracket);
    }

    /// Begins the object that says which variant of an enumeration the next value is.
    pub(super) fn open_variant(&mut self, variant: &'static str) {
        self.open(b'{');
        self.line();
        self.name(variant);
    }

    /// Lets go of what is written, if it is much.
    pub(super) fn flush(&mut self) -> Written {
        match &mut self.out {
            Some(out) if self.buffer.len() >= ENOUGH => {
                out.write_all(&self.buffer).map_err(Unwritable)?;
                self.buffer.clear();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Lets go of the rest.
    pub(super) fn finish(self) -> io::Result<()> {
        self.out.map_or(Ok(()), |out| out.write_all(&self.buffer))
    }
}
