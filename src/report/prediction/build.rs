//! Documents of rankings and predictions.

use super::choice::ChoiceDocument;
use super::document::{
    Head, KernelHead, ModelSummary, OfVariant, PredictionDocument, RankedResult, RankingDocument,
    RankingSummary, RejectedLaunch, ResultDocument, Why,
};
use super::warnings::{about_registers, domains_differ, warnings};
use crate::footprint::Addressing;
use crate::launch::Chosen;
use crate::predict::{Choice, Estimator, Judge, Ranked, Ranking, Summary, Unpredicted};
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
        device_relative: None,
    }
}

/// A ranking as a document; `None` without estimators, which rank nothing.
pub fn ranking_document(
    estimators: &[Estimator<'_>],
    ranking: Ranking,
    tie_error: f64,
    warnings: Vec<Warning>,
) -> Option<RankingDocument> {
    if estimators.is_empty() {
        return None;
    }
    let frame = frame(
        estimators,
        [ranking.candidates(), ranking.feasible()],
        tie_error,
        about_registers(warnings, ranking.registers_assumed() || ranking.feasible() == 0),
    );
    // One after the other: a prediction that was written down is forgotten.
    let (results, infeasible) = ranking.into_parts();
    let judges: Vec<Judge> = estimators.iter().map(Judge::new).collect();
    let results = results.into_iter().map(|r| ranked(&estimators[r.kernel], &judges[r.kernel], &r));
    let refused = |(choice, why): (Choice, Unpredicted)| rejected(&estimators[choice.kernel], choice, why);
    Some(RankingDocument {
        results: results.collect(),
        infeasible: infeasible.into_iter().map(refused).collect(),
        ..frame
    })
}

/// A ranking without its results: of so many candidates as were looked at, and as can run. The estimators are those of
/// the variants of a document, of which there is at least one.
pub(super) fn frame(
    estimators: &[Estimator<'_>],
    [candidates, feasible]: [usize; 2],
    tie_error: f64,
    mut warnings: Vec<Warning>,
) -> RankingDocument {
    warnings.extend(domains_differ(estimators));
    RankingDocument {
        schema: "wavecast/ranking/1",
        head: head(&estimators[0]),
        summary: RankingSummary { candidates, feasible, tie_error: Share::new(tie_error) },
        results: Vec::new(),
        infeasible: Vec::new(),
        warnings,
        elapsed_s: None,
    }
}

/// A launch in its place.
pub(super) fn ranked(estimator: &Estimator<'_>, judge: &Judge, r: &Ranked) -> RankedResult {
    let result = judged(estimator, judge, &r.prediction);
    let result = ResultDocument { relative: Some(r.relative), ..result };
    RankedResult { rank: r.rank, tie_group: r.tie_group, result }
}

/// A launch that cannot run.
pub(super) fn rejected(estimator: &Estimator<'_>, choice: Choice, why: Unpredicted) -> RejectedLaunch {
    let config = OfVariant { variant: estimator.kernel.variant.clone(), launch: choice.candidate };
    RejectedLaunch { config, code: why.code(), reason: Why(why) }
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
