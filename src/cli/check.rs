//! `wavecast check`.

use std::process::ExitCode;

use clap::Args;

use super::Outcome;
use super::answers::show;
use super::choices::chosen;
use super::failure::Failure;
use super::input::{DeviceArguments, KernelArguments, Shape, parse_fold, parse_shape};
use super::output::OutputArguments;
use crate::kernel::Kernel;
use crate::report::{Check, SetsSummary, check, check_sets};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Kernel files; `-` reads standard input
    #[arg(required = true, value_name = "KERNEL")]
    kernels: Vec<String>,
    #[command(flatten)]
    kernel: KernelArguments,
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
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_shape, requires = "show_sets")]
    block: Option<Shape>,
    /// Work items per thread of --show-sets
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_fold, requires = "show_sets")]
    fold: Option<Shape>,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    arguments.output.check(&[])?;
    let json = arguments.output.is_json();
    let device = arguments.device.load(json)?;
    let mut checks = Vec::new();
    let mut faults = Vec::new();
    for path in &arguments.kernels {
        match arguments.kernel.load(path, json) {
            Ok(loaded) => {
                for kernel in &loaded.kernels {
                    let mut found = check(kernel, &loaded.sources, device.as_ref(), arguments.candidates);
                    if arguments.show_sets {
                        found.sets = Some(sets(arguments, kernel).map_err(|f| f.for_json(json))?);
                    }
                    checks.push(found);
                }
            }
            Err(failure) => faults.extend(failure.into_faults()),
        }
    }
    if !faults.is_empty() {
        return Err(Failure::faults(faults, json));
    }
    show(&arguments.output, &checks, arguments.all)?;
    // Some launches cannot be on any device.
    let none = |c: &Check| c.launch.infeasible.len() == c.launch.candidates && c.launch.candidates > 0;
    let impossible = checks.iter().any(|c| c.launch.feasible == Some(0) || none(c));
    Ok(if impossible { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn sets(arguments: &Arguments, kernel: &Kernel) -> Result<SetsSummary, Failure> {
    let candidate = chosen(kernel, arguments.block, arguments.fold).candidate;
    check_sets(kernel, candidate).map_err(|why| {
        Failure::message("no-sets", format!("{}: the sets cannot be shown: {why}", kernel.name), None)
    })
}
