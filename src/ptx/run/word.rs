//! Values on their way between registers: 64 bits each, of which an instruction looks at the low ones.

/// A function of one register.
pub(super) type F1 = fn(u64) -> u64;
/// A function of two registers.
pub(super) type F2 = fn(u64, u64) -> u64;
/// A function of three registers.
pub(super) type F3 = fn(u64, u64, u64) -> u64;

/// A type that the low bits of a register hold.
pub(super) trait Word: Copy {
    /// The low bits.
    fn low(word: u64) -> Self;
    /// As a register holds it: with the sign above, if there is one. What does not fit is cut off.
    fn word(self) -> u64;
}

macro_rules! words {
    ($($t:ty)*) => {
        $(impl Word for $t {
            #[inline]
            #[expect(clippy::allow_attributes, reason = "which lint fires differs between the types")]
            #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, trivial_numeric_casts)]
            fn low(word: u64) -> Self {
                word as $t
            }
            #[inline]
            #[expect(clippy::allow_attributes, reason = "which lint fires differs between the types")]
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_lossless, trivial_numeric_casts)]
            fn word(self) -> u64 {
                self as u64
            }
        })*
    };
}

words! { u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 }

impl Word for f32 {
    #[inline]
    fn low(word: u64) -> Self {
        f32::from_bits(u32::low(word))
    }
    #[inline]
    fn word(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Word for f64 {
    #[inline]
    fn low(word: u64) -> Self {
        f64::from_bits(word)
    }
    #[inline]
    fn word(self) -> u64 {
        self.to_bits()
    }
}
