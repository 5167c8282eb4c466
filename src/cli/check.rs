//! `wavecast check`.

use std::process::ExitCode;

use clap::Args;

use super::Outcome;
use super::answers::show;
use super::choices::one_launch;
use super::input::{DeviceArguments, KernelFiles, parse_block, parse_fold};
use super::output::OutputArguments;
use crate::ask::{Inspect, KernelsRead};
use crate::report::Check;
use crate::space::{Block, Fold};

#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Arguments {
    #[command(flatten)]
    kernels: KernelFiles,
    #[command(flatten)]
    device: DeviceArguments,
    /// List every launch candidate, with its occupancy if a device is given
    #[arg(long)]
    candidates: bool,
    /// Show all accesses and candidates, not only the first
    #[arg(long)]
    all: bool,
    /// Print the sets of threads and the maps to addresses in isl's notation, for the candidate given
    /// with --block and --fold or the first one
    #[arg(long)]
    show_sets: bool,
    /// Thread block of --show-sets
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_block, requires = "show_sets")]
    block: Option<Block>,
    /// Work items per thread of --show-sets
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_fold, requires = "show_sets")]
    fold: Option<Fold>,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    arguments.output.check(&[])?;
    let json = arguments.output.is_json();
    let device = arguments.device.load(json)?;
    let sets = arguments.show_sets.then(|| one_launch(arguments.block, arguments.fold));
    let question = Inspect { candidates: arguments.candidates, sets };
    let target = device.as_ref().and_then(|d| d.target.as_deref());
    let answer = |kernels: Vec<KernelsRead>| {
        let mut checks = Vec::new();
        for kernels in &kernels {
            checks.extend(question.answer(kernels, device.as_ref())?);
        }
        Ok(checks)
    };
    let checks = arguments.kernels.each(&[target], arguments.block.as_slice(), answer);
    let checks = checks.map_err(|f| f.for_json(json))?;
    show(&arguments.output, &checks, arguments.all)?;
    // Some launches cannot be on any device.
    let none = |c: &Check| c.launch.infeasible.len() == c.launch.candidates && c.launch.candidates > 0;
    let impossible = checks.iter().any(|c| c.launch.feasible == Some(0) || none(c));
    Ok(if impossible { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
