//! How measurements spread around a curve: by the same amount everywhere, or by a share of the value.

use super::loss::Loss;
use super::points::{Points, Residuals};
use super::shape::CurveShape;

/// How measurements spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Noise {
    /// Whichever of the others fits better.
    #[default]
    Auto,
    /// By the same amount everywhere.
    Absolute,
    /// By a share of the value.
    Relative,
}

/// Values below this share of the largest spread as it does: no measurement is arbitrarily exact.
const LEAST: f64 = 1e-3;
/// A median of absolute deviations over the standard deviation of normal ones.
const MEDIAN: f64 = 0.674_489_75;

/// How much each point spreads under relative noise, relative to 1.
pub(super) fn relative(points: &Points, shape: CurveShape, logs: &[f64]) -> Vec<f64> {
    let all: Vec<f64> = (0..points.len()).map(|i| points.predicted(i, shape, logs).abs()).collect();
    let most = all.iter().copied().fold(0.0, f64::max);
    if most <= 0.0 {
        return vec![1.0; all.len()];
    }
    all.into_iter().map(|value| value.max(LEAST * most)).collect()
}

/// Standard deviation of residuals without the outliers among them.
pub(super) fn scale(residuals: &[f64], parameters: usize) -> f64 {
    let mut sizes: Vec<f64> = residuals.iter().map(|r| r.abs()).collect();
    if sizes.is_empty() {
        return 0.0;
    }
    let middle = sizes.len() / 2;
    let (_, median, _) = sizes.select_nth_unstable_by(middle, f64::total_cmp);
    let n = residuals.len() as f64;
    let free = (n - parameters as f64).max(1.0);
    *median / MEDIAN * (n / free).sqrt()
}

/// How unlikely the residuals are, up to a constant: the smaller, the better the noise fits. The
/// distribution is that of which the loss is the logarithm.
pub(super) fn unlikely(residuals: &Residuals<'_>, logs: &[f64], deviation: f64) -> f64 {
    let c = Loss::Cauchy.tuning();
    let all = residuals.all(logs);
    let spread: f64 = residuals.spread.iter().map(|s| s.ln()).sum();
    let deviation = deviation.max(f64::MIN_POSITIVE);
    let tails: f64 = all.iter().map(|r| 0.5 * c * c * (r / (c * deviation)).powi(2).ln_1p()).sum();
    all.len() as f64 * deviation.ln() + spread + tails
}
