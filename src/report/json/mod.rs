//! Documents as JSON. Tuners ask for them by the million: names and numbers go straight into one buffer, and numbers
//! have the digits that `serde_json` gives them.

mod compound;
mod key;
mod text;
mod value;
mod writer;

use std::io::{self, Write};

use serde::Serialize;

use writer::JsonWriter;
pub(crate) use writer::Layout;

/// A value as JSON, without an end of the line. All documents are written through here, in whichever layout, so that
/// what writes each of them is compiled once.
pub(crate) fn write_json<T: Serialize + ?Sized>(
    value: &T,
    layout: Layout,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut writer = JsonWriter::new(layout, Some(out));
    value.serialize(&mut writer).map_err(|e| e.0)?;
    writer.finish()
}

/// A value as a line of JSON in a text.
///
/// # Panics
///
/// A map has keys that are no texts; those of documents are.
pub fn json_line<T: Serialize + ?Sized>(value: &T) -> String {
    json_text(value, Layout::Line)
}

/// A value as JSON in a text.
pub(crate) fn json_text<T: Serialize + ?Sized>(value: &T, layout: Layout) -> String {
    let mut writer = JsonWriter::new(layout, None);
    value.serialize(&mut writer).expect("keys are texts, which is all that JSON asks");
    String::from_utf8(writer.buffer).expect("JSON of texts is text")
}

#[cfg(test)]
mod tests;
