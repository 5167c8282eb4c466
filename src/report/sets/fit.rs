//! What came of a fit to sets: `wavecast/set-fit/1`.

use std::fmt::Write;

use serde::Serialize;

use super::super::check::{Tool, Warning};
use super::super::fit::{CurveDocument, between, curve, curves, short};
use super::super::ranking::warnings;
use super::super::table::{Align, Table};
use super::document::unsaid;
use super::tables::{percent, scope};
use crate::curve::Fit;
use crate::measure::fit::{FittedSet, SetFitting, TimeFitOutcome};
use crate::measure::sets::SetScore;
use crate::report::answer::{Answer, View};

/// What came of a fit to sets: `wavecast/set-fit/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SetFitDocument {
    /// `wavecast/set-fit/1`.
    pub schema: &'static str,
    /// The program.
    pub tool: Tool,
    /// The devices.
    pub devices: Vec<String>,
    /// How good predictions of each set are.
    pub sets: Vec<FittedSet>,
    /// Hit rates and what else the volumes depend on, which all devices share.
    pub curves: Vec<CurveDocument>,
    /// Coefficients of the time.
    pub time: Vec<TimeFitOutcome>,
    /// The curve files, one for each device.
    pub files: Vec<Fit>,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
}

/// The document of a fit to sets.
pub fn set_fit_document(fitting: &SetFitting) -> SetFitDocument {
    SetFitDocument {
        schema: "wavecast/set-fit/1",
        tool: Tool::this(),
        devices: fitting.fits.iter().map(|f| f.id.clone()).collect(),
        sets: fitting.sets.clone(),
        curves: fitting.curves.iter().map(curve).collect(),
        time: fitting.time.clone(),
        files: fitting.fits.clone(),
        warnings: fitting.sets.iter().filter_map(|set| unsaid(&set.id, set.rows_unsaid)).collect(),
    }
}

impl Answer for SetFitDocument {
    fn text(&self, view: View) -> String {
        let mut out = format!("{} sets on {}\n", self.sets.len(), self.devices.join(", "));
        for (title, table) in tables(self) {
            let _ = write!(out, "\n{title}\n{}", table.text(1, view.width));
        }
        warnings(&mut out, self.warnings.iter().collect());
        out
    }

    fn table(answers: &[&Self]) -> Table {
        Table::join(answers.iter().map(|d| scores(d)))
    }

    fn markdown(answers: &[&Self]) -> String {
        let mut out = String::new();
        for (title, table) in answers.iter().flat_map(|d| tables(d)) {
            let _ = write!(out, "## {title}\n\n{}\n", table.markdown());
        }
        out
    }
}

fn tables(document: &SetFitDocument) -> Vec<(&'static str, Table)> {
    let mut all = vec![("Volumes", curves(&document.curves))];
    if !document.time.is_empty() {
        all.push(("Time", times(&document.time)));
    }
    all.push(("Scores: before, fitted to all sets, and fitted to all others", scores(document)));
    all
}

fn times(outcomes: &[TimeFitOutcome]) -> Table {
    let (left, right) = (|name| (name, Align::Left), |name| (name, Align::Right));
    let columns =
        [left("coefficient"), left("device"), right("before"), right("now"), left("95 %"), left("")];
    let mut table = Table::new(columns);
    for t in outcomes {
        let kept = t.kept.map(|why| format!("kept: {why}")).unwrap_or_default();
        let device = t.device.clone().unwrap_or_default();
        table.row([
            t.known.name.to_owned(),
            device,
            short(t.before),
            short(t.value),
            between(t.interval),
            kept,
        ]);
    }
    table
}

/// Each scope of each set, three ways.
fn scores(document: &SetFitDocument) -> Table {
    const FIGURES: [&str; 3] = ["Spearman", "first choice", "time error"];
    let ways = ["before", "fitted", "left out"];
    let names: Vec<String> = FIGURES.iter().flat_map(|f| ways.map(|way| format!("{f}, {way}"))).collect();
    let columns = [("set", Align::Left), ("of", Align::Left), ("rows", Align::Right)];
    let mut table = Table::new(columns.into_iter().chain(names.iter().map(|n| (n.as_str(), Align::Right))));
    for set in &document.sets {
        for (i, before) in set.before.iter().enumerate() {
            let scores = [Some(before), set.fitted.get(i), set.left_out.as_ref().and_then(|l| l.get(i))];
            let mut cells = vec![set.id.clone(), scope(before), before.predicted.to_string()];
            let figure =
                |of: &dyn Fn(&SetScore) -> Option<String>| scores.map(|s| s.and_then(of).unwrap_or_default());
            cells.extend(figure(&|s| s.spearman.map(|v| format!("{v:.3}"))));
            cells.extend(figure(&|s| s.choice.as_ref().map(|c| percent(c.first))));
            cells.extend(figure(&|s| s.time.map(|t| percent(t.errors.mean))));
            table.row(cells);
        }
    }
    table
}
