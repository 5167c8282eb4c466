//! Errors of predictions.

use serde::Serialize;

use crate::measure::share::PercentShare;

/// Errors of some predictions of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Errors {
    /// Mean of |predicted / measured - 1|, in percent.
    #[serde(rename = "mean_absolute_error_percent")]
    pub mean: PercentShare,
    /// The median of these.
    #[serde(rename = "median_absolute_error_percent")]
    pub median: PercentShare,
    /// Mean of predicted / measured - 1, in percent: above zero where too much is predicted.
    #[serde(rename = "bias_percent")]
    pub bias: PercentShare,
}

impl Errors {
    /// Of errors as shares; none of no errors.
    pub(in crate::measure) fn new(errors: &[f64]) -> Option<Self> {
        if errors.is_empty() {
            return None;
        }
        let mean = |sum: f64| PercentShare::new(sum / errors.len() as f64);
        let mut sizes: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
        Some(Self {
            mean: mean(sizes.iter().sum()),
            median: PercentShare::new(median(&mut sizes)),
            bias: mean(errors.iter().sum()),
        })
    }
}

/// The median of some numbers; 0 of none.
pub(in crate::measure) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values {
        [] => 0.0,
        values => f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2]),
    }
}
