//! What a program touches again, and how much lies in between: iterations of a loop, loops and stretches
//! that follow each other, several passes over the same data.
//!
//! A program is a sequence of parts ([`Part`]). Data that a part touches and an earlier part of the sequence
//! touched last is still in a cache if all that the parts from that one to this one touch fits. What an
//! iteration touches that an earlier one did has one iteration in between. Within a stretch, warps of a
//! block and blocks of a wave run side by side, so that what the stretch touches competes. This is the
//! reuse distance of the trace model in terms of distinct lines, once for a block (L1) and once for a wave
//! (L2).

use std::collections::HashMap;
use std::ops::Range;

use super::fields::{Sizes, TouchedField};
use super::footprints::{Counts, FieldFootprint};
use crate::footprint::{Touched, Uncounted};
use crate::launch::{BlockBox, Part};

/// Most parts back that are looked at one by one; what was touched last before them is taken to lie as far
/// back as the first part of the sequence.
const MOST_BACK: usize = 4;

/// Data of a field that is touched again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Again {
    /// Bytes per work item.
    pub bytes: f64,
    /// Bytes that all fields touch in between: for a block in L1 lines that it loads, for a wave in what it
    /// loads or stores.
    pub distance: f64,
    /// For a wave, the distance in the L1 of one block, which may keep the L2 from being asked; `None` where
    /// the L1 does not hold what was written in between.
    pub in_block: Option<f64>,
}

/// What is touched again of one field.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Passes {
    /// Sectors that a block loads in stretches, each iteration by itself; per work item.
    pub in_stretches: f64,
    /// Bytes of L1 lines that all fields load in such a stretch, on average over what this field loads.
    pub stretch_alloc: f64,
    /// Sectors that a block loads and has loaded in an earlier part or iteration.
    pub block: Vec<Again>,
    /// Sectors that the wave loads, or changes by atomics, and has touched in an earlier part or iteration.
    pub wave: Vec<Again>,
    /// Sectors that several blocks of the wave ask for in one stretch, with all that the stretch touches.
    pub shared: Vec<Again>,
    /// Sectors that the wave stores and has stored in an earlier part or iteration.
    pub stores: Vec<Again>,
    /// Of the sectors that the wave loads, those that it stores first.
    pub stored_first: f64,
}

impl Passes {
    /// Of a program that is a single stretch, in which all that blocks and the wave touch competes.
    pub(super) fn of_one_stretch(field: &FieldFootprint, block_alloc: f64, wave: f64) -> Self {
        let mut passes =
            Self { in_stretches: field.block_load, stretch_alloc: block_alloc, ..Self::default() };
        add(&mut passes.shared, field.mean_block_fetch - field.wave_load, wave, None);
        passes
    }
}

/// Which accesses of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Which {
    /// Loads, which the L1 may hold.
    Loads,
    /// What is read in the L2: atomics too.
    Fetched,
    Stores,
    All,
}

/// Whose accesses, and in what units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    BlockSectors,
    BlockLines,
    Wave,
}

/// A count that may be needed several times: of a field, the accesses of some instructions in a single
/// iteration of so many loops around them.
type Key = (usize, Which, Place, Range<usize>, usize);

/// What is looked at.
pub(super) struct Scene<'s, 'k> {
    pub(super) fields: &'s [TouchedField<'k>],
    pub(super) sizes: &'s Sizes,
    /// The block that stands for all, and its work items.
    pub(super) block: BlockBox,
    pub(super) block_items: f64,
    /// The wave and its work items.
    pub(super) wave: &'s [BlockBox],
    pub(super) wave_items: f64,
}

impl Counts<'_> {
    /// What a program of several parts touches again, by field.
    pub(super) fn passes(&mut self, scene: &Scene<'_, '_>, parts: &[Part]) -> Result<Vec<Passes>, Uncounted> {
        let found = vec![Passes::default(); scene.fields.len()];
        let mut walk = Walk { counts: self, scene, known: Default::default(), found };
        walk.sequence(parts, 0)?;
        for passes in &mut walk.found {
            if passes.in_stretches > 0.0 {
                passes.stretch_alloc /= passes.in_stretches;
            }
        }
        Ok(walk.found)
    }
}

struct Walk<'w, 'c, 's, 'k> {
    counts: &'w mut Counts<'c>,
    scene: &'w Scene<'s, 'k>,
    /// Of one iteration, and of all of them.
    known: [HashMap<Key, f64>; 2],
    found: Vec<Passes>,
}

impl Walk<'_, '_, '_, '_> {
    /// Parts that follow each other in an iteration of the `depth` loops around them.
    fn sequence(&mut self, parts: &[Part], depth: usize) -> Result<(), Uncounted> {
        for part in parts {
            match part {
                Part::Stretch(range) => self.stretch(range, depth)?,
                Part::Loop(range, inner) => {
                    let before: Vec<f64> = self.found.iter().map(|p| p.stored_first).collect();
                    self.sequence(inner, depth + 1)?;
                    self.iterations(range, depth + 1, &before)?;
                }
            }
        }
        if parts.len() > 1 {
            for field in 0..self.scene.fields.len() {
                self.between(field, parts, depth)?;
            }
        }
        Ok(())
    }

    /// Warps of a block and blocks of a wave that run side by side.
    fn stretch(&mut self, range: &Range<usize>, depth: usize) -> Result<(), Uncounted> {
        let alloc = self.of_all_fields(Which::Loads, Place::BlockLines, range, depth)?;
        let touched = self.of_all_fields(Which::All, Place::Wave, range, depth)?;
        for field in 0..self.scene.fields.len() {
            let loads = self.each(field, Which::Loads, Place::BlockSectors, range, depth)?;
            let fetched = self.each(field, Which::Fetched, Place::BlockSectors, range, depth)?;
            let of_wave = self.each(field, Which::Fetched, Place::Wave, range, depth)?;
            let shared = fetched / self.scene.block_items - of_wave / self.scene.wave_items;
            let loads = loads / self.scene.block_items;
            let passes = &mut self.found[field];
            passes.in_stretches += loads;
            passes.stretch_alloc += loads * alloc;
            add(&mut passes.shared, shared, touched, None);
        }
        Ok(())
    }

    /// Iterations of a loop that is the innermost of `depth` loops. `before` says by field what had been
    /// found to be stored first before the loop.
    fn iterations(&mut self, range: &Range<usize>, depth: usize, before: &[f64]) -> Result<(), Uncounted> {
        let alloc = self.of_all_fields(Which::Loads, Place::BlockLines, range, depth)?;
        let touched = self.of_all_fields(Which::All, Place::Wave, range, depth)?;
        for field in 0..self.scene.fields.len() {
            let mut again = |which, place| -> Result<f64, Uncounted> {
                let each = self.each(field, which, place, range, depth)?;
                Ok(each - self.each(field, which, place, range, depth - 1)?)
            };
            let in_block = again(Which::Loads, Place::BlockSectors)?;
            let in_wave = again(Which::Fetched, Place::Wave)?;
            let stored = again(Which::Stores, Place::Wave)?;
            let in_block = in_block / self.scene.block_items;
            // What an iteration stores and then loads comes from that iteration, not from an earlier one.
            let loaded = self.each(field, Which::Fetched, Place::Wave, range, depth)? / self.scene.wave_items;
            let stored_first = (self.found[field].stored_first - before[field]) / loaded.max(1e-9);
            let in_wave = in_wave / self.scene.wave_items * (1.0 - stored_first).max(0.0);
            let stored = stored / self.scene.wave_items;
            let held = self.only_loads(field).then_some(alloc);
            let passes = &mut self.found[field];
            add(&mut passes.block, in_block, alloc, None);
            add(&mut passes.wave, in_wave, touched, held);
            add(&mut passes.stores, stored, touched, None);
        }
        Ok(())
    }

    /// What a part of a sequence touches of a field that earlier parts touched last.
    fn between(&mut self, field: usize, parts: &[Part], depth: usize) -> Result<(), Uncounted> {
        let mut using = Vec::with_capacity(parts.len());
        for part in parts {
            if self.once(field, Which::All, Place::Wave, &part.instructions(), depth)? > 0.0 {
                using.push(part.instructions());
            }
        }
        for (number, this) in using.iter().enumerate().skip(1) {
            let nearest = number.saturating_sub(MOST_BACK);
            let (mut in_block, mut in_wave, mut stored) = (0.0, 0.0, 0.0);
            for i in (nearest..number).rev() {
                // What is left after the last step back was touched at some time before.
                let first = if i == nearest { 0 } else { i };
                let earlier = using[first].start..using[number - 1].end;
                let so_far = earlier.start..this.end;
                let alloc = self.of_all_fields(Which::Loads, Place::BlockLines, &so_far, depth)?;
                let touched = self.of_all_fields(Which::All, Place::Wave, &so_far, depth)?;
                let times = self.times(field, this, depth)?;
                let hits = self.both(field, [Which::Loads; 2], Place::BlockSectors, this, &earlier, depth)?;
                let per_item = times / self.scene.block_items;
                add(&mut self.found[field].block, (hits - in_block) * per_item, alloc, None);
                in_block = hits.max(in_block);
                let held = self.only_loads(field).then_some(alloc);
                let per_item = times / self.scene.wave_items;
                let hits =
                    self.both(field, [Which::Fetched, Which::All], Place::Wave, this, &earlier, depth)?;
                add(&mut self.found[field].wave, (hits - in_wave) * per_item, touched, held);
                in_wave = hits.max(in_wave);
                let hits = self.both(field, [Which::Stores; 2], Place::Wave, this, &earlier, depth)?;
                add(&mut self.found[field].stores, (hits - stored) * per_item, touched, None);
                stored = hits.max(stored);
            }
        }
        self.stored_first(field, &using, depth)
    }

    /// What parts load that earlier ones stored and no earlier one had loaded.
    fn stored_first(&mut self, field: usize, using: &[Range<usize>], depth: usize) -> Result<(), Uncounted> {
        if self.scene.fields[field].stores.is_empty() {
            return Ok(());
        }
        let Some(first) = using.first() else { return Ok(()) };
        let (mut fresh, mut loaded) = (0.0, 0.0);
        for (number, this) in using.iter().enumerate() {
            let loads = self.once(field, Which::Fetched, Place::Wave, this, depth)?;
            let known = if number == 0 {
                0.0
            } else {
                let earlier = first.start..using[number - 1].end;
                self.both(field, [Which::Fetched, Which::All], Place::Wave, this, &earlier, depth)?
            };
            fresh += loads - known;
            loaded = self.once(field, Which::Fetched, Place::Wave, &(first.start..this.end), depth)?;
        }
        let times = self.times(field, first, depth)?;
        self.found[field].stored_first += (loaded - fresh).max(0.0) * times / self.scene.wave_items;
        Ok(())
    }

    /// Whether a field is loaded only, so that the L1 holds what it loaded.
    fn only_loads(&self, field: usize) -> bool {
        self.scene.fields[field].stores.is_empty()
    }

    /// How often what one iteration of the outer loops does is done in all of them.
    fn times(&mut self, field: usize, range: &Range<usize>, depth: usize) -> Result<f64, Uncounted> {
        let one = self.once(field, Which::All, Place::Wave, range, depth)?;
        let all = self.each(field, Which::All, Place::Wave, range, depth)?;
        Ok(if one > 0.0 { all / one } else { 0.0 })
    }

    fn of_all_fields(
        &mut self,
        which: Which,
        place: Place,
        range: &Range<usize>,
        depth: usize,
    ) -> Result<f64, Uncounted> {
        let fields = self.scene.fields;
        let mut sum = 0.0;
        for (number, field) in fields.iter().enumerate() {
            sum += self.once(number, which, place, range, depth)? * field.times();
        }
        Ok(sum)
    }

    /// Bytes that both some instructions and others touch in one iteration of the loops around them.
    fn both(
        &mut self,
        field: usize,
        [these, those]: [Which; 2],
        place: Place,
        this: &Range<usize>,
        other: &Range<usize>,
        depth: usize,
    ) -> Result<f64, Uncounted> {
        let (a, b) =
            (self.once(field, these, place, this, depth)?, self.once(field, those, place, other, depth)?);
        if a <= 0.0 || b <= 0.0 {
            return Ok(0.0);
        }
        let of = &self.scene.fields[field];
        let parts = [touched(of, these).part(this, depth), touched(of, those).part(other, depth)];
        let (blocks, unit) = self.at(place);
        let either = self.counts.union(&[(&parts[0], &blocks), (&parts[1], &blocks)], unit)?;
        Ok((a + b - either).max(0.0))
    }

    /// Bytes that some instructions touch in one iteration of the outermost `depth` loops around them.
    fn once(
        &mut self,
        field: usize,
        which: Which,
        place: Place,
        range: &Range<usize>,
        depth: usize,
    ) -> Result<f64, Uncounted> {
        if touched(&self.scene.fields[field], which).is_empty() {
            return Ok(0.0);
        }
        let key = self.key(field, which, place, range, depth);
        if let Some(&bytes) = self.known[0].get(&key) {
            return Ok(bytes);
        }
        let part = touched(&self.scene.fields[field], which).part(range, depth);
        let (blocks, unit) = self.at(place);
        let bytes = self.counts.bytes(&part, &blocks, unit)?;
        self.known[0].insert(key, bytes);
        Ok(bytes)
    }

    /// The same of all iterations, added up.
    fn each(
        &mut self,
        field: usize,
        which: Which,
        place: Place,
        range: &Range<usize>,
        depth: usize,
    ) -> Result<f64, Uncounted> {
        let touched = touched(&self.scene.fields[field], which);
        if touched.is_empty() {
            return Ok(0.0);
        }
        let times = self.scene.fields[field].times();
        let one = self.once(field, which, place, range, depth)? * times;
        if let Some(iterations) = touched.iterations(range, depth) {
            return Ok(one * iterations);
        }
        let key = self.key(field, which, place, range, depth);
        if let Some(&bytes) = self.known[1].get(&key) {
            return Ok(bytes);
        }
        let (blocks, unit) = self.at(place);
        let bytes = match touched.each_iteration(range, depth, unit) {
            Some(each) => self.counts.bytes(&each, &blocks, unit)? * times,
            None => one,
        };
        self.known[1].insert(key, bytes);
        Ok(bytes)
    }

    /// Accesses of a field that has no others of other kinds go by one name.
    fn key(&self, field: usize, which: Which, place: Place, range: &Range<usize>, depth: usize) -> Key {
        let of = &self.scene.fields[field];
        let which = match which {
            Which::Fetched if of.atomics.is_none() => Which::Loads,
            Which::All if of.stores.is_empty() => Which::Loads,
            Which::All if of.loads.is_empty() && of.atomics.is_none() => Which::Stores,
            which => which,
        };
        (field, which, place, range.clone(), depth)
    }

    fn at(&self, place: Place) -> (Vec<BlockBox>, i64) {
        let (block, sizes) = (self.scene.block, self.scene.sizes);
        match place {
            Place::BlockSectors => (vec![block], sizes.sector),
            Place::BlockLines => (vec![block], sizes.line),
            Place::Wave => (self.scene.wave.to_vec(), sizes.fetch),
        }
    }
}

fn touched<'t>(field: &'t TouchedField<'_>, which: Which) -> &'t Touched {
    match which {
        Which::Loads => &field.loads,
        Which::Fetched => field.fetched(),
        Which::Stores => &field.stores,
        Which::All => &field.all,
    }
}

fn add(list: &mut Vec<Again>, bytes: f64, distance: f64, in_block: Option<f64>) {
    if bytes > 0.0 {
        list.push(Again { bytes, distance, in_block });
    }
}
