//! What blocks have in common wherever they are: it stays in the L1 of an SM while blocks come and go.

use super::counts::FieldCounter;
use super::fields::{Sizes, TouchedField};
use super::places::Representative;
use crate::footprint::Uncounted;
use crate::launch::BlockBox;
use crate::quantity::{Bytes, PerBlock};
use crate::space::BlockIndex;

impl FieldCounter<'_> {
    /// Bytes of sectors that a block loads and blocks half a wave away load as well: those that run on the same SM are
    /// about as far. Two such blocks are asked, as one may lie in the same row or column by chance.
    pub(super) fn common(
        &mut self,
        field: &TouchedField<'_>,
        of: &Representative,
        resident: i64,
        sizes: &Sizes,
    ) -> Result<Bytes<PerBlock>, Uncounted> {
        let blocks = &of.alike;
        if field.loads.is_empty() || blocks.count() < 2 {
            return Ok(Bytes::ZERO);
        }
        let alone = self.bytes(&field.loads, &[of.block], sizes.sector)?;
        let mut least = alone;
        for beyond in [0, 1] {
            let other = away(blocks, of.block.from, resident / 2 + beyond);
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

/// The block so many after another of the same kind, in x-y-z order and round from the last to the first.
fn away(blocks: &BlockBox, from: BlockIndex, distance: i64) -> BlockBox {
    let [nx, ny, nz] = *blocks.counts();
    let at = [0, 1, 2].map(|d| from[d] - blocks.from[d]);
    let number = (at[0] + nx * (at[1] + ny * at[2]) + distance.max(1)).rem_euclid(nx * ny * nz);
    let place = [number % nx, number / nx % ny, number / nx / ny];
    BlockBox::one(BlockIndex::along(|d| blocks.from[d] + place[d]))
}
