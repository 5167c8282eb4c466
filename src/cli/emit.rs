//! `wavecast emit`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::Outcome;
use super::choices::ShapeArguments;
use super::failure::Failure;
use super::files;
use super::files::print;
use super::input::{DeviceArguments, KernelArguments};
use super::output::{extension, unknown_extension};
use super::progress::say;
use crate::device::Device;
use crate::emit::{Language, Settings, emit, file_name};
use crate::kernel::Kernel;
use crate::launch::{Candidate, Launch, occupancy};

#[derive(Debug, Args)]
#[group(skip)]
#[command(
    after_help = "The program runs every candidate, checks what it stored against a loop on the processor, and \
    prints measurements for `wavecast validate` and `wavecast fit`.\n\
    Example: wavecast emit kernels/star3d25.yaml --lang cuda -o star.cu && nvcc -O3 -arch=native star.cu -o star && \
    ./star > star.csv"
)]
pub(super) struct Arguments {
    /// Kernel files; `-` reads standard input
    #[arg(required = true, value_name = "KERNEL")]
    kernels: Vec<String>,
    /// The language of the program; by default by the extension of -o, otherwise CUDA
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    lang: Option<LanguageName>,
    #[command(flatten)]
    kernel: KernelArguments,
    #[command(flatten)]
    shapes: ShapeArguments,
    /// With a device: only candidates that it can run
    #[command(flatten)]
    device: DeviceArguments,
    /// Only the kernels, without the host part
    #[arg(long)]
    kernels_only: bool,
    /// Write to a file; or, where this is a folder or there are several programs, into the folder, each program
    /// under its own name
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Replace files that are there
    #[arg(long)]
    force: bool,
}

impl Arguments {
    fn language(&self) -> Language {
        let by_extension = || LanguageName::of_extension(&extension(self.output.as_deref()?)?);
        self.lang.or_else(by_extension).unwrap_or(LanguageName::Cuda).language()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LanguageName {
    /// NVIDIA's
    Cuda,
    /// AMD's
    Hip,
    /// With a host part in C
    Opencl,
}

impl LanguageName {
    /// The language that files with an extension are in.
    fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "cu" | "cuh" => Some(LanguageName::Cuda),
            "hip" => Some(LanguageName::Hip),
            "c" | "cl" => Some(LanguageName::Opencl),
            _ => None,
        }
    }

    fn language(self) -> Language {
        match self {
            LanguageName::Cuda => Language::Cuda,
            LanguageName::Hip => Language::Hip,
            LanguageName::Opencl => Language::OpenCl,
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let device = arguments.device.load(false)?;
    let mut programs = Vec::new();
    for path in &arguments.kernels {
        let loaded = arguments.kernel.load(path, false)?;
        for kernel in &loaded.kernels {
            let name = file_name(kernel, arguments.language());
            programs.push((name, program(arguments, kernel, device.as_ref())?));
        }
    }
    write(arguments, &programs)?;
    Ok(ExitCode::SUCCESS)
}

fn program(arguments: &Arguments, kernel: &Kernel, device: Option<&Device>) -> Result<String, Failure> {
    let all = arguments.shapes.candidates(kernel);
    let possible: Vec<Candidate> = all.iter().copied().filter(|c| can_run(kernel, *c, device)).collect();
    if possible.len() < all.len() {
        say(&format!(
            "{}: {} candidates that cannot run are left out",
            kernel.name,
            all.len() - possible.len()
        ));
    }
    let settings = Settings { kernels_only: arguments.kernels_only, ..Settings::new(arguments.language()) };
    emit(kernel, &possible, &settings).map_err(|why| {
        let message = format!("{}: no program: {why}", kernel.name);
        Failure::message(why.code(), message, Some(why.help()))
    })
}

fn can_run(kernel: &Kernel, candidate: Candidate, device: Option<&Device>) -> bool {
    let Some(device) = device else { return true };
    Launch::new(kernel, candidate).is_ok_and(|launch| occupancy(device, &launch).is_ok())
}

fn write(arguments: &Arguments, programs: &[(String, String)]) -> Result<(), Failure> {
    let Some(path) = &arguments.output else {
        return match programs {
            [(_, one)] => print(one),
            many => {
                let message = format!("{} programs do not fit on standard output", many.len());
                Err(Failure::message("usage", message, Some("name a folder with -o, or one --variant")))
            }
        };
    };
    let targets: Vec<(PathBuf, &String)> = match programs {
        [(_, one)] if !is_folder(path) => {
            check_name(arguments, path)?;
            vec![(path.clone(), one)]
        }
        many => {
            let cannot = |e: std::io::Error| Failure::file("cannot-write", path, "write", &e);
            std::fs::create_dir_all(path).map_err(cannot)?;
            many.iter().map(|(name, program)| (path.join(name), program)).collect()
        }
    };
    check_free(arguments, &targets)?;
    targets.iter().try_for_each(|(path, program)| files::write(path, program))
}

fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/')
}

/// Refuses a name that says neither the language nor anything else that is known.
fn check_name(arguments: &Arguments, path: &Path) -> Result<(), Failure> {
    match extension(path) {
        Some(e) if arguments.lang.is_none() && LanguageName::of_extension(&e).is_none() => {
            let known = ["cu", "cuh", "hip", "c", "cl"];
            Err(unknown_extension(path, &known, Some("--lang")))
        }
        _ => Ok(()),
    }
}

/// Refuses to replace files that are there, and to write two programs to one.
fn check_free(arguments: &Arguments, targets: &[(PathBuf, &String)]) -> Result<(), Failure> {
    for (i, (path, _)) in targets.iter().enumerate() {
        if targets[..i].iter().any(|(other, _)| other == path) {
            let message = format!("two programs would be written to {}", path.display());
            return Err(Failure::message(
                "usage",
                message,
                Some("emit them one after the other, to two folders"),
            ));
        }
        if !arguments.force && files::is_there(path) {
            let message = format!("{} is there already", path.display());
            let help = "add --force to replace it, or write to another file";
            return Err(Failure::message("file-exists", message, Some(help)));
        }
    }
    Ok(())
}
