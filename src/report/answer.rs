//! How answers are shown: one trait for all of them.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

use super::table::{Table, within};

/// What a person wants to see of a text.
#[derive(Debug, Clone, Copy, Default)]
pub struct View {
    /// No line is longer than so many characters.
    pub width: Option<usize>,
    /// Lists are shown whole, not only their first rows.
    pub all: bool,
}

/// What was found out about something asked for. Its JSON is what it says of itself by serde; the rest makes it
/// readable.
pub trait Answer: Serialize {
    /// Which view of a page shows it: one that is made for it, or its table and its picture.
    const VIEW: &'static str = "table";
    /// What it is, as the title of a page says it.
    const TITLE: &'static str = "Result";

    /// For a person at a terminal.
    fn text(&self, view: View) -> String;

    /// The same, where lines that are too long for the terminal are broken between words.
    fn fitted(&self, view: View) -> String {
        within(&self.text(view), view.width)
    }

    /// The numbers of several answers as rows of one table.
    fn table(answers: &[&Self]) -> Table;

    /// The same for a page of Markdown, where one table does not say all.
    fn markdown(answers: &[&Self]) -> String {
        Self::table(answers).markdown()
    }

    /// The table as comma-separated values, row by row where it is long.
    fn write_csv(answers: &[&Self], out: &mut dyn Write) -> io::Result<()> {
        out.write_all(Self::table(answers).csv().as_bytes())
    }

    /// The page of Markdown, row by row where it is long.
    fn write_markdown(answers: &[&Self], out: &mut dyn Write) -> io::Result<()> {
        out.write_all(Self::markdown(answers).as_bytes())
    }

    /// A picture, of those that have one.
    fn picture(&self) -> Option<String> {
        None
    }

    /// Lines of JSON: one for each result, where an answer holds several; otherwise the whole answer on one.
    fn write_lines(&self, out: &mut dyn Write) -> io::Result<()> {
        write_line(self, out)
    }
}

/// A value on a line of JSON.
pub fn write_line<T: Serialize + ?Sized>(value: &T, out: &mut dyn Write) -> io::Result<()> {
    write_json(value, Layout::Line, out)?;
    out.write_all(b"\n")
}

/// Where JSON has white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Nowhere: all is on one line.
    Line,
    /// A line for each value, indented by two spaces for each object and array around it.
    Indented,
}

/// A value as JSON, without an end of the line. All documents are written through here, in whichever layout, so that
/// what writes each of them is compiled once.
pub(crate) fn write_json<T: Serialize + ?Sized>(
    value: &T,
    layout: Layout,
    out: &mut dyn Write,
) -> io::Result<()> {
    let pretty = (layout == Layout::Indented).then(PrettyFormatter::new);
    value.serialize(&mut Serializer::with_formatter(out, EitherLayout(pretty)))?;
    Ok(())
}

/// A value as a line of JSON in a text.
pub(crate) fn json_line<T: Serialize + ?Sized>(value: &T) -> String {
    let mut out = Vec::new();
    write_json(value, Layout::Line, &mut out)
        .expect("documents have texts for keys, which is all that JSON asks");
    String::from_utf8(out).expect("JSON of texts is text")
}

/// White space as somebody has asked for it; without a formatter there is none.
struct EitherLayout(Option<PrettyFormatter<'static>>);

/// Hands over to the formatter, or to what formatters do without white space.
macro_rules! hand_over {
    ($($name:ident($($argument:ident: $ty:ty),*);)*) => {
        $(fn $name<W: ?Sized + Write>(&mut self, writer: &mut W $(, $argument: $ty)*) -> io::Result<()> {
            match &mut self.0 {
                Some(pretty) => pretty.$name(writer $(, $argument)*),
                None => CompactFormatter.$name(writer $(, $argument)*),
            }
        })*
    };
}

impl Formatter for EitherLayout {
    hand_over! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        begin_object_value();
        end_object_value();
    }
}
