//! Documents of rankings and predictions.

use std::collections::BTreeMap;

use super::choice::ChoiceDocument;
use super::document::{
    Config, CountingDocument, Head, KernelHead, LimitsDocument, ModelSummary, PredictionDocument,
    RankedResult, RankingDocument, RankingSummary, Rejected, RejectedConfig, ResultDocument, TermsDocument,
    Why,
};
use super::volumes::{
    FieldDocument, L1Document, L2Document, L2Load, MemoryDocument, MemoryLoad, MemoryStore, TlbDocument,
    Total, VolumesDocument,
};
use super::warnings::{about_registers, domains_differ, warnings};
use crate::footprint::Addressing;
use crate::kernel::Kernel;
use crate::launch::Chosen;
use crate::predict::{Choice, Estimator, Ranking, Summary, Unpredicted};
use crate::report::check::{DeviceSummary, OccupancySummary, Tool, Warning};
use crate::traffic::MemoryVolumes;

/// What a result of these estimators is about; they differ in their variant only.
pub fn head(estimator: &Estimator<'_>) -> Head {
    let Estimator { kernel, device, .. } = estimator;
    Head {
        tool: Tool::this(),
        kernel: KernelHead {
            name: kernel.name.clone(),
            unit: kernel.work.unit.clone(),
            domain: kernel.axes.iter().map(|a| a.extent).collect(),
            params: kernel.params.iter().cloned().collect(),
        },
        device: DeviceSummary { id: device.id.clone(), name: device.name.clone() },
        model: ModelSummary {
            id: estimator.model.word(),
            addressing: match estimator.counting.addressing {
                Addressing::Linear => "linear",
                Addressing::Grid => "grid",
            },
            caches: estimator.caches.word(),
            curves: estimator.curves.name(),
        },
    }
}

/// A ranking as a document.
pub fn ranking_document(
    estimators: &[Estimator<'_>],
    ranking: Ranking,
    tie_error: f64,
    warnings: Vec<Warning>,
) -> Option<RankingDocument> {
    let summary = RankingSummary {
        candidates: ranking.feasible + ranking.rejected.len(),
        feasible: ranking.feasible,
        tie_error,
    };
    // The document's rules may leave out launches that are no candidates.
    let mut warnings = about_registers(warnings, ranking.registers_assumed || ranking.feasible == 0);
    warnings.extend(domains_differ(estimators));
    // One after the other: a prediction that was written down is forgotten.
    let results = ranking.results.into_iter().map(|r| RankedResult {
        rank: r.rank,
        tie_group: r.tie_group,
        result: ResultDocument {
            relative: Some(r.relative),
            ..result_document(&estimators[r.kernel], &r.prediction)
        },
    });
    let rejected = |(choice, why): (Choice, Unpredicted)| {
        let variant = estimators[choice.kernel].kernel.variant.clone();
        let (block, fold) = (choice.candidate.block(), choice.candidate.fold());
        Rejected { config: RejectedConfig { variant, block, fold }, code: why.code(), reason: Why(why) }
    };
    Some(RankingDocument {
        schema: "wavecast/ranking/1",
        head: head(estimators.first()?),
        summary,
        results: results.collect(),
        infeasible: ranking.rejected.into_iter().map(rejected).collect(),
        warnings,
        elapsed_s: None,
    })
}

/// A single prediction as a document.
pub fn prediction_document(
    estimator: &Estimator<'_>,
    prediction: &Summary,
    chosen: &Chosen,
    warnings: Vec<Warning>,
) -> PredictionDocument {
    PredictionDocument {
        schema: "wavecast/prediction/1",
        head: head(estimator),
        choice: ChoiceDocument::new(estimator.kernel, chosen),
        result: result_document(estimator, prediction),
        warnings: about_registers(warnings, prediction.launch.registers_assumed),
    }
}

/// A prediction without what it is about.
pub fn result_document(estimator: &Estimator<'_>, p: &Summary) -> ResultDocument {
    let (kernel, launch) = (estimator.kernel, &p.launch);
    let (limits, t) = (&p.time.limits, &p.time.terms);
    ResultDocument {
        config: Config {
            variant: kernel.variant.clone(),
            block: launch.candidate.block(),
            fold: launch.candidate.fold(),
            grid: launch.sizes.grid,
            registers: launch.registers,
            shared_bytes: launch.shared_bytes,
        },
        rate_per_s: p.rate(),
        time_s: p.time.seconds,
        relative: None,
        limiter: p.time.limiter.word(),
        limits_per_s: LimitsDocument { fp: limits.fp, l1: limits.l1, l2: limits.l2, dram: limits.dram },
        time_terms_s: TermsDocument {
            fp: t.fp,
            l1: t.l1,
            l2: t.l2,
            dram: t.dram,
            latency: t.latency,
            tail: t.tail,
            launch: t.launch,
            tlb: t.tlb,
            dispatch: t.dispatch,
            combination: t.combination,
        },
        occupancy: OccupancySummary::new(&p.occupancy),
        volumes: volumes_document(p),
        fields: fields(kernel, p),
        counting: CountingDocument::new(p),
        warnings: warnings(estimator, p),
    }
}

fn volumes_document(p: &Summary) -> VolumesDocument {
    let v = &p.volumes;
    VolumesDocument {
        l1: L1Document {
            wavefront_cycles: v.l1.cycles,
            data_wavefronts: v.l1.data,
            tag_wavefronts: v.l1.tag,
            load_bytes: v.l1.load,
            store_bytes: v.l1.store,
        },
        l2: L2Document {
            load: L2Load {
                compulsory: v.l2.load_compulsory,
                capacity: v.l2.load_capacity,
                total: v.l2.load(),
            },
            store: Total { total: v.l2.store },
        },
        llc: v.llc.as_ref().map(memory),
        dram: memory(&v.dram),
        tlb: TlbDocument { pages_per_wave: v.pages_per_wave, pages_per_block: v.pages_per_block },
    }
}

fn memory(v: &MemoryVolumes) -> MemoryDocument {
    let [reuse_x, reuse_y, reuse_z] = v.reuse;
    MemoryDocument {
        load: MemoryLoad {
            compulsory: v.load_compulsory,
            reuse_x,
            reuse_y,
            reuse_z,
            reuse_launch: v.reuse_launch,
            capacity: v.load_capacity,
            partial_store_fill: v.partial_store_fill,
            total: v.load(),
        },
        store: MemoryStore { compulsory: v.store_compulsory, redundant: v.store_redundant, total: v.store() },
    }
}

fn fields(kernel: &Kernel, p: &Summary) -> BTreeMap<String, FieldDocument> {
    let one = |f: &crate::traffic::FieldVolumes| FieldDocument {
        l2_load: f.l2.load(),
        l2_store: f.l2.store,
        dram_load: f.dram.load(),
        dram_store: f.dram.store(),
    };
    p.volumes.fields.iter().map(|f| (kernel.field(f.field).name.clone(), one(f))).collect()
}
