//! From an explanation to its document.

use super::document::{
    AccessDocument, AloneDocument, CacheDocument, Change, ExplanationDocument, HaloDocument, LayerDocument,
    LevelDocument, LoadParts, NeighbourDocument, NeighboursDocument,
};
use super::sentences::sentences;
use crate::kernel::Kernel;
use crate::launch::{Chosen, Instruction, Launch};
use crate::predict::{AccessShare, Estimator, Explanation, Layer, Level, Neighbour, Summary};
use crate::report::check::Warning;
use crate::report::prediction::{ChoiceDocument, head, result_document};

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
    let variant = |n: &Neighbour| estimators.get(n.choice.kernel).and_then(|e| e.kernel.variant.clone());
    let neighbour = |n: &Neighbour| neighbour(prediction, n, variant(n));
    let mut document = ExplanationDocument {
        schema: "wavecast/explanation/1",
        head: head(estimator),
        choice: ChoiceDocument::new(kernel, chosen),
        result: result_document(estimator, prediction),
        sentences: Vec::new(),
        accesses: explanation.accesses.iter().filter_map(|a| access(kernel, explanation, a)).collect(),
        levels: levels(explanation),
        layers: explanation.levels.layers.iter().zip(["wave", "x", "y", "z"]).map(layer).collect(),
        halos: explanation
            .halos
            .iter()
            .map(|h| HaloDocument { field: kernel.field(h.field).name.clone(), reach: h.reach })
            .collect(),
        wave_extent: explanation.wave,
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

fn access(kernel: &Kernel, explanation: &Explanation, share: &AccessShare) -> Option<AccessDocument> {
    let instruction = explanation.program.instructions.get(share.position)?;
    Some(AccessDocument {
        position: share.position,
        kind: share.kind.verb(),
        field: kernel.field(share.field).name.clone(),
        at: written(kernel, &explanation.prediction.launch, instruction),
        issues: share.issues,
        data_wavefronts: share.data,
        tag_wavefronts: share.tag,
        cycles: share.cycles,
        sectors_per_request: share.sectors_per_request,
        efficiency: share.efficiency,
        alone: share.alone.map(|a| AloneDocument {
            block_load_bytes: a.block_load,
            wave_load_bytes: a.wave_load,
            wave_store_bytes: a.wave_store,
            l2_bytes: a.l2,
            dram_bytes: a.dram,
            rate_per_s: a.rate,
        }),
    })
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

fn levels(explanation: &Explanation) -> Vec<LevelDocument> {
    let (time, volumes) = (&explanation.prediction.time, &explanation.prediction.volumes);
    let below = |level, of: &Level, time_s, limit_per_s| LevelDocument {
        level,
        load_bytes: of.load,
        store_bytes: of.store,
        time_s,
        limit_per_s,
        loads: Some(load_parts(of)),
        cache: Some(CacheDocument {
            capacity_bytes: of.capacity,
            oversubscription: of.oversubscription,
            miss: of.miss,
        }),
    };
    let all = &explanation.levels;
    let l1 = LevelDocument {
        level: "l1",
        load_bytes: volumes.l1.load,
        store_bytes: volumes.l1.store,
        time_s: Some(time.terms.l1),
        limit_per_s: time.limits.l1,
        loads: None,
        cache: None,
    };
    let mut levels = vec![l1, below("l2", &all.l2, Some(time.terms.l2), time.limits.l2)];
    levels.extend(all.llc.iter().map(|llc| below("llc", llc, None, None)));
    levels.push(below("dram", &all.dram, Some(time.terms.dram), time.limits.dram));
    levels
}

fn load_parts(of: &Level) -> LoadParts {
    let [lost_x, lost_y, lost_z] = of.lost.reuse;
    LoadParts {
        unavoidable: of.unavoidable,
        lost_x,
        lost_y,
        lost_z,
        lost_within: of.lost.within,
        fill: of.lost.fill,
    }
}

fn layer((of, along): (&Layer, &'static str)) -> LayerDocument {
    LayerDocument {
        along,
        distance_bytes: of.distance,
        capacity_bytes: of.capacity,
        oversubscription: of.oversubscription(),
        miss: of.miss,
        reusable_bytes: of.reusable,
        lost_bytes: of.lost,
    }
}

fn neighbour(from: &Summary, to: &Neighbour, variant: Option<String>) -> NeighbourDocument {
    let (a, b) = (&from.volumes, &to.prediction.volumes);
    // A variant may have larger work items and fewer of them: what it does for one of this launch counts.
    let items = to.prediction.items / from.items;
    let change = |to: f64, from: f64| to * items - from;
    NeighbourDocument {
        variant,
        block: to.choice.candidate.block(),
        fold: to.choice.candidate.fold(),
        listed: to.listed,
        rate_per_s: to.prediction.rate(),
        relative: from.time.seconds / to.prediction.time.seconds,
        limiter: to.prediction.time.limiter.word(),
        occupancy: to.prediction.occupancy.fraction,
        change: Change {
            l1_cycles: change(b.l1.cycles, a.l1.cycles),
            l2_load_bytes: change(b.l2.load(), a.l2.load()),
            l2_store_bytes: change(b.l2.store, a.l2.store),
            dram_load_bytes: change(b.dram.load(), a.dram.load()),
            dram_store_bytes: change(b.dram.store(), a.dram.store()),
        },
    }
}
