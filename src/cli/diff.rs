//! `wavecast diff`.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use serde_json::Value;

use super::Outcome;
use super::answers::show;
use super::failure::Failure;
use super::input::{KernelFiles, parse_block, parse_fold, read_text};
use super::model::ModelArguments;
use super::output::{OutputArguments, extension};
use crate::ask::{OneLaunch, Pieces, Predict, Predictor, Question, Reply};
use crate::kernel::Limits;
use crate::report::{ErrorDocument, PredictionDocument, Side, SideChoice, difference_document};
use crate::space::{Block, Fold};

#[derive(Debug, Args)]
#[group(skip)]
#[command(after_help = "Give two of what differs, and one of what does not: two kernels or saved answers \
    (predict or rank --format json), two -d, two --block, two --fold, or two --variant.\n\
    wavecast diff k.yaml -d a100 --block 256,4,1 --block 16,2,32\n\
    wavecast diff k.yaml -d a100 -d h200 --block 16,2,32\n\
    wavecast diff before.json after.json")]
pub(super) struct Arguments {
    #[command(flatten)]
    kernels: KernelFiles,
    /// The thread block of both, or those of the first and the second; the first of the file by default
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_block)]
    block: Vec<Block>,
    /// Work items per thread of both, or of the first and the second
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_fold)]
    fold: Vec<Fold>,
    /// Show all parts of the times and all that differs, also where nobody would see it
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    output: OutputArguments,
}

/// The first or the second of what is compared.
#[derive(Clone, Copy)]
struct Number(usize);

impl Number {
    /// Its part of what was given once or twice.
    fn pick<T>(self, given: &[T]) -> Option<&T> {
        given.get(self.0).or(given.first())
    }
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    arguments.output.check(&["html"])?;
    let json = arguments.output.is_json();
    match compared(arguments).map_err(|f| f.for_json(json))? {
        Ok([a, b]) => {
            show(&arguments.output, &[difference_document(&a, &b)], arguments.all)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(document) => {
            let nothing: Vec<Reply<PredictionDocument>> = vec![Reply::Error(*document)];
            super::answers::show_replies(&arguments.output, &nothing, false)
        }
    }
}

/// Both sides, or why a launch has no prediction.
fn compared(arguments: &Arguments) -> Result<Result<[Side; 2], Box<ErrorDocument>>, Failure> {
    let predictors = arguments.model.predictors()?;
    let files = arguments.kernels.paths();
    let given = [files.len(), arguments.model.device.len(), arguments.block.len(), arguments.fold.len()];
    if given.iter().any(|&n| n > 2) {
        let message = "two predictions are compared, and more than two are named".to_owned();
        return Err(Failure::message("usage", message, Some("`rank` and `predict` show more side by side")));
    }
    let mut sides = Vec::new();
    for number in [Number(0), Number(1)] {
        let documents = match documents(arguments, &predictors, number)? {
            Ok(documents) => documents,
            Err(document) => return Ok(Err(document)),
        };
        // Two answers about one file are the two sides, if nothing else tells them apart.
        let in_file = documents.len() == 2 && given.iter().all(|&n| n < 2);
        if number.0 == 1 && !in_file && given.iter().all(|&n| n < 2) {
            return Err(only_one());
        }
        let at = if in_file { number.0 } else { 0 };
        let document = documents.into_iter().nth(at).ok_or_else(only_one)?;
        let choice = SideChoice {
            block: number.pick(&arguments.block).copied(),
            fold: number.pick(&arguments.fold).copied(),
        };
        let file = number.pick(files).map_or("", String::as_str);
        sides.push(Side::of_document(document, choice).map_err(|why| {
            let help = "`predict` and `rank` with `--format json` write what can be compared";
            Failure::message("no-prediction", format!("{file}: {why}"), Some(help))
        })?);
    }
    <[Side; 2]>::try_from(sides).map(Ok).map_err(|_| only_one())
}

fn only_one() -> Failure {
    let message = "two predictions are compared, and one is named".to_owned();
    let help = "give two files, two -d, two --block, two --fold or two --variant";
    Failure::message("usage", message, Some(help))
}

/// What is predicted or was saved of one side.
fn documents(
    arguments: &Arguments,
    predictors: &[Predictor<'_>],
    number: Number,
) -> Result<Result<Vec<Value>, Box<ErrorDocument>>, Failure> {
    let path = number.pick(arguments.kernels.paths()).map_or("-", String::as_str);
    if extension(Path::new(path)).is_some_and(|e| e == "json") {
        let (_, text) = read_text(path, Limits::default(), false)?;
        if let Some(saved) = Side::saved(&text) {
            return Ok(Ok(saved));
        }
    }
    // There is a predictor for each device, and one if none is named.
    let predictor = number.pick(predictors).unwrap_or(&predictors[0]);
    let launch = OneLaunch {
        block: number.pick(&arguments.block).copied(),
        fold: number.pick(&arguments.fold).copied(),
    };
    let question = Predict { launch };
    let target = predictor.device().target.as_deref();
    let kernels = arguments.kernels.read_one(path, target, &question.blocks())?;
    let replies = arguments.model.in_pool(|| question.answer(&kernels, predictor, &Pieces::default()))??;
    let mut all = Vec::new();
    for reply in replies {
        match reply {
            Reply::Error(document) => return Ok(Err(Box::new(document))),
            Reply::Found(answer) => {
                let value = serde_json::to_value(&answer);
                all.push(value.map_err(|e| Failure::message("json", e.to_string(), None))?);
            }
        }
    }
    Ok(Ok(all))
}
