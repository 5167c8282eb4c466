//! `wavecast predict`.

use std::time::Instant;

use clap::Args;

use super::Outcome;
use super::answers::{Reply, show_replies};
use super::choices::LaunchArguments;
use super::failure::Failure;
use super::input::KernelArguments;
use super::model::ModelArguments;
use super::output::OutputArguments;
use super::progress;
use crate::report::prediction_document;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Kernel files; `-` reads standard input
    #[arg(required = true, value_name = "KERNEL")]
    kernels: Vec<String>,
    #[command(flatten)]
    launch: LaunchArguments,
    #[command(flatten)]
    kernel: KernelArguments,
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    arguments.output.check(&[])?;
    let json = arguments.output.is_json();
    let started = Instant::now();
    arguments.model.check_engine(json)?;
    let device = arguments.model.device(json)?;
    let mut replies = Vec::new();
    let mut faults = Vec::new();
    for path in &arguments.kernels {
        let loaded = match arguments.kernel.load(path, json) {
            Ok(loaded) => loaded,
            Err(failure) => {
                faults.extend(failure.into_faults());
                continue;
            }
        };
        for kernel in &loaded.kernels {
            let estimator = arguments.model.estimator(kernel, &device);
            let chosen = arguments.launch.chosen(kernel);
            let candidate = chosen.candidate;
            let warnings = arguments.model.warnings(std::slice::from_ref(kernel), &loaded);
            replies.push(match arguments.model.in_pool(|| estimator.predict(candidate))? {
                Ok(found) => Reply::found(prediction_document(&estimator, &found, &chosen, warnings)),
                Err(why) => Reply::no_prediction(kernel, candidate, &why),
            });
        }
    }
    if !faults.is_empty() {
        return Err(Failure::faults(faults, json));
    }
    let code = show_replies(&arguments.output, &replies, false)?;
    if arguments.model.verbose {
        progress::say(&format!("{} predictions in {:.1?}", replies.len(), started.elapsed()));
    }
    Ok(code)
}
