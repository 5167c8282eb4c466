//! `wavecast trace convert`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::super::Outcome;
use super::super::output::Failure;
use super::super::progress::say;
use super::input::TraceArguments;
use wavecast::trace::format::{CsvWriter, JsonWriter, Sink, TrcWriter, write_scheduled};
use wavecast::trace::schedule::{Policy, WarpShape, order};
use wavecast::trace::synth::NoTrace;
use wavecast::trace::{Access, Dim3, Header, Tables};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    trace: TraceArguments,
    /// The format to write
    #[arg(long, value_name = "FORMAT", default_value = "csv", value_parser = ["csv", "jsonl", "trc", "scheduled"])]
    to: String,
    /// The order of accesses of --to scheduled
    #[arg(long, default_value = "warp", value_parser = ["warp", "round-robin", "sequential", "random", "recorded"])]
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
    let out: Box<dyn Write> = match &arguments.output {
        Some(path) => {
            Box::new(File::create(path).map_err(|e| Failure::file("cannot-write", path, "write", &e))?)
        }
        None => Box::new(std::io::stdout().lock()),
    };
    let mut out = BufWriter::with_capacity(1 << 16, out);
    match arguments.to.as_str() {
        "trc" => write(arguments, TrcWriter::new(out))?,
        "jsonl" => write(arguments, JsonWriter::new(out))?,
        "scheduled" => scheduled(arguments, &mut out)?,
        _ => write(arguments, CsvWriter::new(out))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn write<S: Sink>(arguments: &Arguments, mut sink: S) -> Result<(), Failure> {
    if arguments.trace.is_kernel() {
        return replay(arguments, &mut sink);
    }
    let reading = arguments.trace.stream(&mut sink)?;
    if reading.skipped > 0 {
        say(&format!("{} malformed lines skipped", reading.skipped));
    }
    Ok(())
}

/// Hands the trace of a kernel document on to a writer, block by block.
fn replay<S: Sink>(arguments: &Arguments, sink: &mut S) -> Result<(), Failure> {
    let mut written = Ok(());
    arguments.trace.with_synth(&mut |synth| {
        let blocks = arguments.trace.blocks.unwrap_or(u64::MAX).min(synth.blocks());
        let row = Dim3([u32::try_from(blocks).unwrap_or(u32::MAX).max(1), 1, 1]);
        let grid = if blocks == synth.blocks() { synth.grid() } else { row };
        let mut tables = Tables::default();
        for number in 0..blocks {
            let trace = synth.trace([number])?;
            if number == 0 {
                let header = Header { kernel: trace.kernel.clone(), block: trace.block, grid: Some(grid) };
                written = sink.begin(&header, false);
            }
            let shift = number.saturating_mul(synth.block().volume());
            for access in trace.accesses() {
                let thread = u32::try_from(shift + u64::from(access.thread))
                    .map_err(|_| NoTrace::TooLarge("more threads than can be numbered"))?;
                if written.is_ok() {
                    written = sink.access(Access { thread, ..*access }, &trace.tables);
                }
            }
            if written.is_err() {
                return Ok(());
            }
            tables = trace.tables;
        }
        written =
            std::mem::replace(&mut written, Ok(())).and_then(|()| sink.end(std::mem::take(&mut tables)));
        Ok(())
    })?;
    written.map_err(|e| arguments.trace.failure(&e))
}

fn scheduled(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let trace = arguments.trace.one(None, None)?;
    let warp = WarpShape { size: arguments.warp_size, strided: false };
    let policy = policy(&arguments.policy, arguments.seed);
    // C 5.2.1: where threads act alone, warps have one thread.
    let size = if policy == Policy::Warp { warp.size } else { 1 };
    let path = arguments.output.as_deref().unwrap_or(Path::new("standard output"));
    write_scheduled(out, &trace, size, order(&trace, policy, warp))
        .map_err(|e| Failure::file("cannot-write", path, "write", &e))
}

/// The policy of a name.
pub(super) fn policy(name: &str, seed: u64) -> Policy {
    match name {
        "round-robin" => Policy::RoundRobin,
        "sequential" => Policy::Sequential,
        "random" => Policy::Random { seed },
        "recorded" => Policy::Recorded,
        _ => Policy::Warp,
    }
}
