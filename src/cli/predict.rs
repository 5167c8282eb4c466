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
    ErrorDocument, PredictionDocument, RankingDocument, prediction_document, prediction_text, ranking_table,
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

/// What is said of one kernel.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Answer {
    Prediction(Box<PredictionDocument>),
    /// Why there is none.
    Error(ErrorDocument),
}

impl Answer {
    fn prediction(&self) -> Option<&PredictionDocument> {
        match self {
            Answer::Prediction(document) => Some(document),
            Answer::Error(_) => None,
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let json = arguments.output.is_json();
    let started = Instant::now();
    arguments.model.check_engine(json)?;
    let device = arguments.model.device(json)?;
    let mut answers = Vec::new();
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
            let candidate = candidate(kernel, arguments.block, arguments.fold);
            let warnings = arguments.model.warnings(std::slice::from_ref(kernel), &loaded);
            answers.push(match arguments.model.in_pool(|| estimator.predict(candidate))? {
                Ok(found) => Answer::Prediction(Box::new(prediction_document(&estimator, &found, warnings))),
                Err(why) => Answer::Error(no_prediction(kernel, candidate, &why)),
            });
        }
    }
    if !faults.is_empty() {
        return Err(Failure::faults(faults, json));
    }
    let found: Vec<&PredictionDocument> = answers.iter().filter_map(Answer::prediction).collect();
    arguments.output.write(&render(arguments, &answers, &found)?)?;
    if !json {
        say_errors(&answers);
    }
    if arguments.model.verbose {
        progress::say(&format!("{} predictions in {:.1?}", found.len(), started.elapsed()));
    }
    Ok(if found.len() < answers.len() { ExitCode::from(1) } else { ExitCode::SUCCESS })
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
fn no_prediction(kernel: &Kernel, candidate: Candidate, why: &Unpredicted) -> ErrorDocument {
    let shape = |[x, y, z]: [i64; 3]| format!("{x}x{y}x{z}");
    let (block, fold) = (shape(candidate.block), shape(candidate.fold));
    let message = format!("{}: block {block}, fold {fold} cannot be predicted: {why}", kernel.name);
    ErrorDocument::of(why.code(), message, None)
}

/// Tells a person what is missing.
fn say_errors(answers: &[Answer]) {
    for answer in answers {
        let Answer::Error(document) = answer else { continue };
        document.errors.iter().for_each(|e| progress::say(&format!("error: {}", e.message)));
    }
}

fn render(
    arguments: &Arguments,
    answers: &[Answer],
    documents: &[&PredictionDocument],
) -> Result<String, Failure> {
    Ok(match arguments.output.format() {
        Format::Json => json_documents(answers)?,
        Format::Jsonl => {
            let lines = answers.iter().map(|d| serde_json::to_string(d).map(|t| t + "\n"));
            lines.collect::<Result<String, _>>().map_err(|e| Failure::json(&e))?
        }
        format @ (Format::Csv | Format::Md) => {
            let rankings: Vec<RankingDocument> =
                documents.iter().copied().map(RankingDocument::of_one).collect();
            let table = ranking_table(&rankings);
            if format == Format::Csv { table.csv() } else { table.markdown() }
        }
        Format::Table => {
            let width = arguments.output.width();
            documents.iter().map(|d| prediction_text(d, width)).collect::<Vec<_>>().join("\n")
        }
    })
}
