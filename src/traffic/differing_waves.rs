//! Waves of blocks that differ in what they do: some from all of the grid, more of them where what they touch changes.

use super::counts::{FieldCounter, LoadsAndStores};
use super::fields::TouchedField;
use super::footprints::{FieldFootprint, WaveKind};
use super::wave_kinds::AllWaves;
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

/// A wave that was looked at.
struct At {
    /// Where it begins.
    start: i64,
    wave: Wave,
    items: ItemCount<PerWave>,
    /// What it loads and stores of each field.
    touched: Vec<LoadsAndStores>,
    /// The same of all of them.
    bytes: Bytes<PerItem>,
}

impl At {
    /// Whether there is nothing else in a wave than in another, as far as one looked at them.
    fn is_like(&self, other: &Self) -> bool {
        let begins = |at: &Self| [0, 1, 2].map(|set| at.wave.before[set].blocks.is_empty());
        let bytes = |at: &Self| at.touched.iter().map(|of| (of.load, of.store)).collect::<Vec<_>>();
        self.items == other.items && bytes(self) == bytes(other) && begins(self) == begins(other)
    }
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
            let items: Vec<_> = few.iter().map(|wave| (of.items_of)(wave)).collect();
            let all = items.iter().sum::<ItemCount<_>>();
            let of_wave = |(wave, &items)| self.kind(of, like, wave, Share::new(items / all), items, &[]);
            return Ok((few.iter().zip(&items).map(of_wave).collect::<Result<_, _>>()?, false));
        }
        let found = self.spread_over(of)?;
        let mut kinds = Vec::new();
        for alike in found.chunk_by(|(one, _), (other, _)| one.is_like(other)) {
            let share = alike.iter().map(|(_, share)| *share).sum();
            let At { wave, items, touched, .. } = &alike[alike.len() / 2].0;
            kinds.push(self.kind(of, like, wave, share, *items, touched)?);
        }
        Ok((kinds, true))
    }

    /// Waves from all of the grid, more of them where what they touch changes, and the share of the work items for which
    /// each stands.
    fn spread_over(&mut self, of: &AllWaves<'_>) -> Result<Vec<(At, Share)>, Uncounted> {
        let mut found: Vec<At> = Vec::with_capacity(MOST);
        for start in first_looked_at(of.waves) {
            found.push(self.at(of, start)?);
        }
        while found.len() < MOST
            && let Some(place) = widest_change(&found)
        {
            let [before, after] = [&found[place], &found[place + 1]];
            let start = before.start + (after.start - before.start) / 2;
            let between = self.at(of, start)?;
            found.insert(place + 1, between);
        }
        // Between two waves there are half of each of them.
        let items: Vec<f64> = (0..found.len())
            .map(|place| {
                let (before, after) = (place.saturating_sub(1), (place + 1).min(found.len() - 1));
                (found[after].start - found[before].start) as f64 * found[place].items.get()
            })
            .collect();
        let all: f64 = items.iter().sum();
        Ok(found.into_iter().zip(items.iter().map(|items| Share::new(items / all))).collect())
    }

    /// Looks at the wave that begins somewhere.
    fn at(&mut self, of: &AllWaves<'_>, start: i64) -> Result<At, Uncounted> {
        let wave = of.waves.from(start);
        let items = (of.items_of)(&wave);
        let mut touched: Vec<LoadsAndStores> = Vec::with_capacity(of.fields.len());
        for field in of.fields {
            touched.push(match field.like {
                Some(place) => touched[place],
                None => self.loads_and_stores(field, &wave, of.sizes)?,
            });
        }
        let of_field = |(field, touched): (&TouchedField, &LoadsAndStores)| {
            (touched.load + touched.store).per_item(items) * field.times()
        };
        let bytes = of.fields.iter().zip(&touched).map(of_field).sum();
        Ok(At { start, wave, items, touched, bytes })
    }
}

/// Where waves begin that are looked at first: so many equal parts of the grid. The few at its beginning, which have less
/// before them than all others, do not stand for half a part.
fn first_looked_at(waves: &Waves) -> Vec<i64> {
    let last = waves.last_start();
    let at = |part: i64| {
        let start = i128::from(last) * i128::from(part) / i128::from(PARTS);
        i64::try_from(start).expect("no wave begins beyond the last")
    };
    let [first, second] = [at(0), at(1)];
    let begins =
        waves.first_with_all_before().into_iter().filter(|start| (first + 1..second).contains(start));
    let mut all: Vec<i64> = (0..=PARTS).map(at).chain(begins).collect();
    all.sort_unstable();
    all.dedup();
    all
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
