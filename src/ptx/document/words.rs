//! Reasons in words.

use crate::ptx::read::{Cause, Reader, Why};
use crate::ptx::value::WhyId;

/// Links of a chain of reasons that are looked at, and lines of it that are named one by one.
const LINKS: usize = 64;
const LINES: usize = 6;

/// Why something is not known: where that arose, and what was made of it until it was needed.
pub(in crate::ptx) fn because(reader: &Reader<'_>, why: WhyId) -> String {
    let chain = chain(reader, why);
    // What somebody can say stands first.
    let sayable =
        |why: &Why| matches!(why.cause, Cause::Trips | Cause::Exit | Cause::LocalPlace | Cause::TablePlace);
    let said = chain.iter().take_while(|why| sayable(why)).count();
    let (needed, behind) = chain.split_at(said);
    let mut parts: Vec<String> = needed.iter().map(|why| words(reader, why)).collect();
    parts.dedup();
    let behind = from_the_root(reader, behind);
    if !behind.is_empty() {
        parts.push(behind);
    }
    parts.join(", since ")
}

/// The reasons from the place where something is needed back to where they arose.
fn chain<'r>(reader: &'r Reader<'_>, why: WhyId) -> Vec<&'r Why> {
    let mut chain = Vec::new();
    let mut at = Some(why);
    while let Some(id) = at.filter(|_| chain.len() < LINKS) {
        let why = &reader.whys[id.0 as usize];
        chain.push(why);
        at = why.from;
    }
    chain
}

/// Reasons in the order in which they come about.
fn from_the_root(reader: &Reader<'_>, chain: &[&Why]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = chain.iter().rev().peekable();
    while let Some(why) = rest.next() {
        if why.cause != Cause::Through || parts.is_empty() {
            let text = words(reader, why);
            if parts.last() != Some(&text) {
                parts.push(text);
            }
            continue;
        }
        let mut lines = vec![line(reader, why)];
        while let Some(next) = rest.next_if(|next| next.cause == Cause::Through) {
            lines.push(line(reader, next));
        }
        lines.dedup();
        parts.push(computing(&lines));
    }
    parts.join(", and ")
}

/// That these lines compute with something.
fn computing(lines: &[u32]) -> String {
    match lines {
        [one] => format!("line {one} computes with it"),
        [first, .., last] if lines.len() > LINES => {
            format!("{} lines from {first} to {last} compute with it", lines.len())
        }
        [some @ .., last] => {
            let some: Vec<String> = some.iter().map(u32::to_string).collect();
            format!("lines {} and {last} compute with it", some.join(", "))
        }
        [] => String::new(),
    }
}

fn line(reader: &Reader<'_>, why: &Why) -> u32 {
    reader.function.instructions.get(why.instruction).map_or(0, |i| i.line)
}

/// A reason by itself.
fn words(reader: &Reader<'_>, why: &Why) -> String {
    let line = line(reader, why);
    let name = reader.function.instructions.get(why.instruction);
    let name = name.map_or(String::new(), crate::ptx::syntax::PtxInstruction::full_name);
    match &why.cause {
        Cause::Memory => format!("`{name}` in line {line} reads it from memory"),
        Cause::Float if name.starts_with("setp") => {
            format!("`{name}` in line {line} compares floating-point numbers")
        }
        Cause::Float => format!("`{name}` in line {line} has to do with floating-point numbers"),
        Cause::Lanes => format!("`{name}` in line {line} asks other threads"),
        Cause::Argument(number) => {
            let param = &reader.function.params[*number];
            format!("the parameter {number}, `{}`, has no value: give `--arg {number}=VALUE`", param.name)
        }
        Cause::Instruction => {
            format!("`{name}` in line {line} is no instruction that is read as a formula")
        }
        Cause::Through => format!("`{name}` in line {line} computes with it"),
        Cause::Formula => format!("`{name}` in line {line} makes no sum of coordinates of it"),
        Cause::Iterations => format!("it changes in no regular way in the loop of line {line}"),
        Cause::Choice => format!("data choose between several values before line {line}"),
        Cause::Unset => "nothing was put into the register".to_owned(),
        Cause::Trips => {
            format!(
                "how often the loop runs that ends in line {line} is not known; `--trips {line}=N` says it"
            )
        }
        Cause::Exit => format!("where the loop of line {line} is left is not known"),
        Cause::Call(name) => format!("line {line} calls `{name}`, which is not read"),
        Cause::Recursion(name) => format!("line {line} calls `{name}`, which calls itself"),
        Cause::CallByAddress => format!("line {line} calls a function by its address"),
        Cause::NoArray => format!("the address in line {line} does not start at an array"),
        Cause::Arrays => format!("the address in line {line} is made of more than one pointer"),
        Cause::LocalPlace => {
            format!(
                "which part of a thread's own memory line {line} touches is not known, and its beginning is counted"
            )
        }
        Cause::TablePlace => {
            format!("which part of a table line {line} touches is not known, and its beginning is counted")
        }
        Cause::NotRead(what) => format!("`{name}` in line {line}: {what}"),
    }
}
