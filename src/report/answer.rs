//! How answers are shown: one trait for all of them.

use std::io::{self, Write};

use serde::Serialize;

use super::json::{Layout, write_json};
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
    /// Whether its lines of JSON are its results, without what it says beside them.
    const LINES_ARE_RESULTS: bool = false;

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

    /// What rows of its results do not say: warnings, and how many launches cannot run.
    fn beside_rows(&self) -> Vec<String> {
        Vec::new()
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
