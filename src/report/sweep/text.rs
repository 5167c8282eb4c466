//! Series for people, and as rows of a table.

use std::fmt::Write;

use super::super::check::Warning;
use super::super::prediction::ResultDocument;
use super::super::ranking::{NUMBERS, limiter_style, numbers, warning_lines, warnings};
use super::super::table::{Align, Table};
use super::super::units::{RateScale, counted, extents, number, shape};
use super::document::{SweepDocument, SweepPoint};
use super::lines::{SeriesLine, launch_text, lines};
use crate::report::answer::{Answer, View, write_line};

impl Answer for SweepDocument {
    const VIEW: &str = "sweep";
    const TITLE: &str = "Series";
    const LINES_ARE_RESULTS: bool = true;

    fn text(&self, view: View) -> String {
        sweep_text(self, view.width)
    }

    fn table(answers: &[&Self]) -> Table {
        sweep_table(answers)
    }

    fn beside_rows(&self) -> Vec<String> {
        warning_lines(all_warnings(self))
    }

    #[cfg(feature = "cli")]
    fn picture(&self) -> Option<String> {
        Some(crate::report::svg::sweep_picture(self))
    }

    fn write_lines(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        self.lines().try_for_each(|line| write_line(&line, out))
    }
}

/// What a person sees of a series.
fn sweep_text(document: &SweepDocument, width: Option<usize>) -> String {
    let (mut out, lines) = (head_text(document), lines(document));
    let shown = Shown::new(document, &lines);
    out.push_str(&shown.table(document, &lines).text(1, width));
    if document.summary.feasible > 0 {
        let unit = &document.head.kernel.unit;
        let _ = writeln!(
            out,
            "\n rates in {}; volumes in bytes per {unit}: L2 load = compulsory + capacity,\n DRAM load = compulsory - reuse from earlier blocks + capacity + fill; O = bytes between two uses\n over the capacity: of L1, and of L2 since the last row and the last plane of blocks",
            scale(document).unit(unit)
        );
    }
    refused(&mut out, document);
    warnings(&mut out, all_warnings(document));
    out
}

fn head_text(document: &SweepDocument) -> String {
    let (head, summary) = (&document.head, &document.summary);
    let over: Vec<String> =
        document.vary.iter().map(|v| format!("{} ({})", v.name, counted(v.values.len(), "value"))).collect();
    // Where the device itself varies, each line says on which it is.
    let (on, model) = if document.device_varies() {
        (String::new(), head.how())
    } else {
        (format!(" on {} ({})", head.device.name, head.device.id), head.model_text())
    };
    format!(
        "{} over {}{on}\n{model}\n{}, {} can run; {}\n\n",
        head.kernel.name,
        over.join(" and "),
        counted(summary.points, "point"),
        summary.feasible,
        launch_text(document),
    )
}

/// Columns that are shown only where they say something.
struct Shown {
    /// Names of what sets lines apart.
    labels: Vec<String>,
    domain: bool,
    block: bool,
    fold: bool,
    scale: RateScale,
}

impl Shown {
    fn new(document: &SweepDocument, lines: &[SeriesLine<'_>]) -> Self {
        let known = || document.points.iter().map(|p| &p.domain).filter(|d| !d.is_empty());
        let folded = document.points.iter().any(|p| p.config.as_ref().is_some_and(|c| c.fold() != [1; 3]));
        let varies = |group: &str| document.vary.iter().any(|v| v.kind == group && v.name != group);
        Self {
            labels: lines.first().map_or_else(Vec::new, |l| l.labels.iter().map(|l| l.0.clone()).collect()),
            domain: known().any(|d| Some(d) != known().next()),
            block: document.best || varies("block"),
            fold: varies("fold") || (document.best && folded),
            scale: scale(document),
        }
    }

    fn table(&self, document: &SweepDocument, lines: &[SeriesLine<'_>]) -> Table {
        let axis = document.vary.first().map_or("", |v| v.name.as_str());
        let mut columns: Vec<(&str, Align)> = self.labels.iter().map(|l| (l.as_str(), Align::Left)).collect();
        columns.push((axis, Align::Right));
        if self.domain {
            columns.push(("domain", Align::Left));
        }
        if self.block {
            columns.push(("block", Align::Left));
        }
        if self.fold {
            columns.push(("fold", Align::Left));
        }
        columns.extend([("rate", Align::Right), ("limiter", Align::Left)]);
        let numbers = ["L2 load", "(comp + cap)", "DRAM load", "(comp - reuse + cap)", "store"];
        columns.extend(numbers.into_iter().chain(["O L1", "O row", "O plane"]).map(|n| (n, Align::Right)));
        let minor =
            ["(comp - reuse + cap)", "(comp + cap)", "O row", "O plane", "O L1", "store", "fold", "domain"];
        let mut table = Table::new(columns).with_minor(&minor);
        table.paint("limiter", limiter_style);
        for line in lines {
            for (i, point) in line.points.iter().enumerate() {
                // Labels stand at the first point of a line.
                let label = |l: &(String, String)| if i == 0 { l.1.clone() } else { String::new() };
                let mut row: Vec<String> = line.labels.iter().map(label).collect();
                row.push(point.values.get(axis).map(ToString::to_string).unwrap_or_default());
                row.extend(self.cells(point));
                table.row(row);
            }
        }
        table
    }

    fn cells(&self, point: &SweepPoint) -> Vec<String> {
        let mut cells = Vec::new();
        if self.domain {
            cells.push(extents(&point.domain).replace(' ', ""));
        }
        let config = point.config.as_ref();
        if self.block {
            cells.push(config.map_or_else(String::new, |c| shape(c.block())));
        }
        if self.fold {
            cells.push(config.map_or_else(String::new, |c| shape(c.fold())));
        }
        match (&point.result, &point.oversubscription) {
            (Some(r), Some(o)) => {
                cells.extend(volumes(r, self.scale));
                cells.extend([o.l1, o.l2_row, o.l2_plane].map(|o| format!("{o:.2}")));
            }
            _ => cells.extend(["-".to_owned(), point.error.as_ref().map_or("", |e| e.code).to_owned()]),
        }
        cells
    }
}

/// In which all rates are said.
fn scale(document: &SweepDocument) -> RateScale {
    RateScale::fitting(document.points.iter().filter_map(|p| Some(p.result.as_ref()?.rate_per_s)))
}

fn volumes(r: &ResultDocument, scale: RateScale) -> Vec<String> {
    let (l2, dram) = (&r.volumes.l2.load, &r.volumes.dram);
    let load = &dram.load;
    vec![
        scale.number(Some(r.rate_per_s)),
        r.limiter.to_owned(),
        format!("{:.1}", l2.total),
        format!("({:.1} + {:.1})", l2.compulsory, l2.capacity),
        format!("{:.1}", load.total),
        format!("({:.1} - {:.1} + {:.1})", load.compulsory, load.saved(), load.added()),
        format!("{:.1}", dram.store.total),
    ]
}

/// The first reasons why points are missing.
fn refused(out: &mut String, document: &SweepDocument) {
    const SHOWN: usize = 5;
    let all = || document.points.iter().filter_map(|p| p.error.as_ref().map(|e| (p, e)));
    let count = all().count();
    if count == 0 {
        return;
    }
    let _ = writeln!(out, "\n{} without a result:", counted(count, "point"));
    for (point, error) in all().take(SHOWN) {
        let values: Vec<String> =
            point.values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let launch = point.config.as_ref().map(|c| format!(", block {}", shape(c.block())));
        let _ = writeln!(out, "  {}{}: {}", values.join(", "), launch.unwrap_or_default(), error.reason);
    }
    if count > SHOWN {
        let _ = writeln!(out, "  ... --format json lists all");
    }
}

/// Warnings of the series and those of its points, each once.
fn all_warnings(document: &SweepDocument) -> Vec<&Warning> {
    let mut all: Vec<&Warning> = document.warnings.iter().collect();
    let of_points = document.points.iter().filter_map(|p| p.result.as_ref()).flat_map(|r| &r.warnings);
    for warning in of_points {
        if !all.iter().any(|w| w.code == warning.code && w.message == warning.message) {
            all.push(warning);
        }
    }
    all
}

/// All numbers of series, one row per point; units stand in the names.
fn sweep_table(documents: &[&SweepDocument]) -> Table {
    let mut names: Vec<&str> = Vec::new();
    for vary in documents.iter().flat_map(|d| &d.vary).filter(|v| !v.is_the_device()) {
        if !names.contains(&vary.name.as_str()) {
            names.push(&vary.name);
        }
    }
    // What varies keeps its name; the device, `block` and `fold` have columns of their own.
    names.retain(|n| !["block", "fold"].contains(n));
    let left = |name: &'static str| (name, Align::Left);
    let mut columns: Vec<(&str, Align)> = ["kernel", "device"].map(left).to_vec();
    columns.extend(names.iter().map(|&n| (n, Align::Right)));
    columns.extend(["variant", "block", "fold", "domain", "grid", "limiter"].map(left));
    let pressure = ["oversubscription_l1", "oversubscription_l2_wave", "oversubscription_l2_row"];
    let pressure = pressure.into_iter().chain(["oversubscription_l2_plane"]);
    columns.extend(NUMBERS.map(|n| n.0).into_iter().chain(pressure).map(|n| (n, Align::Right)));
    columns.push(left("error"));
    let mut table = Table::new(columns);
    for document in documents {
        for point in &document.points {
            table.row(row(document, point, &names));
        }
    }
    table
}

fn row(document: &SweepDocument, point: &SweepPoint, names: &[&str]) -> Vec<String> {
    let named = document.vary.iter().find(|v| v.is_the_device()).and_then(|v| point.values.get(&v.name));
    let device = named.map_or_else(|| document.head.device.id.clone(), ToString::to_string);
    let mut cells = vec![document.head.kernel.name.clone(), device];
    cells.extend(names.iter().map(|&n| point.values.get(n).map(ToString::to_string).unwrap_or_default()));
    let config = point.config.as_ref();
    cells.push(config.and_then(|c| c.variant.clone()).unwrap_or_default());
    cells.push(config.map_or_else(String::new, |c| shape(c.block())));
    cells.push(config.map_or_else(String::new, |c| shape(c.fold())));
    cells.push(extents(&point.domain).replace(' ', ""));
    if let (Some(r), Some(o)) = (&point.result, &point.oversubscription) {
        cells.extend([shape(r.config.sizes.grid), r.limiter.to_owned()]);
        cells.extend(numbers(r));
        cells.extend([o.l1, o.l2_wave, o.l2_row, o.l2_plane].map(number));
    } else {
        cells.extend(std::iter::repeat_n(String::new(), 2 + NUMBERS.len() + 4));
    }
    cells.push(point.error.as_ref().map(|e| e.reason.clone()).unwrap_or_default());
    cells
}
