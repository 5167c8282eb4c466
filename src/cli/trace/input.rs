//! Where a trace comes from: a file in one of many formats, or a kernel document.

use std::io::Read;
use std::path::Path;

use clap::Args;

use super::super::choices::one_launch;
use super::super::entry::EntryArguments;
use super::super::failure::Failure;
use super::super::files;
use super::super::input::{KernelArguments, is_ptx, parse_block, parse_fold};
use super::super::progress::say;
use super::part::Part;
use crate::ask::EntrySource;
use crate::kernel::Kernel;
use crate::launch::Launch;
use crate::space::{Block, Fold};
use crate::trace::coalesce::{Coalescing, Requests, RequestsBuilder};
use crate::trace::entry::EntrySynth;
use crate::trace::format::{ReadError, ReadOptions, Reading, Sink, TraceFormat, read};
use crate::trace::schedule::WarpSteps;
use crate::trace::stream::{BlockOf, BlockVisit, Blocks, Facts, Holder, LaunchChoice, Scan};
use crate::trace::synth::{NoTrace, Synth};
use crate::trace::{Dim3, Trace, TraceKind, TraceLimits};

/// How a trace is read.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(super) struct TraceArguments {
    /// A trace, a kernel document (.yaml) or PTX (.ptx); `-` reads a trace from standard input
    #[arg(value_name = "PATH")]
    pub path: String,
    /// The format; by default found by content
    #[arg(long, value_name = "FORMAT", value_parser = TraceFormat::NAMED.map(|f| f.0))]
    pub from: Option<String>,
    /// Count and skip malformed lines
    #[arg(long)]
    pub lenient: bool,
    /// Which kernel launch of the trace, from 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub launch: usize,
    /// The grid of a trace that numbers its blocks with x slowest, as Nugteren's tracer does
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_block)]
    pub x_slowest: Option<Block>,
    /// For a kernel document or PTX: threads of a block; by default the first candidate of the document
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_block)]
    pub block: Option<Block>,
    /// For a kernel document: work items per thread
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_fold)]
    pub fold: Option<Fold>,
    /// For a kernel document or PTX: trace only the first N blocks; by default all
    #[arg(long, value_name = "N")]
    pub blocks: Option<u64>,
    /// Override a parameter of a kernel document (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Only this variant of a kernel document (repeatable)
    #[arg(long, value_name = "NAME")]
    pub variant: Vec<String>,
    /// Raise a limit that protects the tool: trace-memory (bytes that may be held, 2 GiB), unpacked-bytes (of a packed
    /// file, 1 GiB); of kernel documents document-bytes, accesses, candidates, variants (repeatable)
    #[arg(long, value_name = "NAME=N")]
    pub limit: Vec<String>,
    #[command(flatten)]
    pub entry: EntryArguments,
}

/// A launch that can be handed on block by block.
pub(super) enum Opened {
    /// Held in memory: of a kernel document, or from standard input, which cannot be read twice.
    Held(Box<Trace>, Facts),
    /// In a file.
    File(Facts, LaunchChoice),
}

impl Opened {
    /// Of a trace that is held.
    pub(super) fn held(trace: Trace) -> Self {
        let facts = Facts::read(&trace);
        Opened::Held(Box::new(trace), facts)
    }

    /// What is known of it.
    pub(super) fn facts(&self) -> &Facts {
        match self {
            Opened::Held(_, facts) | Opened::File(facts, _) => facts,
        }
    }
}

impl TraceArguments {
    /// Whether it names something to run: a kernel document, or PTX.
    pub(super) fn is_kernel(&self) -> bool {
        [".yaml", ".yml"].iter().any(|e| self.path.ends_with(e)) || is_ptx(&self.path)
    }

    /// The entry that is run, if it names PTX or a document whose code is.
    fn entry_source(&self) -> Result<Option<EntrySource>, Failure> {
        if is_ptx(&self.path) {
            return self.entry.source(&self.path, self.block).map(Some);
        }
        self.entry.of_document(&self.kernel_arguments().source(&self.path)?, self.block)
    }

    /// How much may be held and unpacked.
    pub(super) fn limits(&self) -> Result<TraceLimits, Failure> {
        let mut limits = TraceLimits::default();
        for text in &self.limit {
            let Some((name, value)) = text.split_once('=').filter(|(name, _)| is_own(name)) else { continue };
            let value = value.trim().replace('_', "").parse();
            if !value.is_ok_and(|value| limits.set(name.trim(), value)) {
                let message = format!("`--limit {text}` is not a limit and a number");
                let help = format!("write NAME=N with one of: {}", TraceLimits::NAMES.join(", "));
                return Err(Failure::message("usage", message, Some(&help)));
            }
        }
        Ok(limits)
    }

    /// How a kernel document is read, without limits that are not its.
    fn kernel_arguments(&self) -> KernelArguments {
        let limit = self.limit.iter().filter(|l| !l.split('=').next().is_some_and(is_own));
        let (set, variant, limit) = (self.set.clone(), self.variant.clone(), limit.cloned().collect());
        KernelArguments { set, variant, limit }
    }

    /// The kernels of a document.
    fn kernels(&self) -> Result<crate::kernel::Loaded, Failure> {
        self.kernel_arguments().load(&self.path, false)
    }

    pub(super) fn options(&self) -> Result<ReadOptions, Failure> {
        let named = |name: &String| TraceFormat::NAMED.iter().find(|f| f.0 == name).map(|f| f.1);
        let format = self.from.as_ref().and_then(named);
        Ok(ReadOptions { format, lenient: self.lenient, limits: self.limits()? })
    }

    /// Hands a trace file on as it is read.
    pub(super) fn stream(&self, sink: &mut dyn Sink) -> Result<Reading, Failure> {
        read(self.bytes()?, self.options()?, sink).map_err(|e| self.failure(&e))
    }

    /// The bytes of the file.
    pub(super) fn bytes(&self) -> Result<Box<dyn Read>, Failure> {
        if self.path == "-" {
            return Ok(Box::new(files::stdin()?));
        }
        Ok(Box::new(files::open(Path::new(&self.path))?))
    }

    pub(super) fn failure(&self, error: &ReadError) -> Failure {
        let help = match error {
            ReadError::Malformed { .. } => Some("--lenient counts and skips such lines".to_owned()),
            ReadError::Unknown => {
                let names: Vec<&str> = TraceFormat::NAMED.iter().map(|f| f.0).collect();
                Some(format!("force one with --from: {}", names.join(", ")))
            }
            ReadError::Empty => {
                Some("`wavecast trace synth KERNEL` makes a trace of a kernel document".to_owned())
            }
            ReadError::Memory { .. } => Some(
                "raise it with --limit trace-memory=BYTES; `--blocks N` and `--max-threads` need less"
                    .to_owned(),
            ),
            ReadError::Unpacked { .. } => {
                Some("raise it with --limit unpacked-bytes=BYTES, or unpack the file".to_owned())
            }
            _ => None,
        };
        Failure::message(error.code(), format!("{}: {error}", self.path), help.as_deref())
    }

    fn choice(&self, keep: Option<fn(TraceKind) -> bool>) -> LaunchChoice {
        // A grid of more blocks than can be numbered has more than any trace, and is refused as such.
        let narrow = |grid: Block| Dim3(grid.map(|n| u32::try_from(n).unwrap_or(u32::MAX)));
        LaunchChoice { launch: self.launch, keep, x_slowest: self.x_slowest.map(narrow) }
    }

    /// The kernel of a document that was asked for.
    fn chosen_kernel<'k>(&self, kernels: &'k [Kernel]) -> Option<&'k Kernel> {
        kernels.get(self.launch.checked_sub(1)?)
    }

    /// The launch that was asked for, to be handed on block by block; at most `most` blocks of a kernel document.
    pub(super) fn open(
        &self,
        most: Option<u64>,
        keep: Option<fn(TraceKind) -> bool>,
    ) -> Result<Opened, Failure> {
        if self.is_kernel() || self.path == "-" {
            return Ok(Opened::held(self.one(most, keep)?));
        }
        let choice = self.choice(keep);
        let mut scan = Scan::new(choice);
        self.stream(&mut scan)?;
        let Some(facts) = scan.facts else { return Err(self.no_launch(scan.launches)) };
        if let Some(grid) = choice.x_slowest.filter(|g| g.volume() < scan.file_blocks) {
            return Err(wrong_grid(grid, scan.file_blocks));
        }
        Ok(Opened::File(facts, choice))
    }

    /// Hands on the blocks below `until` of what was opened, in their order.
    pub(super) fn each_block(
        &self,
        opened: &Opened,
        until: usize,
        visit: &mut BlockVisit<'_>,
    ) -> Result<(), Failure> {
        match opened {
            Opened::Held(trace, facts) => {
                for number in 0..until.min(facts.blocks()) {
                    visit(BlockOf { number, trace, place: number, tables: &trace.tables })
                        .map_err(|e| self.failure(&e))?;
                }
                Ok(())
            }
            Opened::File(facts, choice) => {
                let limit = self.limits()?.memory;
                let mut blocks = Blocks::new(*choice, facts, until, limit, visit);
                self.stream(&mut blocks).map(|_| ())
            }
        }
    }

    /// The requests of the blocks below `until` of what was opened.
    pub(super) fn requests(
        &self,
        opened: &Opened,
        how: Coalescing,
        until: usize,
    ) -> Result<Requests, Failure> {
        self.requests_of_part(opened, how, until, Part { number: 0, of: 1 })
    }

    /// The requests of those blocks below `until` that a part has, numbered anew.
    pub(super) fn requests_of_part(
        &self,
        opened: &Opened,
        how: Coalescing,
        until: usize,
        part: Part,
    ) -> Result<Requests, Failure> {
        let (facts, limit) = (opened.facts(), self.limits()?.memory);
        let mut builder = RequestsBuilder::new(how, facts.block_threads());
        self.each_block(opened, until, &mut |block| {
            let Some(number) = part.own(block.number) else { return Ok(()) };
            let mut steps = WarpSteps::ordered(block.tables, how.grouping, facts.order());
            builder.block(number, block.trace, block.place, &mut steps);
            within(builder.bytes(), limit)
        })?;
        Ok(builder.finish())
    }

    /// The launch that was asked for, held in memory; at most `most` blocks of a kernel document.
    pub(super) fn one(
        &self,
        most: Option<u64>,
        keep: Option<fn(TraceKind) -> bool>,
    ) -> Result<Trace, Failure> {
        if self.is_kernel() {
            return self.renumbered(self.synth(most)?);
        }
        let mut holder = Holder::new(self.choice(keep), self.limits()?.memory);
        self.stream(&mut holder)?;
        match holder.trace {
            Some(trace) => self.renumbered(trace),
            None => Err(self.no_launch(holder.launches)),
        }
    }

    fn no_launch(&self, count: usize) -> Failure {
        let message = format!("there is no launch {} among {count} in {}", self.launch, self.path);
        Failure::message("no-launch", message, Some("`wavecast trace info` lists them"))
    }

    fn renumbered(&self, trace: Trace) -> Result<Trace, Failure> {
        let Some(grid) = self.choice(None).x_slowest else { return Ok(trace) };
        trace.from_x_slowest(grid).ok_or_else(|| wrong_grid(grid, trace.blocks() as u64))
    }

    /// The trace of a kernel document or of PTX, if it fits into memory.
    fn synth(&self, most: Option<u64>) -> Result<Trace, Failure> {
        let mut found = None;
        let is_entry = self.with_entry(&mut |synth| {
            let all = synth.grid().volume();
            let wanted = self.blocks.or(most).unwrap_or(all).min(all);
            let mut trace = synth.trace(0..wanted)?;
            if wanted == all {
                trace.grid = synth.grid();
            }
            found = Some(trace);
            Ok(())
        })?;
        if is_entry {
            return found.ok_or_else(|| self.no_launch(0));
        }
        self.with_synth(&mut |synth| {
            let wanted = self.blocks.or(most).unwrap_or(u64::MAX);
            let trace = if wanted >= synth.blocks() {
                synth.whole()
            } else {
                synth.check(wanted).and_then(|()| synth.trace(0..wanted))
            };
            found = Some(trace?);
            Ok(())
        })?;
        found.ok_or_else(|| self.no_launch(0))
    }

    /// Runs something on the launch of a kernel document.
    pub(super) fn with_synth(
        &self,
        run: &mut dyn FnMut(&Synth<'_>) -> Result<(), NoTrace>,
    ) -> Result<(), Failure> {
        let loaded = self.kernels()?;
        let Some(kernel) = self.chosen_kernel(&loaded.kernels) else {
            let message = format!("there is no kernel {} in {}", self.launch, self.path);
            return Err(Failure::message("no-launch", message, None));
        };
        let failed = |why: &dyn std::fmt::Display| {
            let help =
                "take some of its blocks with --blocks N, or raise a limit with --limit trace-memory=BYTES";
            Failure::message("no-trace", format!("{}: {why}", kernel.name), Some(help))
        };
        let launch = Launch::new(kernel, one_launch(self.block, self.fold).chosen(kernel).candidate)
            .map_err(|e| failed(&e))?;
        let synth = Synth::new(kernel, &launch).map_err(|e| failed(&e))?.with_limits(self.limits()?);
        run(&synth).map_err(|e| failed(&e))
    }

    /// Runs something on the launch of an entry of PTX, if it names one. What rests on data that was not given is told.
    pub(super) fn with_entry(
        &self,
        run: &mut dyn FnMut(&mut EntrySynth<'_>) -> Result<(), NoTrace>,
    ) -> Result<bool, Failure> {
        let Some(source) = self.entry_source()? else { return Ok(false) };
        let (machine, name) = source.machine()?;
        let failed = |why: NoTrace| {
            let help =
                "take some of its blocks with --blocks N, or raise a limit with --limit trace-memory=BYTES";
            let help = Some(help).filter(|_| matches!(why, NoTrace::Memory { .. }));
            Failure::message("no-trace", format!("{name}: {why}"), help)
        };
        let mut synth = EntrySynth::new(&machine, &name, self.limits()?).map_err(failed)?;
        run(&mut synth).map_err(failed)?;
        if let Some((count, line)) = synth.guessed() {
            say(&format!(
                "{count} accesses and decisions rest on data that was not given, the first in line {line}; give it with --data"
            ));
        }
        Ok(true)
    }

    /// Threads of a block of a kernel document, for limits in threads.
    pub(super) fn blocks_of(&self, threads: u64) -> Option<u64> {
        if !self.is_kernel() {
            return None;
        }
        if let Some(source) = self.entry_source().ok()? {
            let block = source.block.map_or(1, |block| block.volume());
            return Some((threads / u64::try_from(block).ok()?.max(1)).max(1));
        }
        let loaded = self.kernels().ok()?;
        let kernel = self.chosen_kernel(&loaded.kernels)?;
        let size = one_launch(self.block, self.fold).chosen(kernel).candidate.block().iter().product::<i64>();
        Some((threads / u64::try_from(size).ok()?.max(1)).max(1))
    }
}

fn is_own(name: &str) -> bool {
    TraceLimits::NAMES.contains(&name.trim())
}

fn wrong_grid(grid: Dim3, blocks: u64) -> Failure {
    let message = format!("a grid of {grid} does not have the {blocks} blocks of the trace");
    Failure::message("usage", message, Some("give the grid of the launch to --x-slowest"))
}

/// An error if what is held of requests is too much.
pub(super) fn within(bytes: u64, limit: u64) -> Result<(), ReadError> {
    if bytes <= limit { Ok(()) } else { Err(ReadError::Memory { what: "the requests of its warps", limit }) }
}
