//! What blocks have in common wherever they are: it stays in the L1 of an SM while blocks come and go.

use super::counts::FieldCounter;
use super::fields::{Sizes, TouchedField};
use super::footprints::SmallArray;
use super::places::Representative;
use crate::effort::within;
use crate::footprint::{Counter, Engine, FieldTouches, Uncounted};
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

/// Waves of which the first, whose blocks start together, is looked at.
const MOST_WAVES: i64 = 32;
/// Blocks of an SM that stand for all that start together.
const MOST_TOGETHER: i64 = 64;
/// Beyond this, blocks differ in where they begin in a sector and have nothing in common.
const NEARLY_ALL: Share = Share::new(0.95);
/// Steps for a count that can be done without.
const STEPS_IF_SOON: u64 = 1 << 18;

/// The blocks that have work, how many of them run at a time, and on how many SMs.
#[derive(Clone, Copy)]
pub(super) struct Residency {
    pub(super) working: BlockBox,
    pub(super) resident: i64,
    pub(super) sms: i64,
}

/// Of what the blocks of an SM load that start together, the part that none of them has loaded before: in loops they run
/// in step, so that what several load comes once. All of it where nothing is known of that. `own` is what each block
/// loads; without it, blocks load differently.
pub(super) fn new_together(
    field: &TouchedField,
    own: Option<Bytes<PerBlock>>,
    Residency { working, resident, sms }: Residency,
    sizes: &Sizes,
) -> Share {
    let sms = sms.max(1);
    let all = working.count();
    let of_sm = (resident / sms).min(all / sms).min(MOST_TOGETHER);
    if field.loads.depth() == 0
        || of_sm < 2
        || own.is_some_and(|own| own <= Bytes::ZERO)
        || all / resident.max(1) >= MOST_WAVES
    {
        return Share::ALL;
    }
    let every = |turn: i64| away(&working, working.from, (sms / 2).saturating_add(turn.saturating_mul(sms)));
    let together: Vec<BlockBox> = (0..of_sm).map(every).collect();
    let loads = |blocks: &[BlockBox]| soon_counted(field, &[(&field.loads, blocks)], sizes.sector);
    let Some(union) = loads(&together) else { return Share::ALL };
    let apart = match own {
        Some(own) => Some(own.get() * of_sm as f64),
        None => together.iter().map(|&block| loads(&[block])).sum(),
    };
    let Some(apart) = apart.filter(|&apart| apart > 0.0) else { return Share::ALL };
    let new = Share::new((union / apart).clamp(0.0, 1.0));
    if new > NEARLY_ALL { Share::ALL } else { new }
}

/// What all blocks load of a field, if the array fits in an L1.
pub(super) fn small(field: &TouchedField, blocks: &BlockBox, sizes: &Sizes) -> Option<SmallArray> {
    let array = field.array_bytes.filter(|&bytes| bytes <= sizes.l1)?;
    if field.private || field.loads.is_empty() {
        return None;
    }
    // Where that is not soon counted, they load no more than all of it.
    let all = array as f64 * field.times();
    let of = |line| Bytes::new(soon_counted(field, &[(&field.loads, &[*blocks])], line).unwrap_or(all));
    Some(SmallArray { sectors: of(sizes.sector), lines: of(sizes.line) })
}

/// Bytes of lines of a field that are touched in one of several ways; `None` if that is not soon counted.
pub(super) fn soon_counted(
    field: &TouchedField,
    parts: &[(&FieldTouches, &[BlockBox])],
    line: i64,
) -> Option<f64> {
    let by = |engine| {
        let counter = Counter::forced(engine);
        within(STEPS_IF_SOON, || FieldTouches::count(parts, line, &counter))
    };
    let count = by(Engine::Linear).or_else(|_| by(Engine::Runs));
    count.ok().map(|count| count.lines as f64 * line as f64 * field.times())
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
