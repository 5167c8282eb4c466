//! What blocks of an SM load in common, whether they run at a time or one after the other: the L1 has it once.

use super::footprints::{FieldFootprint, Footprints, SmallArray};
use super::in_l1::{AskedAgain, InL1, l1_capacity};
use crate::curve::VolumeFit;
use crate::device::Device;
use crate::launch::{Launch, Occupancy};
use crate::quantity::{Bytes, PerItem, PerLaunch, Ratio, Share};

/// The L1 of an SM, with what its blocks have in common.
pub(super) struct SharedL1<'f> {
    of_sm: OfSm,
    /// As if each block had its own of everything.
    own: InL1<'f>,
    /// With what blocks have in common counted once.
    once: InL1<'f>,
}

impl<'f> SharedL1<'f> {
    pub(super) fn new(
        device: &Device,
        launch: &Launch,
        occupancy: &Occupancy,
        fit: &'f VolumeFit,
        footprints: &Footprints,
    ) -> Self {
        let blocks = occupancy.resident_per_sm(device, footprints.working_blocks) as f64;
        let of_sm = OfSm::new(device, blocks, footprints.working_blocks);
        let capacity = l1_capacity(device, launch, occupancy);
        let own = InL1 { fit, blocks_per_byte: blocks / capacity.get().max(1.0) };
        let competing = of_sm.competing(footprints).get();
        let once = InL1 { fit, blocks_per_byte: own.blocks_per_byte * competing };
        Self { of_sm, own, once }
    }

    /// The L1 as a field finds it.
    pub(super) fn of_field(&self, f: &FieldFootprint) -> &InL1<'f> {
        if self.of_sm.share(f) { &self.once } else { &self.own }
    }

    /// The L1 as a whole. What blocks have in common makes room for itself; whatever else a loop takes competes as if they
    /// had nothing in common.
    pub(super) fn of_blocks(&self, footprints: &Footprints) -> &InL1<'f> {
        let mut fields = footprints.fields.iter();
        let all_share = fields.all(|f| f.block_alloc <= Bytes::ZERO || self.of_sm.share(f));
        if all_share { &self.once } else { &self.own }
    }

    /// What blocks load of a field that the L1 still has from other blocks of the SM.
    pub(super) fn kept(&self, f: &FieldFootprint, footprints: &Footprints) -> Bytes<PerItem> {
        let known = self.known(f, footprints);
        let of_all = known.bytes * self.once.miss(known.after).rest();
        if f.new_together >= Share::ALL {
            return of_all;
        }
        let in_step = f.block_load * f.new_together.rest() * self.own.miss(f.passes.stretch_alloc).rest();
        of_all * self.of_sm.at_first.rest() + of_all.max(in_step) * self.of_sm.at_first
    }

    /// What blocks load of a field that other blocks of the SM have loaded before.
    fn known(&self, f: &FieldFootprint, footprints: &Footprints) -> AskedAgain {
        AskedAgain { bytes: self.of_sm.known(f, footprints), after: footprints.block_alloc }
    }

    /// What could hit of a field in programs without loops, with the oversubscription at which it does or does not.
    pub(super) fn open(
        &self,
        f: &FieldFootprint,
        footprints: &Footprints,
        again: [AskedAgain; 2],
    ) -> [(Ratio, Bytes<PerItem>); 3] {
        let [by_warps, by_items] =
            again.map(|again| (self.of_field(f).oversubscription(again.after), again.bytes));
        let known = self.known(f, footprints);
        [by_warps, by_items, (self.once.oversubscription(known.after), known.bytes)]
    }
}

/// The blocks of an SM.
struct OfSm {
    /// Those that run at a time.
    resident: f64,
    /// All that run in the course of a launch.
    all: f64,
    /// Blocks of the launch.
    launched: f64,
    /// The share of them that start together.
    at_first: Share,
}

impl OfSm {
    fn new(device: &Device, resident: f64, working_blocks: i64) -> Self {
        let launched = (working_blocks as f64).max(1.0);
        let all = (launched / device.sm.count.value.0.max(1) as f64).max(1.0);
        let resident = resident.clamp(1.0, launched);
        Self { resident, all, launched, at_first: Share::new((resident / all).min(1.0)) }
    }

    /// What competes for the L1, of what the resident blocks would take if each of them had its own.
    fn competing(&self, footprints: &Footprints) -> Ratio {
        let (mut own, mut once) = (0.0, 0.0);
        for f in &footprints.fields {
            own += f.block_alloc.get();
            once += f.block_alloc.get() * self.new_lines(f);
        }
        Ratio::new(if once < own { once / own } else { 1.0 })
    }

    /// Whether resident blocks have something of a field in common.
    fn share(&self, f: &FieldFootprint) -> bool {
        self.new_lines(f) < 1.0
    }

    /// What blocks load of a field that earlier blocks of the SM have loaded.
    fn known(&self, f: &FieldFootprint, footprints: &Footprints) -> Bytes<PerItem> {
        let of_block = f.block_load.get() * footprints.whole_items.get();
        f.block_load * (1.0 - self.new_to_sm(f, self.all, |array| share_of(of_block, array.sectors)))
    }

    /// The share of the lines of a block that none of the other resident blocks has brought, on average.
    fn new_lines(&self, f: &FieldFootprint) -> f64 {
        self.new_to_sm(f, self.resident, |array| share_of(f.block_alloc.get(), array.lines))
    }

    /// The share of what a block loads of a field that none of so many blocks has loaded before it, on average.
    fn new_to_sm(&self, f: &FieldFootprint, blocks: f64, of_array: impl Fn(&SmallArray) -> f64) -> f64 {
        let common = if f.block_load > Bytes::ZERO { f.common_load / f.block_load } else { 0.0 };
        let common = common.clamp(0.0, 1.0);
        let shared = 1.0 - common + common / blocks;
        f.small.as_ref().map_or(shared, |array| shared.min(first_of(of_array(array), blocks, self.launched)))
    }
}

/// A part as a share of an array.
fn share_of(part: f64, array: Bytes<PerLaunch>) -> f64 {
    (part / array.get().max(1.0)).clamp(0.0, 1.0)
}

/// Of what `blocks` of the `launched` blocks load that each load a share of an array, wherever it lies: the part that is new, on average.
/// All of the array is loaded by some of them.
///
/// A byte is loaded by as many of all blocks as all of them load the array times over; whether one of some is among these is
/// the hypergeometric distribution, here by the mean of its factors, which is exact where each byte is loaded once.
fn first_of(share: f64, blocks: f64, launched: f64) -> f64 {
    let times = (share * launched).clamp(1.0, launched);
    let (few, many) = if times < blocks { (times, blocks) } else { (blocks, times) };
    let none = (1.0 - many / (launched - (few - 1.0) / 2.0)).max(0.0).powf(few);
    ((1.0 - none) * launched / (blocks * times)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_blocks_have_in_common_is_new_once() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        // All of it by each block: once, however many there are.
        near(first_of(1.0, 1.0, 100.0), 1.0);
        near(first_of(1.0, 31.0, 4096.0), 1.0 / 31.0);
        // Each a part of its own: nothing is shared, on one SM or on many.
        near(first_of(1.0 / 16.0, 16.0, 16.0), 1.0);
        near(first_of(1.0 / 16.0, 4.0, 16.0), 1.0);
        // One SM loads all of the array once.
        near(first_of(0.25, 16.0, 16.0), 0.25);
    }

    /// Against the mean over all ways to choose blocks, where each of 12 blocks loads some of 12 pieces in a row.
    #[test]
    fn it_is_nearly_the_mean_over_all_choices() {
        const ALL: u32 = 12;
        for pieces in 1..=ALL {
            for blocks in 1..=ALL {
                let (mut new, mut choices) = (0, 0);
                for chosen in (0_u32..1 << ALL).filter(|c| c.count_ones() == blocks) {
                    let mut loaded = 0_u32;
                    for block in (0..ALL).filter(|b| chosen >> b & 1 == 1) {
                        for piece in 0..pieces {
                            loaded |= 1 << ((block + piece) % ALL);
                        }
                    }
                    (new, choices) = (new + loaded.count_ones(), choices + 1);
                }
                let mean = f64::from(new) / f64::from(choices) / f64::from(blocks * pieces);
                let found = first_of(f64::from(pieces) / f64::from(ALL), blocks.into(), ALL.into());
                assert!((found - mean).abs() < 0.03 * mean, "{pieces} {blocks}: {found} {mean}");
            }
        }
    }
}
