//! The configurations with the largest errors, and what of the prediction may be the reason.

use serde::Serialize;
use serde_json::Value as Json;

use crate::measure::sets::{PredictedCase, PredictedSet};
use crate::measure::{PercentShare, ValuePair};
use crate::sorting;

/// A configuration with a large error of the time.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct WorstConfiguration {
    /// Its name.
    pub configuration: String,
    /// Its problem.
    pub problem: String,
    /// Seconds as predicted and as measured.
    pub time_s: ValuePair,
    /// What the prediction is made of, in words.
    pub explanation: String,
    /// Lines of its measurements.
    pub lines: Vec<usize>,
}

/// Parts of the time that are named.
const NAMED: usize = 3;

/// The largest errors. Half the time is as wrong as twice the time.
pub(super) fn worst(found: &PredictedSet, most: usize) -> Vec<WorstConfiguration> {
    let size = |pair: &ValuePair| (pair.predicted() / pair.measured()).ln().abs();
    let mut timed: Vec<(&PredictedCase, ValuePair)> =
        found.cases.iter().filter_map(|c| Some((c, c.seconds?))).collect();
    sorting::sort_by(&mut timed, |a, b| size(&b.1).total_cmp(&size(&a.1)));
    let one = |(case, time_s): (&PredictedCase, ValuePair)| {
        let measured = &found.set.cases[case.case];
        WorstConfiguration {
            configuration: measured.config.clone(),
            problem: found.set.problems[measured.problem].name.clone(),
            time_s,
            explanation: explanation(case),
            lines: measured.rows.iter().map(|r| r.line).collect(),
        }
    };
    timed.into_iter().take(most).map(one).collect()
}

/// The limiter, the longest parts of the time, how full the device is, the block, and the largest error of a volume.
fn explanation(case: &PredictedCase) -> String {
    let mut parts = terms(case);
    sorting::sort_by(&mut parts, |a, b| b.1.total_cmp(&a.1));
    let parts: Vec<String> = parts
        .iter()
        .take(NAMED)
        .map(|(name, seconds)| format!("{name} {}", microseconds(*seconds)))
        .collect();
    let fold = case.candidate.fold();
    let fold = if fold.volume() > 1 { format!(", fold {fold}") } else { String::new() };
    let error = |v: &(_, ValuePair)| v.1.error().map_or(0.0, |e: PercentShare| e.get().abs());
    let volume = case.values.iter().max_by(|a, b| error(a).total_cmp(&error(b))).filter(|v| error(v) > 0.1);
    let volume = volume.and_then(|(quantity, pair)| {
        Some(format!("; {} {:+.0} %", quantity.title(), pair.error()?.percent()))
    });
    format!(
        "limited by {}: {}; block {}{fold}, {} registers, occupancy {:.0} %{}",
        case.limiter,
        parts.join(", "),
        case.candidate.block(),
        case.registers,
        100.0 * case.occupancy.get(),
        volume.unwrap_or_default()
    )
}

/// The parts of the time that are there, by their names in documents.
fn terms(case: &PredictedCase) -> Vec<(String, f64)> {
    let Ok(Json::Object(terms)) = serde_json::to_value(case.terms) else { return Vec::new() };
    let part = |(name, value): (String, Json)| Some((name, value.as_f64().filter(|v| *v > 0.0)?));
    terms.into_iter().filter_map(part).collect()
}

/// Seconds as microseconds with three digits.
pub(super) fn microseconds(seconds: f64) -> String {
    let value = 1e6 * seconds;
    let digits = match value {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$} us")
}
