//! Reasons in words.

use crate::ptx::read::{Cause, Reader};
use crate::ptx::value::WhyId;

/// Links of a chain of reasons that are told.
const LINKS: usize = 6;

/// Why something is not known, from the place where it is needed back to where it arose.
pub(in crate::ptx) fn because(reader: &Reader<'_>, why: WhyId) -> String {
    let mut links = Vec::new();
    let mut at = Some(why);
    while let Some(id) = at.filter(|_| links.len() < LINKS) {
        let why = &reader.whys[id.0 as usize];
        let line = reader.function.instructions.get(why.instruction).map_or(0, |i| i.line);
        let name = reader
            .function
            .instructions
            .get(why.instruction)
            .map_or(String::new(), crate::ptx::syntax::PtxInstruction::full_name);
        let text = match &why.cause {
            Cause::Memory => format!("`{name}` in line {line} reads it from memory"),
            Cause::Float => format!("`{name}` in line {line} has to do with fractions"),
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
            Cause::NotRead(what) => format!("`{name}` in line {line}: {what}"),
        };
        if links.last() != Some(&text) {
            links.push(text);
        }
        at = why.from;
    }
    links.join(", since ")
}
