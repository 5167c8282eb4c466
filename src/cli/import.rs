//! `wavecast import`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Args, ValueEnum};

use super::Outcome;
use super::failure::Failure;
use super::files;
use super::files::print;
use super::input::{device_source, parse_block, parse_fold};
use super::model::parse_caches;
use super::output::{extension, streamed, unknown_extension};
use super::progress;
use crate::measure::import::{
    Decimal, FileSource, ImportOptions, Imported, ProfileFormat, Rename, TextSource, import, known_metrics,
};
use crate::measure::measurements::{write_csv, write_json_lines};
use crate::space::{Block, Fold};
use crate::traffic::Caches;

#[derive(Debug, Args)]
#[group(skip)]
#[command(
    after_help = "Formats: Nsight Compute --csv and --csv --page raw; rocprofv3 counter_collection.csv; \
    rocprofiler-compute pmc_perf.csv; Kernel Tuner caches and T4 results; KTT JSON; any table with --map.\n\
    Example: wavecast import ncu.csv --kernel star3d25 -d v100 --param NX=632 -o star.csv"
)]
pub(super) struct Arguments {
    /// What a profiler or tuner wrote, packed (gzip, xz, zstd) or not; `-` reads standard input
    #[arg(required_unless_present = "list_metrics", value_name = "FILE")]
    file: Option<String>,
    /// The format; by default it is found
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<FormatName>,
    /// Name of the kernel in the measurements; PART=NAME for kernels with PART in their name (repeatable)
    #[arg(long, value_name = "[PART=]NAME", value_parser = rename)]
    kernel: Vec<Rename>,
    /// The device of the launches
    #[arg(short, long, value_name = "DEVICE")]
    device: Option<String>,
    /// A parameter of the kernel (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = param)]
    param: Vec<(String, i64)>,
    /// Threads of a block, where the file does not tell
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_block)]
    block: Option<Block>,
    /// Work items per thread
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_fold)]
    fold: Option<Fold>,
    /// What the caches held when each launch began: empty for Nsight Compute, which empties them unless its
    /// --cache-control is none
    #[arg(long, value_parser = parse_caches(), value_name = "CACHES")]
    caches: Option<Caches>,
    /// The decimal separator, where the file does not tell
    #[arg(long, value_enum, value_name = "SEPARATOR")]
    decimal: Option<DecimalName>,
    /// A column of the measurement format, and what a table or tuning parameter calls it (repeatable), as
    /// in `block.x=BLOCK_X` or `time [ms]=t`
    #[arg(long, value_name = "COLUMN=NAME", value_parser = mapping)]
    map: Vec<(String, String)>,
    /// Write to a file: .csv, or .jsonl for JSON lines
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// List the metrics of profilers that are read, and what each becomes
    #[arg(long, conflicts_with = "file")]
    list_metrics: bool,
    /// Say nothing of what was read and left out; warnings are shown all the same
    #[arg(short, long)]
    quiet: bool,
    /// Say how long it took, and name everything that was not read
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatName {
    /// Nsight Compute --csv
    Ncu,
    /// Nsight Compute --csv --page raw
    NcuRaw,
    /// rocprofv3 `counter_collection.csv`
    Rocprofv3,
    /// rocprofiler-compute `pmc_perf.csv`
    RocprofCompute,
    /// Kernel Tuner cache
    KernelTuner,
    /// T4 results
    T4,
    /// KTT JSON
    Ktt,
    /// A table with a head
    Csv,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DecimalName {
    /// 1,234.5
    Point,
    /// 1.234,5
    Comma,
}

fn rename(text: &str) -> Result<Rename, String> {
    let (part, name) = text.rsplit_once('=').unwrap_or(("", text));
    if name.is_empty() {
        return Err("a name, or PART=NAME".to_owned());
    }
    Ok(Rename { part: part.to_owned(), name: name.to_owned() })
}

fn param(text: &str) -> Result<(String, i64), String> {
    let parts = text.split_once('=').and_then(|(n, v)| Some((n.trim(), v.trim().parse().ok()?)));
    let (name, value) = parts.filter(|p| !p.0.is_empty()).ok_or("NAME=VALUE with an integer")?;
    Ok((name.to_owned(), value))
}

fn mapping(text: &str) -> Result<(String, String), String> {
    let (column, name) = text.split_once('=').ok_or("COLUMN=NAME, as in 'time [ms]=t'")?;
    Ok((column.trim().to_owned(), name.trim().to_owned()))
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let started = Instant::now();
    let lines = is_lines(arguments.output.as_deref())?;
    if let Some(device) = &arguments.device {
        device_source(Some(device), &[])?.read(&[])?;
    }
    let options = options(arguments);
    let format = arguments.from.map(format);
    let Some(file) = &arguments.file else { return list_metrics() };
    let found = if file == "-" {
        let mut bytes = Vec::new();
        let read = files::stdin()?.read_to_end(&mut bytes);
        read.map_err(|e| Failure::file("cannot-read", Path::new("standard input"), "read", &e))?;
        import(&TextSource { name: "<stdin>", bytes: &bytes }, format, &options)
    } else {
        files::reads(Path::new(file))?;
        import(&FileSource::new(file), format, &options)
    };
    let imported = found.map_err(|fault| Failure::faults(vec![fault], false))?;
    streamed(arguments.output.as_deref(), |mut out| {
        if lines {
            write_json_lines(&imported.measurements, &mut out)
        } else {
            write_csv(&imported.measurements, &mut out)
        }
    })?;
    if !arguments.quiet {
        say(&imported, if arguments.verbose { usize::MAX } else { MOST_NAMED });
    }
    for warning in &imported.warnings {
        progress::say(&format!("warning: {warning}"));
    }
    if arguments.verbose {
        let rows = imported.measurements.rows.len();
        progress::say(&format!("{rows} launches in {:.1?}", started.elapsed()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Names that are listed of what was not read.
const MOST_NAMED: usize = 6;

/// Says what was read and what was not.
fn say(imported: &Imported, most: usize) {
    let metrics = &imported.metrics;
    let names = |all: &BTreeSet<String>| all.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let read: Vec<String> =
        metrics.read.iter().map(|(q, from)| format!("{} from {}", q.name(), names(from))).collect();
    if !read.is_empty() {
        progress::say(&format!("read: {}", read.join("; ")));
    }
    let unread = metrics.unread(most);
    if !unread.is_empty() {
        progress::say(&format!("not read: {unread}"));
    }
    for (what, count) in &imported.left_out {
        progress::say(&format!("left out: {count} {what}"));
    }
}

fn list_metrics() -> Outcome {
    let width = known_metrics().map(|m| m.0.len()).max().unwrap_or(0);
    let mut lines = String::new();
    for (name, quantity) in known_metrics() {
        let _ = writeln!(lines, "{name:<width$}  {}", quantity.name());
    }
    print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

fn options(arguments: &Arguments) -> ImportOptions {
    ImportOptions {
        kernels: arguments.kernel.clone(),
        device: arguments.device.clone(),
        params: arguments.param.iter().cloned().collect::<BTreeMap<_, _>>(),
        block: arguments.block,
        fold: arguments.fold,
        decimal: arguments.decimal.map(|d| match d {
            DecimalName::Point => Decimal::Point,
            DecimalName::Comma => Decimal::Comma,
        }),
        caches: arguments.caches,
        map: arguments.map.clone(),
    }
}

fn format(name: FormatName) -> ProfileFormat {
    match name {
        FormatName::Ncu => ProfileFormat::NcuLong,
        FormatName::NcuRaw => ProfileFormat::NcuRaw,
        FormatName::Rocprofv3 => ProfileFormat::Rocprof,
        FormatName::RocprofCompute => ProfileFormat::RocprofCompute,
        FormatName::KernelTuner => ProfileFormat::KernelTuner,
        FormatName::T4 => ProfileFormat::T4,
        FormatName::Ktt => ProfileFormat::Ktt,
        FormatName::Csv => ProfileFormat::Csv,
    }
}

/// Whether rows are written as lines of JSON, or why the name of the file does not say it.
fn is_lines(output: Option<&Path>) -> Result<bool, Failure> {
    match output.and_then(|path| Some((path, extension(path)?))) {
        None => Ok(false),
        Some((path, extension)) => match extension.as_str() {
            "csv" | "txt" => Ok(false),
            "jsonl" | "ndjson" => Ok(true),
            _ => Err(unknown_extension(path, &["csv", "jsonl"], None)),
        },
    }
}
