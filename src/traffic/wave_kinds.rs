//! Kinds of waves: those at the beginning of the grid, of planes and of rows, which find less before them than
//! others do.

use super::counts::{FieldCounter, LoadsAndStores, OfWave, nested};
use super::fields::{Sizes, TouchedField};
use super::footprints::{FieldFootprint, Footprints, WaveKind};
use super::passes::passes_of_one_stretch;
use super::waves::{Wave, Waves};
use crate::device::Device;
use crate::footprint::Uncounted;
use crate::quantity::{Bytes, ItemCount, PerItem, PerWave, Share};

/// A kind of waves with a smaller effect on what is loaded or stored is left to the others.
const LITTLE: f64 = 0.01;
/// What so many capacities lie between is lost.
const FAR: f64 = 4.0;

/// The waves of a launch, and what has to be known to count them.
pub(super) struct AllWaves<'a> {
    pub(super) waves: &'a Waves,
    pub(super) items_of: &'a dyn Fn(&Wave) -> ItemCount<PerWave>,
    pub(super) fields: &'a [TouchedField],
    pub(super) sizes: &'a Sizes,
}

/// The kinds of waves with their shares, where the wave in the middle does not do: all waves, if they are few,
/// or those in the first plane and those in the first rows of planes, which do not find before them what
/// others do.
pub(super) fn unlike(
    waves: &Waves,
    found: &Footprints,
    device: &Device,
    items_of: &dyn Fn(&Wave) -> ItemCount<PerWave>,
) -> Vec<(Wave, Share)> {
    if let Some(few) = waves.few() {
        let items: Vec<ItemCount<PerWave>> = few.iter().map(items_of).collect();
        let all = items.iter().sum::<ItemCount<_>>();
        return few.into_iter().zip(items).map(|(wave, items)| (wave, Share::new(items / all))).collect();
    }
    let sum = |of: &dyn Fn(&FieldFootprint) -> Bytes<PerItem>| found.fields.iter().map(of).sum::<Bytes<_>>();
    let again = [0, 1, 2].map(|d| sum(&|f| f.reuse[d] + f.store_reuse[d]));
    let once = sum(&|f| f.wave_load + f.wave_store) - again.iter().sum();
    if again.iter().sum::<Bytes<_>>() <= once * LITTLE {
        return Vec::new();
    }
    let capacity = device.llc.as_ref().map_or(device.l2.effective.value.0, |c| c.capacity.value.0) as f64;
    let matters = |share: &Share, d: usize| {
        again[d] * *share > once * LITTLE && found.past[d] <= Bytes::new(FAR * capacity)
    };
    let of_plane = waves.share_in_first_plane().filter(|share| matters(share, 2));
    let of_row = waves.share_in_first_row().filter(|share| matters(share, 1));
    let mut kinds: Vec<(Wave, Share)> = Vec::new();
    kinds.extend(of_plane.map(|share| (waves.in_first_plane(), share)));
    kinds.extend(of_row.map(|share| (waves.in_first_row(), share)));
    if !kinds.is_empty() {
        let left = kinds.iter().fold(Share::ALL, |left, kind| left * kind.1.rest());
        let others = kinds.iter().map(|kind| kind.1).sum::<Share>();
        for kind in &mut kinds {
            kind.1 *= left.rest() / others;
        }
        kinds.push((waves.middle(), left));
    }
    kinds
}

impl FieldCounter<'_> {
    /// What a kind of waves touches, of which one has so many work items. What is of blocks is as in `like`; of some
    /// waves it is `touched` what they load and store of each field.
    pub(super) fn kind(
        &mut self,
        of: &AllWaves<'_>,
        like: &[FieldFootprint],
        wave: &Wave,
        share: Share,
        items: ItemCount<PerWave>,
        touched: &[LoadsAndStores],
    ) -> Result<WaveKind, Uncounted> {
        let (mut all, mut past) = (Bytes::ZERO, [Bytes::ZERO; 3]);
        let &AllWaves { fields, sizes, .. } = of;
        let mut found = Vec::with_capacity(fields.len());
        let mut known: Vec<(OfWave, [usize; 2])> = Vec::with_capacity(fields.len());
        for (place, (field, like)) in fields.iter().zip(like).enumerate() {
            let before = [self.made, self.verified];
            let of = match field.like {
                Some(other) => {
                    self.count_again(known[other].1);
                    known[other].0
                }
                None => self.wave(field, wave, touched.get(place).copied(), sizes)?,
            };
            known.push((of, self.made_since(before)));
            all += of.all;
            past = std::array::from_fn(|d| past[d] + of.past[d]);
            found.push(FieldFootprint {
                wave_load: of.load.per_item(items),
                atomics: [of.atomic.per_item(items), like.atomics[1]],
                wave_store: of.store.per_item(items),
                reuse: of.reuse.map(|bytes| bytes.per_item(items)),
                store_reuse: of.store_reuse.map(|bytes| bytes.per_item(items)),
                ..like.clone()
            });
        }
        for (of, like) in found.iter_mut().zip(like) {
            if like.passes.of_one_stretch {
                of.passes = passes_of_one_stretch(of, like.passes.stretch_alloc, all);
            } else {
                of.without_stored();
            }
        }
        Ok(WaveKind { share, wave: all, past: nested(wave, past), fields: found })
    }
}
