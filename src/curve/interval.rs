//! Where a fitted number may lie.

use serde::{Deserialize, Serialize};

/// A 95 % interval, in the unit of what it is of; its lower and its upper end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(inline))]
pub struct Interval([f64; 2]);

impl Interval {
    /// From one end to the other.
    pub fn new(low: f64, high: f64) -> Self {
        Self([low, high])
    }

    /// Around a number that is positive, of which the logarithm is known within `by`.
    #[cfg(feature = "fit")]
    pub(crate) fn around(log: f64, by: f64) -> Self {
        Self([(log - by).exp(), (log + by).exp()])
    }

    /// Its lower end.
    pub fn low(&self) -> f64 {
        self.0[0]
    }

    /// Its upper end.
    pub fn high(&self) -> f64 {
        self.0[1]
    }

    /// Whether a value lies in it.
    pub fn holds(&self, value: f64) -> bool {
        (self.low()..=self.high()).contains(&value)
    }
}
