//! Helpers of tests that run emitted CUDA and HIP programs on the processor, which plays the GPU.
// Each test file uses some of them.
#![allow(dead_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use wavecast::emit::{Language, Settings, emit, file_name};
use wavecast::kernel::{Kernel, Options, Space, load};
use wavecast::launch::Candidate;

/// Whether there is no C++ compiler. The reason is printed: a test that is left out says so.
pub fn missing(test: &str) -> bool {
    // Pointers and numbers are handed over separately by these.
    let known = cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")));
    let missing = !known || Command::new("g++").arg("--version").output().is_err();
    if missing {
        let _ = writeln!(std::io::stderr(), "{test} SKIPPED: it needs g++ on Linux");
    }
    missing
}

pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

pub fn kernel(text: &str) -> Kernel {
    load("test", text, &Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}")).kernels.remove(0)
}

pub fn emitted(kernel: &Kernel, language: Language) -> String {
    let all: Vec<Candidate> = wavecast::launch::candidates(kernel).collect();
    emit(kernel, &all, &Settings::new(language)).unwrap()
}

/// What is played of CUDA, in the words of HIP.
fn headers(folder: &Path) {
    let cuda = include_str!("cuda_runtime.h");
    let hip = cuda
        .replace("cudaDeviceProp ", "hipDeviceProp_t ")
        .replace("cudaDevAttr", "hipDeviceAttribute")
        .replace("cuda", "hip");
    std::fs::create_dir_all(folder.join("hip")).unwrap();
    std::fs::write(folder.join("cuda_runtime.h"), cuda).unwrap();
    std::fs::write(folder.join("hip/hip_runtime.h"), hip).unwrap();
}

/// Builds a program of CUDA or HIP for the processor, without a warning.
pub fn built(kernel: &Kernel, text: &str, language: Language, folder: &Path) -> Result<PathBuf, String> {
    headers(folder);
    let source = folder.join(file_name(kernel, language)).with_extension(language.word());
    let program = source.with_extension(format!("{}.bin", language.word()));
    std::fs::write(&source, text).unwrap();
    let global = |f: &&wavecast::kernel::Field| matches!(f.space(), Space::Global);
    let arrays: i64 = kernel.fields().iter().filter(global).map(|f| *f.multiplicity().max(&1)).sum();
    assert!(arrays < 128, "{arrays} arrays");
    let real = if text.contains("typedef double real;") { "double" } else { "float" };
    let output = Command::new("g++")
        .args(["-x", "c++", "-std=gnu++17", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable"])
        .args(["-Wno-unused-function", "-Wno-unused-parameter", "-Wno-missing-field-initializers"])
        .args([format!("-DPLAYED_ARRAYS={arrays}"), format!("-DPLAYED_REAL={real}")])
        .args(["-I".as_ref(), folder.as_os_str(), "-o".as_ref(), program.as_os_str(), source.as_os_str()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(program) } else { Err(said) }
}

/// Runs a program's check of itself, with an index shifted where one is named.
pub fn checked(program: &Path, mutant: Option<(usize, i64)>) -> Output {
    let mut command = Command::new(program);
    command.args(["--repeat", "0", "--warmup", "0", "--check", "all"]);
    if let Some((number, shift)) = mutant {
        command.env("PLAYED_MUTANT", number.to_string()).env("PLAYED_SHIFT", shift.to_string());
    }
    command.output().unwrap()
}
