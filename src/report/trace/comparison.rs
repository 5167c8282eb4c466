//! The analytic model beside a simulation.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use super::percent;
use crate::launch::Chosen;
use crate::measure::Comparison;
use crate::predict::Estimator;
use crate::report::answer::{Answer, View};
use crate::report::check::Warning;
use crate::report::prediction::{ChoiceDocument, Head, head};
use crate::report::{Align, Table};

impl Answer for ComparisonDocument {
    fn text(&self, view: View) -> String {
        comparison_text(self, view.width)
    }

    fn table(answers: &[&Self]) -> Table {
        comparison_table(answers)
    }
}

/// The analytic model beside a simulation: `wavecast/comparison/1`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
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
    /// Threads of a block.
    pub block: [i64; 3],
    /// Work items of a thread.
    pub fold: [i64; 3],
    /// Blocks of the wave that was simulated.
    pub blocks: u64,
    /// Blocks that ran before it.
    pub warm_blocks: u64,
    /// Blocks of which it could reuse something.
    pub reach_blocks: u64,
    /// Volumes and miss rates.
    pub quantities: Vec<QuantityDocument>,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
}

/// One quantity in both models.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct QuantityDocument {
    /// Its name.
    pub name: &'static str,
    /// What it is measured in.
    pub unit: &'static str,
    /// By the analytic model.
    pub analytic: f64,
    /// By simulation.
    pub simulated: f64,
    /// Difference to the simulation, in percent of it; null if that is 0.
    pub error_percent: Option<f64>,
    /// The parts of the difference, each of what one step from one model to the other changes. They add up to it.
    pub terms: Vec<TermDocument>,
    /// The same in words, where the difference is more than a few percent.
    pub reasons: Vec<String>,
}

/// A part of a difference.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TermDocument {
    /// A stable name; `unexplained` for what no step explains.
    pub name: &'static str,
    /// Analytic less simulated.
    pub value: f64,
    /// What of the two models makes it.
    pub reason: String,
}

/// A comparison as a document.
pub fn comparison_document(
    estimator: &Estimator<'_>,
    found: &Comparison,
    chosen: &Chosen,
    warnings: Vec<Warning>,
) -> ComparisonDocument {
    let term =
        |t: &crate::measure::Term| TermDocument { name: t.name, value: t.value, reason: t.reason.clone() };
    let one = |q: &crate::measure::Quantity| QuantityDocument {
        name: q.name,
        unit: q.unit,
        analytic: q.analytic,
        simulated: q.simulated,
        error_percent: Some(q.error_percent()).filter(|e| e.is_finite()),
        terms: q.terms.iter().map(term).collect(),
        reasons: q.reasons.clone(),
    };
    ComparisonDocument {
        schema: "wavecast/comparison/1",
        head: head(estimator),
        variant: estimator.kernel.variant.clone(),
        choice: ChoiceDocument::new(estimator.kernel, chosen),
        block: found.prediction.launch.candidate.block(),
        fold: found.prediction.launch.candidate.fold(),
        blocks: found.blocks,
        warm_blocks: found.warm_blocks,
        reach_blocks: found.reach_blocks,
        quantities: found.quantities.iter().map(one).collect(),
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
    let mut table = Table::new(columns);
    let shape = |[x, y, z]: [i64; 3]| format!("{x}x{y}x{z}");
    for document in documents {
        for q in &document.quantities {
            let mut row = vec![document.head.kernel.name.clone()];
            if variants {
                row.push(document.variant.clone().unwrap_or_default());
            }
            row.extend([
                shape(document.block),
                shape(document.fold),
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
        document.blocks,
        document.warm_blocks,
        document.head.model.text()
    );
    if let Some(why) = &document.choice.text {
        let _ = writeln!(out, "({why})\n");
    }
    out += &table(&[document], document.variant.is_some()).text(1, width);
    for q in document.quantities.iter().filter(|q| !q.reasons.is_empty()) {
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
