//! The forms that hit rates take over the oversubscription of a cache.

use serde::{Deserialize, Serialize};

/// A rate over the oversubscription O: bytes that compete for a cache over its capacity (equation 4 of
/// the paper).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "form", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Curve {
    /// Misses as 1 / (1 + (o0 / O)^k): none in a cache that is large enough, half at o0.
    Hill {
        /// Where half of what could hit misses.
        o0: f64,
        /// Steepness.
        k: f64,
        /// Source of the coefficients.
        source: String,
    },
    /// Misses as a * exp(-b * exp(-c * O)), the paper's sigmoid (section 4.5).
    SigmoidMiss {
        /// Misses of a cache that is far too small.
        a: f64,
        /// Where it rises.
        b: f64,
        /// How fast it rises.
        c: f64,
        /// Source of the coefficients.
        source: String,
    },
    /// Hits as a * exp(-b * exp(c * O)): the same sigmoid where it falls.
    SigmoidHit {
        /// Hits of a cache that is large enough.
        a: f64,
        /// Where it falls.
        b: f64,
        /// How fast it falls.
        c: f64,
        /// Source of the coefficients.
        source: String,
    },
}

impl Curve {
    /// The share of redundant accesses that miss at an oversubscription, between 0 and 1.
    pub fn miss(&self, oversubscription: f64) -> f64 {
        let o = oversubscription.max(0.0);
        let miss = match *self {
            Curve::Hill { .. } if o == 0.0 => 0.0,
            Curve::Hill { o0, k, .. } => 1.0 / (1.0 + (o0 / o).powf(k)),
            Curve::SigmoidMiss { a, b, c, .. } => a * (-b * (-c * o).exp()).exp(),
            Curve::SigmoidHit { a, b, c, .. } => 1.0 - a * (-b * (c * o).exp()).exp(),
        };
        miss.clamp(0.0, 1.0)
    }

    /// Source of the coefficients.
    pub fn source(&self) -> &str {
        match self {
            Curve::Hill { source, .. }
            | Curve::SigmoidMiss { source, .. }
            | Curve::SigmoidHit { source, .. } => source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misses_rise_with_oversubscription() {
        let source = String::new();
        let hill = Curve::Hill { o0: 2.0, k: 3.0, source: source.clone() };
        assert!(hill.miss(0.0) < 1e-12 && (hill.miss(2.0) - 0.5).abs() < 1e-12 && hill.miss(1e9) > 0.999);
        // The paper-time coefficients of the V100's L1.
        let sigmoid = Curve::SigmoidMiss { a: 0.73, b: 4.6, c: 0.34, source };
        assert!(sigmoid.miss(0.0) < 0.01 && (sigmoid.miss(100.0) - 0.73).abs() < 1e-9);
    }
}
