//! What can be measured.

/// Something that is measured of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quantity {
    /// Bytes that registers load from L1.
    L1Load,
    /// Bytes that registers store to L1.
    L1Store,
    /// Bytes loaded from L2.
    L2Load,
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

impl Quantity {
    /// All of them, in the order in which they are written.
    pub const ALL: [Quantity; 13] = [
        Quantity::L1Load,
        Quantity::L1Store,
        Quantity::L2Load,
        Quantity::L2Store,
        Quantity::LlcLoad,
        Quantity::LlcStore,
        Quantity::DramLoad,
        Quantity::DramStore,
        Quantity::L1Wavefronts,
        Quantity::L1TagWavefronts,
        Quantity::Time,
        Quantity::Rate,
        Quantity::Cycles,
    ];

    /// The name of its column.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::L1Load => "l1_load",
            Quantity::L1Store => "l1_store",
            Quantity::L2Load => "l2_load",
            Quantity::L2Store => "l2_store",
            Quantity::LlcLoad => "llc_load",
            Quantity::LlcStore => "llc_store",
            Quantity::DramLoad => "dram_load",
            Quantity::DramStore => "dram_store",
            Quantity::L1Wavefronts => "l1_wavefronts",
            Quantity::L1TagWavefronts => "l1_tag_wavefronts",
            Quantity::Time => "time",
            Quantity::Rate => "rate",
            Quantity::Cycles => "cycles",
        }
    }

    /// How a person calls it.
    pub fn title(self) -> &'static str {
        match self {
            Quantity::L1Load => "L1 loads",
            Quantity::L1Store => "L1 stores",
            Quantity::L2Load => "L2 loads",
            Quantity::L2Store => "L2 stores",
            Quantity::LlcLoad => "LLC loads",
            Quantity::LlcStore => "LLC stores",
            Quantity::DramLoad => "DRAM loads",
            Quantity::DramStore => "DRAM stores",
            Quantity::L1Wavefronts => "L1 data wavefronts",
            Quantity::L1TagWavefronts => "L1 tag wavefronts",
            Quantity::Time => "time",
            Quantity::Rate => "rate",
            Quantity::Cycles => "cycles",
        }
    }

    /// The quantity of a column, if it is one.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|q| q.name() == name)
    }

    /// What kind of unit it has.
    pub(super) fn kind(self) -> Kind {
        match self {
            Quantity::L1Wavefronts | Quantity::L1TagWavefronts | Quantity::Cycles => Kind::Count,
            Quantity::Time => Kind::Time,
            Quantity::Rate => Kind::Rate,
            _ => Kind::Bytes,
        }
    }

    /// Whether it says how fast a launch was.
    pub fn is_speed(self) -> bool {
        matches!(self, Quantity::Time | Quantity::Rate | Quantity::Cycles)
    }
}
