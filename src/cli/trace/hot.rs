//! `wavecast trace hot`.

use std::collections::HashMap;
use std::process::ExitCode;

use clap::Args;

use super::super::Outcome;
use super::super::output::{Failure, OutputArguments};
use super::cache::{CacheArguments, coalescing};
use super::input::TraceArguments;
use wavecast::report::trace::{HotDocument, HotInstruction, HotLine, TraceHead, hot_instructions, hot_text};
use wavecast::trace::Trace;
use wavecast::trace::cache::{CacheShape, Filter, SimulationConfig, simulate};
use wavecast::trace::coalesce::Requests;
use wavecast::trace::schedule::Assignment;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    trace: TraceArguments,
    #[command(flatten)]
    cache: CacheArguments,
    /// Cores that share the blocks
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    cores: u32,
    /// Blocks that run at a time; others enter as these end
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    max_groups: u32,
    /// How many instructions and lines are shown
    #[arg(long, default_value_t = 10)]
    top: usize,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let json = arguments.output.is_json();
    let found = document(arguments).map_err(|f| f.for_json(json))?;
    let table = || hot_instructions(&found);
    super::write(&arguments.output, &found, table, |width| hot_text(&found, width))?;
    Ok(ExitCode::SUCCESS)
}

fn document(arguments: &Arguments) -> Result<HotDocument, Failure> {
    let shape = arguments.cache.shape()?;
    let trace = arguments.trace.one(None, None)?;
    let all = Requests::of(&trace, coalescing(&trace, shape.line, 32), 0..trace.blocks());
    let filter = Filter {
        cores: arguments.cores,
        core: 0,
        assignment: Assignment::RoundRobin,
        max_groups: Some(arguments.max_groups),
    };
    let mut by_instruction: HashMap<u32, (u64, u64)> = HashMap::new();
    let mut by_line: HashMap<u32, u64> = HashMap::new();
    let mut sets = vec![0; shape.sets.sets()];
    let config = SimulationConfig { cache: shape.clone(), filter };
    let statistics = simulate(&all, &config, &mut |access, request, missed| {
        let known = trace.accesses().get(access as usize);
        let counts = by_instruction.entry(known.map_or(u32::MAX, |a| a.instruction)).or_default();
        counts.0 += 1;
        if missed {
            counts.1 += 1;
            *by_line.entry(request.line).or_default() += 1;
            let line = all.lines.get(request.line as usize).copied().unwrap_or(0);
            if let Some(set) = sets.get_mut(shape.sets.of(line) as usize) {
                *set += 1;
            }
        }
    });
    Ok(HotDocument {
        schema: "wavecast/hot/1",
        head: TraceHead::new(&arguments.trace.path, &trace),
        misses: statistics.read_misses,
        instructions: instructions(&trace, by_instruction, arguments.top),
        lines: lines(&all, &shape, by_line, arguments.top),
        sets,
    })
}

fn instructions(trace: &Trace, counts: HashMap<u32, (u64, u64)>, top: usize) -> Vec<HotInstruction> {
    let mut all: Vec<(u32, (u64, u64))> = counts.into_iter().collect();
    all.sort_by_key(|(i, (_, misses))| (std::cmp::Reverse(*misses), *i));
    let one = |(i, (requests, misses)): (u32, (u64, u64))| {
        let known = trace.tables.instructions().get(i as usize).cloned().unwrap_or_default();
        let (instruction, line, column) = (known.name, known.line, known.column);
        HotInstruction { instruction, line, column, requests, misses }
    };
    all.into_iter().take(top).map(one).collect()
}

fn lines(all: &Requests, shape: &CacheShape, counts: HashMap<u32, u64>, top: usize) -> Vec<HotLine> {
    let mut sorted: Vec<(u32, u64)> = counts.into_iter().collect();
    sorted.sort_by_key(|(line, misses)| (std::cmp::Reverse(*misses), *line));
    let one = |(line, misses): (u32, u64)| {
        let number = all.lines.get(line as usize).copied().unwrap_or(0);
        HotLine { address: number.wrapping_mul(shape.line), set: shape.sets.of(number), misses }
    };
    sorted.into_iter().take(top).map(one).collect()
}
