//! The functions of an entry, one after the other, in one list of steps.

use rustc_hash::FxHashMap;

use super::super::code::{Code, Kind, Origin};
use super::super::layout::Layout;
use super::super::refusal::EntryNotRun;
use super::builder::{Builder, small};
use super::{arithmetic, control, memory};
use crate::ptx::syntax::{Function, Module, PtxInstruction};

/// The steps of an entry, launched like this.
pub(in crate::ptx::run) fn code(
    module: &Module,
    entry: &Function,
    layout: &Layout,
    sizes: ([u32; 3], [u32; 3], u64),
) -> Result<Code, EntryNotRun> {
    let functions = reachable(module, entry)?;
    let mut builder = Builder::new(layout, sizes);
    for (number, function) in (0..).zip(&functions) {
        builder.declare(number, function)?;
    }
    let mut starts = Vec::new();
    for (number, function) in (0..).zip(&functions) {
        starts.push(builder.next());
        one(&mut builder, number, function)?;
    }
    for op in &mut builder.code.ops {
        if let Kind::Call { to } = &mut op.kind {
            *to = starts[*to as usize];
        }
    }
    Ok(builder.code)
}

/// The entry and the functions that it calls, each once. A function that calls itself cannot be run: registers are
/// those of a function, not of a call.
fn reachable<'m>(module: &'m Module, entry: &'m Function) -> Result<Vec<&'m Function>, EntryNotRun> {
    let numbers: FxHashMap<&str, &'m Function> =
        module.functions.iter().rev().map(|f| (f.name.as_str(), f)).collect();
    let called = |function: &'m Function| -> Vec<&'m Function> {
        let calls = function.instructions.iter().filter(|i| i.name == "call");
        calls.filter_map(|i| control::callee(i).and_then(|name| numbers.get(name).copied())).collect()
    };
    let mut found = vec![entry];
    // Where each function stands in `found`, and what it calls.
    let mut places: FxHashMap<&str, usize> = FxHashMap::from_iter([(entry.name.as_str(), 0)]);
    let mut calls: Vec<Vec<usize>> = Vec::new();
    while calls.len() < found.len() {
        let others = called(found[calls.len()]);
        let mut numbered = Vec::new();
        for other in others {
            let place = *places.entry(&other.name).or_insert_with(|| {
                found.push(other);
                found.len() - 1
            });
            numbered.push(place);
        }
        calls.push(numbered);
    }
    // Functions that all their callers were taken away of are taken away, the entry first; what is left goes in circles.
    let mut callers = vec![0_usize; found.len()];
    calls.iter().flatten().for_each(|&to| callers[to] += 1);
    let mut free: Vec<usize> = (0..found.len()).filter(|&f| callers[f] == 0).collect();
    while let Some(function) = free.pop() {
        for &to in &calls[function] {
            callers[to] -= 1;
            if callers[to] == 0 {
                free.push(to);
            }
        }
    }
    match callers.iter().position(|&left| left > 0) {
        Some(left) => Err(EntryNotRun::Recursion(found[left].name.clone())),
        None => Ok(found),
    }
}

/// The steps of a function.
fn one(builder: &mut Builder<'_>, number: u32, function: &Function) -> Result<(), EntryNotRun> {
    builder.begin(function)?;
    let mut starts = Vec::with_capacity(function.instructions.len() + 1);
    let first = builder.code.ops.len();
    for (i, instruction) in (0..).zip(&function.instructions) {
        starts.push(builder.next());
        let origin = Origin { function: number, instruction: i, line: instruction.line };
        builder.stand(instruction.guard, origin);
        let before = builder.code.ops.len();
        if let Err(why) = decode(builder, instruction) {
            // Only what runs has to be known.
            builder.code.ops.truncate(before);
            builder.code.origins.truncate(before);
            let number = small(builder.code.refused.len());
            builder.code.refused.push(why);
            builder.push(Kind::Refused { number });
        }
        builder.limited()?;
    }
    // Behind the last instruction a function ends.
    starts.push(builder.next());
    builder.unguarded();
    builder.push(Kind::Return);
    let Code { ops, lists, .. } = &mut builder.code;
    for op in &mut ops[first..] {
        match &mut op.kind {
            Kind::Branch { to } => *to = starts[*to as usize],
            Kind::Table { targets, .. } => {
                for to in &mut lists[targets.start as usize..(targets.start + targets.count) as usize] {
                    *to = starts[*to as usize];
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn decode(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
    let known = memory::memory(builder, instruction)?
        || control::control(builder, instruction)?
        || arithmetic::arithmetic(builder, instruction)?;
    if known { Ok(()) } else { Err(format!("`{}` is not known", instruction.full_name())) }
}
