//! `wavecast read`.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use super::Outcome;
use super::answers::{answer, show_one};
use super::failure::Failure;
use super::input::{ReadingArguments, parse_block, read_text};
use super::output::OutputArguments;
use super::progress;
use crate::kernel::Limits;
use crate::ptx::{Compiled, Given};
use crate::report::{entries_document, reading_document};
use crate::space::Block;

#[derive(Debug, Args)]
#[command(
    after_help = "Without --entry it lists the entries. The kernel document goes to standard output.\n\
    Example: wavecast read saxpy.ptx --entry saxpy --arg 0=1048576 > saxpy.yaml"
)]
pub(super) struct Arguments {
    /// PTX, as nvcc -ptx, NVRTC, clang, Numba or Triton write it
    #[arg(value_name = "FILE.ptx")]
    path: String,
    #[command(flatten)]
    reading: ReadingArguments,
    /// Thread block to read it for (repeatable); by default all that the kernel may be launched with
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_block)]
    block: Vec<Block>,
    /// Registers of a thread, as ptxas reports them; by default counted in the PTX
    #[arg(long, value_name = "N")]
    registers: Option<u32>,
    #[command(flatten)]
    output: OutputArguments,
}

/// A text of PTX.
pub(super) fn compiled(path: &str, json: bool) -> Result<Compiled, Failure> {
    let (name, text) = read_text(path, Limits::default(), json)?;
    Ok(Compiled::new(&name, &text)?)
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let json = arguments.output.is_json();
    let yaml = arguments.output.output.as_deref().and_then(Path::extension).is_some_and(|e| e == "yaml");
    if !yaml {
        arguments.output.check(&["yaml"])?;
    }
    let compiled = compiled(&arguments.path, json).map_err(|f| f.for_json(json))?;
    let Some(entry) = arguments.reading.entry.as_deref() else {
        return answer(&arguments.output, &["yaml"], || Ok(entries_document(&compiled)));
    };
    let given = Given { registers: arguments.registers, ..arguments.reading.given(&arguments.block) };
    let found = || -> Result<_, Failure> {
        let read = compiled.read(Some(entry), &given)?;
        Ok(reading_document(&compiled, compiled.entry(Some(entry))?, &read))
    };
    let document = found().map_err(|f| f.for_json(json))?;
    show_one(&arguments.output, &document)?;
    if document.document.is_some() {
        return Ok(ExitCode::SUCCESS);
    }
    if !json {
        progress::say("error: there is no kernel document, as not all accesses could be read");
    }
    Ok(ExitCode::from(1))
}
