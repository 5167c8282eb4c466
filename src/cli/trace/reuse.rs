//! `wavecast trace reuse`.

use std::path::PathBuf;

use clap::Args;

use super::super::Outcome;
use super::super::answers::answer;
use super::super::failure::Failure;
use super::super::files;
use super::super::output::OutputArguments;
use super::input::TraceArguments;
use super::settings::ModelArguments;
use crate::measure::import::{FileSource, Lookups, lookups};
use crate::report::trace::{MeasuredMisses, ReuseDocument, RunDocument, TraceHead};
use crate::trace::reuse::{MissTypes, ReuseConfig, RunKind, RunResult, rule_effects, simulate};

#[derive(Debug, Args)]
#[group(skip)]
// Names of counters are for a terminal, not for Markdown.
#[expect(clippy::doc_markdown, reason = "help texts are no Markdown")]
pub(super) struct Arguments {
    #[command(flatten)]
    trace: TraceArguments,
    #[command(flatten)]
    model: ModelArguments,
    /// Run with each extension off in turn (N section 6.1); by default the four runs of N's program
    #[arg(long)]
    ablate: bool,
    /// Say what each rule of the published program alone would change
    #[arg(long)]
    by_rule: bool,
    /// What a profiler counted: its file (Nsight Compute --csv or nvprof --csv) or the two numbers, with the
    /// counters l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum and _miss.sum, or nvprof's
    /// l1_global_load_hit and _miss
    #[arg(long, value_name = "FILE|HITS,MISSES", value_parser = parse_measured)]
    measured: Option<Measured>,
    /// Part of the kernel's name in that file; by default the name in the trace
    #[arg(long, value_name = "PART", requires = "measured")]
    measured_kernel: Option<String>,
    #[command(flatten)]
    output: OutputArguments,
}

#[derive(Debug, Clone)]
enum Measured {
    Counts(MeasuredMisses),
    File(PathBuf),
}

fn parse_measured(text: &str) -> Result<Measured, String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[hits, misses]) => MeasuredMisses::new(hits, misses)
            .map(Measured::Counts)
            .ok_or("two counts, as in 1200,340".to_owned()),
        Some(_) => Err("a file, or two counts as in 1200,340".to_owned()),
        None => Ok(Measured::File(text.into())),
    }
}

impl Arguments {
    /// What was counted of the kernel of a trace.
    fn counted(&self, kernel: Option<&str>) -> Result<Option<MeasuredMisses>, Failure> {
        let path = match &self.measured {
            None => return Ok(None),
            Some(Measured::Counts(counts)) => return Ok(Some(*counts)),
            Some(Measured::File(path)) => path,
        };
        files::reads(path)?;
        let all = lookups(&FileSource::new(path)).map_err(|fault| Failure::faults(vec![fault], false))?;
        let part = self.measured_kernel.as_deref().or(kernel);
        let named: Vec<&Lookups> =
            all.iter().filter(|l| part.is_some_and(|p| l.kernel.contains(p))).collect();
        // A profile of one kernel needs no name.
        let chosen = match (named.as_slice(), all.as_slice()) {
            ([one], _) => Some(*one),
            ([], [one]) if self.measured_kernel.is_none() => Some(one),
            _ => None,
        };
        let counts = chosen.and_then(|c| MeasuredMisses::new(c.hits, c.misses));
        if counts.is_none() {
            let names: Vec<&str> = all.iter().map(|l| l.kernel.as_str()).collect();
            let message = format!("{}: it is not clear which kernel is meant", path.display());
            let help = format!("name one with --measured-kernel: {}", names.join(", "));
            return Err(Failure::message("unknown-kernel", message, Some(&help)));
        }
        Ok(counts)
    }
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    answer(&arguments.output, &["svg"], || document(arguments))
}

fn document(arguments: &Arguments) -> Result<ReuseDocument, Failure> {
    let settings = arguments.model.config()?;
    let config = arguments.model.of_part(settings.clone());
    let opened = arguments.model.open(&arguments.trace)?;
    let requests = arguments.model.requests(&arguments.trace, &opened, config.rules)?;
    let facts = opened.facts();
    let threads = facts.block_threads();
    let four = simulate(&requests, threads, &config, RunKind::FOUR);
    let [full, associative, _, unlimited] = &four;
    let misses = MissTypes::new(full, associative, unlimited);
    let mut runs: Vec<(RunKind, RunResult)> = RunKind::FOUR.into_iter().zip(four).collect();
    if arguments.ablate {
        let further = simulate(&requests, threads, &config, RunKind::FURTHER);
        runs.extend(RunKind::FURTHER.into_iter().zip(further));
    }
    let rules = if arguments.by_rule { rule_effects(&requests, threads, &config) } else { Vec::new() };
    let measured = arguments.counted(facts.launch.kernel.as_deref())?;
    // Types of misses with an extension off: what further runs of that model without something do not miss.
    let types = |kind: RunKind| {
        let config = ReuseConfig { extensions: kind.without(config.extensions), ..config.clone() };
        MissTypes::simulated(&requests, threads, &config).0
    };
    let run = |(kind, result)| {
        let types = arguments.ablate.then(|| types(kind));
        RunDocument { types, ..RunDocument::new(kind, result, measured) }
    };
    Ok(ReuseDocument {
        schema: "wavecast/reuse/1",
        head: TraceHead::new(&arguments.trace.path, facts.launch.clone()),
        settings: arguments.model.settings(&settings, facts),
        requests: requests.requests.len() as u64,
        lines: requests.lines.len() as u64,
        misses,
        runs: runs.into_iter().map(run).collect(),
        rules,
        measured,
    })
}
