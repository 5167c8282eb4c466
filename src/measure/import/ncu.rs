//! Nsight Compute: `--csv`, one metric a line, and `--csv --page raw`, one launch a line.

use std::io::BufRead;

use super::launches::Launches;
use super::metrics::{Meaning, unit};
use super::number::{Decimal, number};
use super::problems::{Problem, Problems};
use crate::measure::measurements::parse_shape;
use crate::measure::records::{Record, Records, Unreadable};

/// Where the columns of the long form stand; old versions have fewer.
struct Long {
    id: Option<usize>,
    process: Option<usize>,
    kernel: Option<usize>,
    block: Option<usize>,
    metric: usize,
    unit: Option<usize>,
    value: usize,
}

fn column(head: &Record, name: &str) -> Option<usize> {
    (0..head.len()).find(|&i| head.cell(i) == name)
}

impl Long {
    fn find(head: &Record) -> Option<Self> {
        let at = |name| column(head, name);
        Some(Self {
            id: at("ID"),
            process: at("Process ID"),
            kernel: at("Kernel Name"),
            block: at("Block Size"),
            metric: at("Metric Name")?,
            unit: at("Metric Unit"),
            value: at("Metric Value")?,
        })
    }
}

/// Whether a line is one of the profiler's own messages.
fn is_message(record: &Record) -> bool {
    record.text().starts_with("==")
}

/// Columns of the long form whose numbers tell of their separator.
pub(super) fn numbers_long(head: &Record) -> Vec<usize> {
    column(head, "Metric Value").into_iter().collect()
}

/// Those of the raw page: of metrics.
pub(super) fn numbers_raw(head: &Record) -> Vec<usize> {
    (0..head.len()).filter(|&i| head.cell(i).contains("__")).collect()
}

/// Reads the long form behind its head.
pub(super) fn long(
    head: &Record,
    records: &mut Records<impl BufRead>,
    decimal: Decimal,
    problems: &mut Problems,
) -> Result<Launches, Unreadable> {
    let mut launches = Launches::default();
    let Some(columns) = Long::find(head) else { return Ok(launches) };
    let mut id = String::new();
    while let Some(record) = records.read()? {
        // A second program writes a head of its own.
        if is_message(record) || record.cell(columns.metric) == "Metric Name" {
            continue;
        }
        let Some(meaning) = launches.meaning(record.cell(columns.metric)) else { continue };
        let counter = meaning.counter;
        let text = record.cell(columns.value);
        if is_missing(text) {
            continue;
        }
        let unit_text = columns.unit.map_or("", |i| record.cell(i));
        let Some(worth) = unit(unit_text, counter) else {
            problems.add(record, columns.unit.unwrap_or(columns.value), Problem::Unit(unit_text));
            continue;
        };
        let Some(value) = number(text, decimal) else {
            problems.add(record, columns.value, Problem::Number(text));
            continue;
        };
        let name = launches.name(columns.kernel.map_or("", |i| record.cell(i)));
        let launch = if let Some(i) = columns.id {
            id.clear();
            id.push_str(columns.process.map_or("", |p| record.cell(p)));
            id.push('/');
            id.push_str(record.cell(i));
            launches.of_id(&id, record.line)
        } else {
            // Without ids a launch ends where a metric comes again, or another kernel.
            let goes_on = launches.last().is_some_and(|l| l.has_name(name) && !l.has(counter));
            launches.last_or_another(goes_on, record.line)
        };
        launch.set_name(name);
        if let Some(block) = columns.block.and_then(|i| parse_shape(record.cell(i))) {
            launch.set_block(block);
        }
        if !launch.has(counter) {
            launch.count(Meaning { factor: meaning.factor * worth, ..meaning }, value);
        }
    }
    Ok(launches)
}

/// Values that a profiler writes where it has none.
pub(super) fn is_missing(text: &str) -> bool {
    matches!(text.trim(), "" | "n/a" | "N/A" | "nan" | "NaN" | "-nan" | "no data" | "inf")
}

/// Reads the raw page behind its head.
pub(super) fn raw(
    head: &Record,
    records: &mut Records<impl BufRead>,
    decimal: Decimal,
    problems: &mut Problems,
) -> Result<Launches, Unreadable> {
    let mut launches = Launches::default();
    let block = column(head, "Block Size");
    // What has none is not taken for a raw page.
    let Some(kernel) = column(head, "Kernel Name") else { return Ok(launches) };
    let mut metrics: Vec<(usize, Meaning)> = Vec::new();
    for i in 0..head.len() {
        // What else is in the head tells of the launch.
        let name = head.cell(i);
        let meaning = if name.contains("__") || super::metrics::meaning(name).is_some() {
            launches.meaning(name)
        } else {
            None
        };
        metrics.extend(meaning.map(|m| (i, m)));
    }
    let mut has_units = false;
    while let Some(record) = records.read()? {
        if is_message(record) || record.cell(kernel) == "Kernel Name" {
            continue;
        }
        if !has_units {
            has_units = true;
            if record.cell(kernel).is_empty() {
                units(record, &mut metrics, problems);
                continue;
            }
            // Times have no unit then; counts need none.
            metrics.retain(|m| unit("", m.1.counter).is_some());
        }
        let name = launches.name(record.cell(kernel));
        let launch = launches.another(record.line);
        launch.set_name(name);
        if let Some(block) = block.and_then(|i| parse_shape(record.cell(i))) {
            launch.set_block(block);
        }
        for &(i, meaning) in &metrics {
            let text = record.cell(i);
            if is_missing(text) {
                continue;
            }
            match number(text, decimal) {
                Some(value) => launch.count(meaning, value),
                None => problems.add(record, i, Problem::Number(text)),
            }
        }
    }
    Ok(launches)
}

/// Puts the line of units in; a metric whose unit is not known is left out.
fn units(record: &Record, metrics: &mut Vec<(usize, Meaning)>, problems: &mut Problems) {
    metrics.retain_mut(|(i, meaning)| {
        let Some(worth) = unit(record.cell(*i), meaning.counter) else {
            problems.add(record, *i, Problem::Unit(record.cell(*i)));
            return false;
        };
        meaning.factor *= worth;
        true
    });
}
