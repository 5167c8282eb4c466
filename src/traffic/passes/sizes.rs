//! How much parts of a program touch: by themselves, together, and what both of two touch.

use std::collections::HashMap;
use std::ops::Range;

use super::again::Passes;
use crate::footprint::{FieldTouches, Uncounted};
use crate::launch::{BlockBox, Part};
use crate::quantity::{Bytes, ItemCount, PerBlock, PerItem, PerWave};
use crate::traffic::counts::FieldCounter;
use crate::traffic::fields::{Sizes, TouchedField};

/// Which accesses of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Which {
    /// Loads, which the L1 may hold.
    Loads,
    /// What is read in the L2: atomics too.
    Fetched,
    Stores,
    All,
}

/// Whose accesses, and in what units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    BlockSectors,
    BlockLines,
    Wave,
}

/// A count that may be needed several times: of a field, and of some parts.
pub(super) type Key = (usize, Which, Place, Vec<Section>);

/// What both of two parts touch, which may be needed several times, too.
type BothKey = (usize, [Which; 2], Place, [Vec<Section>; 2]);

/// Instructions in a range of positions, in one iteration of so many loops around them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Section {
    pub(super) range: Range<usize>,
    pub(super) depth: usize,
    /// Whether it is a loop with all its iterations.
    pub(super) is_loop: bool,
}

impl Section {
    /// A part of a sequence that stands in `depth` loops.
    pub(super) fn of_part(part: &Part, depth: usize) -> Self {
        Self { range: part.instructions(), depth, is_loop: matches!(part, Part::Loop(..)) }
    }

    /// The same, whatever it consists of.
    pub(super) fn whole(&self) -> Self {
        Self { is_loop: false, ..self.clone() }
    }

    /// One iteration of a loop.
    pub(super) fn iteration(&self) -> Self {
        Self { depth: self.depth + usize::from(self.is_loop), ..self.whole() }
    }
}

/// What is touched again.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// Loads of a block, which its L1 may have.
    Block,
    /// Loads and atomics of the wave of what it touched, which the L2 may have.
    Wave,
    /// Stores of the wave.
    Stores,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::Block, Self::Wave, Self::Stores];

    /// Which accesses come again, to what which others touched, and where.
    pub(super) fn looks_at(self) -> ([Which; 2], Place) {
        match self {
            Kind::Block => ([Which::Loads; 2], Place::BlockSectors),
            Kind::Wave => ([Which::Fetched, Which::All], Place::Wave),
            Kind::Stores => ([Which::Stores; 2], Place::Wave),
        }
    }
}

/// What is looked at.
pub(in crate::traffic) struct Scene<'s> {
    pub(in crate::traffic) fields: &'s [TouchedField],
    pub(in crate::traffic) sizes: &'s Sizes,
    /// The block that stands for all, and its work items.
    pub(in crate::traffic) block: BlockBox,
    pub(in crate::traffic) block_items: ItemCount<PerBlock>,
    /// The wave and its work items.
    pub(in crate::traffic) wave: &'s [BlockBox],
    pub(in crate::traffic) wave_items: ItemCount<PerWave>,
}

impl Scene<'_> {
    pub(super) fn per_item_of_block(&self, bytes: f64) -> Bytes<PerItem> {
        Bytes::new(bytes).per_item(self.block_items)
    }

    pub(super) fn per_item_of_wave(&self, bytes: f64) -> Bytes<PerItem> {
        Bytes::new(bytes).per_item(self.wave_items)
    }
}

/// A walk through the parts of a program, and what it has counted so far.
pub(super) struct Walk<'w, 'c, 's> {
    pub(super) counts: &'w mut FieldCounter<'c>,
    pub(super) scene: &'w Scene<'s>,
    /// Of one iteration, and of all of them.
    pub(super) known: [HashMap<Key, f64>; 2],
    pub(super) known_of_both: HashMap<BothKey, f64>,
    pub(super) found: Vec<Passes>,
}

impl Walk<'_, '_, '_> {
    /// Whether the L1 can keep what it has of a field: it is loaded only, or is memory that no other thread changes.
    pub(super) fn l1_holds(&self, field: usize) -> bool {
        let of = &self.scene.fields[field];
        of.private || of.stores.is_empty()
    }

    /// How often what one iteration of the outer loops does is done in all of them.
    pub(super) fn times(
        &mut self,
        field: usize,
        range: &Range<usize>,
        depth: usize,
    ) -> Result<f64, Uncounted> {
        let one = self.once(field, Which::All, Place::Wave, range, depth)?;
        let all = self.each(field, Which::All, Place::Wave, range, depth)?;
        Ok(if one > 0.0 { all / one } else { 0.0 })
    }

    pub(super) fn of_all_fields(
        &mut self,
        which: Which,
        place: Place,
        spans: &[Section],
    ) -> Result<f64, Uncounted> {
        let fields = self.scene.fields;
        let mut sum = 0.0;
        for (number, field) in fields.iter().enumerate() {
            sum += self.size(number, which, place, spans)? * field.times();
        }
        Ok(sum)
    }

    /// Bytes that both some parts and others touch.
    pub(super) fn both(
        &mut self,
        field: usize,
        kind: Kind,
        these: &[Section],
        those: &[Section],
    ) -> Result<f64, Uncounted> {
        let ([of_these, of_those], place) = kind.looks_at();
        let a = self.size(field, of_these, place, these)?;
        let b = self.size(field, of_those, place, those)?;
        if a <= 0.0 || b <= 0.0 {
            return Ok(0.0);
        }
        let of = [of_these, of_those].map(|which| self.name(field, which));
        let key = (field, of, place, [these.to_vec(), those.to_vec()]);
        if let Some(&bytes) = self.known_of_both.get(&key) {
            return Ok(bytes);
        }
        let fields = &self.scene.fields[field];
        let parts = |which, spans: &[Section]| -> Vec<FieldTouches> {
            spans.iter().map(|s| touched(fields, which).part(&s.range, s.depth)).collect()
        };
        let (these, those) = (parts(of_these, these), parts(of_those, those));
        let (blocks, unit) = self.at(place);
        let all: Vec<(&FieldTouches, &[BlockBox])> =
            these.iter().chain(&those).map(|part| (part, blocks.as_slice())).collect();
        let bytes = (a + b - self.counts.union(&all, unit)?).max(0.0);
        self.known_of_both.insert(key, bytes);
        Ok(bytes)
    }

    /// Bytes that some instructions touch in one iteration of the outermost `depth` loops around them.
    pub(super) fn once(
        &mut self,
        field: usize,
        which: Which,
        place: Place,
        range: &Range<usize>,
        depth: usize,
    ) -> Result<f64, Uncounted> {
        self.size(field, which, place, &[Section { range: range.clone(), depth, is_loop: false }])
    }

    /// Bytes that some parts touch together.
    pub(super) fn size(
        &mut self,
        field: usize,
        which: Which,
        place: Place,
        spans: &[Section],
    ) -> Result<f64, Uncounted> {
        let of = touched(&self.scene.fields[field], which);
        let spans: Vec<Section> = spans.iter().filter(|s| !s.range.is_empty()).cloned().collect();
        if of.is_empty() || spans.is_empty() {
            return Ok(0.0);
        }
        let key = self.key(field, which, place, spans);
        if let Some(&bytes) = self.known[0].get(&key) {
            return Ok(bytes);
        }
        let parts: Vec<FieldTouches> = key.3.iter().map(|s| of.part(&s.range, s.depth)).collect();
        let (blocks, unit) = self.at(place);
        let all: Vec<(&FieldTouches, &[BlockBox])> =
            parts.iter().map(|part| (part, blocks.as_slice())).collect();
        let bytes = self.counts.union(&all, unit)?;
        self.known[0].insert(key, bytes);
        Ok(bytes)
    }

    /// The same of all iterations, added up.
    pub(super) fn each(
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
        let span = Section { range: range.clone(), depth, is_loop: false };
        let key = self.key(field, which, place, vec![span]);
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

    fn key(&self, field: usize, which: Which, place: Place, spans: Vec<Section>) -> Key {
        (field, self.name(field, which), place, spans)
    }

    /// Accesses of a field that has no others of other kinds go by one name.
    fn name(&self, field: usize, which: Which) -> Which {
        let of = &self.scene.fields[field];
        match which {
            Which::Fetched if of.atomics.is_none() => Which::Loads,
            Which::All if of.stores.is_empty() => Which::Loads,
            Which::All if of.loads.is_empty() && of.atomics.is_none() => Which::Stores,
            which => which,
        }
    }

    pub(super) fn at(&self, place: Place) -> (Vec<BlockBox>, i64) {
        let (block, sizes) = (self.scene.block, self.scene.sizes);
        match place {
            Place::BlockSectors => (vec![block], sizes.sector),
            Place::BlockLines => (vec![block], sizes.line),
            Place::Wave => (self.scene.wave.to_vec(), sizes.fetch),
        }
    }
}

fn touched(field: &TouchedField, which: Which) -> &FieldTouches {
    match which {
        Which::Loads => &field.loads,
        Which::Fetched => field.fetched(),
        Which::Stores => &field.stores,
        Which::All => &field.all,
    }
}
