//! The command line: arguments in, one library call, a report out.
//!
//! Structs of arguments are no groups of clap (`#[group(skip)]`): nobody asks for them, and each option that is given would
//! look through all of them.

mod answers;
mod asking;
pub mod assembler;
mod batch;
#[cfg(feature = "fit")]
mod cache_probe;
mod captured;
mod check;
mod choices;
#[cfg(feature = "fit")]
mod compare;
mod completions;
mod devices;
mod diff;
mod emit;
mod ending;
mod entry;
mod explain;
mod failure;
mod files;
#[cfg(feature = "fit")]
mod fit;
#[cfg(feature = "fit")]
mod fit_sets;
mod foreign;
mod gallery;
mod help;
mod http;
#[cfg(feature = "fit")]
mod import;
mod input;
#[cfg(not(feature = "fit"))]
mod left_out;
#[cfg(feature = "fit")]
mod library;
mod licences;
#[cfg(feature = "fit")]
mod measured;
mod model;
mod new;
mod output;
mod predict;
mod progress;
mod rank;
mod read;
mod registers;
mod schema;
mod serve;
#[cfg(feature = "fit")]
mod sets;
mod settings;
mod sweep;
mod told;
mod touches;
#[cfg(feature = "fit")]
mod trace;
#[cfg(feature = "fit")]
mod validate;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use failure::Failure;
use settings::Settings;

pub use captured::Captured;
#[cfg(unix)]
#[cfg(unix)]
pub use files::note_closed;

/// Predicts what a GPU kernel does to the memory hierarchy, for every thread-block configuration,
/// in microseconds and without a GPU.
#[derive(Debug, Parser)]
#[group(skip)]
#[command(name = "wavecast", version, max_term_width = 100, propagate_version = true)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "Exit codes: 0 done; 1 a result could not be had; 2 bad usage or input.\n\
    Start with: wavecast new NAME, then wavecast rank NAME.yaml -d a100; wavecast help kernels")]
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
    /// Make a kernel document of a compiled kernel (PTX)
    Read(read::Arguments),
    /// Everything about one launch
    Predict(predict::Arguments),
    /// A series over a parameter, a key of the device, or the block
    Sweep(sweep::Arguments),
    /// Why one launch is as fast as it is, and what would help
    Explain(explain::Arguments),
    /// Two predictions beside each other: what differs, and which part of it makes one faster
    Diff(diff::Arguments),
    #[cfg(feature = "fit")]
    /// Reuse distances, simulated caches and traces of kernels
    Trace(trace::Arguments),
    #[cfg(feature = "fit")]
    /// The structure of a cache from latencies of pointer chases
    CacheProbe(cache_probe::Arguments),
    #[cfg(feature = "fit")]
    /// The analytic model beside a simulation of both caches
    Compare(compare::Arguments),
    #[cfg(feature = "fit")]
    /// Predictions beside measurements: errors, order of launches, scatter plot
    Validate(validate::Arguments),
    /// Generate a benchmark program that does exactly the described accesses
    Emit(emit::Arguments),
    #[cfg(feature = "fit")]
    /// Turn what profilers and tuners write into the measurement format
    Import(import::Arguments),
    #[cfg(feature = "fit")]
    /// Fit hit rates, bandwidths and latencies to measurements; write a curve file
    Fit(fit::Arguments),
    #[cfg(not(feature = "fit"))]
    #[command(flatten)]
    LeftOut(left_out::LeftOut),
    /// Write a kernel document to start from
    New(new::Arguments),
    /// Parse and validate kernel files; show what was understood
    Check(check::Arguments),
    /// What single threads access, in program order: a line of JSON each
    Touches(touches::Arguments),
    /// List devices, show one, or write a file for one of your own
    Devices(devices::Arguments),
    /// Answer requests of programs, or show the page of Wavecast to a browser
    Serve(serve::Arguments),
    /// Answer the requests of a file, in their order
    Batch(batch::Arguments),
    /// Print the JSON Schema of an input or output
    Schema(schema::Arguments),
    /// Print a completion script for a shell
    Completions(completions::Arguments),
    /// Print the licence, and those of the libraries in this program
    #[command(alias = "licenses")]
    Licences,
    /// What a command takes, or a page of the documentation
    Help(help::Arguments),
}

/// Runs a command line: the name of the program and its arguments.
pub fn main(arguments: &[OsString]) -> ExitCode {
    files::forget();
    let settings = match Settings::found() {
        Ok(settings) => settings,
        Err(failure) => return failure.for_json(asks_for_json(arguments)).report(),
    };
    let (command, matches) = match parsed(arguments, &settings) {
        Ok(parsed) => parsed,
        Err(error) if error.use_stderr() && (captured::is_on() || asks_for_json(arguments)) => {
            return usage(&error).for_json(true).report();
        }
        Err(error) if error.use_stderr() => error.exit(),
        Err(help) => return told(&help),
    };
    let outcome = outputs(&matches).and_then(|()| run(command));
    match outcome {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

/// Runs a command line, the first of whose arguments is the name of the program. Nothing goes to the standard streams,
/// and no signal is waited for.
pub fn captured(arguments: &[OsString]) -> Captured {
    captured::capture(|| main(arguments))
}

/// What is asked for, and the arguments by their names.
fn parsed(arguments: &[OsString], settings: &Settings) -> Result<(Command, ArgMatches), clap::Error> {
    if let Some(quickly) = of_one_command(arguments, settings) {
        return Ok(quickly);
    }
    let mut command = settings.defaults(Cli::command());
    let matches = command.try_get_matches_from_mut(arguments)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|e| e.format(&mut command))?;
    Ok((cli.command, matches))
}

/// The same where it is one of the commands that scripts call most often and nothing is wrong with it: the arguments of
/// the others, which take longer to describe than a prediction takes, are not needed to understand it.
fn of_one_command(arguments: &[OsString], settings: &Settings) -> Option<(Command, ArgMatches)> {
    fn one<A: Args>(
        (arguments, settings): (&[OsString], &Settings),
        name: &'static str,
        wrap: fn(A) -> Command,
    ) -> Option<(Command, ArgMatches)> {
        let command = settings.defaults(A::augment_args(clap::Command::new(name)));
        let all = clap::Command::new("wavecast").subcommand_required(true).subcommand(command);
        let matches = all.try_get_matches_from(arguments).ok()?;
        let of_command = A::from_arg_matches(matches.subcommand()?.1).ok()?;
        Some((wrap(of_command), matches))
    }
    match arguments.get(1)?.to_str()? {
        "rank" => one((arguments, settings), "rank", Command::Rank),
        "predict" => one((arguments, settings), "predict", Command::Predict),
        "explain" => one((arguments, settings), "explain", Command::Explain),
        "serve" => one((arguments, settings), "serve", Command::Serve),
        _ => None,
    }
}

/// Prints what was asked for instead of a result: the help or the version.
fn told(help: &clap::Error) -> ExitCode {
    match files::print(&help.render().ansi().to_string()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Remembers what files will be written, so that none of them is read.
fn outputs(matches: &ArgMatches) -> Result<(), Failure> {
    let mut of_command = matches;
    while let Some((_, below)) = of_command.subcommand() {
        of_command = below;
    }
    let paths = of_command.try_get_many::<PathBuf>("output").ok().flatten().into_iter().flatten();
    paths.into_iter().try_for_each(|path| files::writes(path))
}

fn run(command: Command) -> Outcome {
    match command {
        Command::Rank(arguments) => rank::run(&arguments),
        Command::Read(arguments) => read::run(&arguments),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Sweep(arguments) => sweep::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
        #[cfg(feature = "fit")]
        Command::Trace(arguments) => trace::run(&arguments),
        #[cfg(feature = "fit")]
        Command::CacheProbe(arguments) => cache_probe::run(&arguments),
        #[cfg(feature = "fit")]
        Command::Compare(arguments) => compare::run(&arguments),
        #[cfg(feature = "fit")]
        Command::Validate(arguments) => validate::run(&arguments),
        Command::Emit(arguments) => emit::run(&arguments),
        #[cfg(feature = "fit")]
        Command::Import(arguments) => import::run(&arguments),
        #[cfg(feature = "fit")]
        Command::Fit(arguments) => fit::run(&arguments),
        #[cfg(not(feature = "fit"))]
        Command::LeftOut(command) => Err(command.failure()),
        Command::New(arguments) => new::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Touches(arguments) => touches::run(&arguments),
        Command::Devices(arguments) => devices::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Batch(arguments) => batch::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Licences => licences::run(),
        Command::Help(arguments) => help::run(&arguments),
    }
}

/// Whether arguments that cannot be understood ask for JSON.
fn asks_for_json(arguments: &[OsString]) -> bool {
    let is_json = |format: &str| matches!(format, "json" | "jsonl");
    let mut before = "";
    for argument in arguments.iter().filter_map(|a| a.to_str()) {
        if argument.strip_prefix("--format=").is_some_and(is_json)
            || (before == "--format" && is_json(argument))
        {
            return true;
        }
        before = argument;
    }
    false
}

/// What is wrong with the arguments, and how they are written.
fn usage(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let (message, help) = text.split_once("\n\n").unwrap_or((&text, ""));
    let message = message.trim_start_matches("error: ").trim().to_owned();
    Failure::message("usage", message, Some(help.trim()).filter(|h| !h.is_empty()))
}

type Outcome = Result<ExitCode, Failure>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_command_has_groups_of_options() {
        fn look(command: &clap::Command) {
            let groups: Vec<&str> = command.get_groups().map(|group| group.get_id().as_str()).collect();
            assert_eq!(groups, [""; 0], "{}: write #[group(skip)] above it", command.get_name());
            command.get_subcommands().for_each(look);
        }
        look(&Cli::command());
    }
}
