//! `wavecast completions`: scripts for shells that also know devices, their numbers, and what are files.

use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Args, Command, CommandFactory, ValueHint};
use clap_complete::Shell;

use super::files::print;
use super::{Cli, Outcome};
use crate::device;

#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let mut script = Vec::new();
    let mut program = with_values(Cli::command(), &Values::known());
    clap_complete::generate(arguments.shell, &mut program, "wavecast", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// What arguments may be, which the arguments themselves do not list because other texts are possible as well.
struct Values {
    devices: Vec<&'static str>,
    /// `l2.capacity=` and the like.
    numbers: Vec<String>,
}

impl Values {
    fn known() -> Self {
        let paths = |id| {
            let found = device::find(id, &[]).ok();
            found.map(|device| {
                device.numbers().iter().map(|number| format!("{}=", number.path)).collect::<Vec<_>>()
            })
        };
        let devices: Vec<&str> = device::ids().collect();
        let mut numbers: Vec<String> = devices.iter().filter_map(|id| paths(id)).flatten().collect();
        numbers.sort();
        numbers.dedup();
        Self { devices, numbers }
    }
}

/// A command whose arguments list values. It serves to write a script only: it would refuse all others.
fn with_values(command: Command, values: &Values) -> Command {
    let mut command = command.mut_args(|argument| listed(argument, values));
    for below in command.get_subcommands_mut() {
        *below = with_values(std::mem::take(below), values);
    }
    command
}

fn listed(argument: Arg, values: &Values) -> Arg {
    let shown =
        argument.get_value_names().and_then(<[_]>::first).map(ToString::to_string).unwrap_or_default();
    match argument.get_id().as_str() {
        "device" | "like" => argument.value_parser(PossibleValuesParser::new(values.devices.iter().copied())),
        "device_set" => argument.value_parser(PossibleValuesParser::new(values.numbers.iter().cloned())),
        "kernels" | "kernel" if shown == "KERNEL" => argument.value_hint(ValueHint::FilePath),
        _ if ["FILE", "KERNEL", "PATH"].contains(&shown.as_str()) => argument.value_hint(ValueHint::FilePath),
        _ => argument,
    }
}
