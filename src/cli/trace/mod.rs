//! `wavecast trace`: the trace-based models.

mod cache;
mod convert;
mod experiment;
mod hot;
mod info;
mod input;
mod part;
mod plot;
mod reuse;
mod settings;
mod sweep;
mod synth;
mod validate;

use clap::{Args, Subcommand};

use super::Outcome;

#[derive(Debug, Args)]
#[group(skip)]
#[command(
    after_help = "PATH is a trace (.trc, Crawford's two forms, .traceg, NVBit's mem_trace, .full.txt, our \
    CSV and JSON lines; packed or not) or a kernel document (.yaml), of which a trace is made."
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
// Arguments are read once: their size does not matter.
#[allow(clippy::large_enum_variant)]
enum Command {
    /// What a trace holds
    Info(info::Arguments),
    /// Write a trace in another format
    Convert(convert::Arguments),
    /// Make the trace of a kernel document
    Synth(convert::Arguments),
    /// Reuse distances and types of misses, with five extensions for GPUs
    Reuse(reuse::Arguments),
    /// Simulate a cache
    Cache(cache::Arguments),
    /// Miss rates over parameters of the cache
    Sweep(sweep::Arguments),
    /// Crawford's experiments over group and matrix sizes
    Experiment(experiment::Arguments),
    /// Misses by instruction, line and set
    Hot(hot::Arguments),
    /// Draw a histogram of distances, or places over the order of accesses
    Plot(plot::Arguments),
    /// Compare with a file of reference results of the published model
    Validate(validate::Arguments),
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    match &arguments.command {
        Command::Info(arguments) => info::run(arguments),
        Command::Convert(arguments) => convert::run(arguments),
        Command::Synth(arguments) => synth::run(arguments),
        Command::Reuse(arguments) => reuse::run(arguments),
        Command::Cache(arguments) => cache::run(arguments),
        Command::Sweep(arguments) => sweep::run(arguments),
        Command::Experiment(arguments) => experiment::run(arguments),
        Command::Hot(arguments) => hot::run(arguments),
        Command::Plot(arguments) => plot::run(arguments),
        Command::Validate(arguments) => validate::run(arguments),
    }
}
