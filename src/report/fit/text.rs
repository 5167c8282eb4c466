//! Fits for people, as Markdown, and their residuals as rows of a table.

use std::fmt::Write;

use super::super::ranking::warnings;
use super::super::table::{Align, Table};
use super::super::units::{shape, significant};
use super::document::{CurveDocument, FitDocument};
use crate::curve::Interval;
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
    format!("{}{simulated}: {} launches\n", document.device.name, document.launches)
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
    let left = |name: &'static str| (name, Align::Left);
    let right = |name: &'static str| (name, Align::Right);
    let columns = [left("coefficient"), right("before"), right("now"), left("95 %"), left("")];
    let mut table = Table::new(columns);
    for t in &document.time {
        let kept = t.kept.map(|why| format!("kept: {why}")).unwrap_or_default();
        table.row([t.known.name.to_owned(), short(t.before), short(t.value), between(t.interval), kept]);
    }
    table
}

fn errors(document: &FitDocument) -> Table {
    let right = |name: &'static str| (name, Align::Right);
    let mut table = Table::new([("quantity", Align::Left), right("before"), right("after")]);
    for e in &document.errors {
        table.row([
            e.quantity.title().to_owned(),
            format!("{:.2} %", e.before.percent()),
            format!("{:.2} %", e.after.percent()),
        ]);
    }
    table
}

/// Every measured rate with what the curve says.
fn fit_table(document: &FitDocument) -> Table {
    let left = |name: &'static str| (name, Align::Left);
    let right = |name: &'static str| (name, Align::Right);
    let columns = ["curve", "kernel", "params", "block", "fold"].map(left).into_iter();
    let numbers = ["oversubscription", "measured", "fitted", "residual", "weight"].map(right);
    let mut table = Table::new(columns.chain(numbers));
    for curve in &document.curves {
        for p in &curve.points {
            let params: Vec<String> = p.params.iter().map(|(n, v)| format!("{n}={v}")).collect();
            table.row([
                curve.name.to_owned(),
                p.kernel.clone(),
                params.join(" "),
                shape(p.candidate.block()),
                shape(p.candidate.fold()),
                significant(p.oversubscription.get()),
                significant(p.measured_share),
                p.fitted_share.map(significant).unwrap_or_default(),
                p.fitted_share.map(|f| significant(f - p.measured_share)).unwrap_or_default(),
                significant(p.open_share),
            ]);
        }
    }
    table
}
