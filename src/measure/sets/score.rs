//! How good the predictions of a set are.

use std::collections::BTreeMap;

use serde::Serialize;

use super::predict::{PredictedCase, PredictedSet};
use super::set::{ScopeKind, SetScope};
use crate::measure::join::ValuePair;
use crate::measure::measurements::MeasuredQuantity;
use crate::measure::share::PercentShare;
use crate::measure::validate::{Errors, median, spearman};
use crate::quantity::Correlation;
use crate::sorting;

/// Predicted times that are this much longer than the shortest are as good a choice.
const TIE: f64 = 1.04;
/// Choices that somebody tries.
const TRIED: usize = 5;

/// How good the predictions of some configurations are.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SetScore {
    /// `all`, `group` or `part`.
    pub kind: &'static str,
    /// Its name; empty for the whole set.
    pub name: String,
    /// Configurations that the data have of it.
    pub configurations: usize,
    /// Those that were looked at and have a prediction.
    pub predicted: usize,
    /// Those that were looked at and have none.
    pub rejected: usize,
    /// Errors of the time; null if no times were measured.
    pub time: Option<ErrorScore>,
    /// The median of predicted over measured times.
    pub time_ratio: Option<f64>,
    /// Spearman's rank correlation of all times, of several problems together.
    pub spearman: Option<Correlation>,
    /// How good the choices are: means over problems with enough configurations; null if there are none.
    pub choice: Option<ChoiceScore>,
    /// Errors of everything else that was measured.
    pub volumes: Vec<ErrorScore>,
    /// What repeated measurements say of their noise; null if nothing was measured more than once.
    pub noise: Option<NoiseScore>,
}

/// Errors of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ErrorScore {
    /// Its name in the measurement format.
    #[cfg_attr(test, schemars(with = "String"))]
    pub quantity: MeasuredQuantity,
    /// Configurations with a measured value other than zero.
    pub configurations: usize,
    /// Their errors.
    #[serde(flatten)]
    pub errors: Errors,
}

/// How good choices among the configurations of a problem are. Each is the time of the best configuration over that
/// of the choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ChoiceScore {
    /// Problems.
    pub problems: usize,
    /// Spearman's rank correlation within a problem.
    pub spearman: Correlation,
    /// The configuration that is predicted to be the fastest.
    #[serde(rename = "first_percent")]
    pub first: PercentShare,
    /// Mean of all that are predicted to be at most 4 % slower than that.
    #[serde(rename = "first_group_percent")]
    pub first_group: PercentShare,
    /// How many these are.
    pub(crate) first_group_size: f64,
    /// The best of the first five.
    #[serde(rename = "first_five_percent")]
    pub first_five: PercentShare,
    /// What the best of five by chance is expected to be; null with less than five.
    #[serde(rename = "random_five_percent")]
    pub random_five: Option<PercentShare>,
    /// What one by chance is expected to be.
    #[serde(rename = "random_percent")]
    pub random: PercentShare,
    /// The usual choice; null if the set file names none, or none was measured.
    #[serde(rename = "usual_percent")]
    pub usual: Option<PercentShare>,
    /// The worst first choice of all problems.
    #[serde(rename = "worst_first_percent")]
    pub worst_first: PercentShare,
    /// Mean of |predicted / measured - 1| of the times of a problem.
    #[serde(rename = "time_error_percent")]
    pub time_error: PercentShare,
    /// The first choice, if there is only one problem.
    pub chosen: Option<String>,
}

/// What repeated measurements say of their noise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NoiseScore {
    /// Configurations that were measured more than once.
    pub configurations: usize,
    /// Spearman's rank correlation of the first and second times: no prediction can be expected to do better.
    pub spearman: Correlation,
    /// The median of their differences, in percent.
    #[serde(rename = "median_difference_percent")]
    pub difference: PercentShare,
}

/// What makes up for a clock that is not known: by device, what predicted times are multiplied with.
pub type ClockFactors = BTreeMap<String, f64>;

impl PredictedSet {
    /// If the clock of the measurements is not known, what predicted times have to be multiplied with on each device
    /// so that the median of predicted over measured is 1. The times are then those of the measurements' clock.
    pub fn fit_clock(&mut self) -> ClockFactors {
        let mut factors = ClockFactors::new();
        if !self.set.clock_fitted {
            return factors;
        }
        let mut ratios: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for case in &self.cases {
            if let Some(pair) = case.seconds {
                ratios.entry(case.device.clone()).or_default().push(pair.measured() / pair.predicted());
            }
        }
        for (device, mut all) in ratios {
            factors.insert(device, median(&mut all));
        }
        for case in &mut self.cases {
            let factor = factors.get(&case.device).copied().unwrap_or(1.0);
            case.seconds = case.seconds.map(|p| ValuePair::new(p.predicted() * factor, p.measured()));
        }
        factors
    }

    /// The scores of all scopes. Problems with less than `least` configurations do not count in the means over
    /// choices if others have more.
    pub fn scores(&self, least: usize) -> Vec<SetScore> {
        let mut places: Vec<Option<usize>> = vec![None; self.set.cases.len()];
        for (i, case) in self.cases.iter().enumerate() {
            places[case.case] = Some(i);
        }
        let one = |scope: &SetScope| {
            let cases: Vec<&PredictedCase> =
                scope.cases.iter().filter_map(|&c| Some(&self.cases[places[c]?])).collect();
            self.score(scope, &cases, least)
        };
        self.set.scopes.iter().map(one).collect()
    }

    fn score(&self, scope: &SetScope, cases: &[&PredictedCase], least: usize) -> SetScore {
        let times: Vec<ValuePair> = cases.iter().filter_map(|c| c.seconds).collect();
        let mut ratios: Vec<f64> = times.iter().map(|p| p.predicted() / p.measured()).collect();
        let pairs: Vec<(f64, f64)> = times.iter().map(|p| (p.predicted(), p.measured())).collect();
        let volume = |quantity: MeasuredQuantity| {
            let pairs = cases.iter().filter_map(|c| c.values.iter().find(|v| v.0 == quantity));
            errors(quantity, pairs.map(|v| v.1))
        };
        SetScore {
            kind: scope.kind.word(),
            name: if scope.kind == ScopeKind::All { String::new() } else { scope.name.clone() },
            configurations: scope.configurations,
            predicted: cases.len(),
            rejected: scope.cases.len() - cases.len(),
            time: errors(MeasuredQuantity::Time, times.iter().copied()),
            time_ratio: (!ratios.is_empty()).then(|| median(&mut ratios)),
            spearman: (pairs.len() > 1).then(|| Correlation::new(spearman(&pairs))),
            choice: self.choices(cases, least),
            volumes: MeasuredQuantity::ALL.into_iter().filter_map(volume).collect(),
            noise: noise(&scope.repeated),
        }
    }

    fn choices(&self, cases: &[&PredictedCase], least: usize) -> Option<ChoiceScore> {
        let mut problems: BTreeMap<usize, Vec<Timed<'_>>> = BTreeMap::new();
        for case in cases {
            let Some(pair) = case.seconds else { continue };
            let measured = &self.set.cases[case.case];
            problems.entry(measured.problem).or_default().push(Timed {
                name: &measured.config,
                predicted: pair.predicted(),
                measured: pair.measured(),
                duration: measured.duration,
            });
        }
        problems.retain(|_, cases| cases.len() > 1);
        if problems.values().any(|cases| cases.len() >= least) {
            problems.retain(|_, cases| cases.len() >= least);
        }
        let scores: Vec<ChoiceScore> = problems
            .into_iter()
            .map(|(problem, cases)| choice(cases, self.set.problems[problem].usual))
            .collect();
        mean(&scores)
    }
}

/// A configuration with its times.
struct Timed<'a> {
    name: &'a str,
    predicted: f64,
    measured: f64,
    duration: Option<f64>,
}

/// The choices of one problem.
fn choice(mut cases: Vec<Timed<'_>>, usual: Option<f64>) -> ChoiceScore {
    // Of configurations that are predicted to be equally fast, that with the first name, not the faster one.
    sorting::sort_by(&mut cases, |a, b| a.predicted.total_cmp(&b.predicted).then_with(|| a.name.cmp(b.name)));
    let best = cases.iter().map(|c| c.measured).fold(f64::INFINITY, f64::min);
    let shortest = cases.iter().filter_map(|c| c.duration).fold(f64::INFINITY, f64::min);
    let mut shares: Vec<f64> = cases.iter().map(|c| best / c.measured).collect();
    let tied = cases.iter().take_while(|c| c.predicted <= TIE * cases[0].predicted).count();
    let average = |some: &[f64]| some.iter().sum::<f64>() / some.len() as f64;
    let pairs: Vec<(f64, f64)> = cases.iter().map(|c| (c.predicted, c.measured)).collect();
    let (first, first_group) = (shares[0], average(&shares[..tied]));
    let first_five = shares.iter().take(TRIED).copied().fold(0.0, f64::max);
    let random = average(&shares);
    ChoiceScore {
        problems: 1,
        spearman: Correlation::new(spearman(&pairs)),
        first: PercentShare::new(first),
        first_group: PercentShare::new(first_group),
        first_group_size: tied as f64,
        first_five: PercentShare::new(first_five),
        random_five: best_of_five(&mut shares).map(PercentShare::new),
        random: PercentShare::new(random),
        usual: usual.filter(|_| shortest.is_finite()).map(|u| PercentShare::new(shortest / u)),
        worst_first: PercentShare::new(first),
        time_error: PercentShare::new(average(
            &cases.iter().map(|c| (c.predicted / c.measured - 1.0).abs()).collect::<Vec<_>>(),
        )),
        chosen: Some(cases[0].name.to_owned()),
    }
}

/// The expected best of five that are drawn without putting back: the i-th best is it if none of those before is
/// drawn, with the other four from those after it.
fn best_of_five(shares: &mut [f64]) -> Option<f64> {
    let n = shares.len();
    if n < TRIED {
        return None;
    }
    sorting::sort_by(shares, |a, b| b.total_cmp(a));
    let (mut sum, mut weight) = (0.0, TRIED as f64 / n as f64);
    for (i, share) in shares.iter().enumerate() {
        sum += weight * share;
        weight *= (n.saturating_sub(TRIED + i)) as f64 / (n - 1 - i).max(1) as f64;
    }
    Some(sum)
}

/// Means over problems.
fn mean(scores: &[ChoiceScore]) -> Option<ChoiceScore> {
    let first = scores.first()?;
    let over = |of: &dyn Fn(&ChoiceScore) -> f64| scores.iter().map(of).sum::<f64>() / scores.len() as f64;
    let some = |of: &dyn Fn(&ChoiceScore) -> Option<PercentShare>| {
        let known: Vec<f64> = scores.iter().filter_map(|s| Some(of(s)?.get())).collect();
        (!known.is_empty()).then(|| PercentShare::new(known.iter().sum::<f64>() / known.len() as f64))
    };
    Some(ChoiceScore {
        problems: scores.len(),
        spearman: Correlation::new(over(&|s| s.spearman.get())),
        first: PercentShare::new(over(&|s| s.first.get())),
        first_group: PercentShare::new(over(&|s| s.first_group.get())),
        first_group_size: over(&|s| s.first_group_size),
        first_five: PercentShare::new(over(&|s| s.first_five.get())),
        random_five: some(&|s| s.random_five),
        random: PercentShare::new(over(&|s| s.random.get())),
        usual: some(&|s| s.usual),
        worst_first: PercentShare::new(scores.iter().map(|s| s.first.get()).fold(f64::INFINITY, f64::min)),
        time_error: PercentShare::new(over(&|s| s.time_error.get())),
        chosen: if scores.len() == 1 { first.chosen.clone() } else { None },
    })
}

/// Errors of a quantity; none if it was not measured.
fn errors(quantity: MeasuredQuantity, pairs: impl Iterator<Item = ValuePair>) -> Option<ErrorScore> {
    let errors: Vec<f64> = pairs.filter_map(|p| Some(p.error()?.get())).collect();
    let configurations = errors.len();
    Some(ErrorScore { quantity, configurations, errors: Errors::new(&errors)? })
}

fn noise(repeated: &[(f64, f64)]) -> Option<NoiseScore> {
    if repeated.len() < 2 {
        return None;
    }
    let mut differences: Vec<f64> = repeated.iter().map(|(a, b)| (a / b - 1.0).abs()).collect();
    Some(NoiseScore {
        configurations: repeated.len(),
        spearman: Correlation::new(spearman(repeated)),
        difference: PercentShare::new(median(&mut differences)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(name: &str, predicted: f64, measured: f64) -> Timed<'_> {
        Timed { name, predicted, measured, duration: Some(measured) }
    }

    #[test]
    fn choices_have_their_shares() {
        // "b" and "a" are predicted to be equally fast: the first name counts, though "b" is faster.
        let cases = || {
            vec![
                timed("b", 1.0, 10.0),
                timed("a", 1.0, 20.0),
                timed("c", 1.03, 40.0),
                timed("d", 2.0, 16.0),
                timed("e", 3.0, 40.0),
                timed("f", 4.0, 8.0),
            ]
        };
        let score = choice(cases(), Some(32.0));
        let near = |share: PercentShare, expected: f64| (share.get() - expected).abs() < 1e-12;
        assert!(near(score.first, 0.4) && score.chosen.as_deref() == Some("a"));
        assert!(near(score.first_group, (0.4 + 0.8 + 0.2) / 3.0));
        assert!(near(score.time_error, (0.9 + 0.95 + 38.97 / 40.0 + 14.0 / 16.0 + 37.0 / 40.0 + 0.5) / 6.0));
        assert!(near(score.first_five, 0.8) && near(score.usual.unwrap(), 0.25));
        assert!(near(score.random, (0.8 + 0.4 + 0.2 + 0.5 + 0.2 + 1.0) / 6.0));
        // Of six, five are drawn: the best is missing in one of six draws, and 0.8 is best then.
        assert!(near(score.random_five.unwrap(), 5.0 / 6.0 + 0.8 / 6.0));
        let two = mean(&[score.clone(), choice(cases(), None)]).unwrap();
        assert!(two.problems == 2 && two.chosen.is_none() && near(two.usual.unwrap(), 0.25));
        assert_eq!(
            choice(cases()[..2].iter().map(|c| timed(c.name, 1.0, 1.0)).collect(), None).random_five,
            None
        );
    }

    #[test]
    fn repetitions_tell_the_noise() {
        assert_eq!(noise(&[(1.0, 1.0)]), None);
        let found = noise(&[(1.0, 1.1), (2.0, 2.0), (3.0, 2.9)]).unwrap();
        assert!((found.spearman.get() - 1.0).abs() < 1e-12 && found.configurations == 3);
        assert!((found.difference.get() - (3.0 / 2.9 - 1.0)).abs() < 1e-12);
    }
}
