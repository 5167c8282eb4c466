//! How answers from traces that have a picture are shown. The pictures draw these documents, so that documents know
//! nothing of them.

use super::experiment::{ExperimentDocument, experiment_table};
use super::reuse::{ReuseDocument, reuse_table, reuse_text};
use super::sweep::{TraceSweepDocument, trace_sweep_table, trace_sweep_text};
use crate::report::answer::{Answer, View};
#[cfg(feature = "cli")]
use crate::report::svg;
use crate::report::table::Table;

impl Answer for ExperimentDocument {
    fn text(&self, view: View) -> String {
        format!("{}\n\n{}", self.about, experiment_table(self).text(1, view.width))
    }

    fn table(answers: &[&Self]) -> Table {
        Table::join(answers.iter().map(|d| experiment_table(d)))
    }

    #[cfg(feature = "cli")]
    fn picture(&self) -> Option<String> {
        Some(svg::experiment_picture(self))
    }
}

impl Answer for ReuseDocument {
    fn text(&self, view: View) -> String {
        reuse_text(self, view.width)
    }

    fn table(answers: &[&Self]) -> Table {
        Table::join(answers.iter().map(|d| reuse_table(d)))
    }

    #[cfg(feature = "cli")]
    fn picture(&self) -> Option<String> {
        let ablated = self.runs.iter().any(|run| run.types.is_some());
        let draw = if ablated { svg::ablation_picture } else { svg::reuse_picture };
        Some(draw(self))
    }
}

impl Answer for TraceSweepDocument {
    fn text(&self, view: View) -> String {
        trace_sweep_text(self, view.width)
    }

    fn table(answers: &[&Self]) -> Table {
        Table::join(answers.iter().map(|d| trace_sweep_table(d)))
    }

    #[cfg(feature = "cli")]
    fn picture(&self) -> Option<String> {
        Some(svg::trace_sweep_picture(self))
    }
}
