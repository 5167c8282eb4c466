//! `wavecast trace info`.

use std::process::ExitCode;

use clap::Args;

use super::super::Outcome;
use super::super::output::OutputArguments;
use super::input::TraceArguments;
use wavecast::report::trace::{TraceInfoDocument, info_table, info_text, launch_info};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    trace: TraceArguments,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let json = arguments.output.is_json();
    let input = arguments.trace.load(None, None).map_err(|f| f.for_json(json))?;
    let launches = input.traces.iter().map(|t| launch_info(&arguments.trace.path, t)).collect();
    let document = TraceInfoDocument::new(input.reading, launches);
    super::write(
        &arguments.output,
        &document,
        || info_table(&document),
        |width| info_text(&document, width),
    )?;
    Ok(ExitCode::SUCCESS)
}
