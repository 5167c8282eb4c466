//! `wavecast predict`.

use clap::Args;

use super::Outcome;
use super::asking::AskingArguments;
use super::choices::LaunchArguments;
use crate::ask::Predict;

#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Arguments {
    #[command(flatten)]
    launch: LaunchArguments,
    #[command(flatten)]
    asking: AskingArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let question = Predict { launch: arguments.launch.launch() };
    arguments.asking.ask_of_devices(&question, "predictions")
}
