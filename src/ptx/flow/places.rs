//! Whether a kernel asks for threads and blocks only to number the threads of the grid.

use super::live::{each_written, reads, writes};
use crate::ptx::syntax::{Base, Function, Operand, PtxInstruction, RegisterId, Special, Type};

/// What a kernel makes of a dimension of its launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::ptx) enum Place {
    /// Nothing.
    #[default]
    Unused,
    /// `blockIdx * blockDim + threadIdx`, and nothing else: what a thread does depends on its number in the grid alone,
    /// and not on how the grid is cut into blocks.
    Numbered,
    /// `blockIdx` alone, whatever the block is.
    Block,
}

/// A value on the way to the number of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Thread(usize),
    Size(usize),
    Block(usize),
    /// `blockIdx * blockDim`.
    First(usize),
}

/// What the kernel makes of each dimension; none where it asks for threads or blocks in other ways too, or where that is
/// not seen. Registers that stand for part of a thread's number are set once, and go nowhere else.
pub(in crate::ptx) fn places(function: &Function) -> Option<[Place; 3]> {
    let all = &function.instructions;
    if all.iter().any(|i| i.name == "call" || i.operands.iter().any(hidden)) {
        return None;
    }
    let parts = parts(function);
    // Dimensions of which threads are numbered, those whose blocks are asked for alone, and those whose sizes are.
    let (mut numbered, mut blocks, mut sizes) = ([false; 3], [false; 3], [false; 3]);
    for instruction in all.iter().filter(|i| i.operands.iter().any(|o| concerns(o, &parts))) {
        let written = writes(instruction);
        let known = known(instruction, &written, &parts);
        let read = reads(instruction).iter().filter(|id| parts[id.0 as usize].is_some()).count();
        let seen = known.iter().flatten().count();
        if seen == 0 && read == 0 {
            continue;
        }
        let registers = instruction.operands.iter().skip(usize::from(!written.is_empty()));
        let registers =
            registers.filter(|o| matches!(o, Operand::Register(id) if parts[id.0 as usize].is_some()));
        // Guards, addresses and vectors are not looked into.
        if registers.count() != read {
            return None;
        }
        for part in known.iter().flatten() {
            if let Part::Thread(d) | Part::Size(d) = part {
                sizes[*d] = true;
            }
        }
        let kept = written.first().is_some_and(|to| parts[to.0 as usize].is_some());
        match step(instruction, &known).filter(|_| instruction.guard.is_none()) {
            Some(Step::Part(_)) if kept => {}
            Some(Step::Number(d)) => numbered[d] = true,
            _ => blocks[blocks_alone(&known)?] = true,
        }
    }
    let mut found = [Place::Unused; 3];
    for d in 0..3 {
        found[d] = match (numbered[d], blocks[d]) {
            (true, true) => return None,
            (false, true) if sizes[d] => return None,
            (true, false) => Place::Numbered,
            (false, true) => Place::Block,
            (false, false) => Place::Unused,
        };
    }
    Some(found)
}

/// What registers stand for that are set once.
fn parts(function: &Function) -> Vec<Option<Part>> {
    let mut definitions = vec![0_u32; function.registers.len()];
    for instruction in &function.instructions {
        each_written(instruction, &mut |id| definitions[id.0 as usize] += 1);
    }
    let mut parts = vec![None; definitions.len()];
    loop {
        let before = parts.clone();
        let may = |i: &&PtxInstruction| {
            i.guard.is_none() && matches!(i.name.as_str(), "mov" | "cvt" | "mul" | "add")
        };
        for instruction in function.instructions.iter().filter(may) {
            let written = writes(instruction);
            if let [to] = written[..]
                && definitions[to.0 as usize] == 1
                && let Some(Step::Part(part)) = step(instruction, &known(instruction, &written, &parts))
            {
                parts[to.0 as usize] = Some(part);
            }
        }
        if parts == before {
            return parts;
        }
    }
}

/// What the operands stand for; the result for nothing.
fn known(instruction: &PtxInstruction, written: &[RegisterId], parts: &[Option<Part>]) -> Vec<Option<Part>> {
    let mut known: Vec<Option<Part>> = instruction.operands.iter().map(|o| part(o, parts)).collect();
    if !written.is_empty() {
        known[0] = None;
    }
    known
}

/// Whether something in an operand is part of a thread's number.
fn concerns(operand: &Operand, parts: &[Option<Part>]) -> bool {
    let register = |id: &RegisterId| parts[id.0 as usize].is_some();
    match operand {
        Operand::Register(id) | Operand::Component(id, _) | Operand::Address(Base::Register(id), _) => {
            register(id)
        }
        Operand::Special(_) => true,
        Operand::Vector(all) | Operand::List(all) | Operand::Brackets(all) => {
            all.iter().any(|o| concerns(o, parts))
        }
        Operand::Pair(a, b) => concerns(a, parts) || concerns(b, parts),
        Operand::Not(inner) => concerns(inner, parts),
        _ => false,
    }
}

fn part(operand: &Operand, parts: &[Option<Part>]) -> Option<Part> {
    match operand {
        Operand::Register(id) => parts[id.0 as usize],
        Operand::Special(Special::Tid(d)) => Some(Part::Thread(d.index())),
        Operand::Special(Special::Ntid(d)) => Some(Part::Size(d.index())),
        Operand::Special(Special::Ctaid(d)) => Some(Part::Block(d.index())),
        _ => None,
    }
}

/// Operands that depend on the launch in other ways, or that are not looked into.
fn hidden(operand: &Operand) -> bool {
    match operand {
        Operand::Special(Special::Nctaid(_) | Special::LaneId | Special::WarpId)
        | Operand::Machine(_)
        | Operand::Other(_) => true,
        Operand::Vector(all) | Operand::List(all) | Operand::Brackets(all) => {
            all.iter().any(|o| hidden(o) || matches!(o, Operand::Special(_)))
        }
        Operand::Pair(a, b) => hidden(a) || hidden(b),
        Operand::Not(inner) => hidden(inner),
        _ => false,
    }
}

enum Step {
    Part(Part),
    /// The number of a thread of the grid along a dimension.
    Number(usize),
}

/// What an instruction makes of parts.
fn step(instruction: &PtxInstruction, known: &[Option<Part>]) -> Option<Step> {
    let integer = |t: Type| matches!(t.kind, 'u' | 's' | 'b') && t.bits >= 32;
    if !instruction.modifiers.iter().filter_map(|m| Type::named(m)).all(integer) {
        return None;
    }
    let product = |a: Option<Part>, b: Option<Part>| match (a?, b?) {
        (Part::Block(d), Part::Size(e)) | (Part::Size(d), Part::Block(e)) if d == e => Some(d),
        _ => None,
    };
    let plain = !instruction.has("hi") && !instruction.has("sat");
    match (instruction.name.as_str(), known) {
        ("mov" | "cvt", [None, Some(part)]) => Some(Step::Part(*part)),
        ("mul", [None, a, b]) if plain => Some(Step::Part(Part::First(product(*a, *b)?))),
        ("mad", [None, a, b, Some(Part::Thread(d))]) if plain => {
            product(*a, *b).filter(|e| e == d).map(Step::Number)
        }
        (
            "add",
            [None, Some(Part::First(d)), Some(Part::Thread(e))]
            | [None, Some(Part::Thread(d)), Some(Part::First(e))],
        ) if plain && d == e => Some(Step::Number(*d)),
        _ => None,
    }
}

/// The dimension whose block is all that these are about.
fn blocks_alone(known: &[Option<Part>]) -> Option<usize> {
    let mut dimensions = known.iter().flatten().map(|part| match part {
        Part::Block(d) => Some(*d),
        _ => None,
    });
    let first = dimensions.next()??;
    dimensions.all(|d| d == Some(first)).then_some(first)
}
