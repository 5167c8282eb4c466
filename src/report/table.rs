//! Tables: for a terminal, as CSV and as Markdown.

use std::fmt::Write;

use anstyle::Style;

use super::units::wrapped;
use crate::text::csv_cell;

/// On which side a column is flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Rows under column heads.
#[derive(Debug, Clone, Default)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
    painted: Option<(usize, Paint)>,
    /// Columns that are left out of narrow texts, the first of them first.
    minor: Vec<usize>,
}

/// Characters of the last column, if it is text, for which there is always room: what is longer goes on below.
const FLOWING: usize = 24;

/// The colour of a cell by what it says.
type Paint = fn(&str) -> Style;

/// A column: its head, on which side it is flush, and what stands in it of each thing that has a row.
pub type Column<'c, T> = (&'c str, Align, &'c dyn Fn(&T) -> String);

impl Table {
    /// A table with these columns.
    pub fn new<'c>(columns: impl IntoIterator<Item = (&'c str, Align)>) -> Self {
        let columns = columns.into_iter().map(|(name, align)| (name.to_owned(), align)).collect();
        Self { columns, rows: Vec::new(), painted: None, minor: Vec::new() }
    }

    /// A table with a row for each thing.
    pub fn filled<T>(things: impl IntoIterator<Item = T>, columns: &[Column<'_, T>]) -> Self {
        let mut table = Self::new(columns.iter().map(|&(head, align, _)| (head, align)));
        for thing in things {
            table.row(columns.iter().map(|(_, _, cell)| cell(&thing)));
        }
        table
    }

    /// One table of several that have the same columns.
    pub fn join(tables: impl IntoIterator<Item = Self>) -> Self {
        let mut tables = tables.into_iter();
        let mut all = tables.next().unwrap_or_default();
        all.rows.extend(tables.flat_map(|table| table.rows));
        all
    }

    /// Adds a row; missing cells are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut cells: Vec<String> = cells.into_iter().take(self.columns.len()).collect();
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells);
    }

    /// The names of the columns, and whether they are flush on the right.
    pub(super) fn heads(&self) -> impl Iterator<Item = (&str, bool)> {
        self.columns.iter().map(|c| (c.0.as_str(), c.1 == Align::Right))
    }

    /// The cells of all rows.
    pub(super) fn cells(&self) -> impl Iterator<Item = &[String]> {
        self.rows.iter().map(Vec::as_slice)
    }

    /// Colours the cells of a column by what they say, on a terminal.
    pub fn paint(&mut self, column: &str, style: Paint) {
        self.painted = self.columns.iter().position(|c| c.0 == column).map(|at| (at, style));
    }

    /// Leaves these columns out of texts that have no room for all, the first of them first.
    #[must_use]
    pub fn with_minor(mut self, columns: &[&str]) -> Self {
        let place = |name: &&str| self.columns.iter().position(|c| c.0 == *name);
        self.minor = columns.iter().filter_map(place).collect();
        self
    }

    /// The columns that a text of a width has room for, each with its own width; blanks of the margin are `indent`.
    fn with_room(&self, indent: usize, width: Option<usize>) -> Vec<(usize, usize)> {
        let longest = |i: usize| {
            let head = self.columns[i].0.chars().count();
            self.rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0).max(head)
        };
        let mut shown: Vec<(usize, usize)> = (0..self.columns.len()).map(|i| (i, longest(i))).collect();
        let most = width.filter(|&w| w > 1).unwrap_or(usize::MAX);
        for minor in &self.minor {
            let last = shown.last().map_or(0, |c| c.1 - if self.flows(c.0) { c.1.min(FLOWING) } else { c.1 });
            if indent + shown.iter().map(|c| c.1 + 2).sum::<usize>() - last <= most.saturating_add(2) {
                break;
            }
            shown.retain(|c| c.0 != *minor);
        }
        let before: usize = indent + shown.iter().rev().skip(1).map(|c| c.1 + 2).sum::<usize>();
        if let Some(last) = shown.last_mut()
            && self.flows(last.0)
            && let Some(room) = most.checked_sub(before).filter(|room| *room >= FLOWING)
        {
            last.1 = last.1.min(room);
        }
        shown
    }

    /// Whether cells of a column may go on in the lines below: texts in the last one.
    fn flows(&self, column: usize) -> bool {
        column + 1 == self.columns.len() && self.columns[column].1 == Align::Left
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// For a terminal: columns two spaces apart, lines no longer than `width` where one is given. What there is no room
    /// for is left out, and it says so.
    pub fn text(&self, indent: usize, width: Option<usize>) -> String {
        let head: Vec<String> = self.columns.iter().map(|c| c.0.clone()).collect();
        let shown = self.with_room(indent, width);
        let (mut out, mut below) = (String::new(), Vec::new());
        for (number, row) in std::iter::once(&head).chain(&self.rows).enumerate() {
            let mut line = Line::new(indent, width);
            for (place, &(i, column)) in shown.iter().enumerate() {
                let mut cell = row[i].as_str();
                let broken;
                if cell.chars().count() > column {
                    let margin = indent + shown[..place].iter().map(|c| c.1 + 2).sum::<usize>();
                    broken = wrapped(cell.split(' '), column);
                    let mut lines = broken.lines();
                    cell = lines.next().unwrap_or_default();
                    below.extend(lines.map(|line| format!("{:margin$}{line}\n", "")));
                }
                let pad = column.saturating_sub(cell.chars().count());
                let painted = self.painted.filter(|p| p.0 == i && number > 0);
                let style = painted.map_or_else(Style::new, |p| (p.1)(cell));
                match self.columns[i].1 {
                    Align::Left => line.cell(0, cell, pad, style),
                    Align::Right => line.cell(pad, cell, 0, style),
                }
            }
            out.push_str(&line.end());
            below.drain(..).for_each(|line| out.push_str(&line));
        }
        match self.columns.len() - shown.len() {
            0 => {}
            1 => {
                let _ = writeln!(out, "{:indent$}(a column has no room: --wide shows it)", "");
            }
            n => {
                let _ = writeln!(out, "{:indent$}({n} columns have no room: --wide shows them)", "");
            }
        }
        out
    }

    /// As comma-separated values, quoted where needed.
    pub fn csv(&self) -> String {
        let heads = csv_line(&mut self.columns.iter().map(|c| c.0.as_str()));
        heads + &self.csv_rows()
    }

    /// The rows without the heads.
    pub(super) fn csv_rows(&self) -> String {
        self.rows.iter().map(|row| csv_line(&mut row.iter().map(String::as_str))).collect()
    }

    /// As a Markdown table.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        let names: Vec<String> = self.columns.iter().map(|c| escape(&c.0)).collect();
        let rules = self.columns.iter().map(|c| if c.1 == Align::Left { "---" } else { "---:" });
        let _ = writeln!(out, "| {} |\n| {} |", names.join(" | "), rules.collect::<Vec<_>>().join(" | "));
        out + &self.markdown_rows()
    }

    /// The rows without the heads.
    pub(super) fn markdown_rows(&self) -> String {
        let line = |row: &Vec<String>| {
            let cells: Vec<String> = row.iter().map(|c| escape(c)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        self.rows.iter().map(line).collect()
    }
}

/// Values with commas between them, quoted where needed.
fn csv_line(cells: &mut dyn Iterator<Item = &str>) -> String {
    cells.map(csv_cell).collect::<Vec<_>>().join(",") + "\n"
}

/// A cell of a Markdown table.
fn escape(cell: &str) -> String {
    cell.replace('|', "\\|")
}

/// A line that is being written, colours beside its visible length.
struct Line {
    text: String,
    /// Blanks that are written when something follows.
    blanks: usize,
    used: usize,
    width: usize,
    cut: bool,
}

impl Line {
    fn new(indent: usize, width: Option<usize>) -> Self {
        let width = width.filter(|&w| w > 1).unwrap_or(usize::MAX);
        Self { text: String::new(), blanks: indent, used: 0, width, cut: false }
    }

    /// A cell with blanks on both sides, two more blanks after it.
    fn cell(&mut self, before: usize, cell: &str, after: usize, style: Style) {
        self.blanks += before;
        if !cell.is_empty() && !self.cut {
            let blanks = self.blanks.min(self.width - self.used);
            self.text.extend(std::iter::repeat_n(' ', blanks));
            self.used = self.used.saturating_add(self.blanks).min(self.width);
            let room = self.width - self.used;
            let length = cell.chars().count();
            self.cut = length > room;
            if self.cut && room == 0 {
                self.mark();
            } else {
                let end = if self.cut { cell.char_indices().nth(room - 1) } else { None };
                let (shown, mark) = end.map_or((cell, ""), |(end, _)| (&cell[..end], "…"));
                if style.is_plain() {
                    self.text.extend([shown, mark]);
                } else {
                    let _ = write!(self.text, "{style}{shown}{mark}{style:#}");
                }
                self.used += if self.cut { room - 1 } else { length };
            }
            self.blanks = 0;
        }
        self.blanks += after + 2;
    }

    /// Marks the end of a line that is full as cut.
    fn mark(&mut self) {
        // Not into the end of a colour.
        if !self.text.ends_with('m') {
            self.text.pop();
        }
        self.text.push('…');
    }

    fn end(mut self) -> String {
        self.text.push('\n');
        self.text
    }
}

/// A text whose lines are no longer than a terminal is wide: longer ones are broken between words, and go on a little
/// further in than they begin.
pub(super) fn within(text: &str, width: Option<usize>) -> String {
    let Some(width) = width.filter(|&w| w >= NARROWEST) else { return text.to_owned() };
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        if visible(line) <= width {
            out.push_str(line);
        } else {
            broken(line, width, &mut out);
        }
        out.push('\n');
    }
    out
}

/// The narrowest terminal for which lines are broken.
const NARROWEST: usize = 20;

fn broken(line: &str, width: usize, out: &mut String) {
    let margin = line.len() - line.trim_start_matches(' ').len();
    let further = (margin + 2).min(width / 2);
    out.push_str(&line[..margin]);
    let mut used = margin;
    for (number, word) in line[margin..].split(' ').enumerate() {
        let length = visible(word);
        if number > 0 && used + 1 + length > width && used > further {
            let _ = write!(out, "\n{:further$}", "");
            used = further;
        } else if number > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += length;
    }
}

/// Characters of a text that are seen: those of colours are not.
fn visible(text: &str) -> usize {
    let mut colour = false;
    let seen = |c: &char| {
        colour |= *c == '\u{1b}';
        let seen = !colour;
        colour &= *c != 'm';
        seen
    };
    text.chars().filter(seen).count()
}

/// A line no longer than the terminal; what is cut is marked.
pub(super) fn fit(line: &str, width: Option<usize>) -> String {
    match width {
        Some(width) if width > 1 && line.chars().count() > width => {
            line.chars().take(width - 1).chain(['…']).collect()
        }
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut t = Table::new([("name", Align::Left), ("n", Align::Right)]);
        t.row(["a|b".to_owned(), "1".to_owned()]);
        t.row(["x, \"y\"".to_owned(), "100".to_owned()]);
        t
    }

    #[test]
    fn columns_line_up() {
        assert_eq!(table().text(1, None), " name      n\n a|b       1\n x, \"y\"  100\n");
        assert_eq!(table().text(0, Some(6)), "name …\na|b  …\nx, \"y…\n");
    }

    #[test]
    fn columns_without_room_are_left_out() {
        let mut t = Table::new(["a", "b", "c"].map(|name| (name, Align::Left))).with_minor(&["b", "a", "q"]);
        t.row(["aaaa", "bbbb", "cccc"].map(str::to_owned));
        assert_eq!(t.text(0, Some(16)), "a     b     c\naaaa  bbbb  cccc\n");
        assert_eq!(t.text(0, Some(15)), "a     c\naaaa  cccc\n(a column has no room: --wide shows it)\n");
        let narrow = " c\n cccc\n (2 columns have no room: --wide shows them)\n";
        assert_eq!((t.text(1, Some(9)), t.text(1, Some(5))), (narrow.to_owned(), narrow.to_owned()));
        assert_eq!(t.text(1, Some(4)), " c\n cc…\n (2 columns have no room: --wide shows them)\n");
        assert_eq!(t.text(0, None).lines().next(), Some("a     b     c"));
        assert!(t.csv().starts_with("a,b,c\n"));
    }

    #[test]
    fn texts_in_the_last_column_go_on_below() {
        let mut t = Table::new([("n", Align::Right), ("made of", Align::Left)]);
        t.row(["10".to_owned(), "some compulsory and some capacity".to_owned()]);
        t.row(["7".to_owned(), "little".to_owned()]);
        assert_eq!(
            t.text(1, Some(30)),
            "  n  made of\n 10  some compulsory and some\n     capacity\n  7  little\n"
        );
        assert!(t.text(1, None).contains("some capacity\n"));
        // Where there is hardly any room it is cut.
        assert_eq!(t.text(1, Some(20)).lines().nth(1), Some(" 10  some compulsor…"));
    }

    #[test]
    fn long_lines_are_broken_between_words() {
        let text = "  one two three four five six\nshort\n\n";
        assert_eq!(within(text, Some(20)), "  one two three four\n    five six\nshort\n\n");
        assert_eq!(within(text, None), text);
        assert_eq!(within(text, Some(4)), text);
        let coloured = "\u{1b}[33mwarning\u{1b}[0m: of eleven";
        assert_eq!(within(coloured, Some(20)), format!("{coloured}\n"));
        let long = format!("a {} b", "x".repeat(30));
        assert_eq!(within(&long, Some(20)), format!("a {}\n  b\n", "x".repeat(30)));
    }

    #[test]
    fn csv_and_markdown_escape() {
        assert_eq!(table().csv(), "name,n\na|b,1\n\"x, \"\"y\"\"\",100\n");
        assert!(table().markdown().starts_with("| name | n |\n| --- | ---: |\n| a\\|b | 1 |\n"));
    }
}
