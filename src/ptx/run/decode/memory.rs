//! Loads, stores, atomics and copies.

use super::super::code::{Change, Kind, NOWHERE, Place, Reach, Slot, Where};
use super::super::convert::Number;
use super::super::float::{self, Format};
use super::super::integer;
use super::builder::Builder;
use super::operand::operand;
use crate::ptx::syntax::{Operand, PtxInstruction, StateSpace, Type};

/// Decodes an instruction of memory; false if it is none.
pub(super) fn memory(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<bool, String> {
    match instruction.name.as_str() {
        "ld" | "ldu" => load(builder, instruction)?,
        "st" => store(builder, instruction)?,
        "atom" | "red" => atomic(builder, instruction)?,
        "cp" => copy(builder, instruction)?,
        "ldmatrix" => rows(builder, instruction)?,
        "wmma" if !instruction.has("mma") => matrix(builder, instruction)?,
        "mbarrier" => arrivals(builder, instruction)?,
        "prefetch" | "prefetchu" | "discard" | "applypriority" => builder.push(Kind::Nothing),
        _ => return Ok(false),
    }
    Ok(true)
}

fn space(instruction: &PtxInstruction) -> Where {
    match instruction.modifiers.iter().find_map(|m| StateSpace::named(m)) {
        Some(StateSpace::Global | StateSpace::Const) => Where::Global,
        Some(StateSpace::Shared) => Where::Shared,
        Some(StateSpace::Local) => Where::Local,
        Some(StateSpace::Param) => Where::Param,
        None => Where::Generic,
    }
}

/// Element and number of elements of a load or a store.
fn elements(instruction: &PtxInstruction) -> Result<(Type, u8), String> {
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

fn load(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
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

fn store(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
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

fn atomic(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
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
fn copy(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
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
fn bulk(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
    let unknown = || format!("`{}` is not known", instruction.full_name());
    let other = ["tensor", "reduce", "multicast::cluster"].into_iter().any(|word| instruction.has(word));
    let spaces: Vec<StateSpace> = instruction.modifiers.iter().filter_map(|m| StateSpace::named(m)).collect();
    let (to, from) = match spaces[..] {
        [StateSpace::Shared, StateSpace::Global] if !other => (Where::Shared, Where::Global),
        [StateSpace::Global, StateSpace::Shared] if !other => (Where::Global, Where::Shared),
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
fn arrivals(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
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

fn rows(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
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

/// `wmma.load` and `wmma.store`: all lanes of a warp share out a matrix, of which nobody says who gets what. As many bytes
/// as each of them has at most, row by row; what is loaded is not known, nor what is stored.
fn matrix(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
    let unknown = || format!("`{}` is not known", instruction.full_name());
    let has = |word| instruction.has(word);
    let numbers = |word: &String| {
        let rest = word.strip_prefix('m')?;
        let (m, rest) = rest.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        Some((m.parse::<u64>().ok()?, n.parse::<u64>().ok()?, k.parse::<u64>().ok()?))
    };
    let (m, n, k) = instruction.modifiers.iter().find_map(numbers).ok_or_else(unknown)?;
    let known = [(16, 16, 16), (32, 8, 16), (8, 32, 16), (16, 16, 8), (8, 8, 4), (8, 8, 32), (8, 8, 128)];
    let bits = match instruction.modifiers.last().map_or("", String::as_str) {
        "f16" | "bf16" => 16,
        "f32" | "tf32" | "s32" => 32,
        "f64" => 64,
        "u8" | "s8" => 8,
        "u4" | "s4" => 4,
        "b1" => 1,
        _ => return Err(unknown()),
    };
    if !known.contains(&(m, n, k)) || has("row") == has("col") {
        return Err(unknown());
    }
    let (down, across) = if has("a") {
        (m, k)
    } else if has("b") {
        (k, n)
    } else {
        (m, n)
    };
    let (lines, length) = if has("row") { (down, across) } else { (across, down) };
    let line_bytes = length * bits / 8;
    let each = (lines * line_bytes / 32).min(16);
    // Lanes beside each other in a line, a power of two as everything here.
    let beside =
        line_bytes.checked_div(each).filter(|n| n.is_power_of_two() && *n <= 32).ok_or_else(unknown)?;
    let (store, space) = (has("store"), space(instruction));
    let (base, offset) = builder.address(operand(instruction, usize::from(!store))?, space)?;
    let stride = match instruction.operands.get(2) {
        Some(stride) => builder.value(stride, None)?,
        None => builder.constant(length),
    };
    let bytes_apart = computed(builder, |stride, bits| (stride & 0xffff_ffff) * bits / 8, stride, bits);
    let lane = builder.place(Place::Lane);
    let line = computed(builder, |lane, bits| lane >> bits, lane, beside.trailing_zeros().into());
    let along = computed(builder, |lane, mask| lane & mask, lane, beside - 1);
    let along = computed(builder, u64::wrapping_mul, along, each);
    let (bytes, count) = if each > 8 { (8, 2) } else { (each, 1) };
    let bytes = u8::try_from(bytes).map_err(|e| e.to_string())?;
    let nothing = builder.unknown();
    let values = builder.list(&[nothing; 2][..=usize::from(count == 2)]);
    let none = builder.list(&[]);
    for part in 0..lines * line_bytes / (32 * each) {
        let line = computed(builder, u64::wrapping_add, line, part * 32 / beside);
        let start = builder.slot(0, true);
        builder.push(Kind::Binary {
            function: u64::wrapping_mul,
            exact: true,
            to: start,
            a: line,
            b: bytes_apart,
        });
        for more in [along, base] {
            builder.push(Kind::Binary {
                function: u64::wrapping_add,
                exact: true,
                to: start,
                a: start,
                b: more,
            });
        }
        let reach = Reach { space, base: start, offset, bytes, count };
        builder.push(if store {
            Kind::Store { reach, values, recorded: true }
        } else {
            Kind::Load { reach, signed: false, to: none, recorded: true }
        });
    }
    if !store {
        let to = builder.results(operand(instruction, 0)?)?;
        let to = builder.list(&to);
        builder.push(Kind::Unknown { to });
    }
    Ok(())
}

/// A new register with what a function makes of a register and a number.
fn computed(builder: &mut Builder<'_>, function: fn(u64, u64) -> u64, a: Slot, number: u64) -> Slot {
    let (to, b) = (builder.slot(0, true), builder.constant(number));
    builder.push(Kind::Binary { function, exact: true, to, a, b });
    to
}
