//! `wavecast compare`.

use clap::Args;

use super::Outcome;
use super::asking::AskingArguments;
use super::choices::ShapeArguments;
use super::entry::EntryArguments;
use super::failure::Failure;
use super::input::is_ptx;
use crate::ask::{Compare, EntrySource};
use crate::measure::CompareOptions;

#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Arguments {
    #[command(flatten)]
    shapes: ShapeArguments,
    /// Waves that are simulated before the one that is compared
    #[arg(long, default_value_t = 4, value_name = "N")]
    warm_waves: u64,
    /// Ways of the simulated caches
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    ways: u64,
    /// For PTX: what a field holds, as numpy.save wrote it: the simulation runs the kernel on it (repeatable)
    #[arg(long, value_name = "FIELD=FILE.npy")]
    data: Vec<String>,
    #[command(flatten)]
    asking: AskingArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let (warm_waves, ways) = (arguments.warm_waves, arguments.ways);
    let simulation = CompareOptions { warm_waves, ways, ..CompareOptions::default() };
    let run = if arguments.data.is_empty() { None } else { Some(entry(arguments)?) };
    let question = Compare { shapes: arguments.shapes.shapes(), simulation, run };
    arguments.asking.ask(&question, false, "comparisons")
}

/// The code that is run on the data.
fn entry(arguments: &Arguments) -> Result<EntrySource, Failure> {
    let kernels = arguments.asking.kernels();
    let Some(path) = kernels.only() else {
        let message = "`--data` is what fields of one kernel hold; several files are named".to_owned();
        return Err(Failure::message("usage", message, Some("compare one file at a time")));
    };
    let (reading, said) = kernels.arguments();
    let entry = EntryArguments {
        entry: said.entry.clone(),
        arg: said.arg.clone(),
        grid: None,
        shared: None,
        data: arguments.data.clone(),
    };
    if is_ptx(path) {
        return entry.source(path, None);
    }
    entry.of_document(&reading.source(path)?, None)?.ok_or_else(|| {
        let message = format!("{path} has no code that could be run on the data of `--data`");
        Failure::message("usage", message, Some("name PTX, or a document with `code`"))
    })
}
