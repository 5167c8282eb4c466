//! From a set file and its table to measured launches.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::config::{Config, Configs};
use super::document::SetDocument;
use super::formula::BadCell;
use super::plan::{Clock, Plan};
use super::row::{Understood, understood};
use super::sample::{Draw, scopes};
use super::set::{MeasuredSet, Problem, SetCase, SetFacts, SetLaunch};
use super::table::{BadRow, Borrowed, head, rows};
use crate::measure::records::{Record, Unreadable};
use crate::measure::validate::median;
use crate::text::{
    Bounds, Decode, Decoder, Diagnostic, Fault, FileId, Node, Sources, Span, Value, of_another_kind,
    parse_stream, shorten,
};

/// Bytes of a set file beyond which it is hardly one.
const MOST_BYTES: usize = 1 << 20;

/// A set file that was read.
#[derive(Debug, Clone)]
pub struct SetFile {
    document: SetDocument,
    sources: Sources,
}

/// How many rows are looked at, whatever the set file says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampleOptions {
    /// At most so many configurations of each group and part; as the file says if none.
    pub rows: Option<usize>,
    /// The seed; that of the file if none.
    pub seed: Option<u64>,
}

impl SetFile {
    /// Reads the text of a set file.
    pub fn read(name: &str, text: &str) -> Result<Self, Fault> {
        let mut sources = Sources::new();
        let file = sources.add(name, text);
        let (documents, mut errors) = parse_stream(text, file, Bounds::of_bytes(MOST_BYTES));
        let document = <[Node; 1]>::try_from(documents).map_err(|documents| {
            let message = format!("a set file holds one document, this one {}", documents.len());
            Diagnostic::error("set-file", Span::new(file, 0..0), message)
        });
        let found = match document {
            _ if !errors.is_empty() => None,
            Err(error) => {
                errors.push(error);
                None
            }
            Ok([document]) => {
                let mut decoder = Decoder::default();
                let found = versioned(document, file, &mut decoder)
                    .and_then(|document| SetDocument::decode(&document, &mut decoder));
                errors.extend(decoder.diagnostics);
                found
            }
        };
        match found {
            Some(document) if errors.is_empty() => Ok(Self { document, sources }),
            _ => Err(Fault::new(errors, Arc::new(sources))),
        }
    }

    /// Its short name.
    pub fn id(&self) -> &str {
        self.document.id.as_ref().map_or("", |id| &id.value)
    }

    /// The path of its table.
    pub fn data(&self) -> &str {
        self.document.data.as_ref().map_or("", |data| &data.value)
    }

    /// Where its table lies: in the folder of all tables, if there is one, otherwise beside the set file, at `set`. One
    /// whose path begins with a dot comes with the set file.
    pub fn table(&self, set: &Path, folder: Option<&Path>) -> PathBuf {
        let beside = set.parent().unwrap_or(Path::new(""));
        let folder = folder.filter(|_| !self.data().starts_with('.')).unwrap_or(beside);
        folder.join(self.data())
    }

    /// An error at the path of its table.
    pub fn without_data(&self, message: String) -> Fault {
        let span = self.document.data.as_ref().map_or(self.document.span, |data| data.span);
        let help = "say with --data FOLDER where the tables of set files are";
        let error = Diagnostic::error("cannot-read", span, message).help(help);
        Fault::new(vec![error], Arc::new(self.sources.clone()))
    }

    /// The launches that the set takes of a table, which messages call `name`.
    pub fn launches(&self, name: &str, data: &[u8], options: SampleOptions) -> Result<MeasuredSet, Fault> {
        let mut reading = Reading {
            name,
            sources: self.sources.clone(),
            errors: Vec::new(),
            more: 0,
            blamed: Vec::new(),
            set: &self.document,
        };
        match reading.all(data, options) {
            Ok(Some(set)) if reading.errors.is_empty() => Ok(set),
            Ok(_) => Err(reading.fault()),
            Err(why) => {
                reading.errors.push(Diagnostic::global("cannot-read", format!("{name}: {why}")));
                Err(reading.fault())
            }
        }
    }
}

/// A set file without its version, which has to be known.
fn versioned(mut document: Node, file: FileId, decoder: &mut Decoder) -> Option<Node> {
    if let Some(other) = of_another_kind(&document, "wavecast-set") {
        decoder.report(other);
        return None;
    }
    let Value::Map(entries) = &mut document.value else {
        decoder.expected(&document, "a set file (a mapping)");
        return None;
    };
    let at = entries.iter().position(|e| e.key == "wavecast-set");
    let version = at.map(|at| entries.remove(at).value);
    match version {
        Some(Node { value: Value::Scalar(s), .. }) if s.as_int() == Some(1) => Some(document),
        other => {
            let span = other.map_or(Span::new(file, 0..0), |n| n.span);
            let error = Diagnostic::error("version", span, "a set file begins with `wavecast-set: 1`");
            decoder.report(error.help("other versions are not known to this program"));
            None
        }
    }
}

/// What has been read, and what was wrong.
struct Reading<'a> {
    name: &'a str,
    set: &'a SetDocument,
    sources: Sources,
    errors: Vec<Diagnostic>,
    /// Errors beyond those that are kept.
    more: usize,
    /// Formulas that are to blame: where they stand, which error says so, and in how many rows.
    blamed: Vec<(Span, usize, usize)>,
}

impl Reading<'_> {
    fn all(&mut self, data: &[u8], options: SampleOptions) -> Result<Option<MeasuredSet>, Unreadable> {
        let Some(head) = head(data)? else {
            self.nothing("the data have no head and no rows");
            return Ok(None);
        };
        let plan = match Plan::new(self.set, head) {
            Ok(plan) => plan,
            Err(errors) => {
                self.errors.extend(errors);
                return Ok(None);
            }
        };
        let borrowed = Borrowed::find(&plan, data)?;
        let mut configs = Configs::default();
        let count = rows(&plan, data, &borrowed, |row| {
            let added = row.and_then(|row| {
                let record = row.record();
                configs.add(&plan, &row).map_err(|bad| BadRow { record, bad })
            });
            if let Err(BadRow { record, bad }) = added {
                self.bad(record, bad, plan.own);
            }
            true
        })?;
        configs.shorten();
        if self.errors.is_empty() && configs.all.is_empty() {
            self.nothing(&format!("no row of {count} is taken: see `where` and `when`"));
        }
        if !self.errors.is_empty() {
            return Ok(None);
        }
        let sample = self.set.sample.as_ref();
        let draw = Draw {
            most: options.rows.or_else(|| usize::try_from(sample?.rows?).ok()),
            seed: options.seed.or_else(|| u64::try_from(sample?.seed?).ok()).unwrap_or(1),
        };
        let (scopes, chosen) = scopes(&plan, &configs, draw);
        let (launches, cases) = self.cases(&plan, data, &borrowed, &configs, &chosen)?;
        let text = |text: &Option<String>| text.clone();
        Ok(Some(MeasuredSet {
            facts: SetFacts {
                id: self.set.id.as_ref().map(|id| id.value.clone()).unwrap_or_default(),
                about: text(&self.set.about),
                source: text(&self.set.source),
                licence: text(&self.set.licence),
                data: self.name.to_owned(),
                rows: count,
                rows_taken: configs.rows,
                rows_unsaid: configs.unsaid,
            },
            problems: problems(&configs),
            launches,
            cases,
            scopes,
            clock_fitted: matches!(plan.clock, Clock::Fitted),
        }))
    }

    /// Understands the rows of the configurations that were chosen.
    fn cases(
        &mut self,
        plan: &Plan,
        data: &[u8],
        borrowed: &Borrowed,
        configs: &Configs,
        chosen: &[usize],
    ) -> Result<(Vec<SetLaunch>, Vec<SetCase>), Unreadable> {
        let mut wanted: HashMap<(usize, usize), usize> = HashMap::new();
        for (case, &config) in chosen.iter().enumerate() {
            wanted.extend(configs.all[config].rows.iter().map(|&row| (row, case)));
        }
        let mut cases: Vec<Option<SetCase>> = vec![None; chosen.len()];
        let mut launches = Launches::default();
        rows(plan, data, borrowed, |row| {
            let Ok(row) = row else { return true };
            let Some(&case) = wanted.get(&(row.line(), row.each)) else { return true };
            match understood(plan, &row) {
                Ok(found) => add(&mut cases[case], found, &mut launches, &configs.all[chosen[case]], configs),
                Err(bad) => self.bad(row.record(), bad, plan.own),
            }
            true
        })?;
        Ok((launches.all, cases.into_iter().flatten().collect()))
    }

    fn nothing(&mut self, why: &str) {
        let message = format!("{}: {why}", self.name);
        self.errors.push(
            Diagnostic::global("empty", message).help(
                "the table needs a line of column names, and below it rows that `where` and `when` take",
            ),
        );
    }

    fn bad(&mut self, record: &Record, bad: BadCell, own: usize) {
        if let Some(span) = bad.formula {
            self.blame(span, record, &bad.message);
            return;
        }
        if self.errors.len() >= Fault::MOST {
            self.more += 1;
            return;
        }
        let column = bad.column.filter(|&c| c < own);
        let range = column.map_or(0..record.text().len(), |c| record.range(c));
        let file = self.sources.add_excerpt(self.name, record.text(), record.line);
        let error = Diagnostic::error("row", Span::new(file, range), bad.message);
        self.errors.push(error.help("mend the row, or leave it out with `where` or `when` of the set file"));
    }

    /// A formula whose value is impossible: said once, with the first row for an example.
    fn blame(&mut self, span: Span, record: &Record, message: &str) {
        if let Some((.., rows)) = self.blamed.iter_mut().find(|b| b.0 == span) {
            *rows += 1;
            return;
        }
        if self.errors.len() >= Fault::MOST {
            self.more += 1;
            return;
        }
        self.blamed.push((span, self.errors.len(), 1));
        let message = format!("{message}, as in {}:{}: {}", self.name, record.line, shorten(record.text()));
        let help = "mend the formula, or leave such rows out with `where` or `when` of the set file";
        self.errors.push(Diagnostic::error("formula", span, message).help(help));
    }

    fn fault(mut self) -> Fault {
        for (_, at, rows) in self.blamed.iter().filter(|b| b.2 > 1) {
            if let Some(error) = self.errors.get_mut(*at) {
                error.message = format!("in {rows} rows {}", error.message);
            }
        }
        if self.more > 0 {
            let message = format!("{} more errors not shown", self.more);
            self.errors.push(Diagnostic::global("too-many-errors", message));
        }
        Fault::new(self.errors, Arc::new(self.sources))
    }
}

/// Launches, each once.
#[derive(Default)]
struct Launches {
    all: Vec<SetLaunch>,
    known: HashMap<SetLaunch, usize>,
}

impl Launches {
    fn position(&mut self, launch: SetLaunch) -> usize {
        *self.known.entry(launch).or_insert_with_key(|launch| {
            self.all.push(launch.clone());
            self.all.len() - 1
        })
    }
}

/// Adds a row to its configuration.
fn add(
    case: &mut Option<SetCase>,
    found: Understood,
    launches: &mut Launches,
    config: &Config,
    configs: &Configs,
) {
    let Understood { launch, row, per } = found;
    match case {
        Some(case) => case.rows.push(row),
        None => {
            *case = Some(SetCase {
                config: configs.names.text(config.name).to_owned(),
                problem: config.problem,
                launch: launches.position(launch),
                rows: vec![row],
                per,
                duration: config.seconds(),
            });
        }
    }
}

/// The problems, each with the usual choice among all its configurations.
fn problems(configs: &Configs) -> Vec<Problem> {
    let mut usual: Vec<Vec<f64>> = vec![Vec::new(); configs.problems.len()];
    for config in configs.all.iter().filter(|c| c.usual) {
        usual[config.problem].extend(config.seconds());
    }
    let problem = |(i, mut times): (usize, Vec<f64>)| Problem {
        name: configs.problems.text(i).to_owned(),
        usual: (!times.is_empty()).then(|| median(&mut times)),
    };
    usual.into_iter().enumerate().map(problem).collect()
}
