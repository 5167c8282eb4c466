//! `wavecast trace validate`.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;

use super::super::Outcome;
use super::super::failure::Failure;
use super::super::files;
use super::super::files::print;
use crate::parallel;
use crate::trace::reference::{Reference, ReferenceComparison};

#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// A file of reference results of the published reuse-distance model (JSON): parameters of access
    /// patterns, and for each cache four runs with histogram, ticks and refusals
    #[arg(value_name = "PATH")]
    path: std::path::PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let text = files::read_text(&arguments.path)?;
    let reference = Reference::parse(&text).map_err(|e| {
        let message = format!("{}: {e}", arguments.path.display());
        Failure::message("reference", message, Some("expected a file of reference results"))
    })?;
    let found: Vec<ReferenceComparison> =
        parallel::map_each((0..reference.len()).collect(), |i| reference.compare(i));
    let mut out = String::new();
    let mut runs = 0;
    let mut equal = 0;
    for comparison in &found {
        runs += comparison.runs;
        equal += usize::from(comparison.differences.is_empty());
        for d in &comparison.differences {
            let _ = writeln!(out, "{} {} {}: {}", d.case, d.cache, d.run.word(), d.what);
        }
    }
    let _ = writeln!(out, "{equal} of {} cases equal ({runs} runs)", reference.len());
    print(&out)?;
    let all = equal == reference.len() && !reference.is_empty();
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
