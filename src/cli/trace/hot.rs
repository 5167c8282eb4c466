//! `wavecast trace hot`.

use std::collections::HashMap;
use std::process::ExitCode;

use clap::Args;

use super::super::Outcome;
use super::super::answers::show_one;
use super::super::failure::Failure;
use super::super::output::OutputArguments;
use super::cache::{CacheArguments, coalescing, windowed};
use super::input::TraceArguments;
use crate::cache::CacheShape;
use crate::report::trace::{HotDocument, HotInstruction, HotLine, TraceHead};
use crate::trace::schedule::{Assignment, assign};
use crate::trace::stream::Facts;

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
    arguments.output.check(&[])?;
    let json = arguments.output.is_json();
    let found = document(arguments).map_err(|f| f.for_json(json))?;
    show_one(&arguments.output, &found)?;
    Ok(ExitCode::SUCCESS)
}

fn document(arguments: &Arguments) -> Result<HotDocument, Failure> {
    let shape = arguments.cache.shape()?;
    let opened = arguments.trace.open(None, None)?;
    let facts = opened.facts();
    let how = coalescing(facts.has_instructions, shape.line, 32);
    let mut by_instruction: HashMap<u32, (u64, u64)> = HashMap::new();
    let mut by_line: HashMap<u64, u64> = HashMap::new();
    let mut sets = vec![0; shape.sets.sets()];
    let mine = assign(facts.blocks(), arguments.cores as usize, 0, Assignment::RoundRobin);
    let groups = Some(arguments.max_groups);
    let statistics =
        windowed(&arguments.trace, &opened, how, &shape, groups, &mine, &mut |i, line, missed| {
            let counts = by_instruction.entry(i).or_default();
            counts.0 += 1;
            if missed {
                counts.1 += 1;
                *by_line.entry(line).or_default() += 1;
                if let Some(set) = sets.get_mut(shape.sets.set(line) as usize) {
                    *set += 1;
                }
            }
        })?;
    Ok(HotDocument {
        schema: "wavecast/hot/1",
        head: TraceHead::new(&arguments.trace.path, facts),
        index: shape.sets.word(),
        misses: statistics.read_misses,
        instructions: instructions(facts, by_instruction, arguments.top),
        lines: lines(&shape, by_line, arguments.top),
        sets,
    })
}

fn instructions(facts: &Facts, counts: HashMap<u32, (u64, u64)>, top: usize) -> Vec<HotInstruction> {
    let mut all: Vec<(u32, (u64, u64))> = counts.into_iter().collect();
    all.sort_by_key(|(i, (_, misses))| (std::cmp::Reverse(*misses), *i));
    let one = |(i, (requests, misses)): (u32, (u64, u64))| {
        let known = facts.instructions.get(i as usize).cloned().unwrap_or_default();
        let (instruction, line, column) = (known.name, known.line, known.column);
        HotInstruction { instruction, line, column, requests, misses }
    };
    all.into_iter().take(top).map(one).collect()
}

fn lines(shape: &CacheShape, counts: HashMap<u64, u64>, top: usize) -> Vec<HotLine> {
    let mut sorted: Vec<(u64, u64)> = counts.into_iter().collect();
    sorted.sort_by_key(|(line, misses)| (std::cmp::Reverse(*misses), *line));
    let one = |(line, misses): (u64, u64)| HotLine {
        address: line.wrapping_mul(shape.line),
        set: shape.sets.set(line),
        misses,
    };
    sorted.into_iter().take(top).map(one).collect()
}
