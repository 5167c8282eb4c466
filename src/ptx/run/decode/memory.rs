//! Loads, stores, atomics and copies.

use super::super::code::{Change, Kind, NOWHERE, Reach, Where};
use super::super::convert::Number;
use super::super::float::{self, Format};
use super::super::integer;
use super::builder::Builder;
use super::operand::operand;
use crate::ptx::syntax::{Instruction, Operand, Space, Type};

/// Decodes an instruction of memory; false if it is none.
pub(super) fn memory(builder: &mut Builder<'_>, instruction: &Instruction) -> Result<bool, String> {
    match instruction.name.as_str() {
        "ld" | "ldu" => load(builder, instruction)?,
        "st" => store(builder, instruction)?,
        "atom" | "red" => atomic(builder, instruction)?,
        "cp" => copy(builder, instruction)?,
        "ldmatrix" => rows(builder, instruction)?,
        "mbarrier" => arrivals(builder, instruction)?,
        "prefetch" | "prefetchu" | "discard" | "applypriority" => builder.push(Kind::Nothing),
        _ => return Ok(false),
    }
    Ok(true)
}

fn space(instruction: &Instruction) -> Where {
    match instruction.modifiers.iter().find_map(|m| Space::named(m)) {
        Some(Space::Global | Space::Const) => Where::Global,
        Some(Space::Shared) => Where::Shared,
        Some(Space::Local) => Where::Local,
        Some(Space::Param) => Where::Param,
        None => Where::Generic,
    }
}

/// Element and number of elements of a load or a store.
fn elements(instruction: &Instruction) -> Result<(Type, u8), String> {
    let ty = instruction.ty().ok_or("no type of what is moved")?;
    if ty.bits > 64 || ty.kind == 'p' {
        return Err(format!("`{}` moves what no register holds", instruction.full_name()));
    }
    let counts = [("v2", 2), ("v4", 4), ("v8", 8)];
    let count = counts.into_iter().find(|(word, _)| instruction.has(word)).map_or(1, |(_, n)| n);
    Ok((ty, count))
}

fn reach(
    builder: &mut Builder<'_>,
    address: &Operand,
    space: Where,
    (ty, count): (Type, u8),
) -> Result<Reach, String> {
    let (base, offset) = builder.address(address, space)?;
    let bytes = u8::try_from(ty.bytes()).map_err(|e| e.to_string())?;
    Ok(Reach { space, base, offset, bytes, count })
}

fn load(builder: &mut Builder<'_>, instruction: &Instruction) -> Result<(), String> {
    let elements = elements(instruction)?;
    let to = builder.results(operand(instruction, 0)?)?;
    if to.len() != usize::from(elements.1) {
        return Err(format!("`{}` into {} registers", instruction.full_name(), to.len()));
    }
    let space = space(instruction);
    let reach = reach(builder, operand(instruction, 1)?, space, elements)?;
    let to = builder.list(&to);
    builder.push(Kind::Load { reach, signed: elements.0.kind == 's', to, recorded: space != Where::Param });
    Ok(())
}

fn store(builder: &mut Builder<'_>, instruction: &Instruction) -> Result<(), String> {
    let elements = elements(instruction)?;
    let number = instruction.modifiers.iter().rev().find_map(|m| Number::named(m));
    let values = builder.values(operand(instruction, 1)?, number)?;
    if values.len() != usize::from(elements.1) {
        return Err(format!("`{}` of {} registers", instruction.full_name(), values.len()));
    }
    let space = space(instruction);
    let reach = reach(builder, operand(instruction, 0)?, space, elements)?;
    let values = builder.list(&values);
    builder.push(Kind::Store { reach, values, recorded: space != Where::Param });
    Ok(())
}

fn atomic(builder: &mut Builder<'_>, instruction: &Instruction) -> Result<(), String> {
    let elements = elements(instruction)?;
    if elements.1 > 1 {
        return Err(format!("`{}` is not known", instruction.full_name()));
    }
    let names = ["add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"];
    let named = instruction.modifiers.iter().find(|m| names.contains(&m.as_str()));
    let name = named.ok_or_else(|| format!("`{}` is not known", instruction.full_name()))?;
    let ty = elements.0;
    let change = match name.as_str() {
        "exch" => Change::Function(|_, b| b),
        "cas" => Change::Swap,
        "inc" => Change::Increase,
        "dec" => Change::Decrease,
        name => {
            let format = instruction.modifiers.iter().rev().find_map(|m| Format::named(m));
            let function = match format {
                Some(format) => float::binary(name, format, false),
                None if instruction.modifiers.iter().any(|m| m.ends_with("x2")) => None,
                None => integer::binary(name, ty, &[]),
            };
            function.map_or(Change::Unknown, Change::Function)
        }
    };
    let (to, first) = match instruction.name.as_str() {
        "red" => (NOWHERE, 0),
        _ => (builder.result(operand(instruction, 0)?)?, 1),
    };
    let reach = reach(builder, operand(instruction, first)?, space(instruction), elements)?;
    let a = builder.value(operand(instruction, first + 1)?, None)?;
    let b = match (change, instruction.operands.get(first + 2)) {
        (Change::Swap, Some(b)) => builder.value(b, None)?,
        _ => NOWHERE,
    };
    builder.push(Kind::Atomic { reach, change, to, a, b });
    Ok(())
}

/// `cp.async`.
fn copy(builder: &mut Builder<'_>, instruction: &Instruction) -> Result<(), String> {
    let has = |word| instruction.has(word);
    if !has("async") {
        return Err(format!("`{}` is not known", instruction.full_name()));
    }
    if ["commit_group", "wait_group", "wait_all", "mbarrier", "prefetch"].into_iter().any(has) {
        builder.push(Kind::Nothing);
        return Ok(());
    }
    if has("bulk") {
        return bulk(builder, instruction);
    }
    let Some(Operand::Integer(bytes @ (4 | 8 | 16))) = instruction.operands.get(2) else {
        return Err(format!("`{}` of an odd length", instruction.full_name()));
    };
    let bytes = u8::try_from(*bytes).map_err(|e| e.to_string())?;
    let (base, offset) = builder.address(operand(instruction, 0)?, Where::Shared)?;
    let to = Reach { space: Where::Shared, base, offset, bytes, count: 1 };
    let (base, offset) = builder.address(operand(instruction, 1)?, Where::Global)?;
    let from = Reach { space: Where::Global, base, offset, bytes, count: 1 };
    let hint = usize::from(has("L2::cache_hint"));
    let size = match instruction.operands.get(3) {
        Some(size) if instruction.operands.len() > 3 + hint => Some(builder.value(size, None)?),
        _ => None,
    };
    builder.push(Kind::Copy { to, from, size });
    Ok(())
}

/// `cp.async.bulk` of bytes in a row between global memory and the block's shared memory.
fn bulk(builder: &mut Builder<'_>, instruction: &Instruction) -> Result<(), String> {
    let unknown = || format!("`{}` is not known", instruction.full_name());
    let other = ["tensor", "reduce", "multicast::cluster"].into_iter().any(|word| instruction.has(word));
    let spaces: Vec<Space> = instruction.modifiers.iter().filter_map(|m| Space::named(m)).collect();
    let (to, from) = match spaces[..] {
        [Space::Shared, Space::Global] if !other => (Where::Shared, Where::Global),
        [Space::Global, Space::Shared] if !other => (Where::Global, Where::Shared),
        _ => return Err(unknown()),
    };
    let mut end = |at: usize, space: Where| -> Result<Reach, String> {
        let (base, offset) = builder.address(operand(instruction, at)?, space)?;
        Ok(Reach { space, base, offset, bytes: 8, count: 1 })
    };
    let (to, from) = (end(0, to)?, end(1, from)?);
    let size = builder.value(operand(instruction, 2)?, None)?;
    builder.push(Kind::Bulk { to, from, size });
    Ok(())
}

/// `mbarrier`: copies are done at once here, so nobody waits for them; the token of an arrival is not known.
fn arrivals(builder: &mut Builder<'_>, instruction: &Instruction) -> Result<(), String> {
    let waits = instruction.has("try_wait") || instruction.has("test_wait");
    match instruction.operands.first() {
        Some(to @ Operand::Register(_)) => {
            let to = builder.result(to)?;
            let done = builder.constant(1);
            if waits {
                let parts = builder.list(&[done]);
                builder.push(Kind::Pack { bits: 1, parts, to });
            } else {
                let to = builder.list(&[to]);
                builder.push(Kind::Unknown { to });
            }
        }
        _ => builder.push(Kind::Nothing),
    }
    Ok(())
}

fn rows(builder: &mut Builder<'_>, instruction: &Instruction) -> Result<(), String> {
    let counts = [("x1", 8), ("x2", 16), ("x4", 32)];
    let lanes = counts.into_iter().find(|(word, _)| instruction.has(word)).map(|(_, n)| n);
    let lanes = lanes.filter(|_| instruction.has("b16"));
    let lanes = lanes.ok_or_else(|| format!("`{}` is not known", instruction.full_name()))?;
    let space = space(instruction);
    let (base, offset) = builder.address(operand(instruction, 1)?, space)?;
    let to = builder.results(operand(instruction, 0)?)?;
    let to = builder.list(&to);
    builder.push(Kind::Rows { reach: Reach { space, base, offset, bytes: 16, count: 1 }, lanes, to });
    Ok(())
}
