//! What a curve is fitted to.

use std::ops::Range;

use super::loss::Loss;
use super::shape::{CurveShape, Placed};
use super::solver::{LeastSquares, Normal};

/// Measured values, each a sum of shares of the rate at some oversubscriptions: a rate by itself, or a
/// volume of which several parts can miss.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Points {
    /// Oversubscription and share of every part.
    parts: Vec<(f64, f64)>,
    /// Logarithms of the oversubscriptions, which every step of a fit needs.
    logs: Vec<f64>,
    /// The first part of each point, and one past the last.
    first: Vec<usize>,
    values: Vec<f64>,
    weights: Vec<f64>,
}

impl Points {
    /// No points yet.
    pub fn new() -> Self {
        Self { first: vec![0], ..Self::default() }
    }

    /// Rates at oversubscriptions, all of the same weight.
    pub fn of_rates(rates: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let mut points = Self::new();
        for (o, rate) in rates {
            points.push(&[(o, 1.0)], rate, 1.0);
        }
        points
    }

    /// Adds a value: the sum over (O, share) of share times the rate at O. The weight multiplies its
    /// residual. What is no number is left out.
    pub fn push(&mut self, parts: &[(f64, f64)], value: f64, weight: f64) {
        let finite = parts.iter().all(|p| p.0.is_finite() && p.1.is_finite());
        if parts.is_empty() || !finite || !value.is_finite() || !weight.is_finite() || weight <= 0.0 {
            return;
        }
        if self.first.is_empty() {
            self.first.push(0);
        }
        self.parts.extend(parts.iter().map(|&(o, share)| (o.max(0.0), share)));
        self.logs.extend(parts.iter().map(|&(o, _)| o.max(0.0).ln()));
        self.first.push(self.parts.len());
        self.values.push(value);
        self.weights.push(weight);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The points at these positions, as often as they are named.
    #[must_use]
    pub fn some(&self, positions: impl IntoIterator<Item = usize>) -> Self {
        let mut some = Self::new();
        for i in positions {
            let parts = self.range(i);
            some.parts.extend_from_slice(&self.parts[parts.clone()]);
            some.logs.extend_from_slice(&self.logs[parts]);
            some.first.push(some.parts.len());
            some.values.push(self.values[i]);
            some.weights.push(self.weights[i]);
        }
        some
    }

    fn range(&self, i: usize) -> Range<usize> {
        self.first[i]..self.first[i + 1]
    }

    /// Parts of a point.
    pub fn parts_of(&self, i: usize) -> &[(f64, f64)] {
        &self.parts[self.range(i)]
    }

    /// The measured values.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Oversubscription of every part.
    pub fn oversubscriptions(&self) -> impl Iterator<Item = f64> {
        self.parts.iter().map(|p| p.0)
    }

    /// What a curve gives for a point.
    pub fn predicted(&self, i: usize, shape: CurveShape, logs: &[f64]) -> f64 {
        let placed = shape.at(logs);
        self.parts_of(i).iter().map(|&(o, share)| share * placed.with_slope(o).0).sum()
    }

    /// The weight of a point.
    pub(super) fn weight(&self, i: usize) -> f64 {
        self.weights[i]
    }
}

/// Residuals of points: (predicted - measured) times weight over the spread of each.
pub(super) struct Residuals<'a> {
    pub(super) points: &'a Points,
    pub(super) shape: CurveShape,
    pub(super) loss: Loss,
    pub(super) scale: f64,
    /// How much each point spreads, relative to the others.
    pub(super) spread: &'a [f64],
}

impl Residuals<'_> {
    /// All residuals.
    pub(super) fn all(&self, logs: &[f64]) -> Vec<f64> {
        let placed = self.shape.at(logs);
        (0..self.points.len()).map(|i| self.at(placed, i).0).collect()
    }

    /// One residual with its derivatives.
    pub(super) fn at(&self, placed: Placed, i: usize) -> (f64, [f64; 3]) {
        let factor = self.points.weight(i) / self.spread[i];
        let (mut sum, mut slope) = (0.0, [0.0; 3]);
        let range = self.points.range(i);
        for (&(o, share), &log) in self.points.parts[range.clone()].iter().zip(&self.points.logs[range]) {
            let (rate, by) = placed.with_slope_at(o, log);
            sum += share * rate;
            for (total, part) in slope.iter_mut().zip(by) {
                *total += share * part * factor;
            }
        }
        (factor * (sum - self.points.values[i]), slope)
    }
}

impl LeastSquares for Residuals<'_> {
    fn normal(&self, logs: &[f64]) -> Normal {
        let per = 1.0 / (self.scale * self.scale);
        let placed = self.shape.at(logs);
        // Arrays of a fixed size: most of the time of a fit is spent here.
        let (mut cost, mut gradient, mut matrix) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
        for i in 0..self.points.len() {
            let (r, slope) = self.at(placed, i);
            let rho = self.loss.rho(r * r * per);
            cost += rho.value;
            for a in 0..3 {
                let weighted = rho.first * slope[a];
                gradient[a] += weighted * r;
                for b in 0..=a {
                    matrix[a][b] += weighted * slope[b];
                }
            }
        }
        let n = logs.len().min(3);
        let cell = |a: usize, b: usize| matrix[a.max(b)][a.min(b)];
        Normal {
            cost: 0.5 * self.scale * self.scale * cost,
            gradient: gradient[..n].to_vec(),
            matrix: (0..n).map(|a| (0..n).map(|b| cell(a, b)).collect()).collect(),
        }
    }
}
