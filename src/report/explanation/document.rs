//! Explanations as documents for programs: `wavecast/explanation/1`.

use schemars::JsonSchema;
use serde::Serialize;

use super::sentences::sentences;
use crate::kernel::Kernel;
use crate::launch::{Chosen, Instruction, Launch};
use crate::predict::{AccessShare, Estimator, Explanation, Layer, Level, Neighbour, Summary};
use crate::report::check::Warning;
use crate::report::prediction::{ChoiceDocument, Head, ResultDocument, head, result_document};

/// Why a launch is as fast as it is: `wavecast/explanation/1`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExplanationDocument {
    /// `wavecast/explanation/1`.
    pub schema: &'static str,
    /// What the explanation is about.
    #[serde(flatten)]
    pub head: Head,
    /// Why it is about this launch.
    pub choice: ChoiceDocument,
    /// What is predicted.
    pub result: ResultDocument,
    /// The same in words: each sentence says what the numbers of this document say.
    pub sentences: Vec<Sentence>,
    /// What each instruction of a thread costs, in program order.
    pub accesses: Vec<AccessDocument>,
    /// Each boundary of the memory hierarchy, from registers to memory.
    pub levels: Vec<LevelDocument>,
    /// Reuse in L2 between blocks: within a wave, and from earlier blocks along x, y and z.
    pub layers: Vec<LayerDocument>,
    /// How far loads of a field reach beyond the work item.
    pub halos: Vec<HaloDocument>,
    /// Work items along x, y, z of the box around a wave.
    pub wave_extent: [i64; 3],
    /// What other launches would change.
    pub neighbours: NeighboursDocument,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
}

/// A sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Sentence {
    /// A stable name of what it is about.
    pub code: &'static str,
    /// What it says.
    pub text: String,
}

/// An instruction of a thread, per work item.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AccessDocument {
    /// Position in the program of a thread, from 0.
    pub position: usize,
    /// `load`, `store` or `atomic`.
    pub kind: &'static str,
    /// The field.
    pub field: String,
    /// As it was written, for the first work item of the thread; pointer forms with block and thread
    /// indices.
    pub at: String,
    /// Times that a warp issues it.
    pub issues: f64,
    /// Wavefronts of the data stage of the L1.
    pub data_wavefronts: f64,
    /// Wavefronts of the tag stage of the L1.
    pub tag_wavefronts: f64,
    /// Cycles of the L1 pipe; all accesses together take `volumes.l1.wavefront_cycles`.
    pub cycles: f64,
    /// Sectors per issue; null for shared memory.
    pub sectors_per_request: Option<f64>,
    /// Bytes that lanes ask for over bytes of the sectors; more than 1 where lanes share bytes.
    pub efficiency: Option<f64>,
    /// What the launch would be spared without it; null if there are too many accesses to look at each.
    pub alone: Option<AloneDocument>,
}

/// What a launch would be spared without an access, bytes per work item.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct AloneDocument {
    /// Sectors that only it loads in a block.
    pub block_load_bytes: f64,
    /// Sectors that only it loads in a wave.
    pub wave_load_bytes: f64,
    /// Sectors that only it stores in a wave.
    pub wave_store_bytes: f64,
    /// Between L1 and L2, after hit rates.
    pub l2_bytes: f64,
    /// Between L2 and memory, after hit rates.
    pub dram_bytes: f64,
    /// Work items per second without it.
    pub rate_per_s: f64,
}

/// A boundary of the memory hierarchy, bytes per work item.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct LevelDocument {
    /// `l1` (registers to L1), `l2` (L1 to L2), `llc` (L2 to last-level cache) or `dram`.
    pub level: &'static str,
    /// Loads.
    pub load_bytes: f64,
    /// Stores.
    pub store_bytes: f64,
    /// Seconds that it would take by itself; null where it is no limiter.
    pub time_s: Option<f64>,
    /// Work items per second that it allows by itself.
    pub limit_per_s: Option<f64>,
    /// What the loads are made of; null for L1.
    pub loads: Option<LoadParts>,
    /// The cache above it; null for L1.
    pub cache: Option<CacheDocument>,
}

/// What loads are made of, bytes per work item; their sum is all loads.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct LoadParts {
    /// First touches of a block (`l2`) or by any block that ran so far: no cache above avoids them.
    pub unavoidable: f64,
    /// Touched before by blocks of the same row of blocks, but lost.
    pub lost_x: f64,
    /// Touched before by the row of blocks before, but lost.
    pub lost_y: f64,
    /// Touched before by the plane of blocks before, but lost.
    pub lost_z: f64,
    /// Touched before by the same block (`l2`) or wave, but lost.
    pub lost_within: f64,
    /// That complete sectors which were written in part.
    pub fill: f64,
}

/// A cache.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct CacheDocument {
    /// Bytes that count.
    pub capacity_bytes: f64,
    /// Bytes that compete for it over its capacity.
    pub oversubscription: f64,
    /// Share of repeated loads that miss.
    pub miss: f64,
}

/// Reuse in L2 at one distance.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct LayerDocument {
    /// `wave`, `x`, `y` or `z`.
    pub along: &'static str,
    /// Bytes touched between two uses.
    pub distance_bytes: f64,
    /// Bytes of the L2 that count.
    pub capacity_bytes: f64,
    /// Distance over capacity.
    pub oversubscription: f64,
    /// Share of the loads that misses.
    pub miss: f64,
    /// Bytes per work item that could hit.
    pub reusable_bytes: f64,
    /// Bytes per work item of them that miss.
    pub lost_bytes: f64,
}

/// How far loads of a field lie apart.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HaloDocument {
    /// The field.
    pub field: String,
    /// Farthest offset forwards minus farthest backwards along x, y, z; null if an index is anything but
    /// an axis and a number.
    pub reach: [Option<i64>; 3],
}

/// Other launches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NeighboursDocument {
    /// Launches that were compared.
    pub compared: usize,
    /// Those of them that cannot run or not be predicted.
    pub rejected: usize,
    /// One step away, best first. Of a kernel that means other work in other blocks, its own candidates only.
    pub near: Vec<NeighbourDocument>,
    /// The best of all that were compared, this one left out.
    pub best: Option<NeighbourDocument>,
}

/// Another launch.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NeighbourDocument {
    /// The variant, if the document has variants.
    pub variant: Option<String>,
    /// Threads of a block along x, y, z.
    pub block: [i64; 3],
    /// Work items of a thread along x, y, z.
    pub fold: [i64; 3],
    /// Whether it is one of the candidates that were asked for.
    pub listed: bool,
    /// Work items per second.
    pub rate_per_s: f64,
    /// The time of the launch that is explained over its own.
    pub relative: f64,
    /// What limits it.
    pub limiter: &'static str,
    /// Share of the warps of an SM that are resident.
    pub occupancy: f64,
    /// Its volumes minus those of the launch that is explained, per work item of the latter.
    pub change: Change,
}

/// Differences of volumes per work item.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Change {
    /// Cycles of the L1 pipe.
    pub l1_cycles: f64,
    /// Bytes loaded from L2.
    pub l2_load_bytes: f64,
    /// Bytes stored to L2.
    pub l2_store_bytes: f64,
    /// Bytes loaded from memory.
    pub dram_load_bytes: f64,
    /// Bytes stored to memory.
    pub dram_store_bytes: f64,
}

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
        choice: ChoiceDocument::of(kernel, chosen),
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
        block: to.choice.candidate.block,
        fold: to.choice.candidate.fold,
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
