//! Reasons to doubt a prediction.

use std::fmt;
use std::sync::Arc;

use crate::curve::widths;
use crate::named::named;

named! {
    /// What a reason to doubt a prediction is about; its name is the code that programs see.
    pub enum ReasonKind {
        /// The roofline model was asked for.
        Roofline = "roofline-not-calibrated",
        /// No set of measurements is of this architecture.
        Architecture = "architecture-not-measured",
        /// The device has no curves, and takes those of another one.
        CurvesInherited = "curves-inherited",
        /// The same of another maker.
        CurvesForeign = "curves-of-other-maker",
        /// The device has curves, but takes their hit rates from another one.
        HitRatesInherited = "hit-rates-inherited",
        /// The bandwidth of the memory decides, and no measurement of this device says what it is.
        BandwidthDerived = "bandwidth-not-measured",
        /// Latency decides, and no measurement of this device says what it is.
        LatencyDerived = "latency-not-measured",
        /// What an SM does beside arithmetic decides, by rules that were found on GPUs of another maker.
        ForeignCore = "core-of-other-maker",
        /// Much code is written out on a device of AMD (`gaps`).
        UnrolledOnAmd = "amd-unrolled",
        /// What an SM or the L2 does decides, and the clock is that of the device file.
        ClockAssumed = "clock-assumed",
        /// Arithmetic decides.
        Fp = "limited-by-fp",
        /// The pipe of the L1 decides.
        L1 = "limited-by-l1",
        /// The L2 decides.
        L2 = "limited-by-l2",
        /// Address translation decides.
        Tlb = "limited-by-tlb",
        /// Too few bytes in flight.
        Latency = "limited-by-latency",
        /// Loads that threads wait for.
        Waits = "limited-by-waits",
        /// Issuing instructions.
        Issue = "limited-by-issue",
        /// Starting blocks.
        Dispatch = "limited-by-dispatch",
        /// The launch itself takes a good part of the time.
        Short = "short-launch",
        /// Less than a wave of blocks.
        FewBlocks = "few-blocks",
        /// Few warps on an SM.
        Occupancy = "low-occupancy",
        /// Threads of a block wait for each other.
        Barriers = "barriers",
        /// The same, and memory decides: phases that barriers part may not overlap.
        Phases = "memory-between-barriers",
        /// How often a loop repeats differs between threads.
        IrregularLoops = "irregular-loops",
        /// Some threads skip some accesses.
        Guarded = "guarded-accesses",
        /// Atomics.
        Atomics = "atomics",
        /// Threads do several work items.
        Folded = "folded",
        /// What threads of a warp touch lies far apart.
        Scattered = "scattered-warps",
        /// Sectors of memory are loaded without the neighbour that comes with them.
        HalfPairs = "half-pairs",
        /// What an SM does decides, and the document has no counts of instructions.
        Instructions = "instructions-unknown",
        /// Registers are an assumption, and with them occupancy and spills.
        Registers = "registers-assumed",
        /// Distinct lines are an estimate.
        Lines = "lines-sampled",
        /// Some warps stand for all.
        Warps = "wavefronts-sampled",
        /// Arrays stay in a cache from launch to launch.
        Resident = "resident-in-cache",
        /// The caches are empty when the launch begins.
        Cold = "cold-caches",
    }
}

/// A reason to doubt a prediction; as a text what a person reads of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    kind: ReasonKind,
    about: About,
}

/// What a reason names beside its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
enum About {
    Nothing,
    Name(Arc<str>),
    Percent(u8),
}

impl Reason {
    /// One that says all there is.
    pub(super) fn new(kind: ReasonKind) -> Self {
        Self { kind, about: About::Nothing }
    }

    /// One about something with a name.
    pub(super) fn named(kind: ReasonKind, name: &str) -> Self {
        Self { kind, about: About::Name(name.into()) }
    }

    /// One about a share.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share in percent")]
    pub(super) fn percent(kind: ReasonKind, share: f64) -> Self {
        Self { kind, about: About::Percent((100.0 * share).round().clamp(0.0, 100.0) as u8) }
    }

    /// What it is about.
    pub fn kind(&self) -> ReasonKind {
        self.kind
    }

    /// Whether it makes the interval wider: measurements may show that it does not matter.
    pub fn widens(&self) -> bool {
        self.kind == ReasonKind::Roofline || widths().weight(self.kind.word()) > 0.0
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match &self.about {
            About::Name(name) => name,
            _ => "another device",
        };
        match self.kind {
            ReasonKind::Roofline => return f.write_str("the roofline model is not calibrated"),
            ReasonKind::Architecture => return write!(f, "no measurements of the architecture {name}"),
            ReasonKind::CurvesInherited => write!(f, "curves inherited from {name}"),
            ReasonKind::CurvesForeign => write!(f, "curves inherited from {name}, of another maker"),
            ReasonKind::HitRatesInherited => write!(f, "hit rates inherited from {name}"),
            ReasonKind::BandwidthDerived => f.write_str("memory bandwidth from the device file"),
            ReasonKind::LatencyDerived => f.write_str("latency from the device file"),
            ReasonKind::ForeignCore => f.write_str("waits and instructions by rules of another maker's GPUs"),
            ReasonKind::UnrolledOnAmd => {
                f.write_str("long unrolled code, of which AMD's compilers make slow programs")
            }
            ReasonKind::ClockAssumed => f.write_str("clock of the device file, not of the run"),
            ReasonKind::Fp => f.write_str("limited by arithmetic"),
            ReasonKind::L1 => f.write_str("limited by the L1 pipe"),
            ReasonKind::L2 => f.write_str("limited by the L2"),
            ReasonKind::Tlb => f.write_str("limited by address translation"),
            ReasonKind::Latency => f.write_str("limited by latency"),
            ReasonKind::Waits => f.write_str("limited by loads that threads wait for"),
            ReasonKind::Issue => f.write_str("limited by issuing instructions"),
            ReasonKind::Dispatch => f.write_str("limited by starting blocks"),
            ReasonKind::Short => match self.about {
                About::Percent(share) => write!(f, "the launch itself is {share} % of the time"),
                _ => f.write_str("the launch itself is much of the time"),
            },
            ReasonKind::FewBlocks => f.write_str("less than a wave of blocks"),
            ReasonKind::Occupancy => match self.about {
                About::Percent(share) => write!(f, "occupancy of {share} %"),
                _ => f.write_str("low occupancy"),
            },
            ReasonKind::Barriers => f.write_str("threads wait at barriers"),
            ReasonKind::Phases => f.write_str("memory that threads wait for between barriers"),
            ReasonKind::IrregularLoops => f.write_str("loops that threads repeat differently often"),
            ReasonKind::Guarded => f.write_str("accesses that only some threads do"),
            ReasonKind::Atomics => f.write_str("atomics"),
            ReasonKind::Folded => f.write_str("several work items per thread"),
            ReasonKind::Scattered => f.write_str("warps whose threads touch places far apart"),
            ReasonKind::HalfPairs => f.write_str("sectors without their neighbours"),
            ReasonKind::Instructions => f.write_str("instructions not given (work.instructions)"),
            ReasonKind::Registers => f.write_str("registers assumed"),
            ReasonKind::Lines => f.write_str("lines estimated from samples"),
            ReasonKind::Warps => f.write_str("L1 wavefronts counted for some warps"),
            ReasonKind::Resident => f.write_str("arrays stay in a cache between launches"),
            ReasonKind::Cold => f.write_str("cold caches"),
        }?;
        if widths().is_measured(self.kind.word()) { Ok(()) } else { f.write_str(", not measured") }
    }
}
