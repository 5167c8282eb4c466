//! Integer instructions on the bits of registers. All values travel as 64 bits: an instruction looks at as many of the
//! low ones as its type has, and what it leaves above them does not matter to the next.

use super::word::{F1, F2, F3, Word};
use crate::ptx::syntax::Type;

macro_rules! integers {
    ($($name:ident: $kind:literal $bits:literal $t:ty, $wide:ty;)*) => {
        $(mod $name {
            use super::Word;
            type T = $t;
            type Wide = $wide;
            const SIGNED: bool = T::MIN != 0;

            fn negative(a: T) -> bool {
                SIGNED && a >> (T::BITS - 1) & 1 != 0
            }

            fn wide(a: u64) -> Wide {
                Wide::from(T::low(a))
            }
            pub fn add(a: u64, b: u64) -> u64 {
                T::low(a).wrapping_add(T::low(b)).word()
            }
            pub fn add_sat(a: u64, b: u64) -> u64 {
                T::low(a).saturating_add(T::low(b)).word()
            }
            pub fn sub(a: u64, b: u64) -> u64 {
                T::low(a).wrapping_sub(T::low(b)).word()
            }
            pub fn sub_sat(a: u64, b: u64) -> u64 {
                T::low(a).saturating_sub(T::low(b)).word()
            }
            pub fn mul(a: u64, b: u64) -> u64 {
                T::low(a).wrapping_mul(T::low(b)).word()
            }
            pub fn mul_hi(a: u64, b: u64) -> u64 {
                (wide(a).wrapping_mul(wide(b)) >> T::BITS).word()
            }
            pub fn mul_wide(a: u64, b: u64) -> u64 {
                wide(a).wrapping_mul(wide(b)).word()
            }
            pub fn mad(a: u64, b: u64, c: u64) -> u64 {
                add(mul(a, b), c)
            }
            pub fn mad_hi(a: u64, b: u64, c: u64) -> u64 {
                add(mul_hi(a, b), c)
            }
            pub fn mad_hi_sat(a: u64, b: u64, c: u64) -> u64 {
                add_sat(mul_hi(a, b), c)
            }
            pub fn mad_wide(a: u64, b: u64, c: u64) -> u64 {
                wide(a).wrapping_mul(wide(b)).wrapping_add(Wide::low(c)).word()
            }
            /// Division by zero gives all ones on the machine.
            pub fn div(a: u64, b: u64) -> u64 {
                match T::low(b) {
                    0 => u64::MAX,
                    b => T::low(a).wrapping_div(b).word(),
                }
            }
            pub fn rem(a: u64, b: u64) -> u64 {
                match T::low(b) {
                    0 => a,
                    b => T::low(a).wrapping_rem(b).word(),
                }
            }
            pub fn min(a: u64, b: u64) -> u64 {
                T::low(a).min(T::low(b)).word()
            }
            pub fn max(a: u64, b: u64) -> u64 {
                T::low(a).max(T::low(b)).word()
            }
            pub fn sad(a: u64, b: u64, c: u64) -> u64 {
                let (a, b) = (T::low(a), T::low(b));
                T::low(c).wrapping_add(a.max(b).wrapping_sub(a.min(b))).word()
            }
            pub fn neg(a: u64) -> u64 {
                (0 as T).wrapping_sub(T::low(a)).word()
            }
            pub fn abs(a: u64) -> u64 {
                let a = T::low(a);
                a.max((0 as T).wrapping_sub(a)).word()
            }
            pub fn shl(a: u64, b: u64) -> u64 {
                T::low(a).checked_shl(u32::low(b)).unwrap_or(0).word()
            }
            /// Beyond the width it goes on filling with the sign.
            pub fn shr(a: u64, b: u64) -> u64 {
                let beyond = if negative(T::low(a)) { u64::MAX } else { 0 };
                T::low(a).checked_shr(u32::low(b)).map_or(beyond, Word::word)
            }
            pub fn eq(a: u64, b: u64) -> u64 {
                u64::from(T::low(a) == T::low(b))
            }
            pub fn ne(a: u64, b: u64) -> u64 {
                u64::from(T::low(a) != T::low(b))
            }
            pub fn lt(a: u64, b: u64) -> u64 {
                u64::from(T::low(a) < T::low(b))
            }
            pub fn le(a: u64, b: u64) -> u64 {
                u64::from(T::low(a) <= T::low(b))
            }
            pub fn gt(a: u64, b: u64) -> u64 {
                u64::from(T::low(a) > T::low(b))
            }
            pub fn ge(a: u64, b: u64) -> u64 {
                u64::from(T::low(a) >= T::low(b))
            }
            pub fn is_zero(a: u64) -> u64 {
                u64::from(T::low(a) == 0)
            }
            pub fn clz(a: u64) -> u64 {
                T::low(a).leading_zeros().word()
            }
            pub fn brev(a: u64) -> u64 {
                T::low(a).reverse_bits().word()
            }
            pub fn popc(a: u64) -> u64 {
                T::low(a).count_ones().word()
            }
            /// The highest bit that differs from the sign; all ones if there is none.
            pub fn bfind(a: u64) -> u64 {
                let a = T::low(a);
                let a = if negative(a) { !a } else { a };
                if a == 0 { u64::from(u32::MAX) } else { (T::BITS - 1 - a.leading_zeros()).word() }
            }
            pub fn bfind_shift(a: u64) -> u64 {
                let found = bfind(a);
                if found == u64::from(u32::MAX) { found } else { u64::from(T::BITS - 1) - found }
            }
            /// `c` bits from bit `b` on, with the sign of the highest of them.
            pub fn bfe(a: u64, b: u64, c: u64) -> u64 {
                let (from, count) = (u32::low(b & 0xff), u32::low(c & 0xff));
                let a = T::low(a).word();
                if count == 0 {
                    return 0;
                }
                let shifted = if SIGNED {
                    (a.cast_signed() >> from.min(63)).cast_unsigned()
                } else {
                    a.checked_shr(from).unwrap_or(0)
                };
                let above = 64 - count.min(64);
                let kept = shifted << above;
                if SIGNED { (kept.cast_signed() >> above).cast_unsigned() } else { kept >> above }
            }
        })*

        /// Picks the function of a type. Types without a sign are unsigned.
        macro_rules! by_type {
            ($ty:expr, $f:ident) => {
                match ($ty.kind, $ty.bits) {
                    $(($kind, $bits) => Some($name::$f as _),)*
                    ('b', 16) => Some(u16::$f as _),
                    ('b', 32) => Some(u32::$f as _),
                    ('b', 64) => Some(u64::$f as _),
                    _ => None,
                }
            };
        }
    };
}

integers! {
    s16: 's' 16 i16, i32;
    u16: 'u' 16 u16, u32;
    s32: 's' 32 i32, i64;
    u32: 'u' 32 u32, u64;
    s64: 's' 64 i64, i128;
    u64: 'u' 64 u64, u128;
}

/// An instruction of one operand.
pub(super) fn unary(name: &str, ty: Type, modifiers: &[String]) -> Option<F1> {
    let has = |word: &str| modifiers.iter().any(|m| m == word);
    match name {
        "neg" => by_type!(ty, neg),
        "abs" => by_type!(ty, abs),
        "popc" => by_type!(ty, popc),
        "clz" => by_type!(ty, clz),
        "brev" => by_type!(ty, brev),
        "bfind" if has("shiftamt") => by_type!(ty, bfind_shift),
        "bfind" => by_type!(ty, bfind),
        "not" if ty.kind == 'p' => Some(|a| (a & 1) ^ 1),
        "not" => Some(|a| !a),
        "cnot" => by_type!(ty, is_zero),
        _ => None,
    }
}

/// An instruction of two operands.
pub(super) fn binary(name: &str, ty: Type, modifiers: &[String]) -> Option<F2> {
    let has = |word: &str| modifiers.iter().any(|m| m == word);
    match name {
        "add" if has("sat") => by_type!(ty, add_sat),
        "add" => by_type!(ty, add),
        "sub" if has("sat") => by_type!(ty, sub_sat),
        "sub" => by_type!(ty, sub),
        "mul" if has("wide") && ty.bits < 64 => by_type!(ty, mul_wide),
        "mul" if has("hi") => by_type!(ty, mul_hi),
        "mul" => by_type!(ty, mul),
        "mul24" if ty.bits == 32 => match (ty.kind, has("hi")) {
            ('s', false) => Some(|a, b| low24_signed(a, b).cast_unsigned() & 0xffff_ffff),
            ('s', true) => Some(|a, b| (low24_signed(a, b) >> 16).cast_unsigned()),
            (_, false) => Some(|a, b| ((a & 0xff_ffff) * (b & 0xff_ffff)) & 0xffff_ffff),
            (_, true) => Some(|a, b| ((a & 0xff_ffff) * (b & 0xff_ffff)) >> 16),
        },
        "div" => by_type!(ty, div),
        "rem" => by_type!(ty, rem),
        "min" => by_type!(ty, min),
        "max" => by_type!(ty, max),
        "and" => Some(|a, b| a & b),
        "or" => Some(|a, b| a | b),
        "xor" => Some(|a, b| a ^ b),
        "shl" => by_type!(ty, shl),
        "shr" => by_type!(ty, shr),
        "bmsk" => Some(if has("wrap") { mask_wrapped } else { mask_clamped }),
        _ => None,
    }
}

/// An instruction of three operands.
pub(super) fn ternary(name: &str, ty: Type, modifiers: &[String]) -> Option<F3> {
    let has = |word: &str| modifiers.iter().any(|m| m == word);
    match name {
        "mad" if has("wide") && ty.bits < 64 => by_type!(ty, mad_wide),
        "mad" if has("hi") && has("sat") => by_type!(ty, mad_hi_sat),
        "mad" if has("hi") => by_type!(ty, mad_hi),
        "mad" => by_type!(ty, mad),
        "sad" => by_type!(ty, sad),
        "bfe" if ty.bits >= 32 => by_type!(ty, bfe),
        "shf" => Some(match (has("l"), has("wrap")) {
            (true, true) => |a, b, c| funnel(a, b) << (c & 31) >> 32,
            (true, false) => |a, b, c| funnel(a, b) << (c & 0xffff_ffff).min(32) >> 32,
            (false, true) => |a, b, c| funnel(a, b) >> (c & 31) & 0xffff_ffff,
            (false, false) => |a, b, c| funnel(a, b) >> (c & 0xffff_ffff).min(32) & 0xffff_ffff,
        }),
        _ => None,
    }
}

/// What compares two integers; on predicates and bits only whether they are equal.
pub(super) fn compare(word: &str, ty: Type) -> Option<F2> {
    let unsigned = Type { kind: 'u', ..ty };
    match word {
        "eq" => by_type!(ty, eq),
        "ne" => by_type!(ty, ne),
        "lt" => by_type!(ty, lt),
        "le" => by_type!(ty, le),
        "gt" => by_type!(ty, gt),
        "ge" => by_type!(ty, ge),
        "lo" => by_type!(unsigned, lt),
        "ls" => by_type!(unsigned, le),
        "hi" => by_type!(unsigned, gt),
        "hs" => by_type!(unsigned, ge),
        _ => None,
    }
}

fn low24_signed(a: u64, b: u64) -> i64 {
    let extended = |a: u64| i64::from(i32::low(a << 8) >> 8);
    extended(a) * extended(b)
}

/// Two words of 32 bits as one, `b` above.
fn funnel(a: u64, b: u64) -> u64 {
    (a & 0xffff_ffff) | b << 32
}

/// So many (`b`) ones from bit `a` on.
fn mask_clamped(a: u64, b: u64) -> u64 {
    let (from, count) = ((a & 0xffff_ffff).min(32), (b & 0xffff_ffff).min(32));
    ((1 << count) - 1) << from & 0xffff_ffff
}

fn mask_wrapped(a: u64, b: u64) -> u64 {
    mask_clamped(a & 31, b & 31)
}

/// `c` bits of `a` put into `b` from bit `at` on.
pub(super) fn insert(bits: u32, a: u64, b: u64, at: u64, c: u64) -> u64 {
    let (at, count) = ((at & 0xff).min(u64::from(bits)), (c & 0xff).min(u64::from(bits)));
    let ones = if count >= 64 { u64::MAX } else { (1 << count) - 1 };
    let shifted = |v: u64| if at >= 64 { 0 } else { v << at };
    (b & !shifted(ones)) | shifted(a & ones)
}

/// Bytes of `a` and `b` by the digits of `c`; a digit from 8 on repeats the sign of the byte. A mode chooses otherwise.
pub(super) fn permute(mode: Option<&str>, a: u64, b: u64, c: u64) -> u64 {
    let bytes = (funnel(a, b)).to_le_bytes();
    let c = c & 0xffff_ffff;
    let at = |i: u64| u64::from(bytes[(i & 7) as usize]);
    let first = c & 3;
    let chosen = |i: u64| match mode {
        None => {
            let digit = c >> (4 * i) & 15;
            if digit & 8 == 0 { at(digit) } else { at(digit).wrapping_shr(7) * 0xff }
        }
        Some("f4e") => at(first + i),
        Some("b4e") => at(first.wrapping_sub(i)),
        Some("rc8") => at(first),
        Some("ecl") => at(first.max(i)),
        Some("ecr") => at(first.min(i)),
        Some(_) => at((first & 1) * 2 + (i & 1)),
    };
    (0..4).map(|i| chosen(i) << (8 * i)).sum()
}

/// Each bit of the result by the three bits of the operands, looked up in `table`.
pub(super) fn lookup(a: u64, b: u64, c: u64, table: u64) -> u64 {
    let term = |i: u64| {
        let of = |v: u64, bit: u64| if i & bit == 0 { !v } else { v };
        if table >> i & 1 == 0 { 0 } else { of(a, 4) & of(b, 2) & of(c, 1) }
    };
    (0..8).map(term).fold(0, |all, one| all | one)
}

/// The sum of products of four bytes and `c`.
pub(super) fn dot4(a_signed: bool, b_signed: bool, a: u64, b: u64, c: u64) -> u64 {
    let byte = |v: u64, i: u32, signed: bool| {
        let byte = v.to_le_bytes()[i as usize];
        if signed { i64::from(byte.cast_signed()) } else { i64::from(byte) }
    };
    let sum: i64 = (0..4).map(|i| byte(a, i, a_signed) * byte(b, i, b_signed)).sum();
    c.wrapping_add_signed(sum) & 0xffff_ffff
}
