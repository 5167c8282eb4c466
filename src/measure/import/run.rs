//! Reads a file of any format.

use std::io::{BufRead, Read};

use serde_json::Value as Json;

use super::format::ProfileFormat;
use super::launches::{ImportOptions, Imported, Launches};
use super::mapped::{self, Mapping};
use super::number::{Decimal, Evidence};
use super::problems::Problems;
use super::source::{Source, text};
use super::{amd, detect, ncu, repair, tuners};
use crate::measure::measurements::Bad;
use crate::measure::records::{Record, Records, Unreadable, starts_json};
use crate::text::Fault;
use crate::traffic::Caches;

/// Most bytes of a JSON document, unpacked: it is held as a whole. Tables are read line by line.
const MOST_JSON: u64 = 256 << 20;

/// Imports a file; its format is found if none is named.
///
/// ```
/// use wavecast::measure::import::{ImportOptions, TextSource, import};
/// let text = "\"ID\",\"Kernel Name\",\"Block Size\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\
///             \"0\",\"copy\",\"(256, 1, 1)\",\"gpu__time_duration.sum\",\"usecond\",\"12.5\"\n";
/// let found = import(&TextSource { name: "a.csv", bytes: text.as_bytes() }, None, &ImportOptions::default()).unwrap();
/// assert_eq!(found.measurements.rows[0].block, [256, 1, 1]);
/// ```
pub fn import(
    source: &dyn Source,
    format: Option<ProfileFormat>,
    options: &ImportOptions,
) -> Result<Imported, Fault> {
    let mut problems = Problems::new(source.name());
    let imported = match Mapping::new(options) {
        Ok(mapping) => read(source, &Wanted { format, options, mapping }, &mut problems),
        Err(Bad { code, message, help }) => {
            problems.global(code, &message, &help.unwrap_or_default());
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

/// What is asked for.
struct Wanted<'a> {
    /// The format, if it is known.
    format: Option<ProfileFormat>,
    options: &'a ImportOptions,
    mapping: Mapping,
}

fn read(source: &dyn Source, wanted: &Wanted<'_>, problems: &mut Problems) -> Result<Imported, Unreadable> {
    let is_json = match wanted.format {
        Some(format) => matches!(format, ProfileFormat::KernelTuner | ProfileFormat::T4 | ProfileFormat::Ktt),
        None => starts_json(&mut text(source)?)?,
    };
    if is_json { json(source, wanted, problems) } else { table(source, wanted, problems) }
}

fn json(source: &dyn Source, wanted: &Wanted<'_>, problems: &mut Problems) -> Result<Imported, Unreadable> {
    let Wanted { format, options, mapping } = wanted;
    let mut bytes = Vec::new();
    text(source)?.take(MOST_JSON + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_JSON {
        let message = format!("it has more than {} MiB of JSON, unpacked", MOST_JSON >> 20);
        problems.global("document-too-large", &message, "import it in parts");
        return Ok(Imported::default());
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}');
    let Some(format) = (*format).or_else(|| detect::of_json(text)) else {
        unknown(problems);
        return Ok(Imported::default());
    };
    let parsed = serde_json::from_str::<Json>(text);
    let parsed = parsed.or_else(|e| repair::closed(text).map_or(Err(e), |t| serde_json::from_str(&t)));
    Ok(match parsed {
        Ok(document) if format == ProfileFormat::T4 => tuners::t4(&document, options, mapping),
        Ok(document) if format == ProfileFormat::Ktt => tuners::ktt(&document, options, mapping),
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

/// What the numbers of some columns tell of their separator.
fn evidence(columns: &[usize], records: &mut Records<impl BufRead>) -> Result<Evidence, Unreadable> {
    let mut evidence = Evidence::default();
    while let Some(record) = records.read()? {
        for &i in columns {
            evidence.add(record.cell(i));
        }
        if evidence.is_settled(record.line) {
            break;
        }
    }
    Ok(evidence)
}

/// Reads on up to the head of a table; the records stand behind it.
fn head<R: BufRead>(
    records: &mut Records<R>,
    format: Option<ProfileFormat>,
) -> Result<Option<(ProfileFormat, Record)>, Unreadable> {
    for _ in 0..detect::MOST_BEFORE {
        let Some(record) = records.read()? else { return Ok(None) };
        let found = match format {
            Some(ProfileFormat::Csv) if record.text().starts_with('#') => None,
            Some(ProfileFormat::Csv) => Some(ProfileFormat::Csv),
            wanted => detect::of_head(record).filter(|f| wanted.is_none_or(|w| w == *f)),
        };
        if let Some(found) = found {
            return Ok(Some((found, record.clone())));
        }
    }
    Ok(None)
}

fn table(source: &dyn Source, wanted: &Wanted<'_>, problems: &mut Problems) -> Result<Imported, Unreadable> {
    let Wanted { format, options, mapping } = wanted;
    // A mapping is for tables of one's own.
    let format = (*format).or((!options.map.is_empty()).then_some(ProfileFormat::Csv));
    let mut records = Records::new(text(source)?);
    let Some((format, first)) = head(&mut records, format)? else {
        unknown(problems);
        return Ok(Imported::default());
    };
    if format == ProfileFormat::Csv {
        for name in mapped::missing(&first, mapping) {
            problems.global(
                "unknown-column",
                &format!("there is no column `{name}`"),
                "its head names the columns",
            );
        }
    }
    let evidence = |records: &mut Records<_>| {
        let numbers = match format {
            ProfileFormat::NcuLong => ncu::numbers_long(&first),
            ProfileFormat::NcuRaw => ncu::numbers_raw(&first),
            ProfileFormat::Csv => mapped::numbers(&first, mapping),
            _ => return Ok(Evidence::default()),
        };
        evidence(&numbers, records)
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
    launches(format, &first, &mut records, wanted, decimal, problems)
}

fn launches(
    format: ProfileFormat,
    first: &Record,
    records: &mut Records<impl BufRead>,
    wanted: &Wanted<'_>,
    decimal: Decimal,
    problems: &mut Problems,
) -> Result<Imported, Unreadable> {
    let Wanted { options, mapping, .. } = wanted;
    let found: Launches = match format {
        ProfileFormat::NcuLong => ncu::long(first, records, decimal, problems)?,
        ProfileFormat::NcuRaw => ncu::raw(first, records, decimal, problems)?,
        ProfileFormat::Rocprof => amd::long(first, records, problems)?,
        ProfileFormat::RocprofCompute => amd::wide(first, records, problems)?,
        _ => return mapped::table(first, mapping, records, options, decimal, problems),
    };
    let emptied = matches!(format, ProfileFormat::NcuLong | ProfileFormat::NcuRaw).then_some(Caches::Empty);
    Ok(found.finish(&ImportOptions { caches: options.caches.or(emptied), ..(*options).clone() }))
}
