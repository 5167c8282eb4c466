//! How good a prediction is.

/// Predicted and measured seconds of a launch.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    /// What the model says.
    pub predicted: f64,
    /// What was measured.
    pub measured: f64,
}

/// How well an order is predicted.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    /// Rank correlation.
    pub spearman: f64,
    /// Rate of the first choice over the best one.
    pub first: f64,
    /// Best rate among the first five over the best one.
    pub five: f64,
    /// Predicted rank of what is best, from 1.
    pub best_at: usize,
}

/// The order of launches of one kernel and size; they must not be empty.
pub fn order(pairs: &[Pair]) -> Order {
    let mut sorted = pairs.to_vec();
    sorted.sort_by(|a, b| a.predicted.total_cmp(&b.predicted));
    let best = sorted.iter().map(|p| p.measured).fold(f64::INFINITY, f64::min);
    let five = sorted.iter().take(5).map(|p| p.measured).fold(f64::INFINITY, f64::min);
    Order {
        spearman: spearman(pairs),
        first: best / sorted[0].measured,
        five: best / five,
        best_at: 1 + sorted.iter().take_while(|p| p.measured > best).count(),
    }
}

fn spearman(pairs: &[Pair]) -> f64 {
    let predicted = ranks(&pairs.iter().map(|p| p.predicted).collect::<Vec<_>>());
    let measured = ranks(&pairs.iter().map(|p| p.measured).collect::<Vec<_>>());
    let middle = (pairs.len() as f64 - 1.0) / 2.0;
    let covariance: f64 = predicted.iter().zip(&measured).map(|(a, b)| (a - middle) * (b - middle)).sum();
    let variance = |ranks: &[f64]| ranks.iter().map(|r| (r - middle).powi(2)).sum::<f64>();
    covariance / (variance(&predicted) * variance(&measured)).sqrt()
}

/// Ranks from 0; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    for equal in order.chunk_by(|&a, &b| values[a].total_cmp(&values[b]).is_eq()) {
        let from = order.iter().position(|&i| i == equal[0]).unwrap_or(0);
        for &i in equal {
            ranks[i] = from as f64 + (equal.len() as f64 - 1.0) / 2.0;
        }
    }
    ranks
}

/// Mean; 0 of nothing.
pub fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0.0), |(s, n), v| (s + v, n + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

/// Mean of |predicted / measured - 1|, in percent.
pub fn error(pairs: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    100.0 * mean(pairs.into_iter().map(|(predicted, measured)| (predicted / measured - 1.0).abs()))
}

/// The value below which a share of the values lies.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = share * (sorted.len() as f64 - 1.0);
    // The values around that place, each as far as it is near.
    sorted.iter().enumerate().map(|(i, value)| value * (1.0 - (at - i as f64).abs()).max(0.0)).sum()
}
