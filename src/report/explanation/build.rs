//! From an explanation to its document.

use super::document::{
    AccessDocument, ExplanationDocument, NeighbourDocument, NeighboursDocument, VolumeChange,
};
use super::sentences::sentences;
use crate::kernel::Kernel;
use crate::launch::{Chosen, Instruction, Launch, staircase};
use crate::predict::{AccessShare, Estimator, Explanation, Neighbour, Summary};
use crate::quantity::{Bytes, PerItem, Ratio};
use crate::report::check::Warning;
use crate::report::prediction::{ChoiceDocument, OfVariant, head, result_document};

/// An explanation as a document; `position` is that of the estimator whose launch is explained.
pub fn explanation_document(
    estimators: &[Estimator<'_>],
    position: usize,
    explanation: &Explanation,
    chosen: &Chosen,
    warnings: Vec<Warning>,
) -> ExplanationDocument {
    let estimator = &estimators[position];
    let (kernel, prediction) = (estimator.kernel, &explanation.prediction);
    let variant = |n: &Neighbour| estimators[n.choice.kernel].kernel.variant.clone();
    let neighbour = |n: &Neighbour| neighbour(prediction, n, variant(n));
    let mut document = ExplanationDocument {
        schema: "wavecast/explanation/1",
        head: head(estimator),
        choice: ChoiceDocument::new(kernel, chosen),
        result: result_document(estimator, prediction),
        sentences: Vec::new(),
        accesses: explanation.accesses.iter().map(|a| access(kernel, explanation, a)).collect(),
        levels: explanation.levels.clone(),
        layers: explanation.layers,
        halos: explanation.halos.clone(),
        wave_extent: explanation.wave,
        staircase: staircase(estimator.device, &prediction.launch),
        neighbours: NeighboursDocument {
            compared: explanation.neighbours.compared,
            rejected: explanation.neighbours.rejected,
            near: explanation.neighbours.near.iter().map(neighbour).collect(),
            best: explanation.neighbours.best.as_ref().map(neighbour),
        },
        warnings,
    };
    document.sentences = sentences(&document);
    document
}

fn access(kernel: &Kernel, explanation: &Explanation, share: &AccessShare) -> AccessDocument {
    let instruction = &explanation.program.instructions[share.position];
    AccessDocument {
        position: share.position,
        kind: share.kind.verb(),
        field: kernel.field(share.field).name.clone(),
        at: written(kernel, &explanation.prediction.launch, instruction),
        cost: share.cost,
    }
}

/// An instruction as it was written, as far as it still can be told.
fn written(kernel: &Kernel, launch: &Launch, instruction: &Instruction<i64>) -> String {
    let (field, names) = (&kernel.field(instruction.field).name, kernel.names());
    let at_launch = |form: &crate::expr::Form<crate::expr::Scale>| {
        form.at(&launch.sizes).map_or_else(|_| names.form(form), |form| names.form(&form))
    };
    if let Some(Ok(indices)) = instruction.as_written() {
        let indices: Vec<String> = indices.iter().map(at_launch).collect();
        return format!("{field}[{}]", indices.join(", "));
    }
    let element = names.form(&instruction.element);
    match element.strip_prefix('-') {
        Some(rest) => format!("{field} - {rest}"),
        None => format!("{field} + {element}"),
    }
}

fn neighbour(from: &Summary, to: &Neighbour, variant: Option<String>) -> NeighbourDocument {
    let (a, b) = (&from.volumes, &to.prediction.volumes);
    // A variant may have larger work items and fewer of them: what it does for one of this launch counts.
    let items = to.prediction.items / from.items;
    let change = |to: Bytes<PerItem>, from: Bytes<PerItem>| to * items - from;
    NeighbourDocument {
        config: OfVariant { variant, launch: to.choice.candidate },
        listed: to.listed,
        rate_per_s: to.prediction.rate(),
        relative: Ratio::new(from.time.seconds / to.prediction.time.seconds),
        limiter: to.prediction.time.limiter.word(),
        occupancy: to.prediction.occupancy.fraction,
        blocks: to.prediction.launch.blocks(),
        time_terms_s: to.prediction.time.terms,
        change: VolumeChange {
            l1_cycles: b.l1.wavefront_cycles * items - a.l1.wavefront_cycles,
            l2_load_bytes: change(b.l2.load.total, a.l2.load.total),
            l2_store_bytes: change(b.l2.store.total, a.l2.store.total),
            dram_load_bytes: change(b.dram.load.total, a.dram.load.total),
            dram_store_bytes: change(b.dram.store.total, a.dram.store.total),
        },
    }
}
