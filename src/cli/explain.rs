//! `wavecast explain`.

use clap::Args;

use super::Outcome;
use super::asking::AskingArguments;
use super::choices::LaunchArguments;
use crate::ask::Explain;

#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Arguments {
    #[command(flatten)]
    launch: LaunchArguments,
    /// Show all accesses and all neighbours; a table shows the costliest 40 and the best 3
    #[arg(long)]
    all: bool,
    /// Compare only with launches that are one step away, not with all of the file
    #[arg(long)]
    near: bool,
    #[command(flatten)]
    asking: AskingArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let question = Explain { launch: arguments.launch.launch(), near: arguments.near };
    arguments.asking.ask(&question, arguments.all, "explanations")
}
