//! `wavecast/set-validation/1`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::super::check::{Tool, Warning};
use super::super::units::counted;
use super::worst::{WorstConfiguration, worst};
use crate::launch::Candidate;
use crate::measure::ValuePair;
use crate::measure::sets::{ClockFactors, PredictedCase, PredictedSet, SetFacts, SetScore};

/// Sets of measurements beside their predictions: `wavecast/set-validation/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SetValidationDocument {
    /// `wavecast/set-validation/1`.
    pub schema: &'static str,
    /// The program.
    pub tool: Tool,
    /// How time follows from volumes: `default` or `roofline`.
    pub model: &'static str,
    /// The sets.
    pub sets: Vec<SetReport>,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
}

/// A set of measurements beside its predictions.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SetReport {
    /// Its name, and where it comes from.
    #[serde(flatten)]
    pub facts: SetFacts,
    /// The devices.
    pub devices: Vec<String>,
    /// The kernels.
    pub kernels: Vec<String>,
    /// Whose hit rates and coefficients were used.
    pub curves: Vec<String>,
    /// Where the clock of the measurements is not known: what predicted times were multiplied with, by device.
    pub clock_factors: ClockFactors,
    /// How good the predictions are: of each group, of the whole set, and of each part.
    pub scores: Vec<SetScore>,
    /// The configurations that were looked at.
    pub configurations: Vec<ConfigurationDocument>,
    /// Those that cannot be predicted.
    pub rejected: Vec<RejectedDocument>,
    /// The largest errors of the time.
    pub worst: Vec<WorstConfiguration>,
}

/// A configuration beside its prediction.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ConfigurationDocument {
    /// Its name: the columns that make it.
    pub configuration: String,
    /// Its problem; alternatives have the same.
    pub problem: String,
    /// Name of the kernel.
    pub kernel: String,
    /// Its variant, if it has several.
    pub variant: Option<String>,
    /// Parameters that the set gives.
    pub params: BTreeMap<String, i64>,
    /// The device.
    pub device: String,
    /// Block and fold.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Registers of a thread.
    pub registers: i64,
    /// What is predicted to limit it.
    pub limiter: &'static str,
    /// Share of the warps that could be resident, in percent.
    pub occupancy_percent: f64,
    /// Seconds as predicted and as measured; null if no time was measured.
    pub time_s: Option<ValuePair>,
    /// Everything else by its name in the measurement format, per work item.
    pub values: BTreeMap<&'static str, ValuePair>,
    /// Lines of its measurements.
    pub lines: Vec<usize>,
}

/// A configuration without a prediction.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RejectedDocument {
    /// Its name.
    pub configuration: String,
    /// Its problem.
    pub problem: String,
    /// A stable name of the reason.
    pub code: &'static str,
    /// The reason.
    pub reason: String,
    /// Lines of its measurements.
    pub lines: Vec<usize>,
}

/// The document of predicted sets; problems with less than `least` configurations do not count in the means over
/// choices, and the `most` largest errors are explained.
pub fn set_validation_document(
    sets: Vec<PredictedSet>,
    model: &'static str,
    [least, most]: [usize; 2],
) -> SetValidationDocument {
    let mut warnings = Vec::new();
    let sets = sets.into_iter().map(|set| report(set, least, most, &mut warnings)).collect();
    SetValidationDocument { schema: "wavecast/set-validation/1", tool: Tool::this(), model, sets, warnings }
}

/// That rows are left out of which the condition of a set says nothing.
pub(super) fn unsaid(id: &str, rows: usize) -> Option<Warning> {
    let message = format!("{id}: `when` takes an empty cell of {}; left out", counted(rows, "row"));
    (rows > 0).then_some(Warning { code: "condition-unsaid", message, place: None })
}

fn report(mut found: PredictedSet, least: usize, most: usize, warnings: &mut Vec<Warning>) -> SetReport {
    let clock_factors = found.fit_clock();
    let scores = found.scores(least);
    let set = &found.set;
    for empty in set.scopes.iter().filter(|s| s.configurations == 0) {
        let message = format!("{}: no row belongs to the part `{}`", set.facts.id, empty.name);
        warnings.push(Warning { code: "empty-part", message, place: None });
    }
    warnings.extend(unsaid(&set.facts.id, set.facts.rows_unsaid));
    if found.cases.is_empty() {
        let message = format!("{}: none of the configurations can be predicted", set.facts.id);
        warnings.push(Warning { code: "nothing-predicted", message, place: None });
    }
    let once = |of: &dyn Fn(&PredictedCase) -> &String| -> Vec<String> {
        found.cases.iter().map(of).collect::<BTreeSet<_>>().into_iter().cloned().collect()
    };
    SetReport {
        facts: set.facts.clone(),
        devices: once(&|c| &c.device),
        kernels: once(&|c| &c.kernel),
        curves: found.curves.iter().cloned().collect(),
        clock_factors,
        scores,
        worst: worst(&found, most),
        configurations: found.cases.iter().map(|case| configuration(&found, case)).collect(),
        rejected: rejected(&found),
    }
}

fn lines(found: &PredictedSet, case: usize) -> Vec<usize> {
    found.set.cases[case].rows.iter().map(|r| r.line).collect()
}

fn problem(found: &PredictedSet, case: usize) -> String {
    found.set.problems[found.set.cases[case].problem].name.clone()
}

fn configuration(found: &PredictedSet, case: &PredictedCase) -> ConfigurationDocument {
    ConfigurationDocument {
        configuration: found.set.cases[case.case].config.clone(),
        problem: problem(found, case.case),
        kernel: case.kernel.clone(),
        variant: case.variant.clone(),
        params: case.params.clone(),
        device: case.device.clone(),
        candidate: case.candidate,
        registers: case.registers,
        limiter: case.limiter,
        occupancy_percent: 100.0 * case.occupancy.get(),
        time_s: case.seconds,
        values: case.values.iter().map(|(quantity, pair)| (quantity.name(), *pair)).collect(),
        lines: lines(found, case.case),
    }
}

fn rejected(found: &PredictedSet) -> Vec<RejectedDocument> {
    let one = |r: &crate::measure::sets::RejectedConfiguration| RejectedDocument {
        configuration: found.set.cases[r.case].config.clone(),
        problem: problem(found, r.case),
        code: r.code,
        reason: r.reason.clone(),
        lines: lines(found, r.case),
    };
    found.rejected.iter().map(one).collect()
}
