//! `wavecast trace experiment`.

use clap::Args;

use super::super::Outcome;
use super::super::answers::answer;
use super::super::failure::Failure;
use super::super::output::OutputArguments;
use super::cache::CacheArguments;
use crate::cache::experiment::{Benchmark, BenchmarkResult, run as simulate};
use crate::parallel;
use crate::report::trace::ExperimentDocument;

#[derive(Debug, Args)]
#[group(skip)]
#[command(
    after_help = "Crawford's three kernels over his group and matrix sizes (C table 8.1), beside what he \
    publishes for a GTX 480."
)]
pub(super) struct Arguments {
    #[command(flatten)]
    cache: CacheArguments,
    /// Cores that share the groups
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=4096))]
    cores: u32,
    /// Runs with another choice of groups each; medians are shown
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,
    /// Groups that run at a time (repeatable): 4 as Crawford's text says, 8 is Fermi's limit
    #[arg(long, value_name = "N", default_values_t = [4, 8], value_parser = clap::value_parser!(u32).range(1..))]
    max_groups: Vec<u32>,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    answer(&arguments.output, &["svg"], || document(arguments))
}

fn document(arguments: &Arguments) -> Result<ExperimentDocument, Failure> {
    let cache = arguments.cache.shape_by("modulo")?;
    let all = Benchmark::all();
    let with_groups = |&benchmark| arguments.max_groups.iter().map(move |&groups| (benchmark, groups));
    let runs: Vec<(Benchmark, u32)> = all.iter().flat_map(with_groups).collect();
    let one = |&(benchmark, groups): &(Benchmark, u32)| {
        simulate(benchmark, &cache, arguments.cores, Some(groups), arguments.seeds)
    };
    let rows: Vec<BenchmarkResult> = parallel::map(&runs, one).into_iter().flatten().collect();
    let index = cache.geometry().index().word();
    Ok(ExperimentDocument::new(rows, arguments.cores, arguments.seeds, &index))
}
