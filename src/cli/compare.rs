//! `wavecast compare`.

use std::process::ExitCode;
use std::time::Instant;

use clap::Args;

use super::Outcome;
use super::answers::{Answer, json_lines, say_errors};
use super::choices::ShapeArguments;
use super::input::KernelArguments;
use super::model::ModelArguments;
use super::output::{Failure, Format, OutputArguments, json_documents};
use super::progress;
use wavecast::kernel::Kernel;
use wavecast::launch::Candidate;
use wavecast::measure::{Options, compare};
use wavecast::report::ErrorDocument;
use wavecast::report::trace::{ComparisonDocument, comparison_document, comparison_table, comparison_text};

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
    let options = Options { warm_waves: arguments.warm_waves, ways: arguments.ways, ..Options::default() };
    let mut answers = Vec::new();
    for path in &arguments.kernels {
        let loaded = arguments.kernel.load(path, json)?;
        for kernel in &loaded.kernels {
            let estimator = arguments.model.estimator(kernel, &device);
            let warnings = arguments.model.warnings(std::slice::from_ref(kernel), &loaded);
            for candidate in launches(&arguments.shapes, kernel) {
                answers.push(match arguments.model.in_pool(|| compare(&estimator, candidate, options))? {
                    Ok(found) => {
                        Answer::Found(Box::new(comparison_document(&estimator, &found, warnings.clone())))
                    }
                    Err(why) => {
                        let message = format!("{}: {candidate:?} cannot be compared: {why}", kernel.name);
                        Answer::Error(ErrorDocument::of("not-comparable", message, None))
                    }
                });
            }
        }
    }
    let found: Vec<&ComparisonDocument> = answers.iter().filter_map(Answer::found).collect();
    arguments.output.write(&render(arguments, &answers, &found)?)?;
    if !json {
        say_errors(&answers);
    }
    if arguments.model.verbose {
        progress::say(&format!("{} comparisons in {:.1?}", found.len(), started.elapsed()));
    }
    Ok(if found.len() < answers.len() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// The blocks and folds that were given: a block alone means that block without folding, as in `predict`. A
/// simulation takes seconds: without a block, only the first candidate.
fn launches(shapes: &ShapeArguments, kernel: &Kernel) -> Vec<Candidate> {
    let given = !shapes.block.is_empty() || !shapes.threads.is_empty();
    let unfolded = given && shapes.fold.is_empty();
    let all = shapes.candidates(kernel).into_iter().filter(|c| !unfolded || c.fold == [1; 3]);
    let all: Vec<Candidate> = all.take(if given { usize::MAX } else { 1 }).collect();
    if all.is_empty() && unfolded {
        return shapes.blocks(kernel).into_iter().map(|block| Candidate { block, fold: [1; 3] }).collect();
    }
    all
}

fn render(
    arguments: &Arguments,
    answers: &[Answer<ComparisonDocument>],
    documents: &[&ComparisonDocument],
) -> Result<String, Failure> {
    Ok(match arguments.output.format() {
        Format::Json => json_documents(answers)?,
        Format::Jsonl => json_lines(answers)?,
        Format::Csv => comparison_table(documents).csv(),
        Format::Md => comparison_table(documents).markdown(),
        Format::Table => {
            let width = arguments.output.width();
            documents.iter().map(|d| comparison_text(d, width)).collect::<Vec<_>>().join("\n")
        }
    })
}
