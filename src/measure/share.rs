//! Shares, which are written in percent.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// A share, or an error as a share of what was measured: 1 is all of it. In JSON it stands in percent.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, JsonSchema)]
#[schemars(inline)]
pub struct PercentShare(pub f64);

impl PercentShare {
    /// A hundred for all of it.
    pub fn percent(self) -> f64 {
        100.0 * self.0
    }
}

impl Serialize for PercentShare {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.percent())
    }
}
