//! The tag stage of NVIDIA's first-level cache since Volta.
//!
//! The cache has four sets (Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via
//! Microbenchmarking", 2018, table of the L1 data cache), and the tag stage looks up four tags per
//! cycle for the whole warp at once (NVIDIA, developer forum, "Pascal L1 cache"). One tag per set and
//! cycle says both, so that a warp takes as many cycles as the fullest set has lines. Which set a line
//! belongs to is not documented; the exclusive or of all pairs of bits of the line's number reproduces
//! 144 measured access patterns to 2.2 % on average (docs/model-l1.md), and every change of one bit of
//! that rule makes it worse.

/// Sets of the cache.
const SETS: u32 = 4;

/// The set of a line. The upper half of the number is left out: lines of one warp seldom differ there,
/// and then alike.
pub fn set_of(line: u32) -> u32 {
    let mut x = line;
    x ^= x >> 16;
    x ^= x >> 8;
    x ^= x >> 4;
    x ^= x >> 2;
    x % SETS
}

/// Lines in the fullest set; `lines` are distinct, relative to `first`.
pub fn conflicts(lines: &[u32], first: u32) -> u32 {
    // Sums of bits instead of a table of counters: no branches, so that compilers vectorise it.
    let (mut low, mut high, mut both) = (0, 0, 0);
    for line in lines {
        let set = set_of(line.wrapping_add(first));
        low += set & 1;
        high += set >> 1;
        both += set & (set >> 1);
    }
    let all = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    (all + both - low - high).max(low - both).max(high - both).max(both)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_pairs_of_bits_together() {
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7, 8].map(set_of), [0, 1, 2, 3, 1, 0, 3, 2, 2]);
        assert_eq!(set_of(0b11_01_10), 0);
    }

    #[test]
    fn the_fullest_set_counts() {
        assert_eq!(conflicts(&[], 5), 0);
        assert_eq!(conflicts(&[0, 1, 2, 3], 0), 1);
        // Lines 0 and 5 share a set.
        assert_eq!(conflicts(&[0, 1, 2, 5], 0), 2);
        // 3 | 4, 5, 6, 7: set 3 twice.
        assert_eq!(conflicts(&[0, 1, 2, 3, 4], 3), 2);
        let all: Vec<u32> = (0..32).collect();
        assert_eq!(conflicts(&all, 0), 8);
    }
}
