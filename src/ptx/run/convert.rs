//! `cvt`: from one type of numbers to another.

use super::half::{brain, from_brain, from_half, half};
use super::word::Word;

/// A type that is converted from or to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    Unsigned(u32),
    Signed(u32),
    Double,
    Single,
    Half,
    Brain,
}

impl Number {
    pub fn named(word: &str) -> Option<Self> {
        Some(match word {
            "u8" | "b8" => Self::Unsigned(8),
            "u16" | "b16" => Self::Unsigned(16),
            "u32" | "b32" => Self::Unsigned(32),
            "u64" | "b64" => Self::Unsigned(64),
            "s8" => Self::Signed(8),
            "s16" => Self::Signed(16),
            "s32" => Self::Signed(32),
            "s64" => Self::Signed(64),
            "f64" => Self::Double,
            "f32" => Self::Single,
            "f16" => Self::Half,
            "bf16" => Self::Brain,
            _ => return None,
        })
    }

    fn float(self) -> bool {
        !matches!(self, Self::Unsigned(_) | Self::Signed(_))
    }
}

/// How a number that is between two is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounding {
    Nearest,
    Zero,
    Down,
    Up,
}

/// A conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Conversion {
    from: Number,
    to: Number,
    rounding: Rounding,
    /// To a whole number, also where it stays a float.
    whole: bool,
    saturate: bool,
    relu: bool,
}

impl Conversion {
    /// The conversion that the parts of a name say: `rni s32 f32`. `None` for what is not known.
    pub fn named(modifiers: &[String]) -> Option<Self> {
        let numbers: Vec<Number> = modifiers.iter().filter_map(|m| Number::named(m)).collect();
        let &[to, from] = numbers.as_slice() else { return None };
        let mut made = Self {
            from,
            to,
            rounding: Rounding::Nearest,
            whole: from.float() && !to.float(),
            saturate: false,
            relu: false,
        };
        for modifier in modifiers {
            let (rounding, whole) = match modifier.as_str() {
                "rn" => (Rounding::Nearest, false),
                "rz" => (Rounding::Zero, false),
                "rm" => (Rounding::Down, false),
                "rp" => (Rounding::Up, false),
                "rni" => (Rounding::Nearest, true),
                "rzi" => (Rounding::Zero, true),
                "rmi" => (Rounding::Down, true),
                "rpi" => (Rounding::Up, true),
                "sat" => {
                    made.saturate = true;
                    continue;
                }
                "relu" => {
                    made.relu = true;
                    continue;
                }
                "ftz" | "satfinite" => continue,
                word if Number::named(word).is_some() => continue,
                _ => return None,
            };
            (made.rounding, made.whole) = (rounding, whole || made.whole);
        }
        Some(made)
    }

    /// Converts the bits of a register.
    pub fn apply(self, word: u64) -> u64 {
        if !self.from.float() {
            let value = integer(self.from, word);
            return match self.to {
                Number::Unsigned(_) | Number::Signed(_) if self.saturate => clamped(self.to, value),
                Number::Unsigned(_) | Number::Signed(_) => cut(self.to, value.word()),
                _ => self.float_of_integer(value),
            };
        }
        let mut value = match self.from {
            Number::Single => f64::from(f32::low(word)),
            Number::Half => f64::from(from_half(word)),
            Number::Brain => f64::from(from_brain(word)),
            _ => f64::low(word),
        };
        if self.whole {
            value = match self.rounding {
                Rounding::Nearest => value.round_ties_even(),
                Rounding::Zero => value.trunc(),
                Rounding::Down => value.floor(),
                Rounding::Up => value.ceil(),
            };
        }
        if !self.to.float() {
            return self.integer_of_float(value);
        }
        if self.saturate {
            value = if value > 0.0 { value.min(1.0) } else { 0.0 };
        }
        if self.relu {
            value = value.max(0.0);
        }
        self.float_of_float(value)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float beyond the range becomes the end of it, as in PTX"
    )]
    fn integer_of_float(self, value: f64) -> u64 {
        if value.is_nan() {
            return if matches!(self.to, Number::Unsigned(64) | Number::Signed(64)) { 1 << 63 } else { 0 };
        }
        clamped(self.to, value as i128)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the nearest single is meant")]
    fn float_of_float(self, value: f64) -> u64 {
        let exact = |single: f32| f64::from(single);
        match self.to {
            Number::Double => value.word(),
            Number::Single => self.directed(value, value as f32, exact, f32::next_down, f32::next_up).word(),
            // By way of an odd single, so that rounding twice is rounding once.
            to => {
                let nearest = odd(value);
                let write = if to == Number::Half { half } else { brain };
                let read = if to == Number::Half { from_half } else { from_brain };
                let step = |by: i64| move |bits: u64| bits.wrapping_add_signed(by);
                let towards = |positive: i64, negative: i64| {
                    move |bits: u64| {
                        if bits >> 15 & 1 == 0 { step(positive)(bits) } else { step(negative)(bits) }
                    }
                };
                let value_of = |bits: u64| f64::from(read(bits));
                self.directed(value, write(nearest), value_of, towards(-1, 1), towards(1, -1))
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the nearest float is meant")]
    fn float_of_integer(self, value: i128) -> u64 {
        let exact = |found: i128| found.cmp(&value);
        let corrected = |found: i128| match (self.rounding, exact(found)) {
            (Rounding::Down, std::cmp::Ordering::Greater) => -1,
            (Rounding::Up, std::cmp::Ordering::Less) => 1,
            (Rounding::Zero, order) if order.is_gt() && value > 0 => -1,
            (Rounding::Zero, order) if order.is_lt() && value < 0 => 1,
            _ => 0,
        };
        match self.to {
            Number::Double => {
                let nearest = value as f64;
                match corrected(nearest as i128) {
                    0 => nearest,
                    -1 => nearest.next_down(),
                    _ => nearest.next_up(),
                }
                .word()
            }
            Number::Single => {
                let nearest = value as f32;
                match corrected(nearest as i128) {
                    0 => nearest,
                    -1 => nearest.next_down(),
                    _ => nearest.next_up(),
                }
                .word()
            }
            // What 16 bits hold fits into a double exactly, or is too large for them anyway.
            _ => self.float_of_float(value as f64),
        }
    }

    /// The nearest value, or its neighbour on the side that is asked for.
    fn directed<T: Copy>(
        self,
        value: f64,
        nearest: T,
        exact: impl Fn(T) -> f64,
        down: impl Fn(T) -> T,
        up: impl Fn(T) -> T,
    ) -> T {
        let found = exact(nearest);
        let lower = match self.rounding {
            Rounding::Nearest => return nearest,
            Rounding::Down => true,
            Rounding::Up => false,
            Rounding::Zero => value > 0.0,
        };
        // What was a whole number already was rounded as a whole number.
        if self.whole && !self.to.float() {
            return nearest;
        }
        if lower && found > value {
            down(nearest)
        } else if !lower && found < value {
            up(nearest)
        } else {
            nearest
        }
    }
}

/// The single below or above that has an odd last bit, where there is none that is equal.
#[expect(clippy::cast_possible_truncation, reason = "a single is meant")]
fn odd(value: f64) -> f32 {
    let nearest = value as f32;
    let found = f64::from(nearest);
    if value.is_nan()
        || found.total_cmp(&value).is_eq()
        || nearest.to_bits() & 1 != 0
        || nearest.is_infinite()
    {
        nearest
    } else if found > value {
        nearest.next_down()
    } else {
        nearest.next_up()
    }
}

fn integer(from: Number, word: u64) -> i128 {
    match from {
        Number::Signed(8) => i128::from(i8::low(word)),
        Number::Signed(16) => i128::from(i16::low(word)),
        Number::Signed(32) => i128::from(i32::low(word)),
        Number::Signed(_) => i128::from(i64::low(word)),
        Number::Unsigned(8) => i128::from(u8::low(word)),
        Number::Unsigned(16) => i128::from(u16::low(word)),
        Number::Unsigned(32) => i128::from(u32::low(word)),
        _ => i128::from(word),
    }
}

/// As many bits as the type has, with the sign or zeros above.
fn cut(to: Number, word: u64) -> u64 {
    integer(to, word).word()
}

fn clamped(to: Number, value: i128) -> u64 {
    let (least, most) = match to {
        Number::Signed(bits) => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
        Number::Unsigned(bits) => (0, (1_i128 << bits) - 1),
        _ => return value.word(),
    };
    value.clamp(least, most).word()
}
