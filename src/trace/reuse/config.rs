//! What the model assumes of the machine, and by which rules it goes.

use serde::Serialize;

use crate::trace::CacheGeometry;

/// When an effect at a time is seen by a look-up at the same time. Tables 1 to 4 of N need `After`, table 5
/// `Before`: the paper contradicts itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visible {
    /// Effects come after look-ups.
    After,
    /// Effects come first.
    Before,
}

/// In which order effects at one time come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectOrder {
    /// All hits, then all returning misses: the published program.
    HitsFirst,
    /// As they were issued (N 4.2).
    Issue,
}

/// When it is tested whether a warp gets an entry for its misses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalCheck {
    /// For lane 0 only, all others always do: the published program.
    FirstLane,
    /// Before a warp changes anything (N 4.4).
    Warp,
}

/// When an entry with several requests becomes free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// With the first that returns: the published program.
    First,
    /// With the last.
    Last,
}

/// What happens when blocks are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batches {
    /// The next set of blocks begins when all of one are done: the published program.
    Static,
    /// The next block begins (N 4.1).
    Refill,
}

/// The rules, each a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct ReuseRules {
    /// A miss to a line in flight needs no entry of its own (N 4.4).
    pub merge: bool,
    /// When a warp is refused.
    pub check: RefusalCheck,
    /// A request to a line in flight takes effect with it (N 4.2).
    pub clip: bool,
    /// The order of simultaneous effects.
    pub order: EffectOrder,
    /// When entries become free.
    pub release: Release,
    /// An instruction with more than 4 bytes a lane is served in portions of its warp.
    pub portions: bool,
    /// How blocks follow each other.
    pub batches: Batches,
    /// When effects are seen.
    pub visible: Visible,
    /// An access over the end of a line needs both lines.
    pub split: bool,
    /// Barriers hold their block; N 4.7 leaves them out.
    pub barriers: bool,
}

impl ReuseRules {
    /// Those of the published program, bit for bit.
    pub const CODE: Self = Self {
        merge: false,
        check: RefusalCheck::FirstLane,
        clip: false,
        order: EffectOrder::HitsFirst,
        release: Release::First,
        portions: true,
        batches: Batches::Static,
        visible: Visible::After,
        split: false,
        barriers: false,
    };

    /// Those of the paper's text.
    pub const PAPER: Self = Self {
        merge: true,
        check: RefusalCheck::Warp,
        clip: true,
        order: EffectOrder::Issue,
        release: Release::Last,
        portions: false,
        batches: Batches::Refill,
        visible: Visible::After,
        split: true,
        barriers: true,
    };
}

/// The five extensions of N 4, each a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Extensions {
    /// N 4.1; without it, warps run one after another.
    pub parallel: bool,
    /// N 4.2; without it, effects are immediate.
    pub latency: bool,
    /// N 4.3; without it, there is one set.
    pub associativity: bool,
    /// N 4.4; without it, there are entries for all.
    pub mshr: bool,
    /// N 4.5; without it, warps take turns in a fixed order.
    pub divergence: bool,
}

impl Extensions {
    /// All of them.
    pub const ALL: Self =
        Self { parallel: true, latency: true, associativity: true, mshr: true, divergence: true };
}

/// Latencies in time stamps, which are no cycles (N 4.2).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Latency {
    /// Latency of a hit, in time stamps.
    #[serde(rename = "hit_latency")]
    pub hit: u32,
    /// Least latency of a miss.
    #[serde(rename = "miss_latency")]
    pub miss: u32,
    /// Standard deviation of the half-normal distribution on top of it, in time stamps.
    #[serde(rename = "deviation")]
    pub deviation_ticks: f64,
    /// Of the random numbers.
    pub seed: u64,
}

/// Miss-status holding registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MshrLimits {
    /// MSHRs of a core; null is unlimited.
    #[serde(rename = "mshrs")]
    pub total: Option<u32>,
    /// MSHRs that one warp may use (N 5.2 finds 6 on Fermi, and does not model it).
    #[serde(rename = "mshrs_per_warp")]
    pub per_warp: Option<u32>,
    /// Requests that one MSHR may serve.
    pub merged: Option<u32>,
}

/// All assumptions.
#[derive(Debug, Clone, PartialEq)]
pub struct ReuseConfig {
    /// The cache.
    pub geometry: CacheGeometry,
    /// Latencies.
    pub latency: Latency,
    /// Entries for misses.
    pub mshrs: MshrLimits,
    /// Threads that are active on a core.
    pub max_threads: u32,
    /// Blocks that are active on a core.
    pub max_blocks: u32,
    /// Cores that share the blocks.
    pub cores: u32,
    /// The rules.
    pub rules: ReuseRules,
    /// The extensions in use.
    pub extensions: Extensions,
}

impl ReuseConfig {
    /// N's configuration of a Fermi core with a cache of 16 KB: 32 sets of 4 ways, 64 MSHRs, a latency of
    /// 100 (N 3.2, 5; the latency is that of the published program).
    pub fn fermi_16k(rules: ReuseRules) -> Self {
        Self {
            geometry: CacheGeometry::fermi(32, 4),
            latency: Latency { hit: 0, miss: 100, deviation_ticks: 0.0, seed: 1 },
            mshrs: MshrLimits { total: Some(64), per_warp: None, merged: None },
            max_threads: 1536,
            max_blocks: 8,
            cores: 1,
            rules,
            extensions: Extensions::ALL,
        }
    }

    /// The same with 48 KB: 64 sets of 6 ways.
    pub fn fermi_48k(rules: ReuseRules) -> Self {
        Self { geometry: CacheGeometry::fermi(64, 6), ..Self::fermi_16k(rules) }
    }

    /// With what switched-off extensions stand for.
    #[must_use]
    pub fn effective(&self) -> Self {
        let mut config = self.clone();
        if !self.extensions.latency {
            config.latency = Latency { hit: 0, miss: 0, deviation_ticks: 0.0, ..self.latency };
        }
        if !self.extensions.associativity {
            config.geometry = self.geometry.fully_associative();
        }
        if !self.extensions.mshr {
            config.mshrs = MshrLimits { total: None, per_warp: None, merged: None };
        }
        config
    }
}
