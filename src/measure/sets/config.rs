//! The configurations of a table: which rows are repetitions, and which are alternatives to each other.

use std::collections::HashMap;

use super::condition::Test;
use super::formula::{BadCell, Cells, Numbers};
use super::plan::Plan;
use super::row::chosen_name;
use super::table::{Row, plain};
use crate::measure::measurements::MeasuredQuantity;
use crate::measure::validate::median;

/// Texts, each once, by their number.
#[derive(Debug, Default)]
pub(super) struct Names {
    texts: Vec<String>,
    known: HashMap<String, usize>,
}

impl Names {
    fn position(&mut self, text: String) -> usize {
        *self.known.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            self.texts.len() - 1
        })
    }

    pub(super) fn text(&self, i: usize) -> &str {
        &self.texts[i]
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Leaves out the words that all have.
    fn shorten(&mut self) {
        let words = |text: &str| text.split(BETWEEN).map(str::to_owned).collect::<Vec<_>>();
        let Some(first) = self.texts.first().map(|text| words(text)) else { return };
        let mut differ = vec![self.texts.len() == 1; first.len()];
        for text in &self.texts {
            for (differs, (word, other)) in differ.iter_mut().zip(text.split(BETWEEN).zip(&first)) {
                *differs |= word != other;
            }
        }
        for text in &mut self.texts {
            let kept =
                text.split(BETWEEN).zip(&differ).filter(|(_, differs)| **differs).map(|(word, _)| word);
            *text = kept.collect::<Vec<_>>().join(" ");
        }
    }
}

/// A configuration of a problem.
#[derive(Debug)]
pub(super) struct Config {
    pub(super) name: usize,
    pub(super) problem: usize,
    pub(super) group: usize,
    /// For each part of the set file whether it belongs to it.
    pub(super) parts: Box<[bool]>,
    /// Whether it is the usual choice.
    pub(super) usual: bool,
    /// Its rows: line, and which of the columns of `each`.
    pub(super) rows: Vec<(usize, usize)>,
    /// Times of its rows, or what is proportional to them.
    pub(super) times: Vec<f64>,
}

impl Config {
    /// The median of its times.
    pub(super) fn seconds(&self) -> Option<f64> {
        (!self.times.is_empty()).then(|| median(&mut self.times.clone()))
    }
}

/// All configurations of a table.
#[derive(Debug, Default)]
pub(super) struct Configs {
    pub(super) all: Vec<Config>,
    pub(super) names: Names,
    pub(super) problems: Names,
    pub(super) groups: Names,
    /// Rows that are taken.
    pub(super) rows: usize,
    /// Rows of which the condition says nothing.
    pub(super) unsaid: usize,
    known: HashMap<(usize, usize), usize>,
}

fn hold(conditions: &[(usize, Test)], row: &Row<'_>) -> bool {
    conditions.iter().all(|(column, test)| test.holds(row.text(*column)))
}

/// What stands between the words of a name until it is shortened.
const BETWEEN: char = '\u{1f}';

/// The cells of some columns with the names of these.
fn full(plan: &Plan, row: &Row<'_>, columns: &[usize]) -> String {
    let word = |&c: &usize| format!("{}={}", plan.columns.0[c], plain(row.text(c)));
    columns.iter().map(word).collect::<Vec<_>>().join(&BETWEEN.to_string())
}

/// The cells of some columns, with or without the names of these.
fn named(plan: &Plan, row: &Row<'_>, columns: &[usize], with_names: bool) -> String {
    let cell = |&c: &usize| {
        let text = plain(row.text(c));
        if with_names { format!("{}={text}", plan.columns.0[c]) } else { text }
    };
    columns.iter().map(cell).collect::<Vec<_>>().join(" ")
}

impl Configs {
    /// Adds a row, if the set takes it and something was measured.
    pub(super) fn add(&mut self, plan: &Plan, row: &Row<'_>) -> Result<(), BadCell> {
        if !hold(&plan.conditions, row) {
            return Ok(());
        }
        let holds = match &plan.when {
            Some(when) => when.value(row, Numbers::Real)?,
            None => Some(1.0),
        };
        if holds == Some(0.0) {
            return Ok(());
        }
        if holds.is_none() {
            self.unsaid += usize::from(matches!(time(plan, row), Ok(Some(_))));
            return Ok(());
        }
        let Some(time) = time(plan, row)? else { return Ok(()) };
        self.rows += 1;
        let name = self.names.position(full(plan, row, &plan.config));
        let group = self.groups.position(named(plan, row, &plan.group, false));
        let device = chosen_name(&plan.device, row)?;
        let apart = named(plan, row, &plan.apart, true);
        let problem = self.problems.position(format!("{device} {apart}").trim_end().to_owned());
        let at = *self.known.entry((problem, name)).or_insert(self.all.len());
        if at == self.all.len() {
            self.all.push(Config {
                name,
                problem,
                group,
                parts: plan.parts.iter().map(|p| hold(&p.1, row)).collect(),
                usual: !plan.fixed.is_empty() && hold(&plan.fixed, row),
                rows: Vec::new(),
                times: Vec::new(),
            });
        }
        let config = &mut self.all[at];
        config.rows.push(row.place());
        config.times.extend(time);
        Ok(())
    }
}

impl Configs {
    /// Leaves out of the names what is the same for all.
    pub(super) fn shorten(&mut self) {
        self.names.shorten();
        self.names.known.clear();
    }
}

/// The time of a row, or what is proportional to it; none at all if nothing was measured.
#[expect(clippy::option_option, reason = "what was measured may be something else than a time")]
fn time(plan: &Plan, row: &Row<'_>) -> Result<Option<Option<f64>>, BadCell> {
    let mut found = None;
    for (quantity, unit, formula) in &plan.measured {
        let Some(value) = formula.value(row, Numbers::Real)? else { continue };
        let time: &mut Option<f64> = found.get_or_insert(None);
        let amount = value * unit.factor;
        if time.is_none() && amount > 0.0 {
            *time = match quantity {
                MeasuredQuantity::Time | MeasuredQuantity::Cycles => Some(amount),
                MeasuredQuantity::Rate => Some(amount.recip()),
                _ => None,
            };
        }
    }
    let per = plan.per.as_ref().map_or(Ok(None), |p| p.value(row, Numbers::Real))?.filter(|p| *p > 0.0);
    Ok(found.map(|time| time.map(|t| t / per.unwrap_or(1.0))))
}
