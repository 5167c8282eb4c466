//! What a time is made of: what limits it, the rates that each resource allows, and the parts that add up.

use serde::Serialize;

use crate::quantity::{ItemsPerSecond, Seconds};

/// What keeps a kernel from being faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Limiter {
    /// Floating-point units.
    Fp,
    /// The pipe of the L1.
    L1,
    /// Bandwidth of the L2.
    L2,
    /// Bandwidth of the memory.
    Dram,
    /// Address translation.
    Tlb,
    /// Too few bytes in flight.
    Latency,
    /// Issuing instructions.
    Issue,
    /// Fetching instructions.
    Fetch,
    /// Starting blocks.
    Dispatch,
    /// Starting the kernel.
    #[default]
    Launch,
}

impl Limiter {
    /// How it is written.
    pub fn word(self) -> &'static str {
        match self {
            Limiter::Fp => "fp",
            Limiter::L1 => "l1",
            Limiter::L2 => "l2",
            Limiter::Dram => "dram",
            Limiter::Tlb => "tlb",
            Limiter::Latency => "latency",
            Limiter::Issue => "issue",
            Limiter::Fetch => "fetch",
            Limiter::Dispatch => "dispatch",
            Limiter::Launch => "launch",
        }
    }
}

/// Work items per second that each resource allows by itself; `None` where it is not used.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RateLimits {
    /// Floating-point units.
    pub fp: Option<ItemsPerSecond>,
    /// The pipe of the L1.
    pub l1: Option<ItemsPerSecond>,
    /// Bandwidth of the L2.
    pub l2: Option<ItemsPerSecond>,
    /// Bandwidth of the memory.
    pub dram: Option<ItemsPerSecond>,
}

/// Seconds that each part would take by itself, and how they add up: the total is the longest of fp, l1, l2, dram,
/// latency, waits, issue, fetch, tlb and dispatch, plus tail, launch and combination.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Terms {
    /// Floating-point units.
    pub fp: Seconds,
    /// The pipe of the L1.
    pub l1: Seconds,
    /// Bandwidth of the L2.
    pub l2: Seconds,
    /// Bandwidth of the memory.
    pub dram: Seconds,
    /// Waves of threads that each take at least a trip to memory.
    pub latency: Seconds,
    /// Waves of threads that wait for one load after the other, and what their warps compute and have in the L1.
    pub waits: Seconds,
    /// Issuing instructions.
    pub issue: Seconds,
    /// The same with fetching them, where the instruction caches do not hold the code; otherwise 0.
    pub fetch: Seconds,
    /// Part of `tail`: what the first wave of blocks loads while nothing can be computed yet, or what the last one
    /// computes when nothing is left to be loaded.
    pub first_wave: Seconds,
    /// Waves that are not full or have nothing beside them: the first, the last, and few blocks on an SM.
    pub tail: Seconds,
    /// The launch itself.
    pub launch: Seconds,
    /// Address translation.
    pub tlb: Seconds,
    /// Starting blocks.
    pub dispatch: Seconds,
    /// Part of `combination`: what blocks of an SM do not hide of each other's own work and way to memory, which each of
    /// them takes one after the other.
    pub blocks: Seconds,
    /// What limiters that are close to each other cost beyond the longest.
    pub combination: Seconds,
}

/// The time of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Time {
    /// All of it.
    pub seconds: Seconds,
    /// What limits.
    pub limiter: Limiter,
    /// Rates that the resources allow.
    pub limits: RateLimits,
    /// Parts of the time.
    pub terms: Terms,
}
