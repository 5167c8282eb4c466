//! `wavecast trace cache`.

use clap::Args;

use super::super::Outcome;
use super::super::answers::answer;
use super::super::failure::Failure;
use super::super::input::load_device;
use super::super::output::OutputArguments;
use super::convert::{policy, warp_shape};
use super::input::{Opened, TraceArguments, within};
use super::part::Part;
use crate::cache::{
    CacheShape, Filter, Hierarchy, LevelVolumes, ReadVisit, Replacement, SeedRuns, SimulationConfig,
    Statistics, Window, WritePolicy, simulate, simulate_order,
};
use crate::device::Device;
use crate::report::trace::{CacheSettings, SimulatedCacheDocument, TraceHead};
use crate::trace::coalesce::{Coalescing, Requests, RequestsBuilder};
use crate::trace::schedule::{Assignment, Grouping, SchedulePolicy, WarpShape, WarpSteps, assign, order};
use crate::trace::sets::SetIndex;
use crate::trace::stream::{BlockOf, Facts};
use crate::trace::{CacheGeometry, Trace};

#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Arguments {
    #[command(flatten)]
    trace: TraceArguments,
    #[command(flatten)]
    pub(super) cache: CacheArguments,
    /// The order of accesses
    #[arg(long, default_value = "warp", value_parser = SchedulePolicy::NAMES)]
    policy: String,
    /// Cores that share the blocks; one of them is simulated, with a random choice of blocks
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    cores: u32,
    /// Only every N-th block from block I on, as in 2/15: what one of N cores gets that take blocks in turn, each with a cache
    /// of its own
    #[arg(long, value_name = "I/N", value_parser = Part::parse,
        conflicts_with_all = ["cores", "seeds", "policy", "device"])]
    part: Option<Part>,
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
#[group(skip)]
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
    /// How lines are assigned to sets: fermi, modulo, xor, hash, or masks of line bits. By default fermi, as in `trace reuse`; for
    /// `trace experiment` modulo, as Crawford has it
    #[arg(long, value_name = "FUNCTION")]
    index: Option<String>,
    /// Which line is replaced
    #[arg(long, default_value = "lru", value_parser = Replacement::NAMED.map(|r| r.0))]
    replacement: String,
    /// What happens to stores: write through without allocation, or back with allocation
    #[arg(long, default_value = "through", value_parser = ["through", "back"])]
    write: String,
}

impl CacheArguments {
    pub(super) fn shape(&self) -> Result<CacheShape, Failure> {
        self.shape_by(SetIndex::DEFAULT)
    }

    /// The cache, with this function from lines to sets where none was named.
    pub(super) fn shape_by(&self, index: &str) -> Result<CacheShape, Failure> {
        let named = Replacement::NAMED.iter().find(|r| r.0 == self.replacement);
        let replacement = named.map_or(Replacement::Lru, |r| r.1);
        let write =
            if self.write == "back" { WritePolicy::BackAllocate } else { WritePolicy::ThroughNoAllocate };
        let index = self.index.as_deref().unwrap_or(index);
        CacheGeometry::new(self.size, self.line, self.ways, index)
            .and_then(|geometry| CacheShape::new(geometry, replacement, write))
            .map_err(|why| Failure::message("usage", why, None))
    }
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    answer(&arguments.output, &[], || document(arguments))
}

fn document(arguments: &Arguments) -> Result<SimulatedCacheDocument, Failure> {
    let shape = arguments.cache.shape()?;
    let device = arguments.device.as_deref().map(|name| load_device(name, &[], false)).transpose()?;
    let policy = policy(&arguments.policy, 1)?;
    let (opened, runs) = if policy == SchedulePolicy::Warp {
        let opened = arguments.trace.open(None, None)?;
        let runs = by_warps(arguments, &shape, &opened)?;
        (opened, runs)
    } else {
        // These need all accesses at a time.
        let trace = arguments.trace.one(None, None)?;
        let runs = by_threads(arguments, &shape, &trace)?;
        (Opened::held(trace), runs)
    };
    let settings = CacheSettings {
        geometry: shape.geometry().clone(),
        coalescing: "whole warps",
        replacement: shape.replacement(),
        write: shape.write(),
        policy: policy.word(),
        cores: arguments.cores,
        max_groups: arguments.max_groups,
    };
    let volumes = device.as_ref().map(|d| two_levels(arguments, d, &opened)).transpose()?;
    let head = TraceHead::new(&arguments.trace.path, opened.facts().launch.clone());
    Ok(SimulatedCacheDocument::new(head, settings, runs, volumes))
}

/// How requests are made for a cache: loads and stores, each of a whole warp whatever its width.
pub(super) fn coalescing(has_instructions: bool, line: u64, warp: WarpShape) -> Coalescing {
    let grouping = if has_instructions { Grouping::Instruction } else { Grouping::Position };
    Coalescing { warp, line, grouping, partial_warps: false, loads_only: false, ..Coalescing::default() }
}

/// Sends blocks through a cache as they are read, and holds those that run. They are given in their order.
pub(super) fn windowed(
    trace: &TraceArguments,
    opened: &Opened,
    how: Coalescing,
    cache: &CacheShape,
    max_groups: Option<u32>,
    blocks: &[usize],
    visit: &mut ReadVisit<'_>,
) -> Result<Statistics, Failure> {
    let (facts, limit) = (opened.facts(), trace.limits()?.memory);
    let mut window: Window<Requests> = Window::new(cache.clone(), max_groups);
    let mut mine = blocks.iter().copied().peekable();
    let until = blocks.last().map_or(0, |b| b + 1);
    trace.each_block(opened, until, &mut |block| {
        if mine.next_if_eq(&block.number).is_some() {
            window.enter(requests_of(block, how, facts), 0, visit);
            within(window.bytes(), limit)?;
        }
        Ok(())
    })?;
    Ok(window.finish(visit))
}

/// The requests of one block alone.
fn requests_of(block: BlockOf<'_>, how: Coalescing, facts: &Facts) -> Requests {
    let mut builder = RequestsBuilder::new(how, facts.block_threads());
    let mut steps = WarpSteps::ordered(block.tables, how.grouping, facts.order());
    builder.block(0, block.trace, block.place, &mut steps);
    builder.finish()
}

fn assignment(arguments: &Arguments, seed: u64) -> Assignment {
    if arguments.cores == 1 { Assignment::RoundRobin } else { Assignment::Random { seed } }
}

fn by_warps(arguments: &Arguments, shape: &CacheShape, opened: &Opened) -> Result<SeedRuns, Failure> {
    let facts = opened.facts();
    let how = coalescing(facts.has_instructions, shape.geometry().line(), warp_shape(arguments.warp_size)?);
    let chosen = match arguments.part {
        Some(part) => (part.number..facts.blocks()).step_by(part.of).collect(),
        None => assign(facts.blocks(), arguments.cores as usize, 0, assignment(arguments, 1)),
    };
    // One run whose blocks come in their order needs those only that run at a time.
    if arguments.seeds == 1 && chosen.is_sorted() {
        let groups = arguments.max_groups;
        let none = &mut |_, _, _| {};
        let found = windowed(&arguments.trace, opened, how, &shape.with_seed(1), groups, &chosen, none)?;
        return Ok(SeedRuns::new([(1, found)]));
    }
    let all = arguments.trace.requests(opened, how, facts.blocks())?;
    let one = |seed: u64| {
        let assignment = assignment(arguments, seed);
        let filter = Filter { cores: arguments.cores, core: 0, assignment, max_groups: arguments.max_groups };
        (seed, simulate(&all, &SimulationConfig { cache: shape.with_seed(seed), filter }, &mut |_, _, _| {}))
    };
    Ok(SeedRuns::new((1..=arguments.seeds).map(one)))
}

fn by_threads(arguments: &Arguments, shape: &CacheShape, trace: &Trace) -> Result<SeedRuns, Failure> {
    let warp = warp_shape(arguments.warp_size)?;
    let one = |seed: u64| {
        let order = order(trace, policy(&arguments.policy, seed)?, warp);
        let blocks = assign(trace.blocks(), arguments.cores as usize, 0, assignment(arguments, seed));
        Ok((seed, simulate_order(trace, &order, &blocks, &shape.with_seed(seed))))
    };
    let runs: Result<Vec<_>, Failure> = (1..=arguments.seeds).map(one).collect();
    Ok(SeedRuns::new(runs?))
}

fn two_levels(arguments: &Arguments, device: &Device, opened: &Opened) -> Result<LevelVolumes, Failure> {
    let facts = opened.facts();
    let threads = u64::try_from(facts.block_threads()).unwrap_or(u64::MAX);
    let blocks = (device.sm.max_threads.value.0 / threads).min(device.sm.max_blocks.value.0).max(1);
    let config = crate::measure::hierarchy(device, blocks, 0)
        .map_err(|why| Failure::message("no-hierarchy", why, None))?;
    let how = Coalescing {
        bytes: true,
        ..coalescing(facts.has_instructions, config.l1.geometry().line(), warp_shape(arguments.warp_size)?)
    };
    // The SMs take blocks as they become free, so that all of them are held as requests.
    let limit = arguments.trace.limits()?.memory;
    let (mut waiting, mut held) = (Vec::new(), 0);
    arguments.trace.each_block(opened, facts.blocks(), &mut |block| {
        let requests = requests_of(block, how, facts);
        held += requests.bytes();
        waiting.push(Some(requests));
        within(held, limit)
    })?;
    let mut hierarchy = Hierarchy::new(&config);
    let missing = || Failure::message("no-result", "a block is missing".to_owned(), None);
    hierarchy.run(0..facts.blocks() as u64, |block| {
        #[expect(clippy::cast_possible_truncation, reason = "one of the blocks that wait")]
        let block = waiting[block as usize].take();
        block.ok_or_else(missing)
    })?;
    Ok(hierarchy.volumes().with_waiting(hierarchy.waiting()))
}
