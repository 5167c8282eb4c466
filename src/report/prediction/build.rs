//! Documents of rankings and predictions.

use super::choice::ChoiceDocument;
use super::document::{
    Head, KernelHead, ModelSummary, OfVariant, PredictionDocument, RankedResult, RankingDocument,
    RankingSummary, RejectedLaunch, ResultDocument, Why,
};
use super::warnings::{about_registers, domains_differ, warnings};
use crate::footprint::Addressing;
use crate::launch::Chosen;
use crate::predict::{Choice, Estimator, Judge, Ranking, Summary, Unpredicted};
use crate::quantity::Share;
use crate::report::check::{DeviceSummary, Tool, Warning};

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
        device: DeviceSummary::new(device),
        model: ModelSummary {
            id: estimator.model.word(),
            addressing: match estimator.counting.addressing {
                Addressing::Linear => "linear",
                Addressing::Grid => "grid",
            },
            caches: estimator.caches.word(),
            clock: device.run_clock().map(|clock| clock.to_string()),
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
        candidates: ranking.candidates(),
        feasible: ranking.feasible(),
        tie_error: Share::new(tie_error),
    };
    // The document's rules may leave out launches that are no candidates.
    let mut warnings = about_registers(warnings, ranking.registers_assumed() || ranking.feasible() == 0);
    warnings.extend(domains_differ(estimators));
    // One after the other: a prediction that was written down is forgotten.
    let (results, infeasible) = ranking.into_parts();
    let judges: Vec<Judge> = estimators.iter().map(Judge::new).collect();
    let results = results.into_iter().map(|r| RankedResult {
        rank: r.rank,
        tie_group: r.tie_group,
        result: ResultDocument {
            relative: Some(r.relative),
            ..judged(&estimators[r.kernel], &judges[r.kernel], &r.prediction)
        },
    });
    let rejected = |(choice, why): (Choice, Unpredicted)| {
        let variant = estimators[choice.kernel].kernel.variant.clone();
        let config = OfVariant { variant, launch: choice.candidate };
        RejectedLaunch { config, code: why.code(), reason: Why(why) }
    };
    Some(RankingDocument {
        schema: "wavecast/ranking/1",
        head: head(estimators.first()?),
        summary,
        results: results.collect(),
        infeasible: infeasible.into_iter().map(rejected).collect(),
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
    judged(estimator, &Judge::new(estimator), p)
}

/// The same where many are judged alike.
fn judged(estimator: &Estimator<'_>, judge: &Judge, p: &Summary) -> ResultDocument {
    let kernel = estimator.kernel;
    let fields = p.volumes.fields.iter().map(|f| (kernel.field(f.field).name.clone(), f.into()));
    ResultDocument {
        config: OfVariant { variant: kernel.variant.clone(), launch: p.launch.clone() },
        rate_per_s: p.rate(),
        time_s: p.time.seconds,
        relative: None,
        limiter: p.time.limiter.word(),
        limits_per_s: p.time.limits,
        time_terms_s: p.time.terms,
        occupancy: p.occupancy,
        volumes: p.volumes.clone(),
        fields: fields.collect(),
        counting: p.counting.clone(),
        confidence: judge.confidence(p).into(),
        warnings: warnings(estimator, p),
    }
}
