//! Fits for people, as Markdown, and their residuals as rows of a table.

use std::fmt::Write;

use super::super::ranking::warnings;
use super::super::table::{Align, Table};
use super::super::units::{shape, significant};
use super::document::{CurveDocument, FitDocument};
use crate::curve::Interval;
use crate::measure::fit::RatePoint;
use crate::report::answer::{Answer, View};

impl Answer for FitDocument {
    fn text(&self, view: View) -> String {
        fit_text(self, view.width)
    }

    fn table(answers: &[&Self]) -> Table {
        Table::join(answers.iter().map(|d| fit_table(d)))
    }

    fn markdown(answers: &[&Self]) -> String {
        answers.iter().map(|d| fit_markdown(d)).collect()
    }
}

/// What a person sees of a fit.
fn fit_text(document: &FitDocument, width: Option<usize>) -> String {
    let mut out = head(document);
    for (title, table) in tables(document) {
        let _ = write!(out, "\n{title}\n{}", table.text(1, width));
    }
    warnings(&mut out, document.warnings.iter().collect());
    out
}

/// The same as Markdown.
fn fit_markdown(document: &FitDocument) -> String {
    let mut out = head(document);
    for (title, table) in tables(document) {
        let _ = write!(out, "\n## {title}\n\n{}", table.markdown());
    }
    for warning in &document.warnings {
        let _ = writeln!(out, "\nWarning: {}", warning.message);
    }
    out
}

fn head(document: &FitDocument) -> String {
    let simulated = if document.simulated { " (simulated)" } else { "" };
    format!("{}{simulated}: {} launches\n", document.device.title(), document.launches)
}

fn tables(document: &FitDocument) -> Vec<(&'static str, Table)> {
    let mut all = vec![("Volumes", curves(&document.curves))];
    if !document.time.is_empty() {
        all.push(("Time", times(document)));
    }
    all.push(("Errors on the launches that were fitted to", errors(document)));
    all
}

/// Four significant digits.
pub(in crate::report) fn short(value: f64) -> String {
    significant(format!("{value:.3e}").parse().unwrap_or(value))
}

pub(in crate::report) fn between(interval: Option<Interval>) -> String {
    interval.map_or_else(String::new, |i| format!("{} to {}", short(i.low()), short(i.high())))
}

pub(in crate::report) fn curves(all: &[CurveDocument]) -> Table {
    let left = |name: &'static str| (name, Align::Left);
    let right = |name: &'static str| (name, Align::Right);
    let columns = [
        left("curve"),
        left("form"),
        left("parameter"),
        right("value"),
        left("95 %"),
        left("bootstrap"),
        right("launches"),
        right("outliers"),
        right("deviation"),
        left(""),
    ];
    let mut table = Table::new(columns);
    for curve in all {
        let points = curve.points.len().to_string();
        if let Some(why) = &curve.kept {
            let cells = [curve.title, "kept", "", "", "", "", &points, "", "", why];
            table.row(cells.map(str::to_owned));
        }
        for (i, p) in curve.parameters.iter().enumerate() {
            let first = |text: String| if i == 0 { text } else { String::new() };
            table.row([
                first(curve.title.to_owned()),
                first(curve.form.unwrap_or_default().to_owned()),
                p.name.to_owned(),
                short(p.value.get()),
                between(p.interval),
                between(p.bootstrap),
                first(points.clone()),
                first(curve.outliers.map(|n| n.to_string()).unwrap_or_default()),
                first(curve.deviation_percent.map(|d| format!("{d:.2} %")).unwrap_or_default()),
            ]);
        }
    }
    table
}

fn times(document: &FitDocument) -> Table {
    use Align::{Left, Right};
    Table::filled(
        &document.time,
        &[
            ("coefficient", Left, &|t| t.known.name.to_owned()),
            ("unit", Left, &|t| t.known.unit.to_owned()),
            ("before", Right, &|t| short(t.before)),
            ("now", Right, &|t| short(t.value)),
            ("95 %", Left, &|t| between(t.interval)),
            ("", Left, &|t| t.kept.map(|why| format!("kept: {why}")).unwrap_or_default()),
        ],
    )
}

fn errors(document: &FitDocument) -> Table {
    use Align::{Left, Right};
    Table::filled(
        &document.errors,
        &[
            ("quantity", Left, &|e| e.quantity.title().to_owned()),
            ("before", Right, &|e| format!("{:.2} %", e.before.percent())),
            ("after", Right, &|e| format!("{:.2} %", e.after.percent())),
        ],
    )
}

/// Every measured rate with what the curve says.
fn fit_table(document: &FitDocument) -> Table {
    use Align::{Left, Right};
    let params =
        |p: &RatePoint| p.params.iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>().join(" ");
    Table::filled(
        document.curves.iter().flat_map(|curve| curve.points.iter().map(move |p| (curve.name, p))),
        &[
            ("curve", Left, &|(curve, _)| (*curve).to_owned()),
            ("kernel", Left, &|(_, p)| p.kernel.clone()),
            ("params", Left, &|(_, p)| params(p)),
            ("block", Left, &|(_, p)| shape(p.candidate.block())),
            ("fold", Left, &|(_, p)| shape(p.candidate.fold())),
            ("oversubscription", Right, &|(_, p)| significant(p.oversubscription.get())),
            ("measured", Right, &|(_, p)| significant(p.measured_share)),
            ("fitted", Right, &|(_, p)| any_significant(p.fitted_share)),
            ("residual", Right, &|(_, p)| any_significant(p.fitted_share.map(|f| f - p.measured_share))),
            ("weight", Right, &|(_, p)| significant(p.open_share)),
        ],
    )
}

fn any_significant(number: Option<f64>) -> String {
    number.map(significant).unwrap_or_default()
}
