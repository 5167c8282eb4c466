//! `wavecast new` and `wavecast devices new`: files to start from.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::Outcome;
use super::failure::Failure;
use super::files::{self, print};
use crate::device;
use crate::text::shorten;

/// A kernel document with what each line is for; `NAME` stands for its name.
const KERNEL: &str = include_str!("templates/kernel.yaml");
/// Longest name of a kernel or a device.
const LONGEST: usize = 60;

#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// The name of the kernel
    name: String,
    /// The file; NAME.yaml by default. It must not be there yet
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What `devices new` takes.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct DeviceArguments {
    /// The id of the device
    id: String,
    /// The device that is most like it
    #[arg(long, value_name = "DEVICE", default_value = device::DEFAULT)]
    like: String,
    /// The file; ID.yaml by default. It must not be there yet
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes a kernel document.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    let name = &arguments.name;
    check(name, "a kernel")?;
    let path = write(arguments.output.as_ref(), name, &KERNEL.replace("NAME", name))?;
    print(&format!(
        "{path} is written: a kernel to start from. `wavecast check {path}` shows what is understood,\n\
         `wavecast rank {path} -d a100` which launches are fast, `wavecast help kernels` what else can be said\n"
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a device file.
pub(super) fn device(arguments: &DeviceArguments) -> Result<(), Failure> {
    let DeviceArguments { id, like, output } = arguments;
    check(id, "a device")?;
    if device::ids().any(|known| known == id) {
        let message = format!("`{id}` comes with Wavecast");
        return Err(Failure::message("usage", message, Some("choose another id for one of your own")));
    }
    if device::is_path(like) {
        let message = "a file cannot be inherited from".to_owned();
        let help = "`wavecast devices` lists what can; or copy the file";
        return Err(Failure::message("usage", message, Some(help)));
    }
    let relative = device::find(like, &[])?;
    let path = write(output.as_ref(), id, &device::template(id, &relative))?;
    print(&format!(
        "{path} is written: a device like {}. Put in the numbers that you know;\n\
         `wavecast devices show {path}` checks them, `-d {path}` uses them, `wavecast help --page devices` explains them\n",
        relative.id
    ))
}

/// Refuses a name that would not be one in the file, or in the name of the file.
fn check(name: &str, what: &str) -> Result<(), Failure> {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins && name.len() <= LONGEST && name.chars().all(good) {
        return Ok(());
    }
    let message = format!("`{}` cannot be the name of {what}", shorten(name));
    let help = "letters, digits, `-` and `_`, a letter first, at most 60; -o says where the file goes";
    Err(Failure::message("usage", message, Some(help)))
}

/// Writes a file that is not there yet, and says how it is called.
fn write(path: Option<&PathBuf>, name: &str, text: &str) -> Result<String, Failure> {
    let own = PathBuf::from(format!("{name}.yaml"));
    let path: &Path = path.unwrap_or(&own);
    if files::is_there(path) {
        let message = format!("{} is there already", path.display());
        let help = "nothing was written; choose another name, or say with -o where it goes";
        return Err(Failure::message("file-exists", message, Some(help)));
    }
    files::write(path, text)?;
    Ok(path.display().to_string())
}
