//! Errors of each quantity.

use serde::Serialize;

use super::errors::Errors;
use super::order::{OrderScore, order};
use crate::launch::Candidate;
use crate::measure::join::{MeasuredGroup, ValuePair};
use crate::measure::measurements::MeasuredQuantity;
use crate::measure::share::PercentShare;
use crate::quantity::Correlation;
use crate::sorting;

/// How good the predictions of some groups are.
#[derive(Debug, Clone, PartialEq)]
pub struct Validation {
    /// Of every quantity that was measured.
    pub scores: Vec<Score>,
    /// Of each group, where times were measured of at least two launches.
    pub orders: Vec<Option<OrderScore>>,
    /// Groups that the means of the orders are over.
    pub ordered: usize,
    /// Mean of the orders of groups with enough launches; of all groups if none has so many.
    pub order: Option<OrderScore>,
}

/// How good the predictions of one quantity are.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Score {
    /// Its name in the measurement format.
    #[cfg_attr(test, schemars(with = "String"))]
    pub quantity: MeasuredQuantity,
    /// Launches with a measured value other than zero.
    pub launches: usize,
    /// Measured zeros, of which there is no relative error.
    pub zeros: usize,
    /// Their errors; zero where there is none.
    #[serde(flatten)]
    pub errors: Errors,
    /// The launches with the largest errors.
    pub worst: Vec<WorstLaunch>,
}

/// A launch with a large error.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorstLaunch {
    /// Position of its group, from 0.
    pub group: usize,
    /// Block and fold.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Predicted and measured.
    #[serde(flatten)]
    pub pair: ValuePair,
    /// Lines of its measurements.
    pub lines: Vec<usize>,
}

/// Holds predictions against measurements; groups with less than `least` launches do not count in the
/// means over orders if others have more. Of each quantity the `worst` launches are named.
pub fn validate(groups: &[MeasuredGroup], least: usize, worst: usize) -> Validation {
    let orders: Vec<Option<OrderScore>> = groups.iter().map(order_of).collect();
    let known: Vec<OrderScore> = orders.iter().flatten().copied().collect();
    let mut enough: Vec<OrderScore> = known.iter().copied().filter(|o| o.launches >= least).collect();
    if enough.is_empty() {
        enough = known;
    }
    Validation {
        scores: MeasuredQuantity::ALL.into_iter().filter_map(|q| score(groups, q, worst)).collect(),
        orders,
        ordered: enough.len(),
        order: mean_order(&enough),
    }
}

fn order_of(group: &MeasuredGroup) -> Option<OrderScore> {
    let pairs: Vec<(f64, f64)> = group
        .cases
        .iter()
        .filter_map(|c| Some((c.prediction.time.seconds.get(), c.seconds(&group.device)?)))
        .collect();
    order(&pairs)
}

fn mean_order(orders: &[OrderScore]) -> Option<OrderScore> {
    let best_at = orders.iter().map(|o| o.best_at).max()?;
    let mean = |of: &dyn Fn(&OrderScore) -> f64| orders.iter().map(of).sum::<f64>() / orders.len() as f64;
    Some(OrderScore {
        launches: orders.iter().map(|o| o.launches).sum(),
        spearman: Correlation::new(mean(&|o| o.spearman.get())),
        kendall: Correlation::new(mean(&|o| o.kendall.get())),
        first: PercentShare::new(mean(&|o| o.first.get())),
        first_five: PercentShare::new(mean(&|o| o.first_five.get())),
        best_at,
    })
}

fn score(groups: &[MeasuredGroup], quantity: MeasuredQuantity, worst: usize) -> Option<Score> {
    let mut launches = Vec::new();
    let mut zeros = 0;
    for (g, group) in groups.iter().enumerate() {
        for case in &group.cases {
            let Some(pair) = case.pair(quantity, &group.device) else { continue };
            match pair.error() {
                Some(error) => launches.push((error.get(), g, case, pair)),
                None => zeros += 1,
            }
        }
    }
    if launches.is_empty() && zeros == 0 {
        return None;
    }
    let errors: Vec<f64> = launches.iter().map(|l| l.0).collect();
    sorting::sort_by(&mut launches, |a, b| b.0.abs().total_cmp(&a.0.abs()));
    let named = launches.iter().take(worst).map(|&(_, group, case, pair)| WorstLaunch {
        group,
        candidate: case.candidate,
        pair,
        lines: case.lines.clone(),
    });
    Some(Score {
        quantity,
        launches: launches.len(),
        zeros,
        errors: Errors::new(&errors).unwrap_or_default(),
        worst: named.collect(),
    })
}
