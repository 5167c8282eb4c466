//! `wavecast trace reuse`.

use std::process::ExitCode;

use clap::Args;

use super::super::Outcome;
use super::super::output::{Failure, OutputArguments};
use super::input::TraceArguments;
use super::settings::ModelArguments;
use wavecast::report::reuse_picture;
use wavecast::report::trace::{
    MeasuredMisses, MissTypes, ReuseDocument, RuleEffect, TraceHead, reuse_table, reuse_text, run_document,
};
use wavecast::trace::coalesce::Requests;
use wavecast::trace::reuse::{Config, Rules, RunKind, simulate};

#[derive(Debug, Args)]
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
    /// What a profiler counted: hits,misses (l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum and
    /// _miss.sum, or nvprof's l1_global_load_hit and _miss)
    #[arg(long, value_name = "HITS,MISSES", value_parser = parse_measured)]
    measured: Option<MeasuredMisses>,
    #[command(flatten)]
    output: OutputArguments,
}

fn parse_measured(text: &str) -> Result<MeasuredMisses, String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[hits, misses]) if hits >= 0.0 && misses >= 0.0 && (hits + misses).is_normal() => {
            Ok(MeasuredMisses { hits, misses, miss_rate_percent: 100.0 * misses / (hits + misses) })
        }
        _ => Err("two counts, as in 1200,340".to_owned()),
    }
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let document = document(arguments).map_err(|f| f.for_json(arguments.output.is_json()))?;
    if arguments.output.is_picture() {
        arguments.output.write_picture(&reuse_picture(&document))?;
    } else {
        let table = || reuse_table(&document);
        super::write(&arguments.output, &document, table, |width| reuse_text(&document, width))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn document(arguments: &Arguments) -> Result<ReuseDocument, Failure> {
    let config = arguments.model.config()?;
    let trace = arguments.model.trace(&arguments.trace)?;
    let requests = arguments.model.requests(&trace, config.rules);
    let threads = trace.block_threads();
    let kinds: &[RunKind] = if arguments.ablate { &RunKind::ALL } else { &RunKind::FOUR };
    let runs = simulate(&requests, threads, &config, kinds);
    let of = |kind: RunKind| kinds.iter().position(|&k| k == kind).and_then(|i| runs.get(i));
    let Some(full) = of(RunKind::Full) else {
        return Err(Failure::message("no-result", "the model was not run".to_owned(), None));
    };
    let misses = MissTypes::of(full, of(RunKind::FullyAssociative), of(RunKind::UnlimitedMshrs));
    let rules = if arguments.by_rule { by_rule(&requests, threads, &config) } else { Vec::new() };
    let run = |(&kind, result)| run_document(kind, result, arguments.measured);
    Ok(ReuseDocument {
        schema: "wavecast/reuse/1",
        head: TraceHead::new(&arguments.trace.path, &trace),
        settings: arguments.model.settings(&config, &trace),
        requests: requests.requests.len() as u64,
        lines: requests.lines.len() as u64,
        misses,
        runs: kinds.iter().zip(&runs).map(run).collect(),
        rules,
        measured: arguments.measured,
    })
}

/// What each rule of the published program alone changes.
fn by_rule(requests: &Requests, threads: usize, config: &Config) -> Vec<RuleEffect> {
    type Change = fn(&mut Rules);
    let code: [(&'static str, &'static str, Change); 7] = [
        ("merge", "a miss to a line in flight needs an entry of its own", |r| r.merge = Rules::CODE.merge),
        ("check", "only lane 0 is refused", |r| r.check = Rules::CODE.check),
        ("clip", "a request to a line in flight takes its whole latency", |r| r.clip = Rules::CODE.clip),
        ("order", "hits take effect before misses", |r| r.order = Rules::CODE.order),
        ("release", "an entry is free with the first return", |r| r.release = Rules::CODE.release),
        ("portions", "wide loads are served in portions", |r| r.portions = Rules::CODE.portions),
        ("batches", "blocks run in static sets", |r| r.batches = Rules::CODE.batches),
    ];
    let run = |config: &Config| simulate(requests, threads, config, &[RunKind::Full]).pop();
    let Some(base) = run(config) else { return Vec::new() };
    let one = |(rule, says, change): (&'static str, &'static str, Change)| {
        let mut changed = config.clone();
        change(&mut changed.rules);
        let result = run(&changed)?;
        let points = result.miss_rate() - base.miss_rate();
        Some(RuleEffect { rule, says, memory_misses: result.memory_misses(), points })
    };
    code.into_iter().filter_map(one).collect()
}
