//! Reading measurements.

use std::io::BufRead;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value as Json;

use super::builder::Builder;
use super::columns::{Bad, Column};
use super::row::Measurements;
use crate::measure::records::{Record, Records, Unreadable, starts_json};
use crate::text::{Diagnostic, Fault, Sources, Span};

/// Reads comma-separated values or JSON lines; `name` is what messages call the file. All that is wrong
/// is reported at once, each with its line.
///
/// ```
/// let text = "kernel,device,block,time [us]\nstar3d25,v100,32x2x16,25100\n";
/// let measured = wavecast::measure::measurements::read("my.csv", text.as_bytes()).unwrap();
/// assert_eq!(measured.rows[0].block, [32, 2, 16]);
/// ```
pub fn read(name: &str, reader: impl BufRead) -> Result<Measurements, Fault> {
    let mut to = Reading::new(name);
    if let Err(why) = to.all(reader) {
        to.errors.push(Diagnostic::global("cannot-read", format!("{name}: {why}")));
    }
    if to.errors.is_empty() && to.found.rows.is_empty() {
        let message = format!("{name}: there are no measurements in this file");
        let help = "it begins with a line of column names such as `kernel,device,block,time [us]`, and has a line below it for \
                    each launch: star3d25,v100,32x2x16,25100";
        to.errors.push(Diagnostic::global("empty", message).help(help));
    }
    to.finish()
}

/// What has been read, and what was wrong.
struct Reading<'a> {
    name: &'a str,
    found: Measurements,
    sources: Sources,
    errors: Vec<Diagnostic>,
    /// Errors beyond those that are kept.
    more: usize,
}

impl<'a> Reading<'a> {
    fn new(name: &'a str) -> Self {
        Self { name, found: Measurements::new(), sources: Sources::new(), errors: Vec::new(), more: 0 }
    }

    fn all(&mut self, mut reader: impl BufRead) -> Result<(), Unreadable> {
        if starts_json(&mut reader)? {
            self.json_lines(Records::new(reader))
        } else {
            self.csv(Records::new(reader))
        }
    }

    fn csv(&mut self, mut records: Records<impl BufRead>) -> Result<(), Unreadable> {
        let mut head: Option<Head> = None;
        let mut builder = Builder::default();
        while let Some(record) = records.read()? {
            if record.text().starts_with('#') {
                continue;
            }
            let Some(head) = &head else {
                head = Some(self.head(record));
                if !self.errors.is_empty() {
                    // What the rows would say is not known.
                    return Ok(());
                }
                continue;
            };
            self.row(record, head, &mut builder);
        }
        Ok(())
    }

    fn head(&mut self, record: &Record) -> Head {
        let mut columns: Vec<(usize, Column)> = Vec::new();
        let cells = without_last_comma(record);
        if let Some(wrong) = no_table(record) {
            self.bad(wrong, record, 0..0);
            return Head { columns, cells };
        }
        for i in 0..record.len() {
            match Column::parse(record.cell(i)) {
                Ok(Column::Note) => {}
                Ok(column) => {
                    if columns.iter().any(|c| c.1.name() == column.name()) {
                        let message = format!("`{}` stands twice", record.cell(i));
                        self.error("twice", message, None, record, record.range(i));
                    }
                    columns.push((i, column));
                }
                // A comma at the end of the line.
                Err(_) if record.cell(i).is_empty() && i + 1 == record.len() => {}
                Err(bad) => self.bad(bad, record, record.range(i)),
            }
        }
        Head { columns, cells }
    }

    fn row(&mut self, record: &Record, Head { columns, cells }: &Head, builder: &mut Builder) {
        if let Some(open) = record.open() {
            let message = "the quote of this cell is never closed, or before its end".to_owned();
            let help = "close it with a second `\"`; a quote within a cell is written twice".to_owned();
            self.error("quote", message, Some(help), record, record.range(open));
            return;
        }
        if record.len() != *cells && without_last_comma(record) != *cells {
            let (has, bad) = (record.len(), cells_differ(record, *cells, columns));
            self.bad(bad, record, record.range(has.min(*cells)));
            return;
        }
        builder.clear();
        let mut whole = true;
        for (i, column) in columns {
            if let Err(bad) = builder.set(column, record.cell(*i)) {
                self.bad(bad, record, record.range(*i));
                whole = false;
            }
        }
        if whole && let Err(bad) = builder.finish(record.line, &mut self.found) {
            self.bad(bad, record, 0..record.text().len());
        }
    }

    fn json_lines(&mut self, mut records: Records<impl BufRead>) -> Result<(), Unreadable> {
        let mut builder = Builder::default();
        while let Some(record) = records.read_whole()? {
            let all = 0..record.text().len();
            match serde_json::from_str::<Json>(record.text()) {
                Ok(Json::Object(object)) => {
                    builder.clear();
                    let outcome =
                        object.iter().try_for_each(|(key, value)| of_json(&mut builder, key, value));
                    if let Err(bad) = outcome.and_then(|()| builder.finish(record.line, &mut self.found)) {
                        self.bad(bad, record, all);
                    }
                }
                Ok(_) => self.error("json", "a line is an object".to_owned(), None, record, all),
                Err(e) => self.error("json", format!("this line is no JSON: {e}"), None, record, all),
            }
        }
        Ok(())
    }

    fn bad(&mut self, bad: Bad, record: &Record, range: Range<usize>) {
        self.error(bad.code, bad.message, bad.help, record, range);
    }

    fn error(
        &mut self,
        code: &'static str,
        message: String,
        help: Option<String>,
        record: &Record,
        range: Range<usize>,
    ) {
        if self.errors.len() >= Fault::MOST {
            self.more += 1;
            return;
        }
        let file = self.sources.add_excerpt(self.name, record.text(), record.line);
        self.errors.push(Diagnostic::error(code, Span::new(file, range), message).maybe_help(help));
    }

    fn finish(mut self) -> Result<Measurements, Fault> {
        if self.errors.is_empty() {
            return Ok(self.found);
        }
        if self.more > 0 {
            let message = format!("{} more errors not shown", self.more);
            self.errors.push(Diagnostic::global("too-many-errors", message));
        }
        Err(Fault::new(self.errors, Arc::new(self.sources)))
    }
}

/// What the first line says of the others.
struct Head {
    /// The columns that are read, with their places.
    columns: Vec<(usize, Column)>,
    /// How many cells a row has.
    cells: usize,
}

/// How many cells there are, without the empty one behind a comma at the end of the line.
fn without_last_comma(record: &Record) -> usize {
    let last = record.len().saturating_sub(1);
    if last > 0 && record.range(last).is_empty() && record.text().trim_end().ends_with(',') {
        last
    } else {
        record.len()
    }
}

/// Why the first line is none of comma-separated values.
fn no_table(record: &Record) -> Option<Bad> {
    let text = record.text();
    let (message, help) = if text.contains('\0') {
        ("this text is UTF-16, not UTF-8", "save it as UTF-8")
    } else if text.contains('\r') {
        (
            "the lines of this file end in a carriage return alone",
            "save it with line feeds at the ends of its lines",
        )
    } else if record.len() == 1 && text.contains(';') {
        (
            "the columns are separated by `;`",
            "separate them by commas; `wavecast import --map` reads other tables",
        )
    } else if record.len() == 1 && text.contains('\t') {
        (
            "the columns are separated by tabs",
            "separate them by commas; `wavecast import --map` reads other tables",
        )
    } else {
        return None;
    };
    Some(Bad { code: "table", message: message.to_owned(), help: Some(help.to_owned()) })
}

/// What is wrong with a row that has other cells than the head.
fn cells_differ(record: &Record, of_head: usize, columns: &[(usize, Column)]) -> Bad {
    let message = format!("this row has {} cells, the head {of_head}", record.len());
    let whole = columns.iter().find(|(_, c)| matches!(c, Column::Block(None) | Column::Fold(None)));
    let spread = whole.filter(|_| record.len() > of_head).and_then(|(i, column)| {
        let cells = [0, 1, 2].map(|next| record.cell(i + next));
        let whole = cells.iter().all(|cell| cell.parse::<i64>().is_ok());
        whole.then(|| (column.name(), cells.join(",")))
    });
    let help = match spread {
        Some((name, cells)) => format!("quote the {name}: \"{cells}\", or write {}", cells.replace(',', "x")),
        None if record.len() > of_head => "put quotes around a cell with a comma in it".to_owned(),
        None => "leave a cell empty where nothing was measured: its comma stays".to_owned(),
    };
    Bad { code: "cells", message, help: Some(help) }
}

fn of_json(builder: &mut Builder, key: &str, value: &Json) -> Result<(), Bad> {
    let column = Column::parse(key)?;
    match (&column, value) {
        (_, Json::Null) | (Column::Note, _) => Ok(()),
        (_, Json::String(text)) => builder.set(&column, text),
        (Column::Measured(..), Json::Number(number)) => {
            builder.measured(&column, number.as_f64().expect("numbers of JSON are 64 bits wide here"))
        }
        (Column::Param(_) | Column::Block(_) | Column::Fold(_) | Column::Clock(_), Json::Number(number)) => {
            builder.set(&column, &number.to_string())
        }
        (Column::Block(None) | Column::Fold(None), Json::Array(extents)) => {
            let texts: Vec<String> = extents.iter().map(ToString::to_string).collect();
            builder.set(&column, &texts.join("x"))
        }
        (Column::Params, Json::Object(params)) => {
            params.iter().try_for_each(|(name, value)| builder.param(name, &value.to_string()))
        }
        _ => Err(Bad { code: "type", message: format!("`{key}` cannot be {value}"), help: None }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::measurements::{MeasuredQuantity, Per};

    #[test]
    fn columns_come_in_any_order() {
        let text = "# a comment\n\ntime [us],param.NX, block.y ,block.x,kernel,note,fold,dram_load [B/item],\n\
                    1.5,64,4,32,k,\"x, y\",\"1,1,2\",\n,64,,32,k,,,8\n";
        let found = read("t", text.as_bytes()).unwrap();
        assert_eq!(found.subjects.len(), 1);
        let [first, second] = &found.rows[..] else { panic!("{found:?}") };
        assert_eq!((first.line, *first.block, *first.fold), (4, [32, 4, 1], [1, 1, 2]));
        assert!((first.value(MeasuredQuantity::Time).unwrap().amount - 1.5e-6).abs() < 1e-18);
        assert_eq!((second.line, *second.block, *second.fold), (5, [32, 1, 1], [1; 3]));
        assert_eq!(second.values.len(), 1);
        assert_eq!(second.values[0].per, Per::Item);
    }

    #[test]
    fn json_lines_say_the_same() {
        let lines = r#"
            {"kernel": "k", "params": {"NX": 64}, "block": [32, 4], "fold": "1x1x2", "time [us]": 1.5, "note": []}
            {"kernel": "k", "param.NX": 64, "block.x": 32, "dram_load [B/item]": 8, "time [us]": null}"#;
        let csv = "kernel,param.NX,block,fold,time [us],dram_load [B/item]\n\
                   k,64,32x4,1x1x2,1.5,\nk,64,32,,,8\n";
        let strip = |mut m: Measurements| {
            m.rows.iter_mut().for_each(|r| r.line = 0);
            m
        };
        assert_eq!(strip(read("t", lines.as_bytes()).unwrap()), strip(read("t", csv.as_bytes()).unwrap()));
    }

    #[test]
    fn rows_with_other_cells_than_the_head_are_refused() {
        let said = |rows: &str| {
            let text = format!("kernel,device,block,time [us]\n{rows}\n");
            read("t.csv", text.as_bytes()).map(|found| found.rows.len()).map_err(|fault| fault.to_string())
        };
        assert_eq!(said("k,v100,\"8,32,1\",5\nk,v100,8x32x1,5,"), Ok(2));
        let wrong = said("k,v100,8,32,1,5").unwrap_err();
        assert!(wrong.starts_with("t.csv:2:13: this row has 6 cells, the head 4"), "{wrong}");
        assert!(wrong.contains("quote the block: \"8,32,1\", or write 8x32x1"), "{wrong}");
        assert!(said("k,v100,32,5,x,7").unwrap_err().contains("put quotes around a cell"));
        let wrong = said("k,v100,8x32").unwrap_err();
        assert!(
            wrong.contains("this row has 3 cells, the head 4") && wrong.contains("its comma stays"),
            "{wrong}"
        );
        let wrong = said("k,v100,\"8,32,1,5").unwrap_err();
        assert!(wrong.starts_with("t.csv:2:9: the quote of this cell is never closed"), "{wrong}");
    }

    #[test]
    fn what_is_no_table_of_commas_is_named() {
        let said = |bytes: &[u8]| read("t.csv", bytes).unwrap_err().to_string();
        let head = "kernel,block,time [us]\nk,32,5\n";
        assert!(said(head.replace(',', ";").as_bytes()).contains("separated by `;`"));
        assert!(said(head.replace(',', "\t").as_bytes()).contains("separated by tabs"));
        assert!(said(head.replace('\n', "\r").as_bytes()).contains("a carriage return alone"));
        let wide: Vec<u8> =
            "\u{feff}".encode_utf16().chain(head.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        assert!(said(&wide).contains("UTF-16"));
        assert!(read("t.csv", head.replace('\n', "\r\n").as_bytes()).is_ok());
    }

    #[test]
    fn every_bad_row_is_named() {
        let text = "kernel,block,time [s]\nk,32,1\n,32,1\nk,0,x\nk,,1\nk,32,\nk,32,-1\nk,32,inf\n";
        let fault = read("t.csv", text.as_bytes()).unwrap_err();
        let said = fault.to_string();
        for place in
            ["t.csv:3:1", "t.csv:4:3", "t.csv:4:5", "t.csv:5:1", "t.csv:6:1", "t.csv:7:6", "t.csv:8:6"]
        {
            assert!(said.contains(place), "{place}: {said}");
        }
        assert_eq!(fault.diagnostics.len(), 7);
        let fault = read("t", "kernel,tine [s],dram_load\n1,2,3".as_bytes()).unwrap_err().to_string();
        assert!(fault.contains("did you mean `time`?") && fault.contains("no unit"), "{fault}");
        let fault = read("t", "{\"kernel\": 1}\n{\n[1]".as_bytes()).unwrap_err().to_string();
        assert!(
            fault.contains("cannot be 1") && fault.contains("t:2") && fault.contains("object"),
            "{fault}"
        );
        assert!(read("t", "".as_bytes()).is_err());
        assert!(
            read("t", "kernel,kernel,block,time [s]\n".as_bytes()).unwrap_err().to_string().contains("twice")
        );
        let many = format!("kernel,block,time [s]\n{}", "k,0,1\n".repeat(1000));
        let fault = read("t", many.as_bytes()).unwrap_err();
        assert!(fault.diagnostics.len() == Fault::MOST + 1 && fault.to_string().contains("900 more"));
    }
}
