//! Any table with a head: columns of the measurement format by the names that the table gives them, and
//! tuning parameters in the same way.

use std::io::BufRead;

use super::launches::{ImportOptions, Imported, subject};
use super::ncu::is_missing;
use super::number::{Decimal, number};
use super::problems::{Problem, Problems};
use crate::measure::measurements::{Bad, Builder, Column};
use crate::measure::records::{Record, Records, Unreadable};

/// Columns of the measurement format with the names that they have elsewhere.
#[derive(Debug, Clone)]
pub(super) struct Mapping {
    columns: Vec<(Column, String)>,
}

impl Mapping {
    /// Of the options; says which column is none.
    pub(super) fn new(options: &ImportOptions) -> Result<Self, Bad> {
        let one = |(column, name): &(String, String)| Ok((Column::parse(column)?, name.clone()));
        Ok(Self { columns: options.map.iter().map(one).collect::<Result<_, Bad>>()? })
    }

    /// Columns with the name that each has elsewhere.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(Column, String)> {
        self.columns.iter()
    }
}

/// Starts a row with what the options say.
pub(super) fn start(builder: &mut Builder, options: &ImportOptions, kernel: &str) -> Result<bool, Bad> {
    builder.clear();
    let Some(subject) = subject(options, kernel) else { return Ok(false) };
    builder.set(&Column::Kernel, &subject.kernel)?;
    if let Some(device) = &subject.device {
        builder.set(&Column::Device, device)?;
    }
    for (name, value) in &subject.params {
        builder.param(name, &value.to_string())?;
    }
    let (block, fold) = (options.block.map(|b| b.to_string()), options.fold.map(|f| f.to_string()));
    builder.defaults(block.as_deref(), fold.as_deref())?;
    Ok(true)
}

/// The mapping of a table: what the options say, and columns that are named as in the format.
fn places(head: &Record, mapping: &Mapping) -> Vec<(usize, Column)> {
    let mut places: Vec<(usize, Column)> = Vec::new();
    for (column, name) in mapping.iter() {
        places.extend((0..head.len()).find(|&i| head.cell(i) == name).map(|i| (i, column.clone())));
    }
    for i in 0..head.len() {
        if let Ok(column) = Column::parse(head.cell(i))
            && !places.iter().any(|p| p.0 == i || p.1.name() == column.name())
        {
            places.push((i, column));
        }
    }
    places
}

/// Names of mapped columns that a table has not.
pub(super) fn missing<'a>(head: &'a Record, mapping: &'a Mapping) -> impl Iterator<Item = &'a str> {
    let absent = |name: &&str| !head.cells().any(|c| c == *name);
    mapping.iter().map(|m| m.1.as_str()).filter(absent)
}

/// Columns of what was measured, whose numbers tell of their separator.
pub(super) fn numbers(head: &Record, mapping: &Mapping) -> Vec<usize> {
    let places = places(head, mapping).into_iter();
    places.filter(|p| matches!(p.1, Column::Measured(..))).map(|p| p.0).collect()
}

/// Reads a table behind its head.
pub(super) fn table(
    head: &Record,
    mapping: &Mapping,
    records: &mut Records<impl BufRead>,
    options: &ImportOptions,
    decimal: Decimal,
    problems: &mut Problems,
) -> Result<Imported, Unreadable> {
    let places = places(head, mapping);
    let kernel = places.iter().find(|p| p.1 == Column::Kernel).map(|p| p.0);
    let mut imported = Imported::default();
    let mut builder = Builder::default();
    while let Some(record) = records.read()? {
        let name = kernel.map_or("", |i| record.cell(i));
        match start(&mut builder, options, name) {
            Ok(true) => {}
            Ok(false) => {
                imported.leave_out("launches of kernels that --kernel does not name");
                continue;
            }
            Err(bad) => {
                problems.add(record, 0, Problem::Bad(bad));
                continue;
            }
        }
        let cells = places.iter().filter(|p| p.1 != Column::Kernel);
        let mut whole = true;
        for (i, column) in cells {
            if let Err(problem) = cell(&mut builder, column, record.cell(*i), decimal) {
                problems.add(record, *i, problem);
                whole = false;
            }
        }
        if whole && let Err(bad) = builder.finish(record.line, &mut imported.measurements) {
            problems.add(record, 0, Problem::Bad(bad));
        }
    }
    imported.check(options);
    Ok(imported)
}

fn cell<'a>(
    builder: &mut Builder,
    column: &Column,
    text: &'a str,
    decimal: Decimal,
) -> Result<(), Problem<'a>> {
    if !matches!(column, Column::Measured(..)) {
        return builder.set(column, text).map_err(Problem::Bad);
    }
    if is_missing(text) {
        return Ok(());
    }
    let value = number(text, decimal).ok_or(Problem::Number(text))?;
    builder.measured(column, value).map_err(Problem::Bad)
}
