//! `wavecast devices`.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Outcome;
use super::failure::Failure;
use super::input::load_device;
use super::new::{self, DeviceArguments};
use super::output::{Format, OutputArguments};
use crate::device::{self, Device};
use crate::report::{DeviceFile, Layout, device_list, device_numbers, json_line, json_text, yaml_text};

#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    output: OutputArguments,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print a device as YAML, every number with its source
    Show(ShowArguments),
    /// Write a device file to start from, like one that is known
    New(DeviceArguments),
}

#[derive(Debug, Args)]
#[group(skip)]
struct ShowArguments {
    /// A device id or alias, or a path ending in .yaml
    device: String,
    /// Change a number, for example l2.effective=80MiB (repeatable)
    #[arg(long, value_name = "PATH=VALUE")]
    device_set: Vec<String>,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    match &arguments.action {
        None => list(&arguments.output)?,
        Some(Action::Show(show)) => self::show(show)?,
        Some(Action::New(new)) => new::device(new)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(output: &OutputArguments) -> Result<(), Failure> {
    output.check(&[])?;
    let json = output.is_json();
    let devices: Vec<Device> =
        device::ids().map(|id| load_device(id, &[], json)).collect::<Result<_, _>>()?;
    let table = device_list(&devices);
    let text = match output.format() {
        Format::Table => format!(
            "{}\nbandwidth is what streaming kernels reach; `wavecast devices show ID` gives every number with its source\n",
            table.text(0, output.width())
        ),
        Format::Csv => table.csv(),
        Format::Md => table.markdown(),
        Format::Json => {
            json_text(&devices.iter().map(DeviceFile::new).collect::<Vec<_>>(), Layout::Indented) + "\n"
        }
        Format::Jsonl => devices.iter().map(|d| json_line(&DeviceFile::new(d)) + "\n").collect(),
    };
    output.write(&text)
}

fn show(arguments: &ShowArguments) -> Result<(), Failure> {
    let output = &arguments.output;
    output.check(&["yaml", "yml"])?;
    let device = load_device(&arguments.device, &arguments.device_set, output.is_json())?;
    let file = DeviceFile::new(&device);
    let text = match output.format() {
        Format::Json => json_text(&file, Layout::Indented) + "\n",
        Format::Jsonl => json_line(&file) + "\n",
        Format::Csv => device_numbers(&device).csv(),
        Format::Md => device_numbers(&device).markdown(),
        Format::Table => {
            let value = serde_json::to_value(&file);
            yaml_text(&value.map_err(|e| Failure::message("yaml", e.to_string(), None))?)
        }
    };
    output.write(&text)
}
