//! The analytic model beside a simulation.

use std::fmt::Write;

use serde::Serialize;

use super::percent;
use crate::launch::{Candidate, Chosen};
use crate::measure::Comparison;
use crate::predict::Estimator;
use crate::report::answer::{Answer, View};
use crate::report::check::Warning;
use crate::report::prediction::{ChoiceDocument, Head, head};
use crate::report::{Align, Table};

impl Answer for ComparisonDocument {
    const TITLE: &str = "Model beside simulation";

    fn text(&self, view: View) -> String {
        comparison_text(self, view.width)
    }

    fn table(answers: &[&Self]) -> Table {
        comparison_table(answers)
    }
}

/// The analytic model beside a simulation: `wavecast/comparison/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComparisonDocument {
    /// `wavecast/comparison/1`.
    pub schema: &'static str,
    /// What is compared.
    #[serde(flatten)]
    pub head: Head,
    /// The variant, if the document has variants.
    pub variant: Option<String>,
    /// Why it is about this launch.
    pub choice: ChoiceDocument,
    /// Block and fold.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// What was found.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
}

/// A comparison as a document.
pub fn comparison_document(
    estimator: &Estimator<'_>,
    found: Comparison,
    chosen: &Chosen,
    warnings: Vec<Warning>,
) -> ComparisonDocument {
    ComparisonDocument {
        schema: "wavecast/comparison/1",
        head: head(estimator),
        variant: estimator.kernel.variant.clone(),
        choice: ChoiceDocument::new(estimator.kernel, chosen),
        candidate: found.prediction.launch.candidate,
        comparison: found,
        warnings,
    }
}

/// Comparisons as a table.
fn comparison_table(documents: &[&ComparisonDocument]) -> Table {
    table(documents, true)
}

fn table(documents: &[&ComparisonDocument], variants: bool) -> Table {
    use Align::{Left, Right};
    let mut columns = vec![("kernel", Left)];
    if variants {
        columns.push(("variant", Left));
    }
    columns.extend([("block", Right), ("fold", Right), ("quantity", Left), ("unit", Left)]);
    columns.extend(["analytic", "simulated", "error %"].map(|n| (n, Right)));
    let mut table = Table::new(columns).with_minor(&["unit", "fold", "kernel"]);
    for document in documents {
        for q in &document.comparison.quantities {
            let mut row = vec![document.head.kernel.name.clone()];
            if variants {
                row.push(document.variant.clone().unwrap_or_default());
            }
            row.extend([
                document.candidate.block().to_string(),
                document.candidate.fold().to_string(),
                q.name.to_owned(),
                q.unit.to_owned(),
                percent(q.analytic),
                percent(q.simulated),
                q.error_percent.map(percent).unwrap_or_default(),
            ]);
            table.row(row);
        }
    }
    table
}

/// For a terminal.
fn comparison_text(document: &ComparisonDocument, width: Option<usize>) -> String {
    let mut out = format!(
        "{} on {}: a wave of {} blocks after {} others\n{}\n\n",
        document.head.kernel.name,
        document.head.device.name,
        document.comparison.blocks,
        document.comparison.warm_blocks,
        document.head.model_text()
    );
    if let Some(why) = &document.choice.text {
        let _ = writeln!(out, "({why})\n");
    }
    out += &table(&[document], document.variant.is_some()).text(1, width);
    for q in document.comparison.quantities.iter().filter(|q| !q.reasons.is_empty()) {
        let difference = q.analytic - q.simulated;
        let more = if difference > 0.0 { "more" } else { "less" };
        let _ = writeln!(
            out,
            "\n{}: {:.2} {} {more} in the analytic model, made of",
            q.name,
            difference.abs(),
            q.unit
        );
        for term in &q.terms {
            let _ = writeln!(out, "  {:+9.2}  {}", term.value, term.reason);
        }
    }
    out
}
