//! Branches, calls, barriers, and what the lanes of a warp do together.

use super::super::code::{Gather, Kind, NOWHERE, Reach, Shuffle, Slot, Together, Vote, Where};
use super::super::integer;
use super::builder::{Builder, Callee};
use super::operand::operand;
use crate::ptx::syntax::{Operand, PtxInstruction, StateSpace};

/// The function that a call names; none if it is called by its address. Results and arguments are lists beside it, and
/// behind them may stand the label of a prototype.
pub(super) fn callee(instruction: &PtxInstruction) -> Option<&str> {
    match instruction.operands.iter().find(|operand| !matches!(operand, Operand::List(_)))? {
        Operand::Symbol(name, 0) => Some(name),
        _ => None,
    }
}

/// Decodes an instruction of control; false if it is none.
pub(super) fn control(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<bool, String> {
    let unknown = || format!("`{}` is not known", instruction.full_name());
    match instruction.name.as_str() {
        "bra" => {
            let Operand::Label(to) = operand(instruction, 0)? else { return Err(unknown()) };
            let to = u32::try_from(*to).map_err(|e| e.to_string())?;
            builder.push(Kind::Branch { to });
        }
        "brx" => {
            let index = builder.value(operand(instruction, 0)?, None)?;
            let Operand::List(targets) = operand(instruction, 1)? else { return Err(unknown()) };
            let number = |target: &Operand| match target {
                Operand::Label(to) => u32::try_from(*to).map_err(|e| e.to_string()),
                _ => Err(unknown()),
            };
            let targets: Result<Vec<u32>, String> = targets.iter().map(number).collect();
            let targets = builder.list(&targets?);
            builder.push(Kind::Table { targets, index });
        }
        "call" => call(builder, instruction)?,
        "ret" => builder.push(Kind::Return),
        "exit" => builder.push(Kind::Exit),
        "trap" => builder.push(Kind::Trap),
        "bar" if instruction.has("warp") => {
            warp(builder, Together::Wait, NOWHERE, instruction.operands.first())?;
        }
        "bar" | "barrier" if !instruction.has("cluster") => barrier(builder, instruction)?,
        "shfl" => shuffle(builder, instruction)?,
        "vote" => vote(builder, instruction)?,
        "match" => matching(builder, instruction)?,
        "redux" => reduce(builder, instruction)?,
        "activemask" => {
            let to = builder.result(operand(instruction, 0)?)?;
            warp(builder, Together::Active, to, None)?;
        }
        "elect" => {
            let [to, found] = pair(builder, operand(instruction, 0)?)?;
            warp(builder, Together::Elect { found }, to, instruction.operands.get(1))?;
        }
        "membar" | "fence" | "nanosleep" | "brkpt" | "pmevent" | "griddepcontrol" | "setmaxnreg" => {
            builder.push(Kind::Nothing);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn call(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
    let name = callee(instruction).ok_or("a call by address")?;
    let Some(Callee { number, params, returns }) = builder.functions.get(name).cloned() else {
        return Err(format!("`{name}` has no body here"));
    };
    let before = instruction.operands.iter().position(|o| matches!(o, Operand::Symbol(_, 0)));
    let before = before.ok_or("a call by address")?;
    let listed = |operand: Option<&Operand>| match operand {
        Some(Operand::List(items)) => items.clone(),
        _ => Vec::new(),
    };
    let results = if before > 0 { listed(instruction.operands.first()) } else { Vec::new() };
    let given = listed(instruction.operands.get(before + 1));
    if given.len() != params.len() || results.len() > returns.len() {
        return Err(format!("a call of `{name}` with {} arguments", given.len()));
    }
    for (argument, (at, bytes)) in given.iter().zip(params) {
        let to = place(builder, at);
        pass(builder, argument, to, bytes)?;
    }
    builder.push(Kind::Call { to: number });
    for (result, (at, bytes)) in results.iter().zip(returns) {
        let from = place(builder, at);
        if let Operand::Symbol(name, offset) = result {
            let to = param_of(builder, name, *offset)?;
            move_bytes(builder, from, to, bytes);
        } else {
            let to = builder.result(result)?;
            let to = builder.list(&[to]);
            let bytes =
                u8::try_from(bytes).ok().filter(|b| [1, 2, 4, 8].contains(b)).ok_or("a large result")?;
            let reach = Reach { space: Where::Param, base: from, offset: 0, bytes, count: 1 };
            builder.push(Kind::Load { reach, signed: false, to, recorded: false });
        }
    }
    Ok(())
}

fn place(builder: &mut Builder<'_>, at: u32) -> Slot {
    builder.constant(u64::from(at))
}

fn param_of(builder: &mut Builder<'_>, name: &str, offset: i64) -> Result<Slot, String> {
    match builder.symbol(name) {
        Some(symbol) if symbol.space == StateSpace::Param => {
            Ok(builder.constant(symbol.address.wrapping_add_signed(offset)))
        }
        _ => Err(format!("`{name}` is no parameter")),
    }
}

/// Puts an argument where the function looks for it.
fn pass(builder: &mut Builder<'_>, argument: &Operand, to: Slot, bytes: u32) -> Result<(), String> {
    if let Operand::Symbol(name, offset) = argument {
        let from = param_of(builder, name, *offset)?;
        move_bytes(builder, from, to, bytes);
        return Ok(());
    }
    let value = builder.value(argument, None)?;
    let values = builder.list(&[value]);
    let bytes = u8::try_from(bytes).ok().filter(|b| [1, 2, 4, 8].contains(b)).ok_or("a large argument")?;
    let reach = Reach { space: Where::Param, base: to, offset: 0, bytes, count: 1 };
    builder.push(Kind::Store { reach, values, recorded: false });
    Ok(())
}

/// From one place of parameters to another, in pieces that a register holds.
fn move_bytes(builder: &mut Builder<'_>, from: Slot, to: Slot, bytes: u32) {
    let held = builder.slot(0, false);
    let list = builder.list(&[held]);
    let mut at = 0;
    while at < bytes {
        let size = [8, 4, 2, 1].into_iter().find(|&s| at + u32::from(s) <= bytes).unwrap_or(1_u8);
        let reach = |base| Reach { space: Where::Param, base, offset: i64::from(at), bytes: size, count: 1 };
        builder.push(Kind::Load { reach: reach(from), signed: false, to: list, recorded: false });
        builder.push(Kind::Store { reach: reach(to), values: list, recorded: false });
        at += u32::from(size);
    }
}

fn barrier(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
    let mut operands = instruction.operands.iter();
    let mut gather = None;
    if instruction.has("red") {
        let kinds = [("popc", Gather::Count), ("and", Gather::And), ("or", Gather::Or)];
        let kind = kinds.into_iter().find(|(word, _)| instruction.has(word)).map(|(_, kind)| kind);
        let kind = kind.ok_or_else(|| format!("`{}` is not known", instruction.full_name()))?;
        let (Some(to), Some(predicate)) = (operands.next(), operands.next_back()) else {
            return Err(format!("`{}` lacks an operand", instruction.full_name()));
        };
        let (predicate, negated) = builder.predicate(predicate)?;
        gather = Some((kind, predicate, negated, builder.result(to)?));
    }
    let id = match operands.next() {
        Some(id) => builder.value(id, None)?,
        None => builder.constant(0),
    };
    let threads = operands.next().map(|o| builder.value(o, None)).transpose()?;
    builder.push(Kind::Barrier { id, threads, waits: !instruction.has("arrive"), gather });
    Ok(())
}

/// A step of the lanes that `mask` names, or of those that come.
fn warp(builder: &mut Builder<'_>, what: Together, to: Slot, mask: Option<&Operand>) -> Result<(), String> {
    let mask = mask.map(|m| builder.value(m, None)).transpose()?;
    builder.push(Kind::Warp { what, to, mask });
    Ok(())
}

/// Two results, the second of which may be missing.
fn pair(builder: &mut Builder<'_>, operand: &Operand) -> Result<[Slot; 2], String> {
    match operand {
        Operand::Pair(a, b) => Ok([builder.result(a)?, builder.result(b)?]),
        one => Ok([builder.result(one)?, NOWHERE]),
    }
}

fn shuffle(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
    let modes =
        [("up", Shuffle::Up), ("down", Shuffle::Down), ("bfly", Shuffle::Butterfly), ("idx", Shuffle::Index)];
    let mode = modes.into_iter().find(|(word, _)| instruction.has(word)).map(|(_, mode)| mode);
    let mode = mode.ok_or_else(|| format!("`{}` is not known", instruction.full_name()))?;
    let [to, found] = pair(builder, operand(instruction, 0)?)?;
    let a = builder.value(operand(instruction, 1)?, None)?;
    let b = builder.value(operand(instruction, 2)?, None)?;
    let c = builder.value(operand(instruction, 3)?, None)?;
    warp(builder, Together::Shuffle { mode, found, a, b, c }, to, instruction.operands.get(4))
}

fn vote(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
    let modes = [("all", Vote::All), ("any", Vote::Any), ("uni", Vote::Uniform), ("ballot", Vote::Ballot)];
    let mode = modes.into_iter().find(|(word, _)| instruction.has(word)).map(|(_, mode)| mode);
    let mode = mode.ok_or_else(|| format!("`{}` is not known", instruction.full_name()))?;
    let to = builder.result(operand(instruction, 0)?)?;
    let (value, negated) = builder.predicate(operand(instruction, 1)?)?;
    warp(builder, Together::Vote { mode, value, negated }, to, instruction.operands.get(2))
}

fn matching(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
    let [to, found] = pair(builder, operand(instruction, 0)?)?;
    let a = builder.value(operand(instruction, 1)?, None)?;
    let wide = instruction.has("b64");
    let what = if instruction.has("all") {
        Together::MatchAll { a, wide, found }
    } else {
        Together::MatchAny { a, wide }
    };
    warp(builder, what, to, instruction.operands.get(2))
}

fn reduce(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
    let unknown = || format!("`{}` is not known", instruction.full_name());
    let ty = instruction.ty().ok_or_else(unknown)?;
    let names = ["add", "min", "max", "and", "or", "xor"];
    let name = names.into_iter().find(|word| instruction.has(word)).ok_or_else(unknown)?;
    let function = integer::binary(name, ty, &[]).ok_or_else(unknown)?;
    let to = builder.result(operand(instruction, 0)?)?;
    let a = builder.value(operand(instruction, 1)?, None)?;
    warp(builder, Together::Reduce { function, a }, to, instruction.operands.get(2))
}
