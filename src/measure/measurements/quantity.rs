//! What can be measured.

use serde::Serialize;

/// Something that is measured of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MeasuredQuantity {
    /// Bytes that registers load from L1.
    L1Load,
    /// Bytes that registers store to L1.
    L1Store,
    /// Bytes loaded from L2.
    L2Load,
    /// Bytes that the L2 is asked for: loads, and code that the instruction caches do not hold.
    L2Read,
    /// Bytes stored to L2.
    L2Store,
    /// Bytes loaded from a last-level cache beyond L2.
    LlcLoad,
    /// Bytes stored to a last-level cache beyond L2.
    LlcStore,
    /// Bytes loaded from memory.
    DramLoad,
    /// Bytes stored to memory.
    DramStore,
    /// Wavefronts of the data stage of L1.
    L1Wavefronts,
    /// Wavefronts of the tag stage of L1.
    L1TagWavefronts,
    /// Time of the launch in seconds.
    Time,
    /// Work items per second.
    Rate,
    /// Cycles of the launch.
    Cycles,
}

/// What kind of unit a quantity has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Bytes, of the whole launch or per work item.
    Bytes,
    /// A count, of the whole launch or per work item.
    Count,
    /// Seconds.
    Time,
    /// Work items per second.
    Rate,
}

impl MeasuredQuantity {
    /// All of them, in the order in which they are written.
    pub const ALL: [Self; 14] = [
        Self::L1Load,
        Self::L1Store,
        Self::L2Load,
        Self::L2Read,
        Self::L2Store,
        Self::LlcLoad,
        Self::LlcStore,
        Self::DramLoad,
        Self::DramStore,
        Self::L1Wavefronts,
        Self::L1TagWavefronts,
        Self::Time,
        Self::Rate,
        Self::Cycles,
    ];

    /// The name of its column.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// How a person calls it.
    pub fn title(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::L1Load => ("l1_load", "L1 loads"),
            Self::L1Store => ("l1_store", "L1 stores"),
            Self::L2Load => ("l2_load", "L2 loads"),
            Self::L2Read => ("l2_read", "L2 reads"),
            Self::L2Store => ("l2_store", "L2 stores"),
            Self::LlcLoad => ("llc_load", "LLC loads"),
            Self::LlcStore => ("llc_store", "LLC stores"),
            Self::DramLoad => ("dram_load", "DRAM loads"),
            Self::DramStore => ("dram_store", "DRAM stores"),
            Self::L1Wavefronts => ("l1_wavefronts", "L1 data wavefronts"),
            Self::L1TagWavefronts => ("l1_tag_wavefronts", "L1 tag wavefronts"),
            Self::Time => ("time", "time"),
            Self::Rate => ("rate", "rate"),
            Self::Cycles => ("cycles", "cycles"),
        }
    }

    /// The quantity of a column, if it is one.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|q| q.name() == name)
    }

    /// What kind of unit it has.
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::L1Wavefronts | Self::L1TagWavefronts | Self::Cycles => Kind::Count,
            Self::Time => Kind::Time,
            Self::Rate => Kind::Rate,
            _ => Kind::Bytes,
        }
    }

    /// Whether it says how fast a launch was.
    pub fn is_speed(self) -> bool {
        matches!(self, Self::Time | Self::Rate | Self::Cycles)
    }
}

#[cfg(test)]
mod tests {
    use super::MeasuredQuantity;

    #[test]
    fn documents_use_the_names_of_columns() {
        for quantity in MeasuredQuantity::ALL {
            assert_eq!(serde_json::to_value(quantity).unwrap(), quantity.name());
        }
    }
}
