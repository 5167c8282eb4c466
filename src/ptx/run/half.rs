//! Numbers of 16 bits: halves (`f16`) and the upper halves of singles (`bf16`).

use super::word::Word;

/// The value of a half.
pub(super) fn from_half(word: u64) -> f32 {
    let (sign, exponent, fraction) = (word >> 15 & 1, word >> 10 & 31, word & 0x3ff);
    let magnitude = match exponent {
        // 2^-24 times the fraction.
        0 => f32::from(u16::low(fraction)) * f32::from_bits(0x3380_0000),
        31 => f32::from_bits(0x7f80_0000 | u32::low(fraction) << 13),
        _ => f32::from_bits((u32::low(exponent) + 112) << 23 | u32::low(fraction) << 13),
    };
    if sign == 0 { magnitude } else { -magnitude }
}

/// The nearest half, the even one of two.
pub(super) fn half(value: f32) -> u64 {
    let bits = value.to_bits();
    let (sign, rest) = (u64::from(bits >> 31) << 15, bits & 0x7fff_ffff);
    let magnitude = if rest > 0x7f80_0000 {
        0x7fff
    } else if rest >= 0x4780_0000 {
        0x7c00
    } else if rest >= 0x3880_0000 {
        // What rounding carries out of the fraction goes on into the exponent, up to infinity.
        rounded(u64::from(rest) - (112 << 23), 13)
    } else {
        let shift = 126 - u64::from(rest >> 23).max(101);
        let fraction = u64::from(rest & 0x7f_ffff | u32::from(rest >> 23 != 0) << 23);
        if rest < 0x3300_0000 { 0 } else { rounded(fraction, shift) }
    };
    sign | magnitude
}

/// Without the last bits, to the nearest, of two to the even one.
fn rounded(value: u64, bits: u64) -> u64 {
    let (whole, rest, middle) = (value >> bits, value & ((1 << bits) - 1), 1 << (bits - 1));
    whole + u64::from(rest > middle || rest == middle && whole & 1 != 0)
}

/// The value of a `bf16`.
pub(super) fn from_brain(word: u64) -> f32 {
    f32::from_bits(u32::from(u16::low(word)) << 16)
}

/// The nearest `bf16`.
pub(super) fn brain(value: f32) -> u64 {
    if value.is_nan() { 0x7fff } else { rounded(u64::from(value.to_bits()), 16) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_comes_back() {
        for bits in 0..=u64::from(u16::MAX) {
            let value = from_half(bits);
            if value.is_nan() {
                assert_eq!(half(value) & 0x7c00, 0x7c00);
            } else {
                assert_eq!(half(value), bits, "{value}");
            }
            let value = from_brain(bits);
            assert!(value.is_nan() || brain(value) == bits, "{value}");
        }
    }

    #[test]
    fn halves_are_the_nearest_ones() {
        // Between any two neighbours: below, at and above the middle.
        for bits in 0..0x7bff_u64 {
            let (low, high) = (from_half(bits), from_half(bits + 1));
            let middle = f32::midpoint(low, high);
            assert_eq!(half(middle), bits + (bits & 1), "{middle}");
            assert_eq!(half(middle.next_down()), bits, "{middle}");
            assert_eq!(half(middle.next_up()), bits + 1, "{middle}");
        }
        assert_eq!((half(65520.0), half(65519.0), half(-1e9)), (0x7c00, 0x7bff, 0xfc00));
    }
}
