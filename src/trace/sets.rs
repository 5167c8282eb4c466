//! From a line to its cache set (N 4.3, 5.1).

use crate::random::mixed;

/// A function from line numbers (addresses over the size of a line) to sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetIndex {
    /// The remainder by the number of sets.
    Modulo(u32),
    /// The exclusive or of all groups of as many bits as a set's number has; a power of two of sets.
    Xor(u32),
    /// Fermi's hash (N figure 6); 32 sets for 16 KB, 64 for 48 KB. Nobody has measured others: fewer take
    /// remainders of it, and among more than 64, the line's further bits choose.
    Fermi(u32),
    /// A hash of all bits, as caches have that nobody has taken apart: strides do not matter.
    Hash(u32),
    /// Bit `i` of the set is the parity of the line's bits under mask `i`: a matrix over GF(2).
    Matrix(Vec<u64>),
}

impl serde::Serialize for SetIndex {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.word())
    }
}

/// Sets beyond which a number is hardly meant.
const MOST_SETS: u64 = 1 << 24;

impl SetIndex {
    /// The function that is taken where none is named.
    pub const DEFAULT: &'static str = "fermi";

    /// As [`parse`](Self::parse) reads it.
    pub fn word(&self) -> String {
        match self {
            SetIndex::Modulo(_) => "modulo".to_owned(),
            SetIndex::Xor(_) => "xor".to_owned(),
            SetIndex::Fermi(_) => "fermi".to_owned(),
            SetIndex::Hash(_) => "hash".to_owned(),
            SetIndex::Matrix(rows) => rows.iter().map(|m| format!("{m:#x}")).collect::<Vec<_>>().join(","),
        }
    }

    /// Number of sets.
    pub fn sets(&self) -> usize {
        match self {
            SetIndex::Modulo(n) | SetIndex::Fermi(n) | SetIndex::Hash(n) => (*n).max(1) as usize,
            SetIndex::Xor(n) => (*n).max(1).next_power_of_two() as usize,
            SetIndex::Matrix(rows) => 1 << rows.len().min(24),
        }
    }

    /// The set of a line.
    #[expect(clippy::cast_possible_truncation, reason = "less than the number of sets")]
    pub fn set(&self, line: u64) -> u32 {
        match self {
            SetIndex::Modulo(n) => (line % u64::from((*n).max(1))) as u32,
            SetIndex::Xor(n) => {
                let bits = (*n).max(1).next_power_of_two().ilog2();
                if bits == 0 {
                    return 0;
                }
                let (mut rest, mut set) = (line, 0);
                while rest != 0 {
                    set ^= rest & ((1 << bits) - 1);
                    rest >>= bits;
                }
                set as u32
            }
            SetIndex::Fermi(n) => {
                let high = ((line >> 6) & 7) | ((line >> 10) & 1) << 3 | ((line >> 12) & 1) << 4;
                let hash = ((line & 31) ^ high) + 32 * ((line >> 5) & 1);
                let sets = u64::from((*n).max(1));
                let further = (line >> 6) % sets.div_ceil(64);
                ((hash + 64 * further) % sets) as u32
            }
            SetIndex::Hash(n) => ((u128::from(mixed(line)) * u128::from((*n).max(1))) >> 64) as u32,
            SetIndex::Matrix(rows) => {
                let bit = |(i, mask): (usize, &u64)| ((line & mask).count_ones() & 1) << i;
                rows.iter().take(24).enumerate().map(bit).sum()
            }
        }
    }

    /// By name (`modulo`, `xor`, `fermi`, `hash`) for a number of sets, or a matrix: masks of line bits in
    /// hexadecimal with commas between them, lowest bit of the set first.
    pub fn parse(text: &str, sets: u64) -> Result<Self, String> {
        let number = u32::try_from(sets).ok().filter(|&n| n > 0 && sets <= MOST_SETS);
        let number = number.ok_or_else(|| format!("{sets} sets are not between 1 and {MOST_SETS}"))?;
        match text {
            "modulo" => Ok(SetIndex::Modulo(number)),
            "fermi" => Ok(SetIndex::Fermi(number)),
            "hash" => Ok(SetIndex::Hash(number)),
            "xor" if number.is_power_of_two() => Ok(SetIndex::Xor(number)),
            "xor" => Err(format!("{number} sets are no power of two, as xor needs")),
            masks => {
                let mask = |m: &str| u64::from_str_radix(m.trim().trim_start_matches("0x"), 16);
                let rows: Result<Vec<u64>, _> = masks.split(',').map(mask).collect();
                let rows = rows.map_err(|_| {
                    format!("`{text}` is not modulo, xor, fermi, hash or masks such as 0x1041,0x2082")
                })?;
                let makes = 1_u64 << rows.len().min(63);
                if makes == sets {
                    Ok(SetIndex::Matrix(rows))
                } else {
                    Err(format!("{} masks make {makes} sets, but the cache has {sets}", rows.len()))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rank of the set bits that vary over strided lines is the number of set bits in use.
    fn varied(index: &SetIndex, log_stride: u32, loads: u64) -> u32 {
        let sets: std::collections::HashSet<u32> =
            (0..loads).map(|i| index.set((i << log_stride) >> 7)).collect();
        sets.len().ilog2()
    }

    #[test]
    fn figure_7_counts_the_set_bits_of_each_stride() {
        let fermi = SetIndex::Fermi(32);
        let last_row: Vec<u32> = (7..=20).map(|s| varied(&fermi, s, 128)).collect();
        assert_eq!(last_row, [5, 5, 5, 5, 5, 4, 5, 4, 3, 2, 2, 1, 1, 0]);
    }

    #[test]
    fn a_matrix_says_the_same_as_fermis_hash() {
        // Address bits 7 to 11 with 13, 14, 15, 17, 19 (N 5.1); lines begin at bit 7.
        let masks = "0x41,0x82,0x104,0x408,0x1010";
        let matrix = SetIndex::parse(masks, 32).unwrap();
        let with_bit_12 = SetIndex::parse(&format!("{masks},0x20"), 64).unwrap();
        for line in (0..1_u64 << 20).step_by(37) {
            assert_eq!(matrix.set(line), SetIndex::Fermi(32).set(line));
            assert_eq!(with_bit_12.set(line), SetIndex::Fermi(64).set(line));
        }
        assert!(SetIndex::parse(masks, 64).is_err());
        assert!(SetIndex::parse("xor", 48).is_err() && SetIndex::parse("xyz", 4).is_err());
    }

    #[test]
    fn fermis_hash_uses_all_sets_of_any_number() {
        for sets in [1, 8, 24, 32, 64, 96, 128, 256, 1024] {
            let used: std::collections::HashSet<u32> =
                (0..1_u64 << 16).map(|line| SetIndex::Fermi(sets).set(line)).collect();
            assert_eq!(used.len(), sets as usize);
        }
        for text in ["modulo", "xor", "fermi", "hash", "0x41,0x82,0x104"] {
            assert_eq!(SetIndex::parse(text, 8).unwrap().word(), text);
        }
    }

    #[test]
    fn simple_functions() {
        assert_eq!(SetIndex::Modulo(48).set(100), 4);
        assert_eq!(SetIndex::Xor(4).set(0b01_10_11), 0b00);
        assert_eq!((SetIndex::Xor(1).set(77), SetIndex::Modulo(0).set(5)), (0, 0));
    }
}
