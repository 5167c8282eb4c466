//! How well an order is predicted.

use std::cmp::Ordering;

use serde::Serialize;

use crate::measure::share::PercentShare;
use crate::quantity::Correlation;

/// How well the order of launches is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "OrderDocument"))]
pub struct OrderScore {
    /// Launches with a measured time.
    pub launches: usize,
    /// Spearman's rank correlation of predicted and measured times.
    pub spearman: Correlation,
    /// Kendall's rank correlation, tau-b.
    pub kendall: Correlation,
    /// Rate of the first choice over the best one, in percent.
    #[serde(rename = "first_percent")]
    pub first: PercentShare,
    /// Best rate of the first five choices over the best one, in percent.
    #[serde(rename = "first_five_percent")]
    pub first_five: PercentShare,
    /// Place of the best one among the choices, from 1.
    pub best_at: usize,
}

/// The order of launches of one kernel, each as predicted and measured seconds; none of less than two.
pub fn order(pairs: &[(f64, f64)]) -> Option<OrderScore> {
    if pairs.len() < 2 {
        return None;
    }
    let mut sorted = pairs.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let least = |some: &[(f64, f64)]| some.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    let best = least(&sorted);
    Some(OrderScore {
        launches: pairs.len(),
        spearman: Correlation::new(spearman(pairs)),
        kendall: Correlation::new(kendall(pairs)),
        first: PercentShare::new(best / sorted[0].1),
        first_five: PercentShare::new(best / least(&sorted[..sorted.len().min(5)])),
        best_at: 1 + sorted.iter().take_while(|p| p.1 > best).count(),
    })
}

/// 0 where all of one side are equal: there is no order then.
pub(in crate::measure) fn spearman(pairs: &[(f64, f64)]) -> f64 {
    let predicted = ranks(&pairs.iter().map(|p| p.0).collect::<Vec<_>>());
    let measured = ranks(&pairs.iter().map(|p| p.1).collect::<Vec<_>>());
    let middle = (pairs.len() as f64 - 1.0) / 2.0;
    let covariance: f64 = predicted.iter().zip(&measured).map(|(a, b)| (a - middle) * (b - middle)).sum();
    let variance = |ranks: &[f64]| ranks.iter().map(|r| (r - middle).powi(2)).sum::<f64>();
    let scale = (variance(&predicted) * variance(&measured)).sqrt();
    if scale > 0.0 { covariance / scale } else { 0.0 }
}

/// Ranks from 0; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    for equal in order.chunk_by(|a, b| a.1.total_cmp(&b.1).is_eq()) {
        for &(i, _) in equal {
            ranks[i] = from as f64 + (equal.len() as f64 - 1.0) / 2.0;
        }
        from += equal.len();
    }
    ranks
}

/// Kendall's tau-b in O(n log n) (Knight, "A computer method for calculating Kendall's tau with ungrouped
/// data", 1966): pairs that must be exchanged to sort by the second value what is sorted by the first.
fn kendall(pairs: &[(f64, f64)]) -> f64 {
    let mut sorted = pairs.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let first = tied(sorted.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()));
    let same = |a: &(f64, f64), b: &(f64, f64)| a.0.total_cmp(&b.0).is_eq() && a.1.total_cmp(&b.1).is_eq();
    let both = tied(sorted.chunk_by(same));
    let mut second: Vec<f64> = sorted.iter().map(|p| p.1).collect();
    let exchanged = exchanges(&mut second);
    let second = tied(second.chunk_by(|a, b| a.total_cmp(b).is_eq()));
    let all = couples(pairs.len());
    let scale = ((all - first) * (all - second)).sqrt();
    if scale > 0.0 { (all - first - second + both - 2.0 * exchanged) / scale } else { 0.0 }
}

/// Couples within groups of equals.
fn tied<'a, T: 'a>(groups: impl Iterator<Item = &'a [T]>) -> f64 {
    groups.map(|g| couples(g.len())).sum()
}

fn couples(n: usize) -> f64 {
    n as f64 * (n as f64 - 1.0) / 2.0
}

/// Sorts by merging; how many couples stood the wrong way round.
fn exchanges(values: &mut [f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let (left, right) = values.split_at_mut(values.len() / 2);
    let mut count = exchanges(left) + exchanges(right);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut a, mut b) = (left.iter().peekable(), right.iter().peekable());
    while let (Some(&&x), Some(&&y)) = (a.peek(), b.peek()) {
        if x.total_cmp(&y) == Ordering::Greater {
            count += a.len() as f64;
            merged.push(y);
            b.next();
        } else {
            merged.push(x);
            a.next();
        }
    }
    merged.extend(a.copied().chain(b.copied()));
    values.copy_from_slice(&merged);
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By definition: concordant less discordant couples, ties left out.
    fn by_couples(pairs: &[(f64, f64)]) -> f64 {
        let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
        for (i, a) in pairs.iter().enumerate() {
            for b in &pairs[..i] {
                let sign = |d: f64| if d == 0.0 { 0.0 } else { d.signum() };
                let (x, y) = (sign(a.0 - b.0), sign(a.1 - b.1));
                sum += x * y;
                first += x.abs();
                second += y.abs();
            }
        }
        sum / (f64::sqrt(first) * f64::sqrt(second))
    }

    #[test]
    fn kendall_is_what_its_definition_says() {
        let mut random = crate::random::Random::new(7);
        for n in 2..60 {
            let pairs: Vec<(f64, f64)> = (0..n)
                .map(|i| ((random.position(9) + i % 2) as f64, random.position(7 + i) as f64))
                .collect();
            let expected = by_couples(&pairs);
            if expected.is_finite() {
                assert!((kendall(&pairs) - expected).abs() < 1e-12, "{pairs:?}");
            }
        }
    }

    #[test]
    fn orders_have_their_figures() {
        let same = order(&[(1.0, 10.0), (2.0, 20.0), (3.0, 30.0)]).unwrap();
        assert!((same.spearman.get() - 1.0).abs() < 1e-12 && (same.kendall.get() - 1.0).abs() < 1e-12);
        assert!((same.first.get() - 1.0).abs() < 1e-12 && same.best_at == 1);
        let reverse: Vec<(f64, f64)> = (1..=10).map(|i| (f64::from(i), f64::from(20 - i))).collect();
        let reverse = order(&reverse).unwrap();
        assert!((reverse.spearman.get() + 1.0).abs() < 1e-12 && (reverse.kendall.get() + 1.0).abs() < 1e-12);
        assert!((reverse.first.get() - 10.0 / 19.0).abs() < 1e-12);
        assert!((reverse.first_five.get() - 10.0 / 15.0).abs() < 1e-12 && reverse.best_at == 10);
        let tied = order(&[(1.0, 1.0), (1.0, 2.0)]).unwrap();
        assert!(
            tied.spearman.get().abs() < 1e-12 && tied.kendall.get().abs() < 1e-12,
            "no order is predicted"
        );
        assert_eq!(order(&[(1.0, 1.0)]), None);
    }
}
