//! `wavecast schema`.

use std::process::ExitCode;

use clap::Args;

use super::Outcome;
use super::failure::Failure;
use super::files::print;
use crate::{ask, report};

#[derive(Debug, Args)]
#[group(skip)]
#[command(after_help = kinds_help())]
pub(super) struct Arguments {
    /// Which schema
    #[arg(value_parser = kinds())]
    kind: String,
}

/// Every kind with what it describes.
fn described() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    report::SCHEMAS.iter().chain(ask::SCHEMAS)
}

fn kinds() -> clap::builder::PossibleValuesParser {
    described().map(|s| s.0).collect::<Vec<_>>().into()
}

fn kinds_help() -> String {
    let lines: Vec<String> = described().map(|(kind, what)| format!("  {kind:<8} {what}")).collect();
    format!("Kinds:\n{}", lines.join("\n"))
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let schema = report::schema(&arguments.kind).or_else(|| ask::schema(&arguments.kind));
    // Those of outputs are kept on one line.
    let schema = schema.and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
    match schema {
        Some(schema) => print(&format!("{schema:#}\n"))?,
        None => return Err(Failure::message("schema", format!("no schema `{}`", arguments.kind), None)),
    }
    Ok(ExitCode::SUCCESS)
}
