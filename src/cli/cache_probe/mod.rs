//! `wavecast cache-probe`.

mod apply;
mod simulate;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::Outcome;
use super::answers::show_one;
use super::failure::Failure;
use super::files;
use super::output::OutputArguments;
use super::progress;
use crate::probe::{ChaseOrder, LogDefaults, Logs, read_logs};
use crate::report::probe::{ProbeDocument, ProbedLevel, fragment};
use crate::report::probe_picture;

#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[derive(Debug, Args)]
#[group(skip)]
#[command(after_help = "LOGS are pointer chases (index,latency; Next_id Latency), latency over size \
    (buffer_kB,cycles_per_load), times of independent loads (warps,loads,cycles), or tables of throughput. \
    --simulate writes such logs.")]
pub(super) struct Arguments {
    /// Logs, packed or not; `-` reads standard input
    #[arg(value_name = "LOGS", required_unless_present = "simulate")]
    logs: Vec<String>,
    /// Elements of the array, if the logs do not say
    #[arg(short, long, value_name = "ELEMENTS", value_parser = clap::value_parser!(u64).range(1..))]
    n: Option<u64>,
    /// Elements from one load to the next, if the logs do not say
    #[arg(short, long, value_name = "ELEMENTS", allow_negative_numbers = true)]
    stride: Option<i64>,
    /// Bytes of an element, if the logs do not say; 4 by default
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=4096))]
    element: Option<u32>,
    /// The first loads were timed with an empty cache
    #[arg(long)]
    cold: bool,
    /// Which cache the chases went through; needed to fill a device file
    #[arg(long, value_enum)]
    level: Option<Level>,
    /// Find the set hash from which lines evict which (N 5.1); with --simulate, write the runs for it
    #[arg(long)]
    set_hash: bool,
    /// Find the miss-status holding registers from times over loads and warps (N 5.2); with --simulate, write those times
    #[arg(long, conflicts_with = "set_hash")]
    mshr: bool,
    /// Simulate the cache that this YAML or JSON file describes, and write its logs
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["logs", "apply", "fragment"])]
    simulate: Option<String>,
    /// Of a simulated cache, this chase instead of all that tell its structure: N,STRIDE, and any of cold,
    /// shuffled, scattered, rounds=R (repeatable)
    #[arg(long, value_name = "N,S", requires = "simulate", allow_hyphen_values = true)]
    chase: Vec<String>,
    /// Print only what the findings say for a device file
    #[arg(long)]
    fragment: bool,
    /// Show how the findings change a device file
    #[arg(long, value_name = "DEVICE.yaml")]
    apply: Option<PathBuf>,
    /// Change the device file, not only show how
    #[arg(long, requires = "apply")]
    write: bool,
    #[command(flatten)]
    output: OutputArguments,
}

/// A cache of a device file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    /// First-level cache
    L1,
    /// Second-level cache
    L2,
    /// First level of address translation
    TlbL1,
    /// Last level of address translation
    TlbL2,
}

impl From<Level> for ProbedLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::L1 => ProbedLevel::L1,
            Level::L2 => ProbedLevel::L2,
            Level::TlbL1 => ProbedLevel::TlbL1,
            Level::TlbL2 => ProbedLevel::TlbL2,
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    check_output(arguments)?;
    let json = arguments.output.is_json();
    if let Some(path) = &arguments.simulate {
        return simulate::run(arguments, path).map_err(|f| f.for_json(json));
    }
    let logs = read(arguments).map_err(|f| f.for_json(json))?;
    let level = arguments.level.map(ProbedLevel::from);
    let document = ProbeDocument::new(arguments.logs.clone(), &logs, level);
    if arguments.apply.is_some() || arguments.fragment || arguments.output.is_picture() {
        // There is no place for warnings in these.
        document.findings.warnings.iter().for_each(|w| progress::say(&format!("warning: {w}")));
    }
    if let Some(device) = &arguments.apply {
        return apply::run(arguments, device, &document).map_err(|f| f.for_json(json));
    }
    write(arguments, &document, &logs)?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses a file whose name does not fit what will be written to it.
fn check_output(arguments: &Arguments) -> Result<(), Failure> {
    let output = &arguments.output;
    match (&arguments.simulate, &arguments.apply, arguments.fragment) {
        (Some(_), ..) => output.check_only(&["csv", "log", "txt"]),
        (_, Some(_), _) => output.check_only(&["diff", "patch", "txt"]),
        (.., true) => output.check_only(&["yaml", "yml", "txt"]),
        _ => output.check(&["svg"]),
    }
}

fn write(arguments: &Arguments, document: &ProbeDocument, logs: &Logs) -> Result<(), Failure> {
    let output = &arguments.output;
    if output.is_picture() {
        return output.write(&probe_picture(document, logs));
    }
    if arguments.fragment {
        return output.write(&fragment(&document.sources, &document.device_keys));
    }
    show_one(output, document)
}

/// All logs that were named.
fn read(arguments: &Arguments) -> Result<Logs, Failure> {
    let given = LogDefaults {
        n: arguments.n,
        stride: arguments.stride.filter(|&s| s != 0),
        element: arguments.element,
        cold: arguments.cold,
    };
    let mut logs = Logs::default();
    for path in &arguments.logs {
        let input: Box<dyn Read> =
            if path == "-" { Box::new(files::stdin()?) } else { Box::new(files::open(Path::new(path))?) };
        read_logs(path, input, given, &mut logs)
            .map_err(|e| Failure::message(e.code(), format!("{path}: {e}"), e.help()))?;
    }
    let missing = |what: &str, help| {
        let message = format!("the logs hold no {what}");
        Failure::message("probe-missing", message, Some(help))
    };
    if arguments.set_hash && !logs.runs.iter().any(|r| matches!(r.order, ChaseOrder::Evict { .. })) {
        return Err(missing("runs with order=evict", "tracer/pchase makes them with --evict"));
    }
    if arguments.mshr && logs.mshrs.is_empty() {
        return Err(missing("times over warps and loads", "a table with the head `warps,loads,cycles`"));
    }
    Ok(logs)
}
