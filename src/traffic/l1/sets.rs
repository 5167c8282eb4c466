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

/// Warps that are looked up at once, so that compilers use vector instructions.
pub const TOGETHER: usize = 8;

/// Lines in the fullest set for a warp that touches `lines` from a line on; they are distinct.
pub fn conflicts(first: u32, lines: &[u32]) -> u32 {
    let (mut low, mut high, mut both) = (0_u32, 0_u32, 0_u32);
    for line in lines {
        let set = set_of(line.wrapping_add(first));
        low = low.wrapping_add(set & 1);
        high = high.wrapping_add(set >> 1);
        both = both.wrapping_add(set & (set >> 1));
    }
    fullest(lines.len(), low, high, both)
}

/// Lines in the fullest of the sets 0 to 3, from how many lines there are, how many in an odd set, in
/// an upper set, and in the last.
fn fullest(lines: usize, low: u32, high: u32, both: u32) -> u32 {
    let all = u32::try_from(lines).unwrap_or(u32::MAX);
    let none = all.wrapping_add(both).wrapping_sub(low).wrapping_sub(high);
    none.max(low.wrapping_sub(both)).max(high.wrapping_sub(both)).max(both)
}

/// Lines in the fullest set for warps that touch `lines` from each of several lines on.
pub fn conflicts_of(firsts: [u32; TOGETHER], lines: &[u32]) -> [u32; TOGETHER] {
    // Sums of bits instead of tables of counters: no branches.
    let (mut low, mut high, mut both) = ([0_u32; TOGETHER], [0_u32; TOGETHER], [0_u32; TOGETHER]);
    for &line in lines {
        for i in 0..TOGETHER {
            let set = set_of(line.wrapping_add(firsts[i]));
            low[i] = low[i].wrapping_add(set & 1);
            high[i] = high[i].wrapping_add(set >> 1);
            both[i] = both[i].wrapping_add(set & (set >> 1));
        }
    }
    let mut tags = [0; TOGETHER];
    for i in 0..TOGETHER {
        tags[i] = fullest(lines.len(), low[i], high[i], both[i]);
    }
    tags
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
        assert_eq!(conflicts(5, &[]), 0);
        assert_eq!(conflicts(0, &[0, 1, 2, 3]), 1);
        // Lines 0 and 5 share a set.
        assert_eq!(conflicts(0, &[0, 1, 2, 5]), 2);
        // 3 | 4, 5, 6, 7: set 3 twice.
        assert_eq!(conflicts_of([3; TOGETHER], &[0, 1, 2, 3, 4]), [2; TOGETHER]);
        let all: Vec<u32> = (0..32).collect();
        assert_eq!(conflicts(0, &all), 8);
    }
}
