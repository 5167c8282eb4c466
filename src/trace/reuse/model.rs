//! The model: coalesced requests in, profiles and types of misses out.

use super::config::{Extensions, ReuseConfig};
use super::machine::{self, Counts};
use super::profile::Profile;
use crate::trace::coalesce::Requests;
use crate::trace::sets::SetIndex;

/// One run of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunKind {
    /// As configured.
    Full,
    /// With one set for all lines.
    FullyAssociative,
    /// Without latencies.
    ZeroLatency,
    /// With MSHRs for all.
    UnlimitedMshrs,
    /// With warps one after another.
    Sequential,
    /// With warps in turn, whatever they wait for.
    LockStep,
}

impl RunKind {
    /// The four runs of the published program, by which it tells types of misses apart.
    pub const FOUR: [Self; 4] = [Self::Full, Self::FullyAssociative, Self::ZeroLatency, Self::UnlimitedMshrs];
    /// Each extension off in turn (N 6.1).
    pub const ALL: [Self; 6] = [
        Self::Full,
        Self::FullyAssociative,
        Self::ZeroLatency,
        Self::UnlimitedMshrs,
        Self::Sequential,
        Self::LockStep,
    ];

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            RunKind::Full => "full",
            RunKind::FullyAssociative => "no-associativity",
            RunKind::ZeroLatency => "no-latency",
            RunKind::UnlimitedMshrs => "no-mshr",
            RunKind::Sequential => "no-parallelism",
            RunKind::LockStep => "no-divergence",
        }
    }

    /// Extensions without the one that it leaves out.
    #[must_use]
    pub fn without(self, all: Extensions) -> Extensions {
        match self {
            RunKind::Full => all,
            RunKind::FullyAssociative => Extensions { associativity: false, ..all },
            RunKind::ZeroLatency => Extensions { latency: false, ..all },
            RunKind::UnlimitedMshrs => Extensions { mshr: false, ..all },
            RunKind::Sequential => Extensions { parallel: false, ..all },
            RunKind::LockStep => Extensions { divergence: false, ..all },
        }
    }
}

/// What a run found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunResult {
    /// How often each distance occurs; infinite where no earlier request has taken effect.
    pub profile: Profile,
    /// Last time stamp, of the core that took longest.
    pub ticks: u64,
    /// Turns of warps that were refused for want of an MSHR.
    pub refusals: u64,
    /// Misses to lines in flight.
    pub latency_misses: u64,
    /// First requests to a line, of each core.
    pub compulsory: u64,
    /// Lines of a set.
    pub ways: u64,
}

impl RunResult {
    /// All requests.
    pub fn accesses(&self) -> u64 {
        self.profile.accesses()
    }

    /// Requests that miss: infinite distances, and those of at least as many lines as a set has (N 3.3).
    pub fn misses(&self) -> u64 {
        self.profile.misses(self.ways)
    }

    /// Misses that go to memory: those to lines in flight do not, and profilers do not count them (N 6.1).
    pub fn memory_misses(&self) -> u64 {
        self.misses().saturating_sub(self.latency_misses)
    }

    /// Memory misses of all requests, in percent; 0 of none.
    pub fn miss_rate(&self) -> f64 {
        let all = self.accesses();
        if all == 0 { 0.0 } else { 100.0 * self.memory_misses() as f64 / all as f64 }
    }
}

/// The model over requests, for several runs.
#[derive(Debug)]
pub struct ReuseModel<'r> {
    all: &'r Requests,
    blocks: usize,
    threads_per_block: usize,
}

impl<'r> ReuseModel<'r> {
    /// For the requests of blocks of so many threads.
    pub fn new(all: &'r Requests, threads_per_block: usize) -> Self {
        let blocks = all.warps.last().map_or(0, |w| w.block as usize + 1);
        Self { all, blocks, threads_per_block }
    }

    /// One run.
    pub fn run(&self, config: &ReuseConfig, kind: RunKind) -> RunResult {
        let extensions = kind.without(config.extensions);
        let config = ReuseConfig { extensions, ..config.clone() }.effective();
        let sets = sets(self.all, &config.sets);
        let cores = machine::run(self.all, &config, &sets, self.blocks, self.threads_per_block);
        let mut total = Counts::default();
        let mut ticks = 0;
        for (counts, now) in cores {
            total.profile.merge(&counts.profile);
            total.refusals += counts.refusals;
            total.latency_misses += counts.latency_misses;
            total.compulsory += counts.compulsory;
            ticks = ticks.max(now);
        }
        RunResult {
            profile: total.profile,
            ticks,
            refusals: total.refusals,
            latency_misses: total.latency_misses,
            compulsory: total.compulsory,
            ways: u64::from(config.ways),
        }
    }
}

/// The set of each line.
fn sets(all: &Requests, index: &SetIndex) -> Vec<u32> {
    all.lines.iter().map(|&line| index.set(line)).collect()
}

/// Runs of the model.
pub fn simulate(
    all: &Requests,
    threads_per_block: usize,
    config: &ReuseConfig,
    kinds: &[RunKind],
) -> Vec<RunResult> {
    let model = ReuseModel::new(all, threads_per_block);
    kinds.iter().map(|&kind| model.run(config, kind)).collect()
}
