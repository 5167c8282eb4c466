//! `wavecast schema`.

use std::process::ExitCode;

use clap::Args;

use super::Outcome;
use super::output::{Failure, print};
use wavecast::report::{SCHEMAS, schema};

#[derive(Debug, Args)]
#[command(after_help = kinds_help())]
pub(super) struct Arguments {
    /// Which schema
    #[arg(value_parser = SCHEMAS.map(|s| s.0))]
    kind: String,
}

fn kinds_help() -> String {
    let lines: Vec<String> = SCHEMAS.iter().map(|(kind, what)| format!("  {kind:<8} {what}")).collect();
    format!("Kinds:\n{}", lines.join("\n"))
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let schema = schema(&arguments.kind).map(|s| serde_json::to_string_pretty(&s));
    match schema {
        Some(Ok(text)) => print(&(text + "\n"))?,
        _ => return Err(Failure::message("schema", format!("no schema `{}`", arguments.kind), None)),
    }
    Ok(ExitCode::SUCCESS)
}
