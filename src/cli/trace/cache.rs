//! `wavecast trace cache`.

use std::process::ExitCode;

use clap::Args;

use super::super::Outcome;
use super::super::input::load_device;
use super::super::output::{Failure, OutputArguments};
use super::convert::policy;
use super::input::TraceArguments;
use wavecast::device::Device;
use wavecast::report::trace::{
    CacheSettings, TraceHead, VolumesDocument, cache_document, cache_table, cache_text,
};
use wavecast::trace::Trace;
use wavecast::trace::cache::{
    CacheShape, Filter, Hierarchy, Replacement, SimulationConfig, Statistics, WritePolicy, simulate,
    simulate_order,
};
use wavecast::trace::coalesce::{Coalescing, Requests};
use wavecast::trace::schedule::{Assignment, Grouping, Policy, WarpShape, assign, order};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    trace: TraceArguments,
    #[command(flatten)]
    pub(super) cache: CacheArguments,
    /// The order of accesses
    #[arg(long, default_value = "warp", value_parser = ["warp", "round-robin", "sequential", "random", "recorded"])]
    policy: String,
    /// Cores that share the blocks; one of them is simulated, with a random choice of blocks
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    cores: u32,
    /// Runs with another choice of blocks each; the medians are shown
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,
    /// Blocks that run at a time; others enter as these end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_groups: Option<u32>,
    /// Threads of a warp
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1024))]
    warp_size: u32,
    /// Simulate both cache levels of this device too
    #[arg(short, long, value_name = "DEVICE")]
    device: Option<String>,
    #[command(flatten)]
    output: OutputArguments,
}

/// What the cache is.
#[derive(Debug, Clone, Args)]
pub(super) struct CacheArguments {
    /// Bytes of the cache
    #[arg(long, default_value_t = 16_384, value_name = "BYTES")]
    size: u64,
    /// Bytes of a line
    #[arg(long, default_value_t = 128, value_name = "BYTES")]
    line: u64,
    /// Lines of a set; 0 makes one set
    #[arg(long, default_value_t = 4, value_name = "N")]
    ways: u64,
    /// From lines to sets: modulo, xor, fermi, hash, or masks of line bits
    #[arg(long, default_value = "modulo", value_name = "FUNCTION")]
    index: String,
    /// Which line gives way
    #[arg(long, default_value = "lru", value_parser = Replacement::ALL.map(|r| r.0))]
    replacement: String,
    /// What happens to stores: write through without allocation, or back with allocation
    #[arg(long, default_value = "through", value_parser = ["through", "back"])]
    write: String,
}

impl CacheArguments {
    pub(super) fn shape(&self) -> Result<CacheShape, Failure> {
        let named = Replacement::ALL.iter().find(|r| r.0 == self.replacement);
        let replacement = named.map_or(Replacement::Lru, |r| r.1);
        let write =
            if self.write == "back" { WritePolicy::BackAllocate } else { WritePolicy::ThroughNoAllocate };
        CacheShape::new(self.size, self.line, self.ways, &self.index, replacement, write)
            .map_err(|why| Failure::message("usage", why, None))
    }
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let json = arguments.output.is_json();
    let document = of(arguments).map_err(|f| f.for_json(json))?;
    super::write(
        &arguments.output,
        &document,
        || cache_table(&document),
        |width| cache_text(&document, width),
    )?;
    Ok(ExitCode::SUCCESS)
}

fn of(arguments: &Arguments) -> Result<wavecast::report::trace::CacheDocument, Failure> {
    let shape = arguments.cache.shape()?;
    let device = arguments.device.as_deref().map(|name| load_device(name, &[], false)).transpose()?;
    let trace = arguments.trace.one(None, None)?;
    let runs = match arguments.policy.as_str() {
        "warp" => by_warps(arguments, &shape, &trace),
        _ => by_threads(arguments, &shape, &trace),
    };
    let word = if shape.write == WritePolicy::BackAllocate { "write-back" } else { "write-through" };
    let named = Replacement::ALL.iter().find(|r| r.1 == shape.replacement);
    let policies = ["warp", "round-robin", "sequential", "random", "recorded"];
    let settings = CacheSettings {
        bytes: shape.lines() * shape.line,
        line: shape.line,
        ways: shape.ways,
        sets: shape.sets.sets(),
        replacement: named.map_or("", |r| r.0),
        write: word,
        policy: policies.into_iter().find(|&p| p == arguments.policy).unwrap_or("warp"),
        cores: arguments.cores,
        max_groups: arguments.max_groups,
    };
    let volumes = device.as_ref().map(|d| two_levels(arguments, d, &trace)).transpose()?;
    Ok(cache_document(TraceHead::new(&arguments.trace.path, &trace), settings, &runs, volumes))
}

/// How requests are made for a cache: loads and stores.
pub(super) fn coalescing(trace: &Trace, line: u64, warp_size: u32) -> Coalescing {
    let grouping = if trace.has_instructions() { Grouping::Instruction } else { Grouping::Position };
    let warp = WarpShape { size: warp_size, strided: false };
    Coalescing { warp, line, grouping, partial_warps: false, loads_only: false, ..Coalescing::default() }
}

fn assignment(arguments: &Arguments, seed: u64) -> Assignment {
    if arguments.cores == 1 { Assignment::RoundRobin } else { Assignment::Random { seed } }
}

fn by_warps(arguments: &Arguments, shape: &CacheShape, trace: &Trace) -> Vec<(u64, Statistics)> {
    let how = coalescing(trace, shape.line, arguments.warp_size);
    let all = Requests::of(trace, how, 0..trace.blocks());
    let one = |seed: u64| {
        let assignment = assignment(arguments, seed);
        let filter = Filter { cores: arguments.cores, core: 0, assignment, max_groups: arguments.max_groups };
        let config = SimulationConfig { cache: CacheShape { seed, ..shape.clone() }, filter };
        (seed, simulate(&all, &config, &mut |_, _, _| {}))
    };
    (1..=arguments.seeds).map(one).collect()
}

fn by_threads(arguments: &Arguments, shape: &CacheShape, trace: &Trace) -> Vec<(u64, Statistics)> {
    let warp = WarpShape { size: arguments.warp_size, strided: false };
    let one = |seed: u64| {
        let policy = policy(&arguments.policy, seed);
        debug_assert!(policy != Policy::Warp);
        let blocks = assign(trace.blocks(), arguments.cores as usize, 0, assignment(arguments, seed));
        let cache = CacheShape { seed, ..shape.clone() };
        (seed, simulate_order(trace, &order(trace, policy, warp), &blocks, &cache))
    };
    (1..=arguments.seeds).map(one).collect()
}

fn two_levels(arguments: &Arguments, device: &Device, trace: &Trace) -> Result<VolumesDocument, Failure> {
    let threads = u64::try_from(trace.block_threads()).unwrap_or(u64::MAX);
    let blocks = (device.sm.max_threads.value.0 / threads).min(device.sm.max_blocks.value.0).max(1);
    let config = wavecast::measure::hierarchy(device, blocks, 0)
        .map_err(|why| Failure::message("no-hierarchy", why, None))?;
    let how = Coalescing { ..coalescing(trace, config.l1.line, arguments.warp_size) };
    let mut hierarchy = Hierarchy::new(&config);
    let result: Result<(), std::convert::Infallible> = hierarchy.run(0..trace.blocks() as u64, |block| {
        let block = usize::try_from(block).unwrap_or(usize::MAX);
        Ok(Requests::of(trace, how, block..block.saturating_add(1)))
    });
    let Ok(()) = result;
    Ok(VolumesDocument::new(&hierarchy.volumes(), hierarchy.dirty()))
}
