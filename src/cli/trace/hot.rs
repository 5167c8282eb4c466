//! `wavecast trace hot`.

use clap::Args;

use super::super::Outcome;
use super::super::answers::answer;
use super::super::failure::Failure;
use super::super::output::OutputArguments;
use super::cache::{CacheArguments, coalescing, windowed};
use super::input::TraceArguments;
use crate::cache::MissCounts;
use crate::report::trace::{HotDocument, TraceHead};
use crate::trace::schedule::{Assignment, WarpShape, assign};

#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Arguments {
    #[command(flatten)]
    trace: TraceArguments,
    #[command(flatten)]
    cache: CacheArguments,
    /// Cores that share the blocks
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    cores: u32,
    /// Blocks that run at a time; others enter as these end
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    max_groups: u32,
    /// How many instructions and lines are shown
    #[arg(long, default_value_t = 10)]
    top: usize,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    answer(&arguments.output, &[], || document(arguments))
}

fn document(arguments: &Arguments) -> Result<HotDocument, Failure> {
    let shape = arguments.cache.shape()?;
    let opened = arguments.trace.open(None, None)?;
    let facts = opened.facts();
    let how = coalescing(facts.has_instructions, shape.geometry().line(), WarpShape::default());
    let mut counts = MissCounts::new(shape.geometry());
    let mine = assign(facts.blocks(), arguments.cores as usize, 0, Assignment::RoundRobin);
    let groups = Some(arguments.max_groups);
    let see = &mut |instruction, line, missed| counts.read(instruction, line, missed);
    let statistics = windowed(&arguments.trace, &opened, how, &shape, groups, &mine, see)?;
    Ok(HotDocument {
        schema: "wavecast/hot/1",
        head: TraceHead::new(&arguments.trace.path, facts.launch.clone()),
        index: shape.geometry().index().clone(),
        misses: statistics.read_misses,
        spots: counts.hottest(&facts.instructions, arguments.top),
    })
}
