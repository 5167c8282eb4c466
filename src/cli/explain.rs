//! `wavecast explain`.

use std::sync::atomic::AtomicUsize;
use std::time::Instant;

use clap::Args;

use super::Outcome;
use super::answers::{Reply, show_replies};
use super::choices::LaunchArguments;
use super::failure::Failure;
use super::input::KernelArguments;
use super::model::ModelArguments;
use super::output::OutputArguments;
use super::progress::{self, Progress};
use crate::device::Device;
use crate::kernel::{Kernel, Loaded};
use crate::launch::candidates;
use crate::predict::{Choice, explain};
use crate::report::{ExplanationDocument, explanation_document};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Kernel files; `-` reads standard input
    #[arg(required = true, value_name = "KERNEL")]
    kernels: Vec<String>,
    #[command(flatten)]
    launch: LaunchArguments,
    /// Show all accesses and all neighbours; a table shows the costliest 40 and the best 3
    #[arg(long)]
    all: bool,
    /// Compare only with launches that are one step away, not with all of the file
    #[arg(long)]
    near: bool,
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
        // All variants are compared, whichever is explained.
        let loaded = arguments.kernel.load_all(path, json);
        let found = loaded.and_then(|loaded| {
            let wanted = loaded.positions(&arguments.kernel.variant);
            let wanted = wanted.map_err(|fault| Failure::faults(vec![fault], json))?;
            Ok((loaded, wanted))
        });
        match found {
            Ok((loaded, wanted)) => {
                let mut before = 0;
                for kernels in loaded.kernels.chunk_by(|a, b| a.document == b.document) {
                    for position in (0..kernels.len()).filter(|i| wanted.binary_search(&(before + i)).is_ok())
                    {
                        replies.push(one(arguments, kernels, position, &loaded, &device)?);
                    }
                    before += kernels.len();
                }
            }
            Err(failure) => faults.extend(failure.into_faults()),
        }
    }
    if !faults.is_empty() {
        return Err(Failure::faults(faults, json));
    }
    let code = show_replies(&arguments.output, &replies, arguments.all)?;
    if arguments.model.verbose {
        progress::say(&format!("{} explanations in {:.1?}", replies.len(), started.elapsed()));
    }
    Ok(code)
}

/// Explains the launch of one of the variants of a document.
fn one(
    arguments: &Arguments,
    kernels: &[Kernel],
    position: usize,
    loaded: &Loaded,
    device: &Device,
) -> Result<Reply<ExplanationDocument>, Failure> {
    let kernel = &kernels[position];
    let estimators: Vec<_> = kernels.iter().map(|k| arguments.model.estimator(k, device)).collect();
    let chosen = arguments.launch.chosen(kernel);
    let choice = Choice { kernel: position, candidate: chosen.candidate };
    let mut others = Vec::new();
    if !arguments.near {
        let of = |(kernel, k)| candidates(k).map(move |candidate| Choice { kernel, candidate });
        others.extend(kernels.iter().enumerate().flat_map(of));
    }
    let warnings = arguments.model.warnings(std::slice::from_ref(kernel), loaded);
    let done = AtomicUsize::new(0);
    let progress = Progress::start(&done, others.len(), arguments.model.quiet);
    let outcome =
        progress.during(|| arguments.model.in_pool(|| explain(&estimators, choice, &others, &done)))?;
    Ok(match outcome {
        Ok(found) => Reply::found(explanation_document(&estimators, position, &found, &chosen, warnings)),
        Err(why) => Reply::no_prediction(kernel, chosen.candidate, &why),
    })
}
