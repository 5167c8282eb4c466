//! Kinds of waves: those at the beginning of the grid, of planes and of rows, which find less before them than
//! others do.

use super::counts::{Counts, nested};
use super::fields::{Sizes, TouchedField};
use super::footprints::{FieldFootprint, Footprints, WaveKind};
use super::passes::passes_of_one_stretch;
use super::waves::{Wave, Waves};
use crate::device::Device;
use crate::footprint::Uncounted;

/// A kind of waves with a smaller effect on what is loaded or stored is left to the others.
const LITTLE: f64 = 0.01;
/// What so many capacities lie between is lost.
const FAR: f64 = 4.0;

/// The kinds of waves with their shares, where the wave in the middle does not do: all waves, if they are few,
/// or those in the first plane and those in the first rows of planes, which do not find before them what
/// others do.
pub(super) fn unlike(
    waves: &Waves,
    found: &Footprints,
    device: &Device,
    items_of: &dyn Fn(&Wave) -> f64,
) -> Vec<(Wave, f64)> {
    let sum = |of: &dyn Fn(&FieldFootprint) -> f64| found.fields.iter().map(of).sum::<f64>();
    let again = [0, 1, 2].map(|d| sum(&|f| f.reuse[d] + f.store_reuse[d]));
    let once = sum(&|f| f.wave_load + f.wave_store) - again.iter().sum::<f64>();
    if again.iter().sum::<f64>() <= LITTLE * once {
        return Vec::new();
    }
    if let Some(few) = waves.few() {
        let items: Vec<f64> = few.iter().map(items_of).collect();
        let all = items.iter().sum::<f64>();
        return few.into_iter().zip(items).map(|(wave, items)| (wave, items / all)).collect();
    }
    let capacity = device.llc.as_ref().map_or(device.l2.effective.value.0, |c| c.capacity.value.0) as f64;
    let matters = |(_, share): &(Wave, f64), d: usize| {
        share * again[d] > LITTLE * once && found.past[d] <= FAR * capacity
    };
    let mut kinds: Vec<(Wave, f64)> = Vec::new();
    kinds.extend(waves.in_first_plane().filter(|kind| matters(kind, 2)));
    kinds.extend(waves.in_first_row().filter(|kind| matters(kind, 1)));
    if !kinds.is_empty() {
        let left = kinds.iter().fold(1.0, |left, kind| left * (1.0 - kind.1));
        let others = kinds.iter().map(|kind| kind.1).sum::<f64>();
        for kind in &mut kinds {
            kind.1 *= (1.0 - left) / others;
        }
        kinds.push((waves.middle(), left));
    }
    kinds
}

impl Counts<'_> {
    /// What a kind of waves touches, of which one has so many work items. What is of blocks is as in `like`.
    pub(super) fn kind(
        &mut self,
        fields: &[TouchedField<'_>],
        like: &[FieldFootprint],
        wave: &Wave,
        share: f64,
        items: f64,
        sizes: &Sizes,
    ) -> Result<WaveKind, Uncounted> {
        let (mut all, mut past) = (0.0, [0.0; 3]);
        let mut found = Vec::with_capacity(fields.len());
        for (field, like) in fields.iter().zip(like) {
            let mut of = self.wave(field, wave, sizes)?;
            all += of.all;
            past = std::array::from_fn(|d| past[d] + of.past[d]);
            of.per_item(items);
            found.push(FieldFootprint {
                wave_load: of.load,
                atomics: [of.atomic, like.atomics[1]],
                wave_store: of.store,
                reuse: of.reuse,
                store_reuse: of.store_reuse,
                ..like.clone()
            });
        }
        for (of, like) in found.iter_mut().zip(like) {
            if like.passes.is_of_one_stretch() {
                of.passes = passes_of_one_stretch(of, like.passes.stretch_alloc, all);
            } else {
                of.without_stored();
            }
        }
        Ok(WaveKind { share, wave: all, past: nested(wave, past), fields: found })
    }
}
