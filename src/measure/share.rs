//! Shares, which are written in percent.

use serde::{Serialize, Serializer};

use crate::quantity::Share;

/// A share, or an error as a share of what was measured: 1 is all of it. In JSON it stands in percent.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(inline))]
pub struct PercentShare(Share);

impl PercentShare {
    /// So much of the whole, where all of it is 1.
    pub fn new(share: f64) -> Self {
        Self(Share::new(share))
    }

    /// 1 for all of it.
    pub fn get(self) -> f64 {
        self.0.get()
    }

    /// A hundred for all of it.
    pub fn percent(self) -> f64 {
        100.0 * self.get()
    }
}

impl Serialize for PercentShare {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.percent())
    }
}
