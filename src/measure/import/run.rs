//! Reads a file of any format.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value as Json;

use super::launches::{Imported, Launches, Options, WITHOUT_METRIC};
use super::mapped::{self, Mapping};
use super::number::{Decimal, Evidence};
use super::{amd, detect, ncu, repair, tuners};
use crate::measure::measurements::{Bad, Refusal};
use crate::measure::records::{Record, Records, Unreadable};
use crate::source::{Diagnostic, Fault, Sources, Span};
use crate::trace::format::unpack;
use crate::traffic::Caches;

/// Most bytes of a JSON document, unpacked: it is held as a whole. Tables are read line by line.
const MOST_JSON: u64 = 256 << 20;

/// What profilers and tuners write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Nsight Compute `--csv`: one metric a line.
    NcuLong,
    /// Nsight Compute `--csv --page raw`: one launch a line.
    NcuRaw,
    /// rocprofv3 `counter_collection.csv`: one counter a line.
    Rocprof,
    /// rocprofiler-compute `pmc_perf.csv`: one dispatch a line.
    RocprofCompute,
    /// A Kernel Tuner cache file, also one without its end.
    KernelTuner,
    /// T4 results, as Kernel Tuner writes them.
    T4,
    /// KTT's JSON.
    Ktt,
    /// Any table with a head; the columns are mapped.
    Csv,
}

/// A file that can be read more than once.
pub trait Source {
    /// What messages call it.
    fn name(&self) -> &str;
    /// Its bytes from the start; what is packed (gzip, xz, zstd) is unpacked by whoever reads.
    fn open(&self) -> io::Result<Box<dyn BufRead + '_>>;
}

/// A file by its path.
#[derive(Debug, Clone)]
pub struct FileSource {
    name: String,
    path: PathBuf,
}

impl FileSource {
    /// The file at a path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { name: path.display().to_string(), path }
    }
}

impl Source for FileSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&self) -> io::Result<Box<dyn BufRead + '_>> {
        Ok(Box::new(BufReader::with_capacity(1 << 17, File::open(&self.path)?)))
    }
}

/// A text that was read.
#[derive(Debug, Clone)]
pub struct TextSource<'a> {
    /// What messages call it.
    pub name: &'a str,
    /// The text.
    pub bytes: &'a [u8],
}

impl Source for TextSource<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn open(&self) -> io::Result<Box<dyn BufRead + '_>> {
        Ok(Box::new(self.bytes))
    }
}

/// What is wrong with a cell.
#[derive(Debug)]
pub(super) enum Problem<'a> {
    /// No number.
    Number(&'a str),
    /// No unit that is known.
    Unit(&'a str),
    /// No measurement.
    Bad(Bad),
}

/// Metrics that a message names.
const MOST_NAMED: usize = 8;

/// What is wrong with a file.
#[derive(Debug)]
pub(super) struct Problems {
    name: String,
    sources: Sources,
    errors: Vec<Diagnostic>,
    more: usize,
}

impl Problems {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), sources: Sources::new(), errors: Vec::new(), more: 0 }
    }

    /// Reports a cell.
    pub(super) fn add(&mut self, record: &Record, cell: usize, problem: Problem<'_>) {
        if self.errors.len() >= Fault::MOST {
            self.more += 1;
            return;
        }
        let file = self.sources.add_excerpt(&self.name, record.text(), record.line);
        let span = Span::new(file, record.range(cell));
        self.errors.push(match problem {
            Problem::Number(text) => {
                Diagnostic::error("number", span, format!("`{text}` is no number")).help("see --decimal")
            }
            Problem::Unit(text) => {
                Diagnostic::error("unknown-unit", span, format!("`{text}` is no known unit"))
            }
            Problem::Bad(bad) => Diagnostic::error(bad.code, span, bad.message).maybe_help(bad.help),
        });
    }

    fn global(&mut self, code: &'static str, message: &str, help: &str) {
        let message = format!("{}: {message}", self.name);
        self.errors.push(Diagnostic::global(code, message).help(help));
    }

    fn finish(mut self, imported: Imported) -> Result<Imported, Fault> {
        if self.errors.is_empty() && imported.measurements.rows.is_empty() {
            let all: Vec<String> = imported.left_out.iter().map(|(what, n)| format!("{n} {what}")).collect();
            let unread = imported.metrics.unread(MOST_NAMED);
            let other = imported.left_out.keys().any(|what| what != WITHOUT_METRIC);
            let (why, help) = if unread.is_empty() || other {
                let why = if all.is_empty() { "it has no launches".to_owned() } else { all.join("; ") };
                (why, "docs/measurements.md says what is read")
            } else {
                let why = format!("of its metrics none is known: {unread}");
                (why, "`wavecast import --list-metrics` lists those that are")
            };
            self.global("empty", &format!("nothing to import: {why}"), help);
        }
        if self.errors.is_empty() {
            return Ok(imported);
        }
        if self.more > 0 {
            let message = format!("{} more errors not shown", self.more);
            self.errors.push(Diagnostic::global("too-many-errors", message));
        }
        Err(Fault::new(self.errors, Arc::new(self.sources)))
    }
}

/// Imports a file; its format is found if none is named.
///
/// ```
/// use wavecast::measure::import::{Options, TextSource, import};
/// let text = "\"ID\",\"Kernel Name\",\"Block Size\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\
///             \"0\",\"copy\",\"(256, 1, 1)\",\"gpu__time_duration.sum\",\"usecond\",\"12.5\"\n";
/// let found = import(&TextSource { name: "a.csv", bytes: text.as_bytes() }, None, &Options::default()).unwrap();
/// assert_eq!(found.measurements.rows[0].block, [256, 1, 1]);
/// ```
pub fn import(source: &dyn Source, format: Option<Format>, options: &Options) -> Result<Imported, Fault> {
    let mut problems = Problems::new(source.name());
    let imported = match Mapping::of(options) {
        Ok(mapping) => read(source, format, options, &mapping, &mut problems),
        Err(Refusal { code, message, help }) => {
            let help = help.unwrap_or_default();
            problems.global(code, &message, &help);
            Ok(Imported::default())
        }
    };
    match imported {
        Ok(imported) => problems.finish(imported),
        Err(why) => {
            problems.global("cannot-read", &why.to_string(), "check the path");
            problems.finish(Imported::default())
        }
    }
}

fn read(
    source: &dyn Source,
    format: Option<Format>,
    options: &Options,
    mapping: &Mapping,
    problems: &mut Problems,
) -> Result<Imported, Unreadable> {
    let is_json = match format {
        Some(format) => matches!(format, Format::KernelTuner | Format::T4 | Format::Ktt),
        None => starts_json(&mut text(source)?)?,
    };
    if is_json {
        json(source, format, options, mapping, problems)
    } else {
        table(source, format, options, mapping, problems)
    }
}

/// The text of a file, packed or not.
pub(super) fn text(source: &dyn Source) -> io::Result<Box<dyn BufRead + '_>> {
    Ok(Box::new(BufReader::with_capacity(1 << 17, unpack(source.open()?)?)))
}

fn starts_json(reader: &mut impl BufRead) -> io::Result<bool> {
    let start = reader.fill_buf()?;
    Ok(start.iter().find(|b| !b.is_ascii_whitespace() && !b"\xef\xbb\xbf".contains(b)) == Some(&b'{'))
}

fn json(
    source: &dyn Source,
    format: Option<Format>,
    options: &Options,
    mapping: &Mapping,
    problems: &mut Problems,
) -> Result<Imported, Unreadable> {
    let mut bytes = Vec::new();
    text(source)?.take(MOST_JSON + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_JSON {
        let message = format!("it has more than {} MiB of JSON, unpacked", MOST_JSON >> 20);
        problems.global("document-too-large", &message, "import it in parts");
        return Ok(Imported::default());
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}');
    let Some(format) = format.or_else(|| detect::of_json(text)) else {
        unknown(problems);
        return Ok(Imported::default());
    };
    let parsed = serde_json::from_str::<Json>(text);
    let parsed = parsed.or_else(|e| repair::closed(text).map_or(Err(e), |t| serde_json::from_str(&t)));
    Ok(match parsed {
        Ok(document) if format == Format::T4 => tuners::t4(&document, options, mapping),
        Ok(document) if format == Format::Ktt => tuners::ktt(&document, options, mapping),
        Ok(document) => tuners::cache(&document, options, mapping),
        Err(why) => {
            problems.global(
                "json",
                &format!("this is no JSON: {why}"),
                "a file that is cut off is read up to its last value",
            );
            Imported::default()
        }
    })
}

fn unknown(problems: &mut Problems) {
    let help = "name the format with --from, or map the columns of any table with --map";
    problems.global("unknown-format", "its format cannot be told", help);
}

/// Reads on up to the head of a table; the records stand behind it.
fn head<R: BufRead>(
    records: &mut Records<R>,
    format: Option<Format>,
) -> Result<Option<(Format, Record)>, Unreadable> {
    for _ in 0..detect::MOST_BEFORE {
        let Some(record) = records.read()? else { return Ok(None) };
        let found = match format {
            Some(Format::Csv) if record.text().starts_with('#') => None,
            Some(Format::Csv) => Some(Format::Csv),
            wanted => detect::of_head(record).filter(|f| wanted.is_none_or(|w| w == *f)),
        };
        if let Some(found) = found {
            return Ok(Some((found, record.clone())));
        }
    }
    Ok(None)
}

fn table(
    source: &dyn Source,
    format: Option<Format>,
    options: &Options,
    mapping: &Mapping,
    problems: &mut Problems,
) -> Result<Imported, Unreadable> {
    // A mapping is for tables of one's own.
    let format = format.or((!options.map.is_empty()).then_some(Format::Csv));
    let mut records = Records::new(text(source)?);
    let Some((format, first)) = head(&mut records, format)? else {
        unknown(problems);
        return Ok(Imported::default());
    };
    if format == Format::Csv {
        for name in mapped::missing(&first, mapping) {
            problems.global(
                "unknown-column",
                &format!("there is no column `{name}`"),
                "its head names the columns",
            );
        }
    }
    let evidence = |records: &mut Records<_>| -> Result<Evidence, Unreadable> {
        match format {
            Format::NcuLong => ncu::evidence_long(&first, records),
            Format::NcuRaw => ncu::evidence_raw(&first, records),
            Format::Csv => mapped::evidence(&first, mapping, records),
            _ => Ok(Evidence::default()),
        }
    };
    let decimal = match options.decimal {
        Some(decimal) => decimal,
        None => match evidence(&mut records)?.decide() {
            Ok(decimal) => decimal,
            Err(why) => {
                problems.global("decimal", why, "say which with --decimal point or --decimal comma");
                return Ok(Imported::default());
            }
        },
    };
    let mut records = Records::new(text(source)?);
    let Some((_, first)) = head(&mut records, Some(format))? else { return Ok(Imported::default()) };
    launches(format, &first, &mut records, options, mapping, decimal, problems)
}

fn launches(
    format: Format,
    first: &Record,
    records: &mut Records<impl BufRead>,
    options: &Options,
    mapping: &Mapping,
    decimal: Decimal,
    problems: &mut Problems,
) -> Result<Imported, Unreadable> {
    let found: Launches = match format {
        Format::NcuLong => ncu::long(first, records, decimal, problems)?,
        Format::NcuRaw => ncu::raw(first, records, decimal, problems)?,
        Format::Rocprof => amd::long(first, records, problems)?,
        Format::RocprofCompute => amd::wide(first, records, problems)?,
        _ => return mapped::table(first, mapping, records, options, decimal, problems),
    };
    let emptied = matches!(format, Format::NcuLong | Format::NcuRaw).then_some(Caches::Cold);
    Ok(found.finish(&Options { caches: options.caches.or(emptied), ..options.clone() }))
}
