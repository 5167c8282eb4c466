//! The model: coalesced requests in, profiles and types of misses out.

use serde::Serialize;

use super::config::{Extensions, ReuseConfig};
use super::machine::{self, Counts};
use crate::named::named;
use crate::parallel;
use crate::trace::coalesce::Requests;

named! {
    /// One run of the model.
    #[cfg_attr(test, schemars(inline))]
    pub enum RunKind {
        /// As configured.
        Full = "full",
        /// With one set for all lines.
        FullyAssociative = "no-associativity",
        /// Without latencies.
        ZeroLatency = "no-latency",
        /// With MSHRs for all.
        UnlimitedMshrs = "no-mshr",
        /// With warps one after another.
        Sequential = "no-parallelism",
        /// With warps in turn, whatever they wait for.
        LockStep = "no-divergence",
    }
}

impl RunKind {
    /// The four runs of the published program, by which it tells types of misses apart.
    pub const FOUR: [Self; 4] = [Self::Full, Self::FullyAssociative, Self::ZeroLatency, Self::UnlimitedMshrs];
    /// What the four leave to turn off.
    pub const FURTHER: [Self; 2] = [Self::Sequential, Self::LockStep];
    /// Each extension off in turn (N 6.1).
    pub const ALL: [Self; 6] = [
        Self::Full,
        Self::FullyAssociative,
        Self::ZeroLatency,
        Self::UnlimitedMshrs,
        Self::Sequential,
        Self::LockStep,
    ];

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
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RunResult {
    /// Memory misses of all requests, in percent; 0 of none.
    pub miss_rate_percent: f64,
    /// Misses that go to memory: those to lines in flight do not, and profilers do not count them (N 6.1).
    pub memory_misses: u64,
    /// All misses: infinite distances, and those of at least as many lines as a set has (N 3.3).
    pub misses: u64,
    /// Misses to lines in flight.
    pub latency_misses: u64,
    /// First requests to a line, of each core.
    pub compulsory: u64,
    /// Turns of warps that were refused for want of an MSHR.
    pub refusals: u64,
    /// Last time stamp, of the core that took longest.
    pub ticks: u64,
    /// Requests without an earlier effect on their line.
    pub infinite: u64,
    /// Finite distances and how often they occur, ascending.
    pub histogram: Vec<[u64; 2]>,
}

impl RunResult {
    /// From what was counted with sets of so many lines.
    fn new(counts: &Counts, ticks: u64, ways: u64) -> Self {
        let Counts { profile, refusals, latency_misses, compulsory } = counts;
        let (accesses, misses) = (profile.accesses(), profile.misses(ways));
        // Where entries become free before their requests land, more of them are thought to be in flight.
        let memory_misses = misses.saturating_sub(*latency_misses);
        let miss_rate_percent =
            if accesses == 0 { 0.0 } else { 100.0 * memory_misses as f64 / accesses as f64 };
        Self {
            miss_rate_percent,
            memory_misses,
            misses,
            latency_misses: *latency_misses,
            compulsory: *compulsory,
            refusals: *refusals,
            ticks,
            infinite: profile.infinite(),
            histogram: profile.distances().map(|(distance, times)| [distance, times]).collect(),
        }
    }

    /// All requests.
    pub fn accesses(&self) -> u64 {
        self.infinite + self.histogram.iter().map(|h| h[1]).sum::<u64>()
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
        let sets: Vec<u32> = self.all.lines.iter().map(|&line| config.geometry.set(line)).collect();
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
        RunResult::new(&total, ticks, u64::from(config.geometry.ways()))
    }
}

/// Runs of the model, on all threads: none needs another.
#[expect(clippy::missing_panics_doc, reason = "there is a result for each kind")]
pub fn simulate<const N: usize>(
    all: &Requests,
    threads_per_block: usize,
    config: &ReuseConfig,
    kinds: [RunKind; N],
) -> [RunResult; N] {
    let model = ReuseModel::new(all, threads_per_block);
    let found = parallel::map(&kinds, |&kind| model.run(config, kind));
    found.try_into().expect("there is a result for each kind")
}
