//! Division by units of memory, which mostly are powers of two: shifts instead of divisions.

/// Whether a positive number is a power of two. Counting bits takes longer where the processor may have no
/// instruction for it.
#[inline]
fn is_power(positive: i64) -> bool {
    positive & (positive - 1) == 0
}

/// Quotient by a positive unit, rounded down.
#[inline]
pub fn quotient(address: i64, unit: i64) -> i64 {
    if is_power(unit) { address >> unit.trailing_zeros() } else { address.div_euclid(unit) }
}

/// Remainder by a positive unit; not negative.
#[inline]
pub fn remainder(address: i64, unit: i64) -> i64 {
    if is_power(unit) { address & (unit - 1) } else { address.rem_euclid(unit) }
}

/// Greatest common divisor of a number and a positive one.
pub fn gcd(a: i64, positive: i64) -> i64 {
    if is_power(positive) {
        return 1 << a.trailing_zeros().min(positive.trailing_zeros());
    }
    let (mut a, mut b) = (a.rem_euclid(positive), positive);
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_as_other_numbers() {
        for unit in [1, 2, 3, 12, 32, 96, 128, 1 << 21, i64::MAX] {
            for address in [0, 1, -1, 31, 32, -32, -33, 5136, 1 << 40, i64::MIN / 2] {
                assert_eq!(quotient(address, unit), address.div_euclid(unit), "{address} {unit}");
                assert_eq!(remainder(address, unit), address.rem_euclid(unit), "{address} {unit}");
                let common = gcd(address, unit);
                assert!(unit % common == 0 && address % common == 0, "{address} {unit}");
                let mut greater = (common..=unit.min(5000)).skip(1);
                let greater = greater.find(|d| unit % d == 0 && address % d == 0);
                assert_eq!(greater, None, "{address} {unit}");
            }
        }
    }
}
