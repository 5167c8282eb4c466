//! Tables: for a terminal, as CSV and as Markdown.

use std::fmt::Write;

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
}

impl Table {
    /// A table with these columns.
    pub fn new<'c>(columns: impl IntoIterator<Item = (&'c str, Align)>) -> Self {
        let columns = columns.into_iter().map(|(name, align)| (name.to_owned(), align)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row; missing cells are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut cells: Vec<String> = cells.into_iter().take(self.columns.len()).collect();
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// For a terminal: columns two spaces apart, lines no longer than `width` where one is given.
    pub fn text(&self, indent: usize, width: Option<usize>) -> String {
        let head: Vec<String> = self.columns.iter().map(|c| c.0.clone()).collect();
        let lines = std::iter::once(&head).chain(&self.rows);
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|i| lines.clone().map(|row| row[i].chars().count()).max().unwrap_or(0))
            .collect();
        let mut out = String::new();
        for row in lines {
            let mut line = " ".repeat(indent);
            for ((cell, &column), (_, align)) in row.iter().zip(&widths).zip(&self.columns) {
                let pad = " ".repeat(column - cell.chars().count());
                match align {
                    Align::Left => line.extend([cell, pad.as_str()]),
                    Align::Right => line.extend([pad.as_str(), cell]),
                }
                line.push_str("  ");
            }
            out.push_str(&fit(line.trim_end(), width));
            out.push('\n');
        }
        out
    }

    /// As comma-separated values, quoted where needed.
    pub fn csv(&self) -> String {
        let quote = |cell: &str| {
            if cell.contains([',', '"', '\n']) {
                format!("\"{}\"", cell.replace('"', "\"\""))
            } else {
                cell.to_owned()
            }
        };
        let line = |cells: &mut dyn Iterator<Item = &str>| cells.map(quote).collect::<Vec<_>>().join(",");
        let mut out = line(&mut self.columns.iter().map(|c| c.0.as_str()));
        for row in &self.rows {
            out.push('\n');
            out.push_str(&line(&mut row.iter().map(String::as_str)));
        }
        out.push('\n');
        out
    }

    /// As a Markdown table.
    pub fn markdown(&self) -> String {
        let escape = |cell: &str| cell.replace('|', "\\|");
        let mut out = String::new();
        let names: Vec<String> = self.columns.iter().map(|c| escape(&c.0)).collect();
        let rules = self.columns.iter().map(|c| if c.1 == Align::Left { "---" } else { "---:" });
        let _ = writeln!(out, "| {} |\n| {} |", names.join(" | "), rules.collect::<Vec<_>>().join(" | "));
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|c| escape(c)).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
        out
    }
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
    fn csv_and_markdown_escape() {
        assert_eq!(table().csv(), "name,n\na|b,1\n\"x, \"\"y\"\"\",100\n");
        assert!(table().markdown().starts_with("| name | n |\n| --- | ---: |\n| a\\|b | 1 |\n"));
    }
}
