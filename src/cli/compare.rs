//! `wavecast compare`.

use clap::Args;

use super::Outcome;
use super::asking::AskingArguments;
use super::choices::ShapeArguments;
use crate::ask::Compare;
use crate::measure::CompareOptions;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    shapes: ShapeArguments,
    /// Waves that are simulated before the one that is compared
    #[arg(long, default_value_t = 4, value_name = "N")]
    warm_waves: u64,
    /// Ways of the simulated caches
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    ways: u64,
    #[command(flatten)]
    asking: AskingArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let (warm_waves, ways) = (arguments.warm_waves, arguments.ways);
    let simulation = CompareOptions { warm_waves, ways, ..CompareOptions::default() };
    let question = Compare { shapes: arguments.shapes.shapes(), simulation };
    arguments.asking.ask(&question, false, "comparisons")
}
