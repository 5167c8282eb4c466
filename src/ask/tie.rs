//! How near two rates are to be for a tie.

use std::str::FromStr;

/// Launches whose rates differ by less than this share a tie group: a number of percent from 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tie(f64);

impl Tie {
    /// What it can be.
    pub(super) const EXPECTED: &'static str = "a number of percent from 0 to 100";

    /// So many percent.
    pub fn percent(percent: f64) -> Option<Self> {
        (0.0..=100.0).contains(&percent).then_some(Self(percent))
    }

    /// As a share of the rate.
    pub fn share(self) -> f64 {
        self.0 / 100.0
    }
}

impl Default for Tie {
    fn default() -> Self {
        Self(4.0)
    }
}

impl FromStr for Tie {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().ok().and_then(Self::percent).ok_or(Self::EXPECTED)
    }
}

impl std::fmt::Display for Tie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
