//! Waves of blocks that differ in what they do: some from all of the grid, more of them where what they touch changes.

use super::counts::FieldCounter;
use super::fields::{Sizes, TouchedField};
use super::footprints::{FieldFootprint, WaveKind};
use super::waves::{Wave, Waves};
use crate::footprint::Uncounted;
use crate::quantity::{Bytes, ItemCount, PerItem, PerWave, Share};

/// No more waves than these are all counted.
const ALL: i64 = 16;
/// Into so many equal parts the grid is cut at first.
const PARTS: i64 = 8;
/// So many waves are counted at most.
const MOST: usize = 24;
/// Between two waves it is not looked for where they change if that makes no more than this of all bytes.
const LITTLE: f64 = 0.002;

/// The waves of a launch, and what has to be known to count them.
pub(super) struct AllWaves<'a> {
    pub(super) waves: &'a Waves,
    pub(super) items_of: &'a dyn Fn(&Wave) -> ItemCount<PerWave>,
    pub(super) fields: &'a [TouchedField],
    pub(super) sizes: &'a Sizes,
}

/// A wave that was counted, and where it begins.
struct At {
    start: i64,
    items: ItemCount<PerWave>,
    kind: WaveKind,
    /// What it touches.
    bytes: Bytes<PerItem>,
}

impl FieldCounter<'_> {
    /// Waves that stand for all of a launch, with their shares of the work items, and whether there are others. What is of
    /// blocks is as in `like`.
    pub(super) fn differing(
        &mut self,
        of: &AllWaves<'_>,
        like: &[FieldFootprint],
    ) -> Result<(Vec<WaveKind>, bool), Uncounted> {
        if let Some(few) = of.waves.up_to(ALL) {
            let all = few.iter().map(|wave| self.at((of, like), 0, wave)).collect::<Result<Vec<_>, _>>()?;
            return Ok((with_shares(all, |_| 1.0), false));
        }
        let last = of.waves.last_start();
        let mut found: Vec<At> = Vec::with_capacity(MOST);
        for part in 0..=PARTS {
            let start = i128::from(last) * i128::from(part) / i128::from(PARTS);
            let start = i64::try_from(start).expect("no wave begins beyond the last");
            found.push(self.at((of, like), start, &of.waves.from(start))?);
        }
        while found.len() < MOST
            && let Some(place) = widest_change(&found)
        {
            let [before, after] = [&found[place], &found[place + 1]];
            let start = before.start + (after.start - before.start) / 2;
            let between = self.at((of, like), start, &of.waves.from(start))?;
            found.insert(place + 1, between);
        }
        // Between two waves there are half of each of them.
        let starts: Vec<i64> = found.iter().map(|at| at.start).collect();
        let weight = |place: usize| {
            let (before, after) = (place.saturating_sub(1), (place + 1).min(starts.len() - 1));
            (starts[after] - starts[before]) as f64
        };
        Ok((with_shares(found, weight), true))
    }

    fn at(
        &mut self,
        (of, like): (&AllWaves<'_>, &[FieldFootprint]),
        start: i64,
        wave: &Wave,
    ) -> Result<At, Uncounted> {
        let items = (of.items_of)(wave);
        let kind = self.kind(of.fields, like, wave, Share::ALL, items, of.sizes)?;
        let bytes = kind.fields.iter().map(|field| field.wave_load + field.wave_store).sum();
        Ok(At { start, items, kind, bytes })
    }
}

/// Between which two waves it matters most where they change: the first of them.
fn widest_change(found: &[At]) -> Option<usize> {
    let (first, last) = (found.first()?, found.last()?);
    let all = (last.start - first.start) as f64;
    let mean = found.iter().map(|at| at.bytes).sum::<Bytes<_>>() / found.len() as f64;
    let change = |place: usize| {
        let [before, after] = [&found[place], &found[place + 1]];
        let difference = (after.bytes - before.bytes).max(before.bytes - after.bytes);
        difference / mean * (after.start - before.start) as f64 / all
    };
    let widest = (0..found.len() - 1).max_by(|&a, &b| change(a).total_cmp(&change(b)))?;
    (change(widest) > LITTLE && found[widest + 1].start - found[widest].start > 1).then_some(widest)
}

/// Waves of which each stands for as many as its weight says.
fn with_shares(found: Vec<At>, weight: impl Fn(usize) -> f64) -> Vec<WaveKind> {
    let items: Vec<f64> =
        found.iter().enumerate().map(|(place, at)| weight(place) * at.items.get()).collect();
    let all: f64 = items.iter().sum();
    let of = found.into_iter().zip(items);
    of.map(|(at, items)| WaveKind { share: Share::new(items / all), ..at.kind }).collect()
}
