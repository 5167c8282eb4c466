//! Errors of each quantity.

use super::order::{Order, order};
use crate::measure::join::Group;
use crate::measure::measurements::Quantity;

/// How good the predictions of some groups are.
#[derive(Debug, Clone, PartialEq)]
pub struct Validation {
    /// Of every quantity that was measured.
    pub scores: Vec<Score>,
    /// Of each group, where times were measured of at least two launches.
    pub orders: Vec<Option<Order>>,
    /// Groups that the means of the orders are over.
    pub ordered: usize,
    /// Mean of the orders of groups with enough launches; of all groups if none has so many.
    pub order: Option<Order>,
}

/// How good the predictions of one quantity are.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// What was measured.
    pub quantity: Quantity,
    /// Mean of |predicted / measured - 1|.
    pub error: f64,
    /// Mean of predicted / measured - 1.
    pub bias: f64,
    /// The value that half of the absolute errors are below.
    pub median: f64,
    /// Measured zeros, of which there is no relative error.
    pub zeros: usize,
    /// All launches with a measured value that is not zero, the largest error first.
    pub launches: Vec<Scored>,
}

/// A launch with predicted and measured value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// Position of its group.
    pub group: usize,
    /// Position of the launch in the group.
    pub case: usize,
    /// What is predicted.
    pub predicted: f64,
    /// What was measured.
    pub measured: f64,
}

impl Scored {
    /// Predicted / measured - 1.
    pub fn error(&self) -> f64 {
        self.predicted / self.measured - 1.0
    }
}

/// Holds predictions against measurements; groups with less than `least` launches do not count in the
/// means over orders if others have more.
pub fn validate(groups: &[Group], least: usize) -> Validation {
    let orders: Vec<Option<Order>> = groups.iter().map(order_of).collect();
    let known: Vec<Order> = orders.iter().flatten().copied().collect();
    let mut enough: Vec<Order> = known.iter().copied().filter(|o| o.launches >= least).collect();
    if enough.is_empty() {
        enough = known;
    }
    Validation {
        scores: Quantity::ALL.into_iter().filter_map(|q| score(groups, q)).collect(),
        orders,
        ordered: enough.len(),
        order: mean_order(&enough),
    }
}

fn order_of(group: &Group) -> Option<Order> {
    let pairs: Vec<(f64, f64)> = group
        .cases
        .iter()
        .filter_map(|c| Some((c.prediction.time.seconds.get(), c.seconds(&group.device)?)))
        .collect();
    order(&pairs)
}

fn mean_order(orders: &[Order]) -> Option<Order> {
    if orders.is_empty() {
        return None;
    }
    let mean = |of: &dyn Fn(&Order) -> f64| orders.iter().map(of).sum::<f64>() / orders.len() as f64;
    Some(Order {
        launches: orders.iter().map(|o| o.launches).sum(),
        spearman: mean(&|o| o.spearman),
        kendall: mean(&|o| o.kendall),
        first: mean(&|o| o.first),
        first_five: mean(&|o| o.first_five),
        best_at: orders.iter().map(|o| o.best_at).max().unwrap_or(0),
    })
}

fn score(groups: &[Group], quantity: Quantity) -> Option<Score> {
    let mut launches = Vec::new();
    let mut zeros = 0;
    for (g, group) in groups.iter().enumerate() {
        for (c, case) in group.cases.iter().enumerate() {
            let Some(measured) = case.measured(quantity) else { continue };
            let Some(predicted) = case.predicted(quantity, &group.device) else { continue };
            if measured > 0.0 {
                launches.push(Scored { group: g, case: c, predicted, measured });
            } else {
                zeros += 1;
            }
        }
    }
    if launches.is_empty() && zeros == 0 {
        return None;
    }
    let count = launches.len().max(1) as f64;
    let error = launches.iter().map(|s| s.error().abs()).sum::<f64>() / count;
    let bias = launches.iter().map(Scored::error).sum::<f64>() / count;
    launches.sort_by(|a, b| b.error().abs().total_cmp(&a.error().abs()));
    let median = launches.get(launches.len() / 2).map_or(0.0, |s| s.error().abs());
    Some(Score { quantity, error, bias, median, zeros, launches })
}
