//! The steps that each part of the work for a launch may take.

/// The parts of the work for a launch. Each has steps of its own, as parts that several launches share must
/// not depend on which of them comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkPart {
    /// What a thread does.
    Program,
    /// Distinct lines of blocks and waves.
    Footprints,
    /// What warps do.
    L1,
}

impl WorkPart {
    /// Of all steps of a launch.
    pub(super) fn steps(self, all: u64) -> u64 {
        match self {
            WorkPart::Program | WorkPart::L1 => all / 4,
            WorkPart::Footprints => all / 2,
        }
    }
}
