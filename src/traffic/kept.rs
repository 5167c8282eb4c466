//! What blocks of an SM load in common, whether they run at a time or one after the other: the L1 has it once.

use super::footprints::{FieldFootprint, Footprints};
use super::in_l1::InL1;
use crate::device::Device;
use crate::quantity::{Bytes, PerItem, PerLaunch, Ratio, Share};

/// What a launch loads of an array that fits in an L1: its distinct bytes, in whole sectors and in whole lines.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Table {
    /// In sectors.
    pub sectors: Bytes<PerLaunch>,
    /// In lines.
    pub lines: Bytes<PerLaunch>,
}

/// The blocks of an SM.
pub(super) struct OfSm {
    /// Those that run at a time.
    resident: f64,
    /// All that run in the course of a launch.
    all: f64,
    /// The share of them that start together.
    at_first: Share,
}

impl OfSm {
    pub(super) fn new(device: &Device, resident: f64, working_blocks: i64) -> Self {
        let all = (working_blocks as f64 / device.sm.count.value.0.max(1) as f64).max(1.0);
        let resident = resident.max(1.0);
        Self { resident, all, at_first: Share::new((resident / all).min(1.0)) }
    }

    /// What competes for the L1, of what the resident blocks would take if each of them had its own.
    pub(super) fn competing(&self, footprints: &Footprints) -> Ratio {
        let (mut own, mut once) = (0.0, 0.0);
        let mut differ = false;
        for f in &footprints.fields {
            let new = self.new_to_sm(f, self.resident, |table| share_of(f.block_alloc.get(), table.lines));
            differ |= new < 1.0;
            own += f.block_alloc.get();
            once += f.block_alloc.get() * new;
        }
        Ratio::new(if differ && own > 0.0 { once / own } else { 1.0 })
    }

    /// What blocks load of a field that the L1 still has of other blocks of the SM.
    pub(super) fn kept(&self, f: &FieldFootprint, footprints: &Footprints, in_l1: &InL1<'_>) -> Bytes<PerItem> {
        let of_all = self.known(f, footprints) * in_l1.miss(footprints.block_alloc).rest();
        if f.new_together >= Share::ALL {
            return of_all;
        }
        let in_step = f.block_load * f.new_together.rest() * in_l1.miss(f.passes.stretch_alloc).rest();
        of_all * self.at_first.rest() + of_all.max(in_step) * self.at_first
    }

    /// What blocks load of a field that earlier blocks of the SM have loaded.
    fn known(&self, f: &FieldFootprint, footprints: &Footprints) -> Bytes<PerItem> {
        let of_block = f.block_load.get() * footprints.whole_items.get();
        let new = self.new_to_sm(f, self.all, |table| share_of(of_block, table.sectors));
        f.block_load * (1.0 - new)
    }

    /// The share of what a block loads of a field that none of so many blocks has loaded before it, on average.
    fn new_to_sm(&self, f: &FieldFootprint, blocks: f64, of_table: impl Fn(&Table) -> f64) -> f64 {
        let common = if f.block_load > Bytes::ZERO {
            Share::new(f.common_load / f.block_load).get().clamp(0.0, 1.0)
        } else {
            0.0
        };
        let shared = 1.0 - common + common / blocks;
        f.table.as_ref().map_or(shared, |table| shared.min(first_of(of_table(table), blocks)))
    }
}

/// A part as a share of a table.
fn share_of(part: f64, table: Bytes<PerLaunch>) -> f64 {
    (part / table.get().max(1.0)).clamp(1e-9, 1.0)
}

/// Of what blocks take that each load the same share of a table, wherever it lies: the part that is new, on average.
fn first_of(share: f64, blocks: f64) -> f64 {
    // `exp_m1` and `ln_1p` keep what is left of small shares.
    let union = -(blocks * (-share).ln_1p()).exp_m1();
    (union / (blocks * share)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_new_once() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(first_of(1.0, 1.0), 1.0);
        near(first_of(1.0, 31.0), 1.0 / 31.0);
        near(first_of(0.5, 2.0), 0.75);
        // Of a large table a block finds little that was loaded before.
        assert!(first_of(1e-6, 8.0) > 0.999_99);
        near(first_of(1e-9, 1.0), 1.0);
    }
}
