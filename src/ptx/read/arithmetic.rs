//! Instructions on integers, as formulas.

use crate::ptx::syntax::{PtxInstruction, Type};
use crate::ptx::value::{Algebra, Cond, Poly};

/// What an instruction gives.
pub(super) enum Outcome {
    Number(Poly),
    /// No formula says it.
    NoFormula,
    /// A number with a fraction.
    Float,
    /// The instruction is none of these.
    Other,
}

/// The result of an instruction on integers. `args` are the bits of its operands without the result; `bits` is the
/// size of the register that the result goes to.
pub(super) fn arithmetic(
    algebra: &mut Algebra,
    instruction: &PtxInstruction,
    args: &[Poly],
    bits: u32,
) -> Outcome {
    let name = instruction.name.as_str();
    let known = matches!(
        name,
        "mov"
            | "cvta"
            | "cvt"
            | "add"
            | "sub"
            | "mul"
            | "mul24"
            | "mad"
            | "mad24"
            | "shl"
            | "shr"
            | "and"
            | "or"
            | "xor"
            | "not"
            | "neg"
            | "abs"
            | "min"
            | "max"
            | "div"
            | "rem"
            | "bfe"
            | "bfi"
            | "brev"
            | "sad"
    );
    let mut types = instruction.modifiers.iter().filter_map(|m| Type::named(m));
    let Some(first) = types.next().filter(|_| known) else { return Outcome::Other };
    let (mut ty, mut float) = (first, first.kind == 'f');
    for other in types {
        (ty, float) = (other, float || other.kind == 'f');
    }
    if name != "mov" && float {
        return Outcome::Float;
    }
    if ty.bits > 64 || ["cc", "sat"].iter().any(|m| instruction.has(m)) {
        return Outcome::NoFormula;
    }
    match number(algebra, instruction, (first, ty), args, bits) {
        // Without multiples of the register's size nobody would see that a remainder is small.
        Some(p) if name == "rem" && bits == ty.bits => Outcome::Number(p),
        Some(p) => Outcome::Number(reduced(p, bits)),
        None => Outcome::NoFormula,
    }
}

/// Multiples beyond the register's size mean nothing: the same bits with small numbers. What is a number alone becomes
/// the smallest one, so that loops that count down from it come to their end where the formula is zero.
fn reduced(p: Poly, bits: u32) -> Poly {
    let size = 1_i128 << bits;
    let smallest = |n: i128| (n + size / 2).rem_euclid(size) - size / 2;
    if let Some(n) = p.number() {
        return Poly::constant(smallest(n));
    }
    let small = |n: i128| if n.abs() < size { n } else { smallest(n) };
    if p.constant.abs() < size && p.terms.iter().all(|t| t.1.abs() < size) {
        return p;
    }
    let terms = p.terms.iter().map(|t| (t.0, small(t.1))).filter(|t| t.1 != 0).collect();
    Poly { constant: small(p.constant), terms }
}

/// What an instruction gives, of which these are the first and the last type.
fn number(
    algebra: &mut Algebra,
    instruction: &PtxInstruction,
    (to, ty): (Type, Type),
    args: &[Poly],
    bits: u32,
) -> Option<Poly> {
    let (width, signed) = (ty.bits, ty.kind == 's');
    let a = args.first()?;
    let b = || args.get(1);
    Some(match instruction.name.as_str() {
        "mov" | "cvta" => a.clone(),
        "cvt" => {
            if to.bits < bits {
                // A register larger than the type holds the number, with its sign.
                let from = if to.bits < width { a.clone() } else { algebra.integer(a, width, signed)? };
                algebra.integer(&from, to.bits, to.kind == 's')?
            } else if to.bits > width {
                algebra.integer(a, width, signed)?
            } else {
                a.clone()
            }
        }
        "add" => a.add(b()?)?,
        "sub" => a.sub(b()?)?,
        "neg" => a.scale(-1)?,
        "not" => a.scale(-1)?.add_number(-1)?,
        "abs" => {
            let a = algebra.integer(a, width, true)?;
            let negative = a.scale(-1)?;
            algebra.max(a, negative)
        }
        "mul" | "mad" => {
            let product = product(algebra, instruction, ty, a, b()?)?;
            if instruction.name == "mad" { product.add(args.get(2)?)? } else { product }
        }
        "mul24" | "mad24" if instruction.has("lo") => {
            let (a, b) = (algebra.integer(a, 24, signed)?, algebra.integer(b()?, 24, signed)?);
            let product = algebra.multiply(&a, &b)?;
            if instruction.name == "mad24" { product.add(args.get(2)?)? } else { product }
        }
        "shl" => {
            let by = algebra.integer(b()?, 32, false)?.number()?;
            if by >= i128::from(width) { Poly::default() } else { a.scale(1 << by)? }
        }
        "shr" => {
            let by = algebra.integer(b()?, 32, false)?.number()?;
            let a = algebra.integer(a, width, signed)?;
            // One less than the width leaves the sign; all bits of a number without a sign go.
            algebra.div(&a, 1 << by.min(if signed { i128::from(width) - 1 } else { i128::from(width) }))?
        }
        "and" => algebra.bit_and(a, b()?, width)?,
        "or" => algebra.bit_or(a, b()?, width)?,
        "xor" => algebra.bit_xor(a, b()?, width)?,
        "brev" => algebra.reversed(a, width)?,
        "min" | "max" => {
            let (a, b) = (algebra.integer(a, width, signed)?, algebra.integer(b()?, width, signed)?);
            if instruction.name == "min" { algebra.min(a, b) } else { algebra.max(a, b) }
        }
        "div" | "rem" => {
            let (a, b) = (algebra.integer(a, width, signed)?, algebra.integer(b()?, width, signed)?);
            let by = b.number().filter(|n| *n != 0)?;
            let quotient = cut(algebra, &a, by)?;
            if instruction.name == "div" { quotient } else { a.plus(&quotient, -by)? }
        }
        "sad" => {
            let (a, b) = (algebra.integer(a, width, signed)?, algebra.integer(b()?, width, signed)?);
            let (up, down) = (a.sub(&b)?, b.sub(&a)?);
            algebra.max(up, down).add(args.get(2)?)?
        }
        "bfe" => field(algebra, ty, a, b()?, args.get(2)?)?,
        "bfi" => {
            let (from, length) = (small(algebra, args.get(2)?)?, small(algebra, args.get(3)?)?);
            if from >= width {
                return args.get(1).cloned();
            }
            let length = length.min(width - from);
            let old = algebra.and_mask(b()?, ((1 << length) - 1) << from, width)?;
            let new = algebra.rem(a, 1 << length)?;
            b()?.sub(&old)?.plus(&new, 1 << from)?
        }
        _ => return None,
    })
}

/// A number of bits: the low byte of an operand.
fn small(algebra: &mut Algebra, p: &Poly) -> Option<u32> {
    u32::try_from(algebra.rem(p, 256)?.number()?).ok()
}

fn product(
    algebra: &mut Algebra,
    instruction: &PtxInstruction,
    ty: Type,
    a: &Poly,
    b: &Poly,
) -> Option<Poly> {
    if instruction.has("lo") || !(instruction.has("hi") || instruction.has("wide")) {
        return algebra.multiply(a, b);
    }
    let signed = ty.kind == 's';
    let (a, b) = (algebra.integer(a, ty.bits, signed)?, algebra.integer(b, ty.bits, signed)?);
    let product = algebra.multiply(&a, &b)?;
    if instruction.has("wide") { Some(product) } else { algebra.div(&product, 1 << ty.bits) }
}

/// A quotient as machines have it, cut towards zero.
fn cut(algebra: &mut Algebra, a: &Poly, by: i128) -> Option<Poly> {
    let sign = by.signum();
    let up = algebra.div(a, by.abs())?.scale(sign)?;
    if algebra.proves(a) {
        return Some(up);
    }
    let down = algebra.div(&a.scale(-1)?, by.abs())?.scale(-sign)?;
    if algebra.proves(&a.scale(-1)?) {
        return Some(down);
    }
    algebra.select(Cond::Ge(a.clone()), up, down)
}

/// `bfe`: bits of a register, with a sign or without.
fn field(algebra: &mut Algebra, ty: Type, a: &Poly, from: &Poly, length: &Poly) -> Option<Poly> {
    let (from, length) = (small(algebra, from)?, small(algebra, length)?);
    let signed = ty.kind == 's';
    if length == 0 || (from >= ty.bits && !signed) {
        return Some(Poly::default());
    }
    if from + length >= ty.bits {
        // What lies beyond the register is its sign.
        let a = algebra.integer(a, ty.bits, signed)?;
        return algebra.div(&a, 1 << from.min(ty.bits - 1));
    }
    let bits = algebra.integer(a, ty.bits, false)?;
    let above = algebra.div(&bits, 1 << from)?;
    algebra.integer(&above, length, signed)
}
