//! Accesses that lie far apart, such as entries of arrays whose length is a multiple of a large power of two: the tags of
//! all warps cost as much for one of them as for another.

use super::access_shape::TagPasses;
use super::pipe::low_half;
use crate::footprint::{quotient, remainder};

/// Sums that are kept.
const MOST_SUMS: usize = 4;
/// Sums that are noted before one of them was asked for again.
const AT_FIRST: usize = 2;

/// What all warps cost for accesses at some addresses.
#[derive(Debug, Default)]
pub struct KnownMoves {
    /// The last that was added up or asked for comes last.
    sums: Vec<KnownSum>,
    noted: usize,
    /// How often one of them was asked for again.
    again: usize,
}

#[derive(Debug, Clone, Copy)]
struct KnownSum {
    by: MovedBy,
    /// The lower bits of the lines on which it depends.
    bits: u32,
    passes: TagPasses,
}

/// An address: what remains by the period, and lines beyond that.
#[derive(Debug, Clone, Copy)]
pub struct MovedBy {
    remainder: i64,
    lines: u32,
}

impl MovedBy {
    /// The place of an address.
    pub fn new(address: i64, period: i64, line: i64) -> Self {
        let remainder = remainder(address, period);
        Self { remainder, lines: low_half(quotient(address.wrapping_sub(remainder), line)) }
    }
}

impl KnownMoves {
    /// What is known of an access at a place.
    pub fn get(&mut self, by: MovedBy) -> Option<TagPasses> {
        let alike = |s: &KnownSum| (s.by.lines ^ by.lines) & s.bits == 0 && s.by.remainder == by.remainder;
        let found = self.sums.iter().rposition(alike)?;
        self.again += 1;
        let sum = self.sums.remove(found);
        self.sums.push(sum);
        Some(sum.passes)
    }

    /// Whether it pays to note what was added up: it does not where few are asked for again.
    pub fn pays(&self) -> bool {
        self.noted < AT_FIRST + self.again
    }

    /// Notes what all warps cost at a place, and the bits that decide.
    pub fn note(&mut self, by: MovedBy, bits: u32, passes: TagPasses) {
        if self.sums.len() == MOST_SUMS {
            self.sums.remove(0);
        }
        self.sums.push(KnownSum { by, bits, passes });
        self.noted += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{Cycles, Wavefronts};

    fn passes(number: f64) -> TagPasses {
        TagPasses { tag: Wavefronts::new(number), cycles: Cycles::new(number) }
    }

    #[test]
    fn what_differs_in_no_deciding_bit_is_known() {
        let mut moves = KnownMoves::default();
        let place = |address: i64| MovedBy::new(address, 128, 128);
        let tag = |moves: &mut KnownMoves, address| moves.get(place(address)).map(|p| p.tag.get().to_bits());
        moves.note(place(8 + 128 * 5), 0xff, passes(7.0));
        assert_eq!(tag(&mut moves, 8 + 128 * (5 + 256)), Some(7.0_f64.to_bits()));
        assert_eq!(tag(&mut moves, 8 + 128 * (5 - 512)), Some(7.0_f64.to_bits()));
        // Another line, or another remainder.
        assert_eq!(tag(&mut moves, 8 + 128 * (5 + 128)), None);
        assert_eq!(tag(&mut moves, 16 + 128 * (5 + 256)), None);
    }

    #[test]
    fn the_oldest_makes_room_and_useless_notes_end() {
        let mut moves = KnownMoves::default();
        let place = |number: i64| MovedBy::new(128 * number, 128, 128);
        for number in 0..2 {
            assert!(moves.pays());
            moves.note(place(number), u32::MAX, passes(1.0));
        }
        assert!(!moves.pays());
        // One that is asked for again stays longest, and others pay again.
        assert!(moves.get(place(0)).is_some() && moves.pays());
        (2..5).for_each(|number| moves.note(place(number), u32::MAX, passes(1.0)));
        assert!(moves.get(place(1)).is_none() && moves.get(place(0)).is_some());
    }
}
