//! Crawford's experiments (C chapters 7 and 8): three kernels on one core of a GTX 480 with 16 KB of L1.

use serde::Serialize;

use super::{CacheShape, Filter, SeedRuns, SimulationConfig, simulate};
use crate::quantity::{PerLaunch, Times};
use crate::trace::coalesce::{Coalescing, Requests};
use crate::trace::pattern::{AccessPattern, Square};
use crate::trace::schedule::{Assignment, Grouping};

/// The kernels of C 7.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Benchmark {
    /// Listing 7.1 with square groups, and groups along one dimension.
    MatrixMultiplication {
        /// Threads of a group along one dimension.
        group: u32,
        /// Groups along one dimension.
        groups: u32,
    },
    /// Listing 7.2.
    Transposition {
        /// Threads of a group along one dimension.
        group: u32,
        /// Groups along one dimension.
        groups: u32,
    },
    /// Listing 7.3 on 128 x 128 x 32 in groups of 64 x 1 x 1.
    Stencil,
}

impl Benchmark {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Benchmark::MatrixMultiplication { .. } => "matrix multiplication",
            Benchmark::Transposition { .. } => "transposition",
            Benchmark::Stencil => "stencil",
        }
    }

    /// Threads of a group along x and y.
    pub fn group(self) -> [u32; 2] {
        match self {
            Benchmark::MatrixMultiplication { group, .. } | Benchmark::Transposition { group, .. } => {
                [group, group]
            }
            Benchmark::Stencil => [64, 1],
        }
    }

    /// What C publishes: simulated, and profiled (C 8.1.2, 8.2.2, 8.3.2 and 8.4); percent.
    pub fn published(self) -> (Option<f64>, Option<f64>) {
        match self {
            Benchmark::Transposition { .. } => (Some(100.0), Some(100.0)),
            Benchmark::Stencil => (Some(46.9), Some(48.8)),
            // About 6 % up to 60 groups; near 12 % beyond, which C's simulator does not show.
            Benchmark::MatrixMultiplication { groups, .. } => {
                (Some(6.0), Some(if groups * groups > 60 { 12.0 } else { 6.0 }))
            }
        }
    }

    fn pattern(self) -> AccessPattern {
        let square = |group: u32, groups: u32| Square {
            n: u64::from(group) * u64::from(groups),
            wgx: group,
            wgy: group,
            max_threads: None,
        };
        match self {
            Benchmark::MatrixMultiplication { group, groups } => AccessPattern::Mm(square(group, groups)),
            Benchmark::Transposition { group, groups } => AccessPattern::Mt(square(group, groups)),
            Benchmark::Stencil => {
                AccessPattern::Stencil3d { nx: 128, ny: 128, nz: 32, bx: 64, by: 1, bz: 1, max_threads: None }
            }
        }
    }

    /// The table of C 8 (table 8.1), and the matrix multiplications around 60 groups.
    pub fn all() -> Vec<Self> {
        let sizes = [
            (16, 2),
            (16, 3),
            (16, 4),
            (32, 2),
            (16, 5),
            (16, 6),
            (32, 3),
            (16, 7),
            (16, 8),
            (32, 4),
            (16, 9),
            (16, 10),
            (32, 5),
        ];
        let of = |make: fn(u32, u32) -> Self| sizes.into_iter().map(move |(g, n)| make(g, n));
        let mut all: Vec<Self> = of(|group, groups| Self::Transposition { group, groups }).collect();
        all.extend([(16, 16), (32, 10)].map(|(group, groups)| Self::Transposition { group, groups }));
        all.extend(of(|group, groups| Self::MatrixMultiplication { group, groups }));
        all.push(Self::Stencil);
        all
    }
}

/// A benchmark at one size, beside what C publishes of it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchmarkResult {
    /// The kernel.
    pub kernel: &'static str,
    /// Threads of a group along x and y.
    pub group: [u32; 2],
    /// Groups in all.
    pub groups: u64,
    /// Elements of a matrix.
    pub elements: u64,
    /// Most groups of a core at a time; null is all.
    pub max_groups: Option<u32>,
    /// Median miss rate, in percent.
    pub miss_rate_percent: f64,
    /// Median of the reads.
    #[serde(rename = "reads")]
    pub median_reads: Times<PerLaunch>,
    /// Median of the read misses.
    #[serde(rename = "read_misses")]
    pub median_read_misses: Times<PerLaunch>,
    /// Standard deviation of the read misses over their median, in percent.
    pub misses_deviation_percent: f64,
    /// What C publishes: simulated.
    pub published_simulated_percent: Option<f64>,
    /// What C publishes: profiled.
    pub published_profiled_percent: Option<f64>,
}

/// A benchmark with each seed; none if it cannot be made.
pub fn run(
    benchmark: Benchmark,
    cache: &CacheShape,
    cores: u32,
    max_groups: Option<u32>,
    seeds: u64,
) -> Option<BenchmarkResult> {
    let trace = benchmark.pattern().trace()?;
    let how = Coalescing {
        grouping: Grouping::Position,
        line: cache.geometry().line(),
        // C 6.5 coalesces whole warps.
        partial_warps: false,
        ..Coalescing::default()
    };
    let all = Requests::coalesced(&trace, how, 0..trace.blocks());
    let one = |seed: u64| {
        let filter = Filter { cores, core: 0, assignment: Assignment::Random { seed }, max_groups };
        let config = SimulationConfig { cache: cache.clone(), filter };
        (seed, simulate(&all, &config, &mut |_, _, _| {}))
    };
    let runs = SeedRuns::new((1..=seeds).map(one));
    let (groups, group) = (trace.blocks() as u64, benchmark.group());
    let (published_simulated_percent, published_profiled_percent) = benchmark.published();
    Some(BenchmarkResult {
        kernel: benchmark.word(),
        group,
        groups,
        elements: groups * group.map(u64::from).iter().product::<u64>(),
        max_groups,
        miss_rate_percent: runs.miss_rate_percent,
        median_reads: runs.median_reads,
        median_read_misses: runs.median_read_misses,
        misses_deviation_percent: runs.misses_deviation_percent,
        published_simulated_percent,
        published_profiled_percent,
    })
}
