//! Register counts from a compiler: the emitted kernels are compiled, and ptxas tells.

use std::path::Path;
use std::process::Command;

use clap::{Args, ValueEnum};

use super::choices::ShapeArguments;
use super::failure::Failure;
use super::files;
use crate::ask::KernelsRead;
use crate::device::Device;
use crate::emit::{Language, Settings, emit, registers_of};
use crate::kernel::{Kernel, RegisterRule};

/// What runs the compiler; nvcc by default.
const COMPILER: &str = "WAVECAST_NVCC";

/// Where register counts come from.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(super) struct RegisterArguments {
    /// Compile the emitted kernel for the device and take its registers instead of those of the file; runs nvcc,
    /// or what `WAVECAST_NVCC` names
    #[arg(long, value_enum, value_name = "COMPILER")]
    pub registers_from: Option<Source>,
}

/// A compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Source {
    /// NVIDIA's assembler
    Ptxas,
}

impl RegisterArguments {
    /// Puts the compiler's counts into kernels, if they were asked for.
    pub(super) fn fill(
        &self,
        kernels: &mut KernelsRead,
        shapes: &ShapeArguments,
        device: &Device,
    ) -> Result<(), Failure> {
        if self.registers_from.is_none() {
            return Ok(());
        }
        for kernel in kernels.kernels_mut() {
            let rules = rules(kernel, shapes, device)?;
            kernel.set_register_rules(rules);
        }
        Ok(())
    }
}

fn rules(kernel: &Kernel, shapes: &ShapeArguments, device: &Device) -> Result<Vec<RegisterRule>, Failure> {
    let arch = target(device)?;
    let settings = Settings { kernels_only: true, ..Settings::new(Language::Cuda) };
    let text = emit(kernel, &shapes.candidates(kernel), &settings).map_err(|why| {
        let message = format!("{}: no program to compile: {why}", kernel.name);
        Failure::message(why.code(), message, Some(why.help()))
    })?;
    let folder = std::env::temp_dir().join(format!("wavecast-registers-{}", std::process::id()));
    let file = folder.join("kernels.cu");
    let cannot = |e: &std::io::Error| Failure::file("cannot-write", &file, "write", e);
    std::fs::create_dir_all(&folder).map_err(|e| cannot(&e))?;
    let messages = files::write(&file, &text).and_then(|()| compile(&file, arch));
    // What is left in a temporary folder is no failure.
    let _ = std::fs::remove_dir_all(&folder);
    let found = registers_of(&messages?);
    if found.is_empty() {
        let message = format!("{}: the compiler tells no registers", kernel.name);
        return Err(Failure::message("no-registers", message, Some("it has to understand `-Xptxas -v`")));
    }
    Ok(found
        .into_iter()
        .map(|(fold, value)| RegisterRule { fold: Some(fold), threads: None, value })
        .collect())
}

/// Oldest target that compilers of today know: Volta's.
const OLDEST: u32 = 70;

/// What ptxas calls a device.
fn target(device: &Device) -> Result<&str, Failure> {
    let target = device.target.as_deref().unwrap_or_default();
    if target.strip_prefix("sm_").and_then(|n| n.parse().ok()).is_some_and(|n: u32| n >= OLDEST) {
        return Ok(target);
    }
    let message = match target {
        "" => format!("the file of {} does not say what compilers call it", device.id),
        _ => format!("ptxas does not compile for {} ({target})", device.id),
    };
    let help = "it does for `target: sm_70` and later in the device file; or give `launch.registers` in the kernel's";
    Err(Failure::message("no-compiler", message, Some(help)))
}

/// The messages of the compiler.
fn compile(file: &Path, arch: &str) -> Result<String, Failure> {
    let named = std::env::var(COMPILER).ok().filter(|n| !n.trim().is_empty());
    let command = named.as_deref().unwrap_or("nvcc");
    let mut words = command.split_whitespace();
    let mut process = Command::new(words.next().unwrap_or("nvcc"));
    process.args(words).arg(format!("-arch={arch}")).args(["-cubin", "-Xptxas", "-v", "-o"]);
    process.arg(file.with_extension("cubin")).arg(file);
    let output = process.output().map_err(|e| {
        let message = format!("the compiler `{command}` cannot be run: {e}");
        let help = "install CUDA, or set WAVECAST_NVCC, for example to calibration/wavecast-nvcc, which needs \
                    two packages of PyPI only";
        Failure::message("no-compiler", message, Some(help))
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let messages = text(&output.stderr) + &text(&output.stdout);
    if !output.status.success() {
        let last: Vec<&str> = messages.lines().take(5).collect();
        let message = format!("`{command}` failed for {arch}: {}", last.join("; "));
        return Err(Failure::message(
            "compiler",
            message,
            Some("`wavecast emit --kernels-only` prints what it read"),
        ));
    }
    Ok(messages)
}
