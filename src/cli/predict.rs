//! `wavecast predict`.

use std::process::ExitCode;
use std::time::Instant;

use clap::Args;

use super::Outcome;
use super::input::{KernelArguments, Shape, parse_shape};
use super::model::ModelArguments;
use super::output::{Failure, Format, OutputArguments, json_documents};
use super::progress;
use wavecast::kernel::Kernel;
use wavecast::launch::{Candidate, candidates};
use wavecast::predict::Unpredicted;
use wavecast::report::{
    PredictionDocument, RankingDocument, prediction_document, prediction_text, ranking_table,
};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Kernel files; `-` reads standard input
    #[arg(required = true, value_name = "KERNEL")]
    kernels: Vec<String>,
    /// Threads of a block; the first candidate of the file by default
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_shape)]
    block: Option<Shape>,
    /// Work items per thread
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_shape)]
    fold: Option<Shape>,
    #[command(flatten)]
    kernel: KernelArguments,
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let json = arguments.output.is_json();
    let started = Instant::now();
    let device = arguments.model.device(json)?;
    let mut documents: Vec<PredictionDocument> = Vec::new();
    let mut faults = Vec::new();
    let mut missing = false;
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
            let candidate = candidate(kernel, arguments.block, arguments.fold);
            let warnings = arguments.model.warnings(std::slice::from_ref(kernel), &loaded);
            match arguments.model.in_pool(|| estimator.predict(candidate))? {
                Ok(prediction) => documents.push(prediction_document(&estimator, &prediction, warnings)),
                Err(why) => {
                    missing = true;
                    say_why(kernel, candidate, &why);
                }
            }
        }
    }
    if !faults.is_empty() {
        return Err(Failure::faults(faults, json));
    }
    arguments.output.write(&render(arguments, &documents)?)?;
    if arguments.model.verbose {
        progress::say(&format!("{} predictions in {:.1?}", documents.len(), started.elapsed()));
    }
    Ok(if missing { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// The launch that is meant: block and fold as given, the first of the file otherwise.
pub(super) fn candidate(kernel: &Kernel, block: Option<Shape>, fold: Option<Shape>) -> Candidate {
    let first = candidates(kernel).next().unwrap_or(Candidate { block: [256, 1, 1], fold: [1; 3] });
    let fold = match (fold, block) {
        (Some(fold), _) => fold.0,
        // A block alone means that block without folding.
        (None, Some(_)) => [1; 3],
        (None, None) => first.fold,
    };
    Candidate { block: block.map_or(first.block, |b| b.0), fold }
}

/// Says why there is no prediction.
pub(super) fn say_why(kernel: &Kernel, candidate: Candidate, why: &Unpredicted) {
    let Candidate { block, fold } = candidate;
    let text = format!("error: {}: block {block:?}, fold {fold:?} cannot be predicted: {why}", kernel.name);
    progress::say(&text);
}

fn render(arguments: &Arguments, documents: &[PredictionDocument]) -> Result<String, Failure> {
    Ok(match arguments.output.format() {
        Format::Json => json_documents(documents)?,
        Format::Jsonl => {
            let lines = documents.iter().map(|d| serde_json::to_string(d).map(|t| t + "\n"));
            lines.collect::<Result<String, _>>().map_err(|e| Failure::json(&e))?
        }
        format @ (Format::Csv | Format::Md) => {
            let rankings: Vec<RankingDocument> = documents.iter().map(RankingDocument::of_one).collect();
            let table = ranking_table(&rankings);
            if format == Format::Csv { table.csv() } else { table.markdown() }
        }
        Format::Table => {
            let width = arguments.output.width();
            documents.iter().map(|d| prediction_text(d, width)).collect::<Vec<_>>().join("\n")
        }
    })
}
