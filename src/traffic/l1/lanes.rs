//! The lanes of a warp.

use crate::footprint::quotient;

/// Most lanes of a warp: one bit each of a mask.
pub const MOST_LANES: usize = 64;

/// The lanes of a warp: the first byte that each touches, and which of them are active.
#[derive(Debug, Clone, Copy)]
pub struct Lanes<'a> {
    /// Byte addresses by lane; at most 64 count. Those of inactive lanes have no meaning.
    pub addresses: &'a [i64],
    /// Bit `i` is set if lane `i` is active.
    pub active: u64,
}

impl<'a> Lanes<'a> {
    /// All lanes active.
    pub fn all(addresses: &'a [i64]) -> Self {
        Self { addresses, active: u64::MAX }
    }

    /// Number of active lanes.
    pub(super) fn count(&self) -> u32 {
        let there = self.addresses.len().min(MOST_LANES);
        let mask = if there == MOST_LANES { u64::MAX } else { (1 << there) - 1 };
        (self.active & mask).count_ones()
    }

    /// A group of `size` lanes.
    pub(super) fn part(&self, number: usize, size: usize) -> Self {
        let there = self.addresses.len().min(MOST_LANES);
        let from = (number * size).min(there);
        let addresses = &self.addresses[from..there.min(from + size)];
        // Behind the last lane none is active.
        Self { addresses, active: if from < MOST_LANES { self.active >> from } else { 0 } }
    }

    /// Whether each active lane and the one whose number differs in bit `bit` (1, 2, 4, ...) begin at the same
    /// address, as far as that one is active.
    pub(super) fn pair_up(&self, bit: usize) -> bool {
        let there = self.addresses.len().min(MOST_LANES);
        let active = |lane: usize| lane < there && self.active >> lane & 1 == 1;
        let alike = |lane: usize| {
            let other = lane ^ bit;
            !active(other) || self.addresses[lane] == self.addresses[other]
        };
        (0..there).filter(|&lane| active(lane)).all(alike)
    }

    /// Addresses of the active lanes.
    fn there(&self) -> impl Iterator<Item = i64> + '_ {
        let lanes = self.addresses.iter().take(MOST_LANES).enumerate();
        lanes.filter(|(i, _)| self.active >> i & 1 == 1).map(|(_, &a)| a)
    }

    pub(super) fn groups(&self, size: usize) -> usize {
        self.addresses.len().min(MOST_LANES).div_ceil(size)
    }

    /// Distinct units of `unit` bytes that active lanes touch, ascending.
    pub fn touched(&self, width: i64, unit: i64) -> Vec<i64> {
        distinct(self.there(), width, unit)
    }
}

/// Distinct units of `unit` bytes, ascending.
fn distinct(addresses: impl Iterator<Item = i64>, width: i64, unit: i64) -> Vec<i64> {
    let mut units: Vec<i64> = Vec::with_capacity(MOST_LANES);
    for address in addresses {
        let last = quotient(address.saturating_add(width - 1), unit);
        let first = quotient(address, unit);
        // Neighbouring lanes mostly touch the same unit.
        if first < last {
            units.extend(first..=last);
        } else if units.last() != Some(&first) {
            units.push(first);
        }
    }
    if !units.is_sorted() {
        units.sort_unstable();
    }
    units.dedup();
    units
}
