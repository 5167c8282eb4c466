//! Arguments of everything that runs the reuse-distance model.

use clap::{Args, ValueEnum};

use super::super::failure::Failure;
use super::convert::warp_shape;
use super::input::{Opened, TraceArguments};
use super::part::Part;
use crate::report::trace::ReuseSettings;
use crate::trace::coalesce::{Coalescing, Requests};
use crate::trace::reuse::{Batches, Extensions, Latency, MshrLimits, ReuseConfig, ReuseRules, Visible};
use crate::trace::schedule::Grouping;
use crate::trace::sets::SetIndex;
use crate::trace::stream::Facts;
use crate::trace::{CacheGeometry, TraceKind};

/// By which rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum RulesName {
    /// Those of the paper's text
    Paper,
    /// Those of the published program, bit for bit
    Code,
}

/// A caches of N.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CacheName {
    /// Fermi with 16 KB: 32 sets of 4 ways
    #[value(name = "16k")]
    Small,
    /// Fermi with 48 KB: 64 sets of 6 ways
    #[value(name = "48k")]
    Large,
}

#[derive(Debug, Clone, Args)]
#[group(skip)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct ModelArguments {
    /// Whose rules the model follows where the paper and its published program differ
    #[arg(long, value_enum, default_value = "paper")]
    pub rules: RulesName,
    /// A known cache, whose sizes --size, --ways and --line change
    #[arg(long, value_enum, default_value = "16k")]
    cache: CacheName,
    /// Bytes of the cache
    #[arg(long, value_name = "BYTES")]
    pub size: Option<u64>,
    /// Lines of a set
    #[arg(long, value_name = "N")]
    pub ways: Option<u64>,
    /// Bytes of a line
    #[arg(long, value_name = "BYTES", default_value_t = 128)]
    pub line: u64,
    /// How lines are assigned to sets: fermi, modulo, xor, hash, or masks of line bits such as 0x41,0x82 (lowest bit of the
    /// set first)
    #[arg(long, value_name = "FUNCTION", default_value = SetIndex::DEFAULT)]
    pub index: String,
    /// Latency of a miss, in time stamps
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub latency: u32,
    /// Spread of the latency: the standard deviation of a half-normal distribution that is added to it
    #[arg(long, default_value_t = 0.0, value_name = "SIGMA")]
    deviation: f64,
    /// Latency of a hit
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub hit_latency: u32,
    /// Seed for random latencies
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// MSHRs of a core; 0 is unlimited
    #[arg(long, default_value_t = 64)]
    pub mshrs: u32,
    /// MSHRs that a warp may use, 6 on Fermi (N section 5.2); unlimited by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub mshrs_per_warp: Option<u32>,
    /// Requests that an MSHR serves; unlimited by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub merge_limit: Option<u32>,
    /// Cores that share the blocks
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub cores: u32,
    /// Only every N-th block from block I on, as in 2/15: what one of N cores gets that take blocks in turn. The counts of all
    /// parts add up
    #[arg(long, value_name = "I/N", value_parser = Part::parse, conflicts_with = "cores")]
    pub part: Option<Part>,
    /// Threads of the trace that are simulated on each core (N section 4.6)
    #[arg(long, default_value_t = 8192)]
    pub max_threads: u64,
    /// Threads active on a core
    #[arg(long, default_value_t = 1536)]
    pub active_threads: u32,
    /// Blocks active on a core
    #[arg(long, default_value_t = 8)]
    pub active_blocks: u32,
    /// Threads of a warp
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub warp_size: u32,
    /// Assign threads to warps with a stride
    #[arg(long)]
    pub strided: bool,
    /// Switch off one of the extensions of the model (repeatable)
    #[arg(long, value_parser = ["parallel", "latency", "associativity", "mshr", "divergence"])]
    pub without: Vec<String>,
    /// Where a look-up and an effect fall on the same time stamp, do the effect first (N's table 5; tables 1 to 4 need
    /// the opposite)
    #[arg(long)]
    pub effects_first: bool,
    /// Serve accesses of more than 4 bytes a lane in several parts of the warp, as the published program does
    #[arg(long)]
    pub portions: bool,
    /// Begin the next blocks when all of a set are done, as the published program does
    #[arg(long)]
    pub static_batches: bool,
    /// Where an access crosses into a second cache line, leave that line out, as the published program does
    #[arg(long)]
    pub no_split: bool,
}

impl ModelArguments {
    /// The rules.
    fn rules(&self) -> ReuseRules {
        let mut rules = match self.rules {
            RulesName::Paper => ReuseRules::PAPER,
            RulesName::Code => ReuseRules::CODE,
        };
        rules.portions |= self.portions;
        rules.split &= !self.no_split;
        if self.static_batches {
            rules.batches = Batches::Static;
        }
        if self.effects_first {
            rules.visible = Visible::Before;
        }
        rules
    }

    /// The configuration of the model.
    pub(super) fn config(&self) -> Result<ReuseConfig, Failure> {
        let rules = self.rules();
        let base = match self.cache {
            CacheName::Small => ReuseConfig::fermi_16k(rules),
            CacheName::Large => ReuseConfig::fermi_48k(rules),
        };
        let refuse = |message: String| Failure::message("usage", message, None);
        if !self.line.is_power_of_two() || !(8..=65_536).contains(&self.line) {
            return Err(refuse(format!("--line {}: a power of two from 8 to 65536", self.line)));
        }
        if !(0.0..=100_000.0).contains(&self.deviation) {
            return Err(refuse(format!("--deviation {}: from 0 to 100000", self.deviation)));
        }
        let lines = self.size.unwrap_or(base.geometry.bytes()) / self.line;
        let ways = self.ways.unwrap_or(u64::from(base.geometry.ways())).max(1);
        let geometry = CacheGeometry::with_lines(self.line, lines, ways, &self.index).map_err(refuse)?;
        let off = |name: &str| self.without.iter().any(|w| w == name);
        Ok(ReuseConfig {
            geometry,
            latency: Latency {
                hit: self.hit_latency,
                miss: self.latency,
                deviation_ticks: self.deviation,
                seed: self.seed,
            },
            mshrs: MshrLimits {
                total: Some(self.mshrs).filter(|&m| m > 0),
                per_warp: self.mshrs_per_warp,
                merged: self.merge_limit,
            },
            max_threads: self.active_threads,
            max_blocks: self.active_blocks,
            cores: self.cores,
            extensions: Extensions {
                parallel: !off("parallel"),
                latency: !off("latency"),
                associativity: !off("associativity"),
                mshr: !off("mshr"),
                divergence: !off("divergence"),
            },
            ..base
        })
    }

    /// The trace: loads and barriers, or loads alone as the published program has it.
    pub(super) fn open(&self, of: &TraceArguments) -> Result<Opened, Failure> {
        let keep: fn(TraceKind) -> bool = match self.rules {
            RulesName::Paper => |kind| matches!(kind, TraceKind::Load | TraceKind::Barrier),
            RulesName::Code => |kind| kind == TraceKind::Load,
        };
        of.open(of.blocks_of(self.threads()), Some(keep))
    }

    fn threads(&self) -> u64 {
        let cores = u64::from(self.cores) * self.part().of as u64;
        self.max_threads.saturating_mul(cores)
    }

    fn part(&self) -> Part {
        self.part.unwrap_or(Part { number: 0, of: 1 })
    }

    /// What the machines go by: a core's random latencies are those of its number.
    pub(super) fn of_part(&self, config: ReuseConfig) -> ReuseConfig {
        let core = (self.part().number as u64) << 32;
        let latency = Latency { seed: config.latency.seed.wrapping_add(core), ..config.latency };
        ReuseConfig { latency, ..config }
    }

    /// The requests of the threads that are simulated.
    pub(super) fn requests(
        &self,
        of: &TraceArguments,
        opened: &Opened,
        rules: ReuseRules,
    ) -> Result<Requests, Failure> {
        let by_position = self.rules == RulesName::Code || !opened.facts().has_instructions;
        let how = Coalescing {
            warp: warp_shape(self.warp_size)?.strided(self.strided),
            line: self.line,
            grouping: if by_position { Grouping::Position } else { Grouping::Instruction },
            split: rules.split,
            ..Coalescing::default()
        };
        of.requests_of_part(opened, how, self.simulated_blocks(opened.facts()), self.part())
    }

    fn simulated_blocks(&self, facts: &Facts) -> usize {
        let most = usize::try_from(self.threads()).unwrap_or(usize::MAX) / facts.block_threads();
        facts.blocks().min(most.max(1))
    }

    /// What was assumed, for the report.
    pub(super) fn settings(&self, config: &ReuseConfig, facts: &Facts) -> ReuseSettings {
        ReuseSettings {
            rules: if self.rules == RulesName::Code { "code" } else { "paper" },
            geometry: config.geometry.clone(),
            coalescing: "whole, half and quarter warps for 4, 8 and 16 bytes",
            latency: config.latency,
            mshrs: config.mshrs,
            cores: config.cores,
            simulated_threads: (self.part().count(self.simulated_blocks(facts)) * facts.block_threads())
                .min(facts.launch.threads),
            warp_size: self.warp_size,
        }
    }
}
