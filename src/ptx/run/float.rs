//! Floating-point instructions on the bits of registers. Denormal numbers are kept also where `.ftz` would flush them.

use std::cmp::Ordering;

use super::half::{brain, from_brain, from_half, half};
use super::word::{F1, F2, F3, Word};

/// How the numbers of an instruction are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Double,
    Single,
    Half,
    HalfPair,
    Brain,
    BrainPair,
}

impl Format {
    /// The format of a word such as `f32`.
    pub fn named(word: &str) -> Option<Self> {
        Some(match word {
            "f64" => Self::Double,
            "f32" => Self::Single,
            "f16" => Self::Half,
            "f16x2" => Self::HalfPair,
            "bf16" => Self::Brain,
            "bf16x2" => Self::BrainPair,
            _ => return None,
        })
    }
}

macro_rules! formats {
    ($($name:ident: $t:ty, $read:path, $write:path $(, $pair:ident)?;)*) => {
        $(mod $name {
            use super::*;
            formats! { @functions $t, $read, $write $(, $pair)?;
                add(a, b) = a + b;
                sub(a, b) = a - b;
                mul(a, b) = a * b;
                div(a, b) = a / b;
                min(a, b) = a.min(b);
                max(a, b) = a.max(b);
                min_nan(a, b) = if a.is_nan() { a } else if b.is_nan() { b } else { a.min(b) };
                max_nan(a, b) = if a.is_nan() { a } else if b.is_nan() { b } else { a.max(b) };
                copysign(a, b) = b.copysign(a);
                neg(a) = -a;
                abs(a) = a.abs();
                relu(a) = a.max(0.0);
                sat(a) = if a > 0.0 { a.min(1.0) } else { 0.0 };
                sqrt(a) = a.sqrt();
                rcp(a) = 1.0 / a;
                rsqrt(a) = 1.0 / a.sqrt();
                sin(a) = a.sin();
                cos(a) = a.cos();
                lg2(a) = a.log2();
                ex2(a) = a.exp2();
                tanh(a) = a.tanh();
                fma(a, b, c) = a.mul_add(b, c);
            }
            formats! { @comparisons $read;
                eq(a, b) = a == b;
                ne(a, b) = a.partial_cmp(&b).is_some_and(Ordering::is_ne);
                lt(a, b) = a < b;
                le(a, b) = a <= b;
                gt(a, b) = a > b;
                ge(a, b) = a >= b;
                equ(a, b) = a.partial_cmp(&b).is_none_or(Ordering::is_eq);
                neu(a, b) = a != b;
                ltu(a, b) = !(a >= b);
                leu(a, b) = !(a > b);
                gtu(a, b) = !(a <= b);
                geu(a, b) = !(a < b);
                num(a, b) = !a.is_nan() && !b.is_nan();
                nan(a, b) = a.is_nan() || b.is_nan();
            }
        })*
    };
    (@functions $t:ty, $read:path, $write:path, pair; $($f:ident($($a:ident),*) = $value:expr;)*) => {
        formats! { @functions $t, $read, $write; $($f($($a),*) = $value;)* }
        /// Two numbers in a word.
        pub mod pair {
            $(
                pub fn $f($($a: u64),*) -> u64 {
                    let high = super::$f($($a >> 16),*) & 0xffff;
                    super::$f($($a),*) & 0xffff | high << 16
                }
            )*
        }
    };
    (@functions $t:ty, $read:path, $write:path; $($f:ident($($a:ident),*) = $value:expr;)*) => {
        $(
            pub fn $f($($a: u64),*) -> u64 {
                $(let $a: $t = $read($a);)*
                $write($value)
            }
        )*
    };
    (@comparisons $read:path; $($f:ident($($a:ident),*) = $value:expr;)*) => {
        $(
            #[expect(clippy::allow_attributes, reason = "only some of the comparisons are negated or exact")]
            #[allow(clippy::float_cmp, clippy::nonminimal_bool, clippy::neg_cmp_op_on_partial_ord)]
            pub fn $f($($a: u64),*) -> u64 {
                $(let $a = $read($a);)*
                u64::from($value)
            }
        )*
    };
}

formats! {
    single: f32, f32::low, Word::word;
    double: f64, f64::low, Word::word;
    halves: f32, from_half, half, pair;
    brains: f32, from_brain, brain, pair;
}

macro_rules! by_format {
    ($format:expr, $f:ident) => {
        Some(match $format {
            Format::Double => double::$f as _,
            Format::Single => single::$f as _,
            Format::Half => halves::$f as _,
            Format::HalfPair => halves::pair::$f as _,
            Format::Brain => brains::$f as _,
            Format::BrainPair => brains::pair::$f as _,
        })
    };
}

/// An instruction of one operand.
pub(super) fn unary(name: &str, format: Format) -> Option<F1> {
    match name {
        "neg" => by_format!(format, neg),
        "abs" => by_format!(format, abs),
        "relu" => by_format!(format, relu),
        "sat" => by_format!(format, sat),
        "sqrt" => by_format!(format, sqrt),
        "rcp" => by_format!(format, rcp),
        "rsqrt" => by_format!(format, rsqrt),
        "sin" => by_format!(format, sin),
        "cos" => by_format!(format, cos),
        "lg2" => by_format!(format, lg2),
        "ex2" => by_format!(format, ex2),
        "tanh" => by_format!(format, tanh),
        _ => None,
    }
}

/// An instruction of two operands; `nan` where numbers do not win over what is none.
pub(super) fn binary(name: &str, format: Format, nan: bool) -> Option<F2> {
    match (name, nan) {
        ("add", _) => by_format!(format, add),
        ("sub", _) => by_format!(format, sub),
        ("mul", _) => by_format!(format, mul),
        ("div", _) => by_format!(format, div),
        ("min", false) => by_format!(format, min),
        ("max", false) => by_format!(format, max),
        ("min", true) => by_format!(format, min_nan),
        ("max", true) => by_format!(format, max_nan),
        ("copysign", _) => by_format!(format, copysign),
        _ => None,
    }
}

/// An instruction of three operands.
pub(super) fn ternary(name: &str, format: Format) -> Option<F3> {
    matches!(name, "fma" | "mad").then(|| by_format!(format, fma))?
}

/// What compares two numbers.
pub(super) fn compare(word: &str, format: Format) -> Option<F2> {
    macro_rules! of_one {
        ($f:ident) => {
            Some(match format {
                Format::Double => double::$f as F2,
                Format::Single => single::$f as F2,
                Format::Half => halves::$f as F2,
                Format::Brain => brains::$f as F2,
                Format::HalfPair | Format::BrainPair => return None,
            })
        };
    }
    match word {
        "eq" => of_one!(eq),
        "ne" => of_one!(ne),
        "lt" => of_one!(lt),
        "le" => of_one!(le),
        "gt" => of_one!(gt),
        "ge" => of_one!(ge),
        "equ" => of_one!(equ),
        "neu" => of_one!(neu),
        "ltu" => of_one!(ltu),
        "leu" => of_one!(leu),
        "gtu" => of_one!(gtu),
        "geu" => of_one!(geu),
        "num" => of_one!(num),
        "nan" => of_one!(nan),
        _ => None,
    }
}
