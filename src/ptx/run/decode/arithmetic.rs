//! Instructions that only compute.

use super::super::code::{CARRY, Kind, NOWHERE, Slot};
use super::super::convert::{Conversion, Number};
use super::super::float::{self, Format};
use super::super::integer;
use super::super::layout::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};
use super::super::word::{F1, F2};
use super::builder::Builder;
use super::operand::operand;
use crate::ptx::syntax::{Operand, PtxInstruction, StateSpace, Type};

/// Decodes an instruction that only computes; false if it is not known.
pub(super) fn arithmetic(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<bool, String> {
    match instruction.name.as_str() {
        "mov" => copy(builder, instruction)?,
        "cvta" => window(builder, instruction)?,
        "isspacep" => space_of(builder, instruction)?,
        "cvt" => convert(builder, instruction)?,
        "setp" => compare(builder, instruction)?,
        "set" => set(builder, instruction)?,
        "selp" => {
            let [to, a, b] = three(builder, instruction, number(instruction))?;
            let predicate = builder.value(operand(instruction, 3)?, None)?;
            builder.push(Kind::Select { to, a, b, predicate });
        }
        "slct" => select(builder, instruction)?,
        "bfi" => {
            let bits = instruction.ty().ok_or("no type")?.bits;
            let to = builder.result(operand(instruction, 0)?)?;
            let operands = values(builder, instruction, 1)?;
            builder.push(Kind::Insert { bits, to, operands });
        }
        "prmt" => {
            let modes = ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"];
            let mode = modes.into_iter().find(|mode| instruction.has(mode));
            let to = builder.result(operand(instruction, 0)?)?;
            let operands = values(builder, instruction, 1)?;
            builder.push(Kind::Permute { mode, to, operands });
        }
        "lop3" => {
            let Some(Operand::Integer(table @ 0..=255)) = instruction.operands.get(4) else {
                return Ok(false);
            };
            let to = builder.result(operand(instruction, 0)?)?;
            let operands = values(builder, instruction, 1)?;
            builder.push(Kind::Lookup {
                to,
                operands,
                table: u8::try_from(*table).map_err(|e| e.to_string())?,
            });
        }
        "dp4a" => {
            let signs: Vec<bool> = instruction.modifiers.iter().map(|m| m == "s32").collect();
            let &[a, b] = signs.as_slice() else { return Ok(false) };
            let to = builder.result(operand(instruction, 0)?)?;
            let operands = values(builder, instruction, 1)?;
            builder.push(Kind::Dot { signed: [a, b], to, operands });
        }
        "addc" | "subc" | "madc" => carried(builder, instruction)?,
        "add" | "sub" | "mad" if instruction.has("cc") => carried(builder, instruction)?,
        // What tensor cores, textures and the like give is data.
        "mma" | "wgmma" | "tex" | "tld4" | "suld" | "movmatrix" | "testp" | "createpolicy" => {
            unknown(builder, instruction)?;
        }
        "wmma" if instruction.has("mma") => unknown(builder, instruction)?,
        _ => return plain(builder, instruction),
    }
    Ok(true)
}

/// The numbers that constants of an instruction are.
fn number(instruction: &PtxInstruction) -> Option<Number> {
    instruction.modifiers.iter().rev().find_map(|m| Number::named(m))
}

fn values<const N: usize>(
    builder: &mut Builder<'_>,
    instruction: &PtxInstruction,
    first: usize,
) -> Result<[Slot; N], String> {
    let number = number(instruction);
    let mut slots = [NOWHERE; N];
    for (i, slot) in slots.iter_mut().enumerate() {
        *slot = builder.value(operand(instruction, first + i)?, number)?;
    }
    Ok(slots)
}

/// A result and two values.
fn three(
    builder: &mut Builder<'_>,
    instruction: &PtxInstruction,
    number: Option<Number>,
) -> Result<[Slot; 3], String> {
    let to = builder.result(operand(instruction, 0)?)?;
    let a = builder.value(operand(instruction, 1)?, number)?;
    Ok([to, a, builder.value(operand(instruction, 2)?, number)?])
}

fn unknown(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
    let to = builder.results(operand(instruction, 0)?)?;
    let to = builder.list(&to);
    builder.push(Kind::Unknown { to });
    Ok(())
}

/// Instructions of one, two or three operands of a type.
fn plain(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<bool, String> {
    let (name, modifiers) = (instruction.name.as_str(), &instruction.modifiers);
    let Some(ty) = instruction.ty() else { return Ok(false) };
    let format = modifiers.last().and_then(|m| Format::named(m));
    let packed = modifiers.iter().any(|m| m.ends_with("x2"));
    if format.is_none() && (packed || ty.kind == 'f') {
        unknown(builder, instruction)?;
        return Ok(true);
    }
    let inexact = ["rz", "rm", "rp", "approx", "full", "xorsign"].iter().any(|m| instruction.has(m));
    let exact =
        format.is_none() || !inexact && !matches!(name, "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh");
    let to = builder.result(operand(instruction, 0)?)?;
    let kind = match instruction.operands.len() {
        2 => {
            let function = match format {
                Some(format) => float::unary(name, format),
                None => integer::unary(name, ty, modifiers),
            };
            let [a] = values(builder, instruction, 1)?;
            function.map(|function| Kind::Unary { function, exact, to, a })
        }
        3 => {
            let function = match format {
                Some(format) => float::binary(name, format, instruction.has("NaN")),
                None => integer::binary(name, ty, modifiers),
            };
            let [a, b] = values(builder, instruction, 1)?;
            function.map(|function| Kind::Binary { function, exact, to, a, b })
        }
        4 => {
            let function = match format {
                Some(format) => float::ternary(name, format),
                None => integer::ternary(name, ty, modifiers),
            };
            let [a, b, c] = values(builder, instruction, 1)?;
            function.map(|function| Kind::Ternary { function, exact, to, a, b, c })
        }
        _ => None,
    };
    let Some(kind) = kind else { return Ok(false) };
    builder.push(kind);
    for word in ["sat", "relu"] {
        if let Some(function) = format.filter(|_| instruction.has(word)).and_then(|f| float::unary(word, f)) {
            builder.push(Kind::Unary { function, exact: true, to, a: to });
        }
    }
    Ok(true)
}

fn copy(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
    let ty = instruction.ty().ok_or("no type of what is moved")?;
    let (to, from) = (operand(instruction, 0)?, operand(instruction, 1)?);
    match (to, from) {
        (Operand::Vector(parts), from) => {
            let parts = builder.results(&Operand::Vector(parts.clone()))?;
            let bits = part_bits(ty, parts.len())?;
            let parts = builder.list(&parts);
            let a = builder.value(from, None)?;
            builder.push(Kind::Unpack { bits, parts, a });
        }
        (to, Operand::Vector(parts)) => {
            let parts: Result<Vec<Slot>, String> = parts.iter().map(|p| builder.value(p, None)).collect();
            let parts = parts?;
            let bits = part_bits(ty, parts.len())?;
            let parts = builder.list(&parts);
            let to = builder.result(to)?;
            builder.push(Kind::Pack { bits, to, parts });
        }
        (to, from) => {
            let (to, a) = (builder.result(to)?, builder.value(from, number(instruction))?);
            builder.push(Kind::Unary { function: |a| a, exact: true, to, a });
        }
    }
    Ok(())
}

fn part_bits(ty: Type, parts: usize) -> Result<u32, String> {
    let parts = u32::try_from(parts).map_err(|e| e.to_string())?;
    if parts == 0 || ty.bits > 64 || !ty.bits.is_multiple_of(parts) {
        return Err(format!("{} bits in {parts} parts", ty.bits));
    }
    Ok(ty.bits / parts)
}

fn spoken_of(instruction: &PtxInstruction) -> Result<u64, String> {
    match instruction.modifiers.iter().find_map(|m| StateSpace::named(m)) {
        Some(StateSpace::Shared) => Ok(SHARED_WINDOW),
        Some(StateSpace::Local) => Ok(LOCAL_WINDOW),
        Some(StateSpace::Param) => Ok(PARAM_WINDOW),
        Some(StateSpace::Global | StateSpace::Const) => Ok(0),
        None => Err("no state space".to_owned()),
    }
}

/// `cvta`: addresses of a space into addresses of all spaces, and back.
fn window(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
    let window = spoken_of(instruction)?;
    let to = builder.result(operand(instruction, 0)?)?;
    let a = builder.value(operand(instruction, 1)?, None)?;
    let b = builder.constant(window);
    let function: F2 = if instruction.has("to") { u64::wrapping_sub } else { u64::wrapping_add };
    builder.push(Kind::Binary { function, exact: true, to, a, b });
    Ok(())
}

fn space_of(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
    const ABOVE: u32 = SHARED_WINDOW.trailing_zeros();
    let function: F1 = match spoken_of(instruction)? {
        SHARED_WINDOW => |a| u64::from(a >> ABOVE == SHARED_WINDOW >> ABOVE),
        LOCAL_WINDOW => |a| u64::from(a >> ABOVE == LOCAL_WINDOW >> ABOVE),
        PARAM_WINDOW => |a| u64::from(a >> ABOVE == PARAM_WINDOW >> ABOVE),
        _ => |a| u64::from(a >> ABOVE > PARAM_WINDOW >> ABOVE),
    };
    let to = builder.result(operand(instruction, 0)?)?;
    let a = builder.value(operand(instruction, 1)?, None)?;
    builder.push(Kind::Unary { function, exact: true, to, a });
    Ok(())
}

fn convert(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
    let modifiers = &instruction.modifiers;
    let to = operand(instruction, 0)?;
    if let Some(conversion) = Conversion::named(modifiers).filter(|_| instruction.operands.len() == 2) {
        let to = builder.result(to)?;
        let a = builder.value(operand(instruction, 1)?, number(instruction))?;
        builder.push(Kind::Convert { conversion, to, a });
        return Ok(());
    }
    // Two numbers into one register, the first above.
    let single = modifiers.iter().map(|m| m.trim_end_matches("x2").to_owned()).collect::<Vec<_>>();
    let conversion = Conversion::named(&single).filter(|_| {
        instruction.operands.len() == 3 && modifiers.iter().filter(|m| m.ends_with("16x2")).count() == 1
    });
    let Some(conversion) = conversion else { return unknown(builder, instruction) };
    let [high, low] = values(builder, instruction, 1)?;
    let halves = [builder.slot(0, false), builder.slot(0, false)];
    for (to, a) in halves.into_iter().zip([low, high]) {
        builder.push(Kind::Convert { conversion, to, a });
    }
    let parts = builder.list(&halves);
    let to = builder.result(to)?;
    builder.push(Kind::Pack { bits: 16, to, parts });
    Ok(())
}

/// What compares values of the last type of a name.
fn comparison(instruction: &PtxInstruction) -> Result<F2, String> {
    let ty = instruction.ty().ok_or("no type")?;
    let format = instruction.modifiers.last().and_then(|m| Format::named(m));
    let word = instruction.modifiers.first().map_or("", String::as_str);
    let found = match format {
        Some(format) => float::compare(word, format),
        None if ty.kind == 'f' => None,
        None => integer::compare(word, ty),
    };
    found.ok_or_else(|| format!("`{}` is not known", instruction.full_name()))
}

/// The predicate that a comparison is combined with, and how.
fn combined(
    builder: &mut Builder<'_>,
    instruction: &PtxInstruction,
) -> Result<Option<(F2, Slot, bool)>, String> {
    let Some(third) = instruction.operands.get(3) else { return Ok(None) };
    let words: [(&str, F2); 3] = [("and", |a, b| a & b), ("or", |a, b| a | b), ("xor", |a, b| a ^ b)];
    let found = words.into_iter().find(|(word, _)| instruction.has(word));
    let (_, function) = found.ok_or_else(|| format!("`{}` is not known", instruction.full_name()))?;
    let (slot, negated) = builder.predicate(third)?;
    Ok(Some((function, slot, negated)))
}

fn compare(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
    let function = comparison(instruction)?;
    let (to, other) = match operand(instruction, 0)? {
        Operand::Pair(a, b) => (builder.result(a)?, builder.result(b)?),
        one => (builder.result(one)?, NOWHERE),
    };
    let [a, b] = values(builder, instruction, 1)?;
    let with = combined(builder, instruction)?;
    builder.push(Kind::Compare { function, to, other, a, b, with });
    Ok(())
}

fn set(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
    let function = comparison(instruction)?;
    let mut types = instruction.modifiers.iter().filter(|m| Type::named(m).is_some());
    let yes = match types.next().map(String::as_str) {
        Some("f32") => u64::from(1_f32.to_bits()),
        Some("u32" | "s32") => u64::from(u32::MAX),
        _ => return Err(format!("`{}` is not known", instruction.full_name())),
    };
    let to = builder.result(operand(instruction, 0)?)?;
    let [a, b] = values(builder, instruction, 1)?;
    let with = combined(builder, instruction)?;
    let predicate = builder.slot(0, false);
    builder.push(Kind::Compare { function, to: predicate, other: NOWHERE, a, b, with });
    let (a, b) = (builder.constant(yes), builder.constant(0));
    builder.push(Kind::Select { to, a, b, predicate });
    Ok(())
}

/// `slct`: by the sign of the last operand.
fn select(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
    let ge = PtxInstruction {
        modifiers: vec!["ge".into(), instruction.modifiers.last().cloned().unwrap_or_default()],
        ..instruction.clone()
    };
    let function = comparison(&ge)?;
    let to = builder.result(operand(instruction, 0)?)?;
    let [a, b, c] = values(builder, instruction, 1)?;
    let (predicate, zero) = (builder.slot(0, false), builder.constant(0));
    builder.push(Kind::Compare { function, to: predicate, other: NOWHERE, a: c, b: zero, with: None });
    builder.push(Kind::Select { to, a, b, predicate });
    Ok(())
}

/// Additions and subtractions that carry.
fn carried(builder: &mut Builder<'_>, instruction: &PtxInstruction) -> Result<(), String> {
    let ty = instruction.ty().filter(|ty| matches!(ty.bits, 32 | 64)).ok_or("no type")?;
    let (name, gives) = (instruction.name.as_str(), instruction.has("cc"));
    let (takes, subtract) = (name.ends_with('c'), name.starts_with("sub"));
    let to = builder.result(operand(instruction, 0)?)?;
    let (mut a, mut b) = {
        let [a, b] = values(builder, instruction, 1)?;
        (a, b)
    };
    if name.starts_with("mad") {
        let function = integer::binary("mul", ty, &instruction.modifiers).ok_or("no product")?;
        let product = builder.slot(0, false);
        builder.push(Kind::Binary { function, exact: true, to: product, a, b });
        [a, b] = [product, builder.value(operand(instruction, 3)?, None)?];
    }
    builder.push(Kind::Carry { bits: ty.bits, subtract, takes, gives, to, a, b });
    debug_assert_eq!(CARRY, 1, "the carry has a register of its own");
    Ok(())
}
