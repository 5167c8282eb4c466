//! The command line: arguments in, one library call, a report out.

mod check;
mod choices;
mod completions;
mod devices;
mod explain;
mod input;
mod model;
mod output;
mod predict;
mod progress;
mod rank;
mod schema;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use output::Failure;

/// Predicts what a GPU kernel does to the memory hierarchy, for every thread-block configuration,
/// in microseconds and without a GPU.
#[derive(Debug, Parser)]
#[command(name = "wavecast", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = "Exit codes: 0 done; 1 a result could not be had; 2 bad usage or input.\n\
    Start with: wavecast rank kernels/star3d25.yaml -d a100")]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
// Arguments are read once: their size does not matter.
#[allow(clippy::large_enum_variant)]
enum Command {
    /// Rank all launches of a kernel, best first
    Rank(rank::Arguments),
    /// Everything about one launch
    Predict(predict::Arguments),
    /// Why one launch is as fast as it is, and what would help
    Explain(explain::Arguments),
    /// Parse and validate kernel files; show what was understood
    Check(check::Arguments),
    /// List devices or show one
    Devices(devices::Arguments),
    /// Print the JSON Schema of an input or output
    Schema(schema::Arguments),
    /// Print a completion script for a shell
    Completions(completions::Arguments),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Rank(arguments) => rank::run(&arguments),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Devices(arguments) => devices::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

type Outcome = Result<ExitCode, Failure>;
