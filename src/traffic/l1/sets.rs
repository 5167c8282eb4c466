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

/// Lines that are looked up at once, so that compilers use vector instructions.
pub const TOGETHER: usize = 8;

/// The distinct lines of a warp.
#[derive(Debug, Clone, Copy)]
pub struct LineChunks<'a> {
    /// The lines, and zeros up to a whole chunk.
    pub chunks: &'a [[u32; TOGETHER]],
    /// How many there are.
    pub number: u32,
}

/// Adds the next line to those of a warp, of which there are `number` already.
pub fn put(line: u32, number: usize, chunks: &mut Vec<[u32; TOGETHER]>) {
    let place = number % TOGETHER;
    match chunks.last_mut() {
        Some(chunk) if place > 0 => chunk[place] = line,
        _ => {
            let mut chunk = [0; TOGETHER];
            chunk[0] = line;
            chunks.push(chunk);
        }
    }
}

/// Lines in the fullest set for a warp that touches `lines` from line `first` on; at most 1023 lines.
pub fn conflicts(first: u32, lines: LineChunks) -> u32 {
    // Sums of bits instead of tables of counters, so that there are no branches: lines in an odd set, in
    // an upper set, and in the last one, ten bits each.
    let mut sums = [0_u32; TOGETHER];
    for chunk in lines.chunks {
        for (sum, line) in sums.iter_mut().zip(chunk) {
            let set = set_of(line.wrapping_add(first));
            let (odd, upper) = (set & 1, set >> 1);
            *sum = sum.wrapping_add(odd | upper << 10 | (odd & upper) << 20);
        }
    }
    let sum = sums.into_iter().fold(0_u32, u32::wrapping_add);
    let (odd, upper, last) = (sum & 0x3ff, sum >> 10 & 0x3ff, sum >> 20);
    let all = u32::try_from(lines.chunks.len() * TOGETHER).expect("a warp touches few lines");
    let mut counts = [
        all.wrapping_add(last).wrapping_sub(odd).wrapping_sub(upper),
        odd.wrapping_sub(last),
        upper.wrapping_sub(last),
        last,
    ];
    // What fills the last chunk was counted in the set of the first line.
    let filled = &mut counts[set_of(first) as usize];
    *filled = filled.wrapping_sub(all.wrapping_sub(lines.number));
    counts.into_iter().fold(0, u32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(first: u32, lines: &[u32]) -> u32 {
        let mut chunks = Vec::new();
        lines.iter().enumerate().for_each(|(i, &line)| put(line, i, &mut chunks));
        conflicts(first, LineChunks { chunks: &chunks, number: u32::try_from(lines.len()).unwrap() })
    }

    #[test]
    fn sets_are_pairs_of_bits_together() {
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7, 8].map(set_of), [0, 1, 2, 3, 1, 0, 3, 2, 2]);
        assert_eq!(set_of(0b11_01_10), 0);
    }

    #[test]
    fn the_fullest_set_counts() {
        assert_eq!(passes(5, &[]), 0);
        assert_eq!(passes(0, &[0, 1, 2, 3]), 1);
        // Lines 0 and 5 share a set.
        assert_eq!(passes(0, &[0, 1, 2, 5]), 2);
        // 3 | 4, 5, 6, 7: set 3 twice.
        assert_eq!(passes(3, &[0, 1, 2, 3, 4]), 2);
        let all: Vec<u32> = (0..32).collect();
        assert_eq!(passes(0, &all), 8);
    }

    #[test]
    fn chunks_count_as_single_lines_do() {
        for first in [0, 1, 77, 250, 1000, 0x1234_5678, u32::MAX - 3] {
            for number in [1, 2, 7, 8, 9, 16, 31, 64] {
                let lines: Vec<u32> = (0..number).map(|i: u32| i * i * 7 % 1013).collect();
                let mut sizes = [0_u32; 4];
                for line in &lines {
                    sizes[set_of(line.wrapping_add(first)) as usize] += 1;
                }
                assert_eq!(Some(passes(first, &lines)), sizes.into_iter().max(), "{first} {number}");
            }
        }
    }
}
