//! The `wavecast` command line.

use std::ffi::OsString;
use std::process::ExitCode;

mod cli;

fn main() -> ExitCode {
    cli::main(&std::env::args_os().collect::<Vec<OsString>>())
}
