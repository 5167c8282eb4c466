//! What a cache that all SMs share loads from below, over waves of different kinds.

use super::caches::Caches;
use super::footprints::{FieldFootprint, Footprints};
use super::memory::{CacheRates, MemoryVolumes, written_in_part};
use super::passes::Again;
use crate::curve::VolumeFit;
use crate::quantity::{Bytes, PerCache, PerItem, PerWave, Ratio, Share};

/// A cache under each kind of waves.
pub(super) struct SharedCache<'f> {
    pub(super) middle: CacheRates<'f>,
    of: &'f Footprints,
    /// Share of the kind, the cache, and what waves of the kind touch of each field.
    kinds: Vec<(Share, CacheRates<'f>, &'f [FieldFootprint])>,
}

impl<'f> SharedCache<'f> {
    pub(super) fn new(
        capacity: Bytes<PerCache>,
        fit: &'f VolumeFit,
        caches: Caches,
        of: &'f Footprints,
        in_step: Ratio,
    ) -> Self {
        // Lines are kept whole, however little of them is touched.
        let launch = of.launch_bytes() * of.lines.get();
        let whole = |bytes: Bytes<PerWave>| bytes * of.lines.get();
        let cache = |wave, past: [Bytes<PerWave>; 3]| {
            CacheRates::new(capacity, fit, caches, whole(wave), past.map(whole), launch, in_step)
        };
        let middle = cache(of.wave, of.past);
        let mut kinds: Vec<_> =
            of.waves.iter().map(|k| (k.share, cache(k.wave, k.past), k.fields.as_slice())).collect();
        if kinds.is_empty() {
            kinds = vec![(Share::ALL, middle, of.fields.as_slice())];
        }
        Self { middle, of, kinds }
    }

    /// Sectors of a field that are written in part, of `by_warps` that warps store.
    pub(super) fn fill(&self, fit: &VolumeFit, field: usize, by_warps: Bytes<PerItem>) -> Bytes<PerItem> {
        let of_kind = |(share, cache, fields): &(Share, CacheRates<'_>, &[FieldFootprint])| {
            written_in_part(fit, &fields[field], by_warps, cache.oversubscription[0]) * *share
        };
        self.kinds.iter().map(of_kind).sum()
    }

    /// What a field needs from below, where sectors are written in part as `l2` says: `by_warps` are stored, `of_l1` are
    /// loaded beyond what blocks have to load.
    pub(super) fn below(
        &self,
        l2: &Self,
        fit: &VolumeFit,
        field: usize,
        [by_warps, of_l1]: [Bytes<PerItem>; 2],
        asked: &dyn Fn(&Again<PerWave>) -> Bytes<PerItem>,
    ) -> MemoryVolumes {
        let mut sum = MemoryVolumes::default();
        for ((share, cache, fields), (_, of_l2, _)) in self.kinds.iter().zip(&l2.kinds) {
            let in_part = written_in_part(fit, &fields[field], by_warps, of_l2.oversubscription[0]);
            sum.add(&cache.below(&fields[field], in_part, of_l1, asked), *share);
        }
        sum.load.set_reuse(self.of.along_axes(sum.load.reuse()));
        sum
    }
}
