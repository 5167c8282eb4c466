//! `wavecast trace plot`.

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::super::Outcome;
use super::super::failure::Failure;
use super::super::output::OutputArguments;
use super::convert::policy;
use super::input::TraceArguments;
use crate::report::{PlottedAccess, places_picture};
use crate::trace::TraceKind;
use crate::trace::schedule::{SchedulePolicy, WarpShape, order};

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Memory location over the order of accesses, coloured by thread (C figure 8.1)
    Places,
}

#[derive(Debug, Args)]
#[group(skip)]
#[command(after_help = "For the histogram of distances with the cache's cut-off: trace reuse -o picture.svg")]
pub(super) struct Arguments {
    #[command(flatten)]
    trace: TraceArguments,
    /// What is drawn
    #[arg(long, value_enum, default_value = "places")]
    what: What,
    /// The order of accesses
    #[arg(long, default_value = "warp", value_parser = SchedulePolicy::NAMES)]
    policy: String,
    /// For --policy random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    if !arguments.output.is_picture() {
        let message = "`trace plot` draws a picture".to_owned();
        return Err(Failure::message("usage", message, Some("name a file: -o picture.svg")));
    }
    let trace = arguments.trace.one(None, None)?;
    debug_assert!(arguments.what == What::Places);
    let order = order(&trace, policy(&arguments.policy, arguments.seed)?, WarpShape::default());
    let places: Vec<PlottedAccess> = order
        .iter()
        .filter_map(|&i| trace.accesses().get(i as usize))
        .filter(|a| a.kind != TraceKind::Barrier)
        .map(|a| PlottedAccess { address: a.address, thread: a.thread, store: a.kind != TraceKind::Load })
        .collect();
    let title = format!(
        "{}: memory location over the order of accesses, policy {}",
        trace.kernel.as_deref().unwrap_or(&arguments.trace.path),
        arguments.policy
    );
    arguments.output.write(&places_picture(&title, &places, trace.threads()))?;
    Ok(ExitCode::SUCCESS)
}
