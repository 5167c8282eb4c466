//! `wavecast predict`.

use std::process::ExitCode;
use std::time::Instant;

use clap::Args;

use super::Outcome;
use super::answers::{Answer, json_lines, no_prediction, say_errors};
use super::choices::LaunchArguments;
use super::failure::Failure;
use super::input::KernelArguments;
use super::model::ModelArguments;
use super::output::{Format, OutputArguments, json_documents};
use super::progress;
use crate::report::{
    PredictionDocument, RankingDocument, prediction_document, prediction_text, ranking_table,
};

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
            let chosen = arguments.launch.chosen(kernel);
            let candidate = chosen.candidate;
            let warnings = arguments.model.warnings(std::slice::from_ref(kernel), &loaded);
            answers.push(match arguments.model.in_pool(|| estimator.predict(candidate))? {
                Ok(found) => {
                    Answer::Found(Box::new(prediction_document(&estimator, &found, &chosen, warnings)))
                }
                Err(why) => no_prediction(kernel, candidate, &why),
            });
        }
    }
    if !faults.is_empty() {
        return Err(Failure::faults(faults, json));
    }
    let found: Vec<&PredictionDocument> = answers.iter().filter_map(Answer::found).collect();
    arguments.output.write(&render(arguments, &answers, &found)?)?;
    if !json {
        say_errors(&answers);
    }
    if arguments.model.verbose {
        progress::say(&format!("{} predictions in {:.1?}", found.len(), started.elapsed()));
    }
    Ok(if found.len() < answers.len() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn render(
    arguments: &Arguments,
    answers: &[Answer<PredictionDocument>],
    documents: &[&PredictionDocument],
) -> Result<String, Failure> {
    Ok(match arguments.output.format() {
        Format::Json => json_documents(answers)?,
        Format::Jsonl => json_lines(answers)?,
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
