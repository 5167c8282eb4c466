//! `wavecast compare`.

use std::time::Instant;

use clap::Args;

use super::Outcome;
use super::answers::{Reply, show_replies};
use super::choices::ShapeArguments;
use super::input::KernelArguments;
use super::model::ModelArguments;
use super::output::OutputArguments;
use super::progress;
use crate::kernel::Kernel;
use crate::launch::Chosen;
use crate::measure::{CompareOptions, compare};
use crate::report::ErrorDocument;
use crate::report::trace::comparison_document;
use crate::space::{Block, Fold};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Kernel files; `-` reads standard input
    #[arg(required = true, value_name = "KERNEL")]
    kernels: Vec<String>,
    #[command(flatten)]
    shapes: ShapeArguments,
    /// Waves that are simulated before the one that is compared
    #[arg(long, default_value_t = 4, value_name = "N")]
    warm_waves: u64,
    /// Ways of the simulated caches
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    ways: u64,
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
    let options = CompareOptions {
        warm_waves: arguments.warm_waves,
        ways: arguments.ways,
        ..CompareOptions::default()
    };
    let mut replies = Vec::new();
    for path in &arguments.kernels {
        let loaded = arguments.kernel.load(path, json)?;
        for kernel in &loaded.kernels {
            let estimator = arguments.model.estimator(kernel, &device);
            let warnings = arguments.model.warnings(std::slice::from_ref(kernel), &loaded);
            for chosen in launches(&arguments.shapes, kernel) {
                let candidate = chosen.candidate;
                replies.push(match arguments.model.in_pool(|| compare(&estimator, candidate, options))? {
                    Ok(found) => {
                        let warnings = warnings.clone();
                        Reply::found(comparison_document(&estimator, found, &chosen, warnings))
                    }
                    Err(why) => {
                        let message = format!("{}: {candidate:?} cannot be compared: {why}", kernel.name);
                        Reply::Error(ErrorDocument::single("not-comparable", message, None))
                    }
                });
            }
        }
    }
    let code = show_replies(&arguments.output, &replies, false)?;
    if arguments.model.verbose {
        progress::say(&format!("{} comparisons in {:.1?}", replies.len(), started.elapsed()));
    }
    Ok(code)
}

/// The blocks and folds that were given: a block alone has the fold that `predict` takes. A simulation takes
/// seconds: without a block, only the first candidate.
fn launches(shapes: &ShapeArguments, kernel: &Kernel) -> Vec<Chosen> {
    let blocks: Vec<Option<Block>> = if shapes.block.is_empty() && shapes.threads.is_empty() {
        vec![None]
    } else {
        shapes.blocks(kernel).into_iter().map(Some).collect()
    };
    let folds: Vec<Option<Fold>> = match shapes.fold.as_slice() {
        [] => vec![None],
        folds => folds.iter().map(|f| Some(Fold::known(f.0))).collect(),
    };
    let of = |&fold: &Option<Fold>| {
        let chosen = |&block: &Option<Block>| Chosen::new(kernel, block, fold);
        blocks.iter().map(chosen).collect::<Vec<_>>()
    };
    folds.iter().flat_map(of).collect()
}
