//! What blocks have in common wherever they are: it stays in the L1 of an SM while blocks come and go.

use super::counts::FieldCounter;
use super::fields::{Sizes, TouchedField};
use super::places::Representative;
use crate::footprint::{FieldTouches, Uncounted};
use crate::launch::BlockBox;
use crate::quantity::{Bytes, PerBlock, Share};
use crate::space::BlockIndex;

impl FieldCounter<'_> {
    /// Bytes of sectors that a block loads and blocks half a wave away load as well: those that run on the same SM are
    /// about as far. Two such blocks are asked, as one may lie in the same row or column by chance.
    pub(super) fn common(
        &mut self,
        field: &TouchedField,
        of: &Representative,
        resident: i64,
        sizes: &Sizes,
    ) -> Result<Bytes<PerBlock>, Uncounted> {
        let blocks = &of.alike;
        if field.loads.is_empty() || blocks.count() < 2 || moves_everywhere(&field.loads, blocks) {
            return Ok(Bytes::ZERO);
        }
        let alone = self.bytes(&field.loads, &[of.block], sizes.sector)?;
        let mut least = alone;
        for beyond in [0, 1] {
            let other = away(blocks, of.block.from, (resident / 2 + beyond).max(1));
            if other == of.block {
                return Ok(Bytes::ZERO);
            }
            let its = self.bytes(&field.loads, &[other], sizes.sector)?;
            let both = self.bytes(&field.loads, &[of.block, other], sizes.sector)?;
            least = least.min((alone + its - both).max(0.0));
            if least <= 0.0 {
                break;
            }
        }
        Ok(Bytes::new(least * field.times()))
    }
}

/// Blocks that run for the first time are looked at where they are at least one of so many.
const FEWEST_AT_FIRST: i64 = 32;
/// Beyond this, blocks differ in where they begin in a sector and have nothing in common.
const NEARLY_ALL: Share = Share::new(0.95);

impl FieldCounter<'_> {
    /// Of what the blocks of an SM load that start together, the part that none of them has loaded before: in loops they run
    /// in step, so that what several load comes once. All of it where nothing is known of that.
    pub(super) fn new_together(
        &mut self,
        field: &TouchedField,
        of: &Representative,
        own: Bytes<PerBlock>,
        Residency { resident, sms }: Residency,
        sizes: &Sizes,
    ) -> Result<Share, Uncounted> {
        let blocks = &of.alike;
        let all = blocks.count();
        let of_sm = (resident / sms.max(1)).min(all / sms.max(1));
        if field.loads.depth() == 0
            || of_sm < 2
            || own <= Bytes::ZERO
            || all / resident.max(1) >= FEWEST_AT_FIRST
        {
            return Ok(Share::ALL);
        }
        let together: Vec<BlockBox> =
            (0..of_sm).map(|turn| away(blocks, blocks.from, sms / 2 + turn * sms)).collect();
        let union = Bytes::new(self.bytes(&field.loads, &together, sizes.sector)? * field.times());
        let new = Share::new((union / (own * of_sm as f64)).clamp(0.0, 1.0));
        Ok(if new > NEARLY_ALL { Share::ALL } else { new })
    }
}

/// How many blocks run at a time, and on how many SMs.
#[derive(Clone, Copy)]
pub(super) struct Residency {
    pub(super) resident: i64,
    pub(super) sms: i64,
}

/// Whether each block loads from another place, whichever way one goes: far blocks then have nothing in common, and
/// need not be counted.
fn moves_everywhere(loads: &FieldTouches, blocks: &BlockBox) -> bool {
    let counts = blocks.counts();
    loads.steps(blocks, i64::MAX).is_some_and(|steps| (0..3).all(|d| counts[d] < 2 || steps[d] != 0))
}

/// The block so many after another of the same kind, in x-y-z order and round from the last to the first.
fn away(blocks: &BlockBox, from: BlockIndex, distance: i64) -> BlockBox {
    // Grids may have more blocks than 64 bits can number.
    let [nx, ny, nz] = (*blocks.counts()).map(i128::from);
    let at = [0, 1, 2].map(|d| i128::from(from[d]) - i128::from(blocks.from[d]));
    let all = nx.saturating_mul(ny).saturating_mul(nz).max(1);
    let number = at[2].saturating_mul(ny).saturating_add(at[1]).saturating_mul(nx).saturating_add(at[0]);
    let number = number.saturating_add(i128::from(distance)).rem_euclid(all);
    let place = [number % nx.max(1), number / nx.max(1) % ny.max(1), number / nx.max(1) / ny.max(1)];
    let along = |d: usize| {
        blocks.from[d].saturating_add(
            i64::try_from(place[d]).expect("a place is below the number of blocks along its dimension"),
        )
    };
    BlockBox::one(BlockIndex::along(along))
}
