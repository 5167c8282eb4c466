//! `wavecast trace convert`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::super::Outcome;
use super::super::failure::Failure;
use super::super::output::{extension, streamed, unknown_extension};
use super::super::progress::say;
use super::input::TraceArguments;
use crate::trace::format::{CsvWriter, JsonWriter, ReadError, Sink, TrcWriter, read, write_scheduled};
use crate::trace::schedule::{SchedulePolicy, WarpShape, order};
use crate::trace::synth::NoTrace;
use crate::trace::{Dim3, Header, Tables, Trace, TraceAccess};

#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Arguments {
    #[command(flatten)]
    trace: TraceArguments,
    /// The format to write; by default by the extension of -o, otherwise csv
    #[arg(long, value_name = "FORMAT", value_parser = ["csv", "jsonl", "trc", "scheduled"])]
    to: Option<String>,
    /// The order of accesses of --to scheduled
    #[arg(long, default_value = "warp", value_parser = SchedulePolicy::NAMES)]
    policy: String,
    /// For --policy random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads of a warp
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1024))]
    warp_size: u32,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn is_kernel(&self) -> bool {
        self.trace.is_kernel()
    }
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let to = format(arguments)?;
    // What is wrong with the input; what is wrong with the output is known to who writes it.
    let mut input = Ok(());
    streamed(arguments.output.as_deref(), |out| {
        let written = match to {
            "trc" => write(arguments, &mut TrcWriter::new(out)),
            "jsonl" => write(arguments, &mut JsonWriter::new(out)),
            "scheduled" => scheduled(arguments, out),
            _ => write(arguments, &mut CsvWriter::new(out)),
        };
        written.map_err(|stopped| match stopped {
            Stopped::Output(error) => error,
            Stopped::Input(failure) => {
                input = Err(failure);
                io::Error::other("the input cannot be read")
            }
        })
    })
    // The input comes first: without it there is nothing to write.
    .or_else(|failure| input.and(Err(failure)))?;
    Ok(ExitCode::SUCCESS)
}

/// The format that is written.
fn format(arguments: &Arguments) -> Result<&str, Failure> {
    if let Some(to) = &arguments.to {
        return Ok(to);
    }
    let Some((path, extension)) = arguments.output.as_deref().and_then(|p| Some((p, extension(p)?))) else {
        return Ok("csv");
    };
    match extension.as_str() {
        "csv" | "txt" => Ok("csv"),
        "jsonl" | "ndjson" => Ok("jsonl"),
        "trc" => Ok("trc"),
        _ => Err(unknown_extension(path, &["csv", "jsonl", "trc"], Some("--to"))),
    }
}

/// Why a trace was not converted.
enum Stopped {
    Input(Failure),
    Output(io::Error),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Stopped::Input(failure)
    }
}

impl Stopped {
    fn new(error: ReadError, arguments: &Arguments) -> Self {
        match error {
            ReadError::Unwritten(error) => Stopped::Output(error),
            error => Stopped::Input(arguments.trace.failure(&error)),
        }
    }
}

fn write(arguments: &Arguments, sink: &mut dyn Sink) -> Result<(), Stopped> {
    if arguments.trace.is_kernel() {
        return replay(arguments, sink);
    }
    let reading = read(arguments.trace.bytes()?, arguments.trace.options()?, sink);
    let reading = reading.map_err(|e| Stopped::new(e, arguments))?;
    if reading.skipped > 0 {
        say(&format!("{} malformed lines skipped", reading.skipped));
    }
    Ok(())
}

/// Hands the trace of a kernel document or of PTX on to a writer, block by block.
fn replay(arguments: &Arguments, sink: &mut dyn Sink) -> Result<(), Stopped> {
    let mut written = Ok(());
    let trace = &arguments.trace;
    let is_entry = trace.with_entry(&mut |synth| {
        let (grid, block) = (synth.grid(), synth.block());
        handed_on(trace, grid, block, &mut |number| synth.trace([number]), sink, &mut written)
    })?;
    if !is_entry {
        trace.with_synth(&mut |synth| {
            let (grid, block) = (synth.grid(), synth.block());
            handed_on(trace, grid, block, &mut |number| synth.trace([number]), sink, &mut written)
        })?;
    }
    written.map_err(|e| Stopped::new(e, arguments))
}

/// Hands on the traces of single blocks.
fn handed_on(
    arguments: &TraceArguments,
    all: Dim3,
    block: Dim3,
    trace_of: &mut dyn FnMut(u64) -> Result<Trace, NoTrace>,
    sink: &mut dyn Sink,
    written: &mut Result<(), ReadError>,
) -> Result<(), NoTrace> {
    let blocks = arguments.blocks.unwrap_or(u64::MAX).min(all.volume());
    let row = Dim3([u32::try_from(blocks).unwrap_or(u32::MAX).max(1), 1, 1]);
    let grid = if blocks == all.volume() { all } else { row };
    let mut tables = Tables::default();
    for number in 0..blocks {
        let trace = trace_of(number)?;
        if number == 0 {
            let header = Header { kernel: trace.kernel.clone(), block: trace.block, grid: Some(grid) };
            *written = sink.begin(&header, false);
        }
        let shift = number.saturating_mul(block.volume());
        for access in trace.accesses() {
            let thread = u32::try_from(shift + u64::from(access.thread))
                .map_err(|_| NoTrace::TooLarge("more threads than can be numbered"))?;
            if written.is_ok() {
                *written = sink.access(TraceAccess { thread, ..*access }, &trace.tables);
            }
        }
        if written.is_err() {
            return Ok(());
        }
        tables = trace.tables;
    }
    *written = std::mem::replace(written, Ok(())).and_then(|()| sink.end(tables));
    Ok(())
}

fn scheduled(arguments: &Arguments, mut out: &mut dyn Write) -> Result<(), Stopped> {
    let trace = arguments.trace.one(None, None)?;
    let warp = warp_shape(arguments.warp_size)?;
    let policy = policy(&arguments.policy, arguments.seed)?;
    // C 5.2.1: where threads act alone, warps have one thread.
    let size = if policy == SchedulePolicy::Warp { warp.size() } else { 1 };
    write_scheduled(&mut out, &trace, size, order(&trace, policy, warp)).map_err(Stopped::Output)
}

/// Warps of so many threads.
pub(super) fn warp_shape(size: u32) -> Result<WarpShape, Failure> {
    WarpShape::new(size).ok_or_else(|| Failure::message("usage", format!("no warp has {size} threads"), None))
}

/// The policy of a name that clap has let through.
pub(super) fn policy(name: &str, seed: u64) -> Result<SchedulePolicy, Failure> {
    SchedulePolicy::named(name, seed).ok_or_else(|| {
        let help = format!("known: {}", SchedulePolicy::NAMES.join(", "));
        Failure::message("usage", format!("`{name}` is no order of accesses"), Some(&help))
    })
}
