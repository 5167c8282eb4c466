//! Where a trace comes from: a file in one of many formats, or a kernel document.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use clap::Args;

use super::super::input::{KernelArguments, Shape, parse_shape};
use super::super::output::Failure;
use super::super::predict::candidate;
use wavecast::launch::Launch;
use wavecast::trace::format::{Collector, Format, ReadError, ReadOptions, Reading, Sink, read};
use wavecast::trace::synth::Synth;
use wavecast::trace::{Dim3, Kind, Trace};

/// How a trace is read.
#[derive(Debug, Clone, Args)]
pub(super) struct TraceArguments {
    /// A trace, or a kernel document (.yaml); `-` reads a trace from standard input
    #[arg(value_name = "PATH")]
    pub path: String,
    /// The format; by default found by content
    #[arg(long, value_name = "FORMAT", value_parser = Format::ALL.map(|f| f.0))]
    pub from: Option<String>,
    /// Count and skip malformed lines
    #[arg(long)]
    pub lenient: bool,
    /// Which kernel launch of the trace, from 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub launch: usize,
    /// The trace numbers its blocks x slowest, as N's tracer does, in a grid of so many
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_shape)]
    pub x_slowest: Option<Shape>,
    /// Threads of a block, of a kernel document; its first candidate by default
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_shape)]
    pub block: Option<Shape>,
    /// Work items per thread, of a kernel document
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_shape)]
    pub fold: Option<Shape>,
    /// Only so many blocks of a kernel document, from the first on; all by default
    #[arg(long, value_name = "N")]
    pub blocks: Option<u64>,
    #[command(flatten)]
    pub kernel: KernelArguments,
}

/// What was read.
pub(super) struct Input {
    pub(super) traces: Vec<Trace>,
    pub(super) reading: Reading,
}

impl TraceArguments {
    /// Whether it names a kernel document.
    pub(super) fn is_kernel(&self) -> bool {
        [".yaml", ".yml"].iter().any(|e| self.path.ends_with(e))
    }

    fn options(&self) -> ReadOptions {
        let named = |name: &String| Format::ALL.iter().find(|f| f.0 == name).map(|f| f.1);
        ReadOptions { format: self.from.as_ref().and_then(named), lenient: self.lenient }
    }

    /// Hands a trace file on as it is read.
    pub(super) fn stream<S: Sink>(&self, sink: &mut S) -> Result<Reading, Failure> {
        let input: Box<dyn Read> = if self.path == "-" {
            Box::new(std::io::stdin().lock())
        } else {
            let path = Path::new(&self.path);
            Box::new(File::open(path).map_err(|e| Failure::file("cannot-read", path, "read", &e))?)
        };
        read(input, self.options(), sink).map_err(|e| self.failure(&e))
    }

    pub(super) fn failure(&self, error: &ReadError) -> Failure {
        let help = match error {
            ReadError::Malformed { .. } => Some("--lenient counts and skips such lines".to_owned()),
            ReadError::Unknown => {
                let names: Vec<&str> = Format::ALL.iter().map(|f| f.0).collect();
                Some(format!("force one with --from: {}", names.join(", ")))
            }
            _ => None,
        };
        Failure::message(error.code(), format!("{}: {error}", self.path), help.as_deref())
    }

    /// All launches of the trace, or the launch of a kernel document; at most `most` blocks of it.
    pub(super) fn load(&self, most: Option<u64>, keep: Option<fn(Kind) -> bool>) -> Result<Input, Failure> {
        if self.is_kernel() {
            let trace = self.synth(most)?;
            return Ok(Input { traces: vec![trace], reading: Reading::default() });
        }
        let mut collector = Collector::keeping(keep);
        let reading = self.stream(&mut collector)?;
        Ok(Input { traces: collector.traces, reading })
    }

    /// The launch that was asked for.
    pub(super) fn one(&self, most: Option<u64>, keep: Option<fn(Kind) -> bool>) -> Result<Trace, Failure> {
        let mut input = self.load(most, keep)?;
        let count = input.traces.len();
        if let Some(n) = self.launch.checked_sub(1).filter(|&n| n < count) {
            return self.renumbered(input.traces.swap_remove(n));
        }
        let message = format!("there is no launch {} among {count} in {}", self.launch, self.path);
        Err(Failure::message("no-launch", message, Some("`wavecast trace info` lists them")))
    }

    fn renumbered(&self, trace: Trace) -> Result<Trace, Failure> {
        let Some(Shape(grid)) = self.x_slowest else { return Ok(trace) };
        let grid = Dim3(grid.map(|n| u32::try_from(n).unwrap_or(u32::MAX)));
        trace.from_x_slowest(grid).ok_or_else(|| {
            let message =
                format!("a grid of {grid} does not have the {} blocks of the trace", trace.blocks());
            Failure::message("usage", message, Some("give the grid of the launch to --x-slowest"))
        })
    }

    fn synth(&self, most: Option<u64>) -> Result<Trace, Failure> {
        let loaded = self.kernel.load(&self.path, false)?;
        let Some(kernel) = loaded.kernels.get(self.launch.saturating_sub(1)) else {
            let message = format!("there is no kernel {} in {}", self.launch, self.path);
            return Err(Failure::message("no-launch", message, None));
        };
        let failed = |message: String| Failure::message("no-trace", message, None);
        let launch = Launch::new(kernel, candidate(kernel, self.block, self.fold));
        let launch = launch.map_err(|why| failed(format!("{}: {why}", kernel.name)))?;
        let synth = Synth::new(kernel, &launch).map_err(|why| failed(format!("{}: {why}", kernel.name)))?;
        let wanted = self.blocks.or(most).unwrap_or(u64::MAX);
        let trace = if wanted >= synth.blocks() { synth.whole() } else { synth.trace(0..wanted) };
        trace.map_err(|why| {
            let help = "take some of its blocks with --blocks N";
            Failure::message("no-trace", format!("{}: {why}", kernel.name), Some(help))
        })
    }

    /// Threads of a block of a kernel document, for limits in threads.
    pub(super) fn blocks_of(&self, threads: u64) -> Option<u64> {
        if !self.is_kernel() {
            return None;
        }
        let loaded = self.kernel.load(&self.path, false).ok()?;
        let kernel = loaded.kernels.get(self.launch.saturating_sub(1))?;
        let size = candidate(kernel, self.block, self.fold).block.iter().product::<i64>();
        Some((threads / u64::try_from(size).ok()?.max(1)).max(1))
    }
}
