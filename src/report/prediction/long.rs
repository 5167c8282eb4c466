//! Rankings of as many launches as there are: written one result after the other, so that the document is never
//! held as a whole.

use std::convert::Infallible;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use super::build::{frame, ranked, rejected};
use super::document::{Head, RankedResult, RankingDocument, RankingSummary};
use super::warnings::about_registers;
use crate::predict::{Choices, Estimator, Judge, Placing};
use crate::quantity::Ratio;
use crate::report::answer::{Answer, View, write_line};
use crate::report::check::Warning;
use crate::report::ranking::{REFUSALS, empty_table, row};
use crate::report::table::Table;

/// Rows of a table that are made at a time.
const ROWS: usize = 1 << 8;

/// A ranking on its way out.
pub struct LongRanking<'a> {
    /// What predicts: one for each variant of a document, and there is at least one.
    pub estimators: Vec<Estimator<'a>>,
    /// The launches.
    pub choices: &'a dyn Choices,
    /// Which of them are the best.
    pub placing: &'a Placing,
    /// Launches whose speed differs by less than this share are one tie group.
    pub tie_error_share: f64,
    /// What deserves a look before any launch is considered.
    pub warnings: &'a [Warning],
    /// Seconds that it took, if they are to be told.
    pub elapsed_s: Option<f64>,
    /// The share of the fastest device's speed, if there are others.
    pub device_relative: Option<Ratio>,
    /// Counts the results that are written.
    pub written: &'a AtomicUsize,
}

impl LongRanking<'_> {
    /// The document without its lists.
    pub fn frame(&self) -> RankingDocument {
        let Self { estimators, placing, .. } = self;
        let numbers = [placing.candidates(), placing.feasible()];
        let assumed = placing.registers_assumed() || placing.feasible() == 0;
        let warnings = about_registers(self.warnings.to_vec(), assumed);
        let frame = frame(estimators, numbers, self.tie_error_share, warnings);
        let head = Head { device_relative: self.device_relative, ..frame.head };
        RankingDocument { elapsed_s: self.elapsed_s, head, ..frame }
    }

    /// Hands over its results.
    fn each<E>(&self, mut to: impl FnMut(RankedResult) -> Result<(), E>) -> Result<(), E> {
        let judges: Vec<Judge> = self.estimators.iter().map(Judge::new).collect();
        self.placing.each(&self.estimators, self.choices, |r| {
            self.written.fetch_add(1, Ordering::Relaxed);
            to(ranked(&self.estimators[r.kernel], &judges[r.kernel], &r))
        })
    }

    /// The document for a person, who is shown only a few of those that cannot run; for a picture likewise.
    pub fn shown(&self) -> RankingDocument {
        let mut document = self.frame();
        let Ok(()) = self.each(|r| {
            document.results.push(r);
            Ok::<(), Infallible>(())
        });
        // The only error is that there are enough of them.
        let _ = self.placing.each_refused(&self.estimators, self.choices, |choice, why| {
            document.infeasible.push(rejected(&self.estimators[choice.kernel], choice, why));
            if document.infeasible.len() < REFUSALS { Ok(()) } else { Err(()) }
        });
        document
    }

    /// For a person at a terminal.
    pub fn text(&self, view: View) -> String {
        self.shown().text(view)
    }

    /// All its numbers.
    pub fn table(&self) -> Table {
        let (document, mut table) = (self.frame(), self.heads());
        let Ok(()) = self.each(|r| {
            table.row(row(&document.head, &r));
            Ok::<(), Infallible>(())
        });
        table
    }

    /// A picture.
    #[cfg(feature = "cli")]
    pub fn picture(&self) -> Option<String> {
        self.shown().picture()
    }

    /// The rows of its table, which `write` puts into words.
    pub fn write_rows(&self, write: fn(&Table) -> String, out: &mut dyn Write) -> io::Result<()> {
        let (document, mut table) = (self.frame(), self.heads());
        self.each(|r| {
            table.row(row(&document.head, &r));
            if table.len() < ROWS {
                return Ok(());
            }
            out.write_all(write(&std::mem::replace(&mut table, self.heads())).as_bytes())
        })?;
        out.write_all(write(&table).as_bytes())
    }

    /// As comma-separated values, without the heads.
    pub fn write_csv_rows(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_rows(Table::csv_rows, out)
    }

    /// As a Markdown table, without the heads.
    pub fn write_markdown_rows(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_rows(Table::markdown_rows, out)
    }

    /// One line of JSON for each result.
    pub fn write_lines(&self, out: &mut dyn Write) -> io::Result<()> {
        let document = self.frame();
        self.each(|r| document.head.lines(document.schema, &[r]).try_for_each(|line| write_line(&line, out)))
    }

    /// The heads of its table.
    pub fn heads(&self) -> Table {
        empty_table(self.device_relative.is_some())
    }
}

/// The same as [`RankingDocument`], whose lists are found as they are written.
#[derive(Serialize)]
struct Streamed<'a> {
    schema: &'static str,
    #[serde(flatten)]
    head: &'a Head,
    summary: RankingSummary,
    results: Results<'a>,
    infeasible: Refused<'a>,
    warnings: &'a [Warning],
    #[serde(skip_serializing_if = "Option::is_none")]
    elapsed_s: Option<f64>,
}

struct Results<'a>(&'a LongRanking<'a>);
struct Refused<'a>(&'a LongRanking<'a>);

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.placing.results()))?;
        self.0.each(|r| list.serialize_element(&r))?;
        list.end()
    }
}

impl Serialize for Refused<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let LongRanking { estimators, choices, placing, .. } = self.0;
        let mut list = serializer.serialize_seq(Some(placing.candidates() - placing.feasible()))?;
        placing.each_refused(estimators, *choices, |choice, why| {
            list.serialize_element(&rejected(&estimators[choice.kernel], choice, why))
        })?;
        list.end()
    }
}

impl Serialize for LongRanking<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let frame = self.frame();
        let RankingDocument { schema, head, summary, warnings, elapsed_s, .. } = &frame;
        let (results, infeasible) = (Results(self), Refused(self));
        let (schema, summary, elapsed_s) = (*schema, *summary, *elapsed_s);
        Streamed { schema, head, summary, results, infeasible, warnings, elapsed_s }.serialize(serializer)
    }
}
