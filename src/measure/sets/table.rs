//! The rows of a table as a set file takes them: one launch for each of several columns, further columns, and cells
//! that are filled from other rows.

use std::collections::HashMap;

use super::formula::{BadCell, Cells, Formula, Numbers};
use super::plan::{Borrow, Further, Plan};
use crate::measure::records::{Record, Records, Unreadable};
use crate::measure::validate::median;

/// A row, or one of the launches of a row.
pub(super) struct Row<'r> {
    record: &'r Record,
    own: usize,
    /// Columns beyond those of the table.
    further: Vec<String>,
    /// Cells that were empty.
    filled: Vec<(usize, String)>,
    /// Which of the columns of `each` it is of.
    pub(super) each: usize,
}

impl Cells for Row<'_> {
    fn text(&self, column: usize) -> &str {
        let text = match column.checked_sub(self.own) {
            None => self.record.cell(column),
            Some(further) => self.further.get(further).map_or("", String::as_str),
        };
        match self.filled.iter().find(|f| f.0 == column) {
            Some((_, filled)) if text.is_empty() => filled,
            _ => text,
        }
    }
}

impl<'r> Row<'r> {
    /// The line where it starts.
    pub(super) fn line(&self) -> usize {
        self.record.line
    }

    /// What tells it from all others: the line, and which of the columns of `each` it is of.
    pub(super) fn place(&self) -> (usize, usize) {
        (self.record.line, self.each)
    }

    /// The whole line.
    pub(super) fn record(&self) -> &'r Record {
        self.record
    }
}

/// A text in the way in which equal numbers are written equally.
pub(super) fn plain(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => number.to_string(),
        _ => text.to_owned(),
    }
}

/// What other rows say of cells that are empty: for each column that borrows and each list of columns in which rows
/// have to agree, the median of those that do.
#[derive(Debug, Default)]
pub(super) struct Borrowed(Vec<Vec<HashMap<Vec<String>, f64>>>);

fn key(row: &dyn Cells, columns: &[usize]) -> Vec<String> {
    columns.iter().map(|&c| plain(row.text(c))).collect()
}

impl Borrowed {
    /// Looks through all rows. What is no number there lends nothing.
    pub(super) fn find(plan: &Plan, data: &[u8]) -> Result<Self, Unreadable> {
        if plan.borrow.is_empty() {
            return Ok(Self::default());
        }
        let lists = |b: &Borrow| vec![HashMap::<Vec<String>, Vec<f64>>::new(); b.same.len()];
        let mut found: Vec<_> = plan.borrow.iter().map(lists).collect();
        rows(plan, data, &Self::default(), |row| {
            if let Ok(row) = row {
                for (borrow, lists) in plan.borrow.iter().zip(&mut found) {
                    let lends = borrow.conditions.iter().all(|(c, test)| test.holds(row.text(*c)));
                    if let (true, Ok(Some(number))) = (lends, row.number(borrow.column)) {
                        for (columns, list) in borrow.same.iter().zip(lists) {
                            list.entry(key(&row, columns)).or_default().push(number);
                        }
                    }
                }
            }
            true
        })?;
        let medians = |list: HashMap<Vec<String>, Vec<f64>>| {
            list.into_iter().map(|(key, mut values)| (key, median(&mut values))).collect()
        };
        Ok(Self(found.into_iter().map(|lists| lists.into_iter().map(medians).collect()).collect()))
    }

    /// Fills the cells of a row that are empty.
    fn fill(&self, plan: &Plan, row: &mut Row<'_>) {
        for (borrow, lists) in plan.borrow.iter().zip(&self.0) {
            if row.text(borrow.column).is_empty() {
                let known =
                    borrow.same.iter().zip(lists).find_map(|(columns, list)| list.get(&key(row, columns)));
                if let Some(number) = known.or(borrow.otherwise.as_ref()) {
                    // Counts stay counts, though their median may be halfway between two.
                    row.filled.push((borrow.column, number.floor().to_string()));
                }
            }
        }
    }
}

/// A row that cannot be understood: where it is, and why.
pub(super) struct BadRow<'r> {
    pub(super) record: &'r Record,
    pub(super) bad: BadCell,
}

/// Goes through all rows, as long as `each` says so. How many rows the table has.
pub(super) fn rows(
    plan: &Plan,
    data: &[u8],
    borrowed: &Borrowed,
    mut each: impl FnMut(Result<Row<'_>, BadRow<'_>>) -> bool,
) -> Result<usize, Unreadable> {
    let mut records = Records::new(data);
    let (mut head, mut count) = (true, 0);
    while let Some(record) = records.read()? {
        if record.text().starts_with('#') {
            continue;
        }
        if head {
            head = false;
            continue;
        }
        count += 1;
        for which in 0..plan.each.len().max(1) {
            let mut row = Row { record, own: plan.own, further: Vec::new(), filled: Vec::new(), each: which };
            if let Some((column, cells)) = plan.each.get(which) {
                let value = record.cell(*column);
                if value.is_empty() {
                    continue;
                }
                row.further.clone_from(cells);
                row.further.push(value.to_owned());
            }
            let row = derived(plan, row).map(|mut row| {
                borrowed.fill(plan, &mut row);
                row
            });
            if !each(row) {
                return Ok(count);
            }
        }
    }
    Ok(count)
}

/// Adds the further columns of a row.
fn derived<'r>(plan: &Plan, mut row: Row<'r>) -> Result<Row<'r>, BadRow<'r>> {
    for further in &plan.derived {
        let text = match further {
            Further::Column(by) => by.name(row.text(by.column)).unwrap_or_default().to_owned(),
            Further::First(formulas) => {
                let mut texts = formulas.iter().map(|formula| text(formula, &row));
                match texts.find(|text| text.as_ref().map_or(true, |text| !text.is_empty())) {
                    None => String::new(),
                    Some(Ok(text)) => text,
                    Some(Err(bad)) => return Err(BadRow { record: row.record, bad }),
                }
            }
        };
        row.further.push(text);
    }
    Ok(row)
}

/// What a formula makes of a row as the text of a cell.
fn text(formula: &Formula, row: &Row<'_>) -> Result<String, BadCell> {
    match formula.column() {
        Some(column) => Ok(row.text(column).to_owned()),
        None => Ok(formula.value(row, Numbers::Real)?.map(|v| v.to_string()).unwrap_or_default()),
    }
}

/// The head of a table.
pub(super) fn head(data: &[u8]) -> Result<Option<Vec<String>>, Unreadable> {
    let mut records = Records::new(data);
    while let Some(record) = records.read()? {
        if !record.text().starts_with('#') {
            return Ok(Some(record.cells().map(str::to_owned).collect()));
        }
    }
    Ok(None)
}
