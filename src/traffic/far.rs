//! How far back in a single row of blocks the lines of a wave were touched before. In grids of several rows and planes
//! that is a row or a plane; where a kernel folds its grid into one row, only counting tells.

use super::common::soon_counted;
use super::fields::{Sizes, TouchedField};
use super::waves::Waves;
use crate::launch::BlockBox;
use crate::space::Grid;

/// Waves back that are looked at: more than that leave hardly a cache between them.
const MOST_WAVES: i64 = 64;
/// A part of what a wave touches that is left out.
const LITTLE: f64 = 0.01;
/// Distances are found to this part of a wave.
const TO_PART: i64 = 32;

/// Distances in blocks at which a wave of a single row of blocks finds half, and nearly all of what it finds beyond the
/// wave before it; none where that is next to nothing, or takes long to tell.
pub(super) fn far_back(waves: &Waves, fields: &[TouchedField], sizes: &Sizes) -> Option<[i64; 2]> {
    let (all, size) = (waves.in_one_row()?, waves.size());
    let most = (all - size).min(size.saturating_mul(MOST_WAVES));
    let row = BlockBox::whole(Grid::known([all, 1, 1]));
    let far = fields.iter().filter(|field| may_return(field, &row, size)).collect::<Vec<_>>();
    if most <= size || far.is_empty() {
        return None;
    }
    // One that has so much before it.
    let wave = Wave { start: ((all - size) / 2).max(most), waves, fields: &far, sizes };
    let (near, most_found) = (wave.finds(size)?, wave.finds(most)?);
    if most_found - near <= LITTLE * wave.loads()? {
        return None;
    }
    let nearest = |share: f64| -> Option<i64> {
        let (mut too_few, mut enough) = (size, most);
        while enough - too_few > (size / TO_PART).max(1) {
            let between = too_few + (enough - too_few) / 2;
            let is_enough = wave.finds(between)? - near >= share * (most_found - near);
            *(if is_enough { &mut enough } else { &mut too_few }) = between;
        }
        Some(enough)
    };
    Some([nearest(0.5)?, nearest(1.0 - LITTLE)?])
}

/// Whether a wave may touch what has been touched more than a wave before.
fn may_return(field: &TouchedField, row: &BlockBox, size: i64) -> bool {
    !field.private
        && !field.fetched().is_empty()
        && field.touched().apart(row).is_none_or(|apart| apart > size)
}

/// A wave and the fields that it may come back to.
struct Wave<'w> {
    start: i64,
    waves: &'w Waves,
    fields: &'w [&'w TouchedField],
    sizes: &'w Sizes,
}

impl Wave<'_> {
    fn blocks(&self) -> Vec<BlockBox> {
        self.waves.blocks(self.start, self.waves.size())
    }

    /// Bytes that it loads.
    fn loads(&self) -> Option<f64> {
        let own = self.blocks();
        let count = |field: &&TouchedField| soon_counted(field, &[(field.fetched(), &own)], self.sizes.fetch);
        self.fields.iter().map(count).sum()
    }

    /// Bytes of these that so many blocks before it have touched.
    fn finds(&self, back: i64) -> Option<f64> {
        let (own, before) = (self.blocks(), self.waves.blocks(self.start - back, back));
        let count = |field: &&TouchedField| {
            let earlier = soon_counted(field, &[(field.touched(), &before)], self.sizes.fetch)?;
            let parts: [(_, &[BlockBox]); 2] = [(field.fetched(), &own), (field.touched(), &before)];
            Some(earlier - soon_counted(field, &parts, self.sizes.fetch)?)
        };
        Some(self.loads()? + self.fields.iter().map(count).sum::<Option<f64>>()?)
    }
}
