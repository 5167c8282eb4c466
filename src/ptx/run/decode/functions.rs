//! The functions of an entry, one after the other, in one list of steps.

use super::super::code::{Code, Kind, Origin};
use super::super::layout::Layout;
use super::super::refusal::NotRun;
use super::builder::Builder;
use super::{arithmetic, control, memory};
use crate::ptx::syntax::{Function, Instruction, Module};

/// The steps of an entry, launched like this.
pub(in crate::ptx::run) fn code(
    module: &Module,
    entry: &Function,
    layout: &Layout,
    sizes: ([u32; 3], [u32; 3], u64),
) -> Result<Code, NotRun> {
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
fn reachable<'m>(module: &'m Module, entry: &'m Function) -> Result<Vec<&'m Function>, NotRun> {
    let called = |function: &'m Function| {
        let calls = function.instructions.iter().filter(|i| i.name == "call");
        calls.filter_map(|i| control::callee(i).and_then(|name| module.function(name)))
    };
    let (mut found, mut todo) = (vec![entry], vec![entry]);
    while let Some(function) = todo.pop() {
        for other in called(function) {
            if !found.iter().any(|f| std::ptr::eq(*f, other)) {
                found.push(other);
                todo.push(other);
            }
        }
    }
    // Functions that call none that is left are taken away, until none is left.
    let mut left = found.clone();
    while !left.is_empty() {
        let before = left.len();
        let still = left.clone();
        left.retain(|f| called(f).any(|c| still.iter().any(|s| std::ptr::eq(*s, c))));
        if left.len() == before {
            return Err(NotRun::Recursion(left[0].name.clone()));
        }
    }
    Ok(found)
}

/// The steps of a function.
fn one(builder: &mut Builder<'_>, number: u32, function: &Function) -> Result<(), NotRun> {
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
            let number = u32::try_from(builder.code.refused.len()).unwrap_or(u32::MAX);
            builder.code.refused.push(why);
            builder.push(Kind::Refused { number });
        }
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

fn decode(builder: &mut Builder<'_>, instruction: &Instruction) -> Result<(), String> {
    let known = memory::memory(builder, instruction)?
        || control::control(builder, instruction)?
        || arithmetic::arithmetic(builder, instruction)?;
    if known { Ok(()) } else { Err(format!("`{}` is not known", instruction.full_name())) }
}
