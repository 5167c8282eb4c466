//! What a program touches again, and how much lies in between: iterations of a loop, loops and stretches
//! that follow each other, several passes over the same data.
//!
//! A program is a sequence of parts ([`Part`]). Data that a part touches and an earlier part of the sequence
//! touched last is still in a cache if all that the parts from that one to this one touch fits. What an
//! iteration touches that an earlier one did has one iteration in between. Within a stretch, warps of a
//! block and blocks of a wave run side by side, so that what the stretch touches competes. This is the
//! reuse distance of the trace model in terms of distinct lines, once for a block (L1) and once for a wave
//! (L2).

pub(super) mod again;
mod sizes;

use std::ops::Range;

use super::counts::FieldCounter;
use super::footprints::FieldFootprint;
use crate::footprint::Uncounted;
use crate::launch::Part;
use crate::quantity::{Bytes, PerBlock, PerItem, PerWave};
pub use again::{Again, Passes};
pub(super) use sizes::Scene;

use sizes::{Kind, Place, Section, Walk, Which};

/// Most parts back that are looked at one by one; what was touched last before them is taken to lie as far
/// back as the first part of the sequence.
const MOST_BACK: usize = 4;

/// Of a program that is a single stretch, in which all that blocks and the wave touch competes.
pub(super) fn passes_of_one_stretch(
    field: &FieldFootprint,
    block_alloc: Bytes<PerBlock>,
    wave: Bytes<PerWave>,
) -> Passes {
    let mut passes = Passes {
        in_stretches: field.block_load,
        stretch_alloc: block_alloc,
        of_one_stretch: true,
        ..Passes::default()
    };
    add(&mut passes.shared, field.mean_block_fetch - field.wave_load, wave, None);
    passes
}

impl FieldCounter<'_> {
    /// What a program of several parts touches again, by field.
    pub(super) fn passes(&mut self, scene: &Scene<'_>, parts: &[Part]) -> Result<Vec<Passes>, Uncounted> {
        let found = vec![Passes::default(); scene.fields.len()];
        let (known, known_of_both) = Default::default();
        let mut walk = Walk { counts: self, scene, known, known_of_both, found };
        walk.sequence(parts, 0)?;
        for passes in &mut walk.found {
            if passes.in_stretches > Bytes::ZERO {
                passes.stretch_alloc = passes.stretch_alloc / passes.in_stretches.get();
            }
        }
        Ok(walk.found)
    }
}

impl Walk<'_, '_, '_> {
    /// Parts that follow each other in an iteration of the `depth` loops around them.
    fn sequence(&mut self, parts: &[Part], depth: usize) -> Result<(), Uncounted> {
        for part in parts {
            match part {
                Part::Stretch(range) => self.stretch(range, depth)?,
                Part::Loop(range, inner) => {
                    let before: Vec<Bytes<PerItem>> = self.found.iter().map(|p| p.stored_first).collect();
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
        let one = [Section { range: range.clone(), depth, is_loop: false }];
        let alloc = self.of_all_fields(Which::Loads, Place::BlockLines, &one)?;
        let touched = self.of_all_fields(Which::All, Place::Wave, &one)?;
        for field in 0..self.scene.fields.len() {
            let loads = self.each(field, Which::Loads, Place::BlockSectors, range, depth)?;
            let fetched = self.each(field, Which::Fetched, Place::BlockSectors, range, depth)?;
            let of_wave = self.each(field, Which::Fetched, Place::Wave, range, depth)?;
            let shared = self.scene.per_item_of_block(fetched) - self.scene.per_item_of_wave(of_wave);
            let loads = self.scene.per_item_of_block(loads);
            let passes = &mut self.found[field];
            passes.in_stretches += loads;
            passes.stretch_alloc += Bytes::new(loads.get() * alloc);
            add(&mut passes.shared, shared, Bytes::new(touched), None);
        }
        Ok(())
    }

    /// Iterations of a loop that is the innermost of `depth` loops. `before` says by field what had been
    /// found to be stored first before the loop.
    fn iterations(
        &mut self,
        range: &Range<usize>,
        depth: usize,
        before: &[Bytes<PerItem>],
    ) -> Result<(), Uncounted> {
        let one = [Section { range: range.clone(), depth, is_loop: false }];
        let alloc = self.of_all_fields(Which::Loads, Place::BlockLines, &one)?;
        let touched = self.of_all_fields(Which::All, Place::Wave, &one)?;
        for (field, before) in before.iter().enumerate() {
            let mut again = |which, place| -> Result<f64, Uncounted> {
                let each = self.each(field, which, place, range, depth)?;
                Ok(each - self.each(field, which, place, range, depth - 1)?)
            };
            let in_block = again(Which::Loads, Place::BlockSectors)?;
            let in_wave = again(Which::Fetched, Place::Wave)?;
            let stored = again(Which::Stores, Place::Wave)?;
            let in_block = self.scene.per_item_of_block(in_block);
            // What an iteration stores and then loads comes from that iteration, not from an earlier one.
            let loaded = self.each(field, Which::Fetched, Place::Wave, range, depth)?;
            let loaded = self.scene.per_item_of_wave(loaded).max(Bytes::new(1e-9));
            let stored_first = (self.found[field].stored_first - *before) / loaded;
            let in_wave = self.scene.per_item_of_wave(in_wave) * (1.0 - stored_first).max(0.0);
            let stored = self.scene.per_item_of_wave(stored);
            let (alloc, touched) = (Bytes::new(alloc), Bytes::new(touched));
            let held = self.l1_holds(field).then_some(alloc);
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
            let span = Section::of_part(part, depth);
            if self.once(field, Which::All, Place::Wave, &span.range, depth)? > 0.0 {
                using.push(span);
            }
        }
        for (number, this) in using.iter().enumerate().skip(1) {
            let nearest = number.saturating_sub(MOST_BACK);
            let times = self.times(field, &this.range, depth)?;
            let mut touched = [0.0; 3];
            for (kind, touched) in Kind::ALL.into_iter().zip(&mut touched) {
                let ([of_this, _], place) = kind.looks_at();
                *touched = self.size(field, of_this, place, &[this.whole()])?;
            }
            let mut hits = [0.0; 3];
            for i in (nearest..number).rev() {
                // What is left after the last step back was touched at some time before.
                let last = &using[if i == nearest { 0 } else { i }];
                let earlier = Section { range: last.range.start..using[number - 1].range.end, ..*last };
                for ((kind, hits), touched) in Kind::ALL.into_iter().zip(&mut hits).zip(touched) {
                    // Where all of it was touched nearer by, there is nothing left to be found.
                    if *hits >= touched {
                        continue;
                    }
                    let found = self.both(field, kind, &[this.whole()], &[earlier.whole()])?;
                    let again = (found - *hits) * times;
                    if again > 0.0 {
                        self.again(field, kind, again, [this, last], &earlier)?;
                    }
                    *hits = found.max(*hits);
                }
            }
        }
        self.stored_first(field, &using, depth)
    }

    /// Notes bytes that `this` part touches after the `last` one did. Where they are touched in every
    /// iteration of a loop, only its first or last one lies in between.
    fn again(
        &mut self,
        field: usize,
        kind: Kind,
        bytes: f64,
        [this, last]: [&Section; 2],
        earlier: &Section,
    ) -> Result<(), Uncounted> {
        let of_this = self.in_each_iteration(field, kind, [this, &earlier.whole()], this)?;
        let of_last = self.in_each_iteration(field, kind, [this, last], last)?;
        // What lies between the two parts.
        let between = Section { range: last.range.end..this.range.start, ..earlier.whole() };
        for (share_of_this, this) in [(of_this, this.iteration()), (1.0 - of_this, this.whole())] {
            for (share_of_last, last) in [(of_last, last.iteration()), (1.0 - of_last, last.whole())] {
                let bytes = bytes * share_of_this * share_of_last;
                if bytes <= 0.0 {
                    continue;
                }
                let passed = [last, between.clone(), this.clone()];
                let alloc = self.of_all_fields(Which::Loads, Place::BlockLines, &passed)?;
                let touched = self.of_all_fields(Which::All, Place::Wave, &passed)?;
                let (alloc, touched) = (Bytes::new(alloc), Bytes::new(touched));
                let held = self.l1_holds(field).then_some(alloc);
                let (of_block, of_wave) =
                    (self.scene.per_item_of_block(bytes), self.scene.per_item_of_wave(bytes));
                let passes = &mut self.found[field];
                match kind {
                    Kind::Block => add(&mut passes.block, of_block, alloc, None),
                    Kind::Wave => add(&mut passes.wave, of_wave, touched, held),
                    Kind::Stores => add(&mut passes.stores, of_wave, touched, None),
                }
            }
        }
        Ok(())
    }

    /// Of the bytes that both parts touch, the share that one of them, a loop, touches in each iteration.
    fn in_each_iteration(
        &mut self,
        field: usize,
        kind: Kind,
        [this, other]: [&Section; 2],
        looping: &Section,
    ) -> Result<f64, Uncounted> {
        if !looping.is_loop {
            return Ok(0.0);
        }
        let whole = self.both(field, kind, &[this.whole()], &[other.whole()])?;
        let once = if looping == this {
            self.both(field, kind, &[this.iteration()], &[other.whole()])?
        } else {
            self.both(field, kind, &[this.whole()], &[other.iteration()])?
        };
        Ok(if whole > 0.0 { (once / whole).clamp(0.0, 1.0) } else { 0.0 })
    }

    /// What parts load that earlier ones stored and no earlier one had loaded.
    fn stored_first(&mut self, field: usize, using: &[Section], depth: usize) -> Result<(), Uncounted> {
        if self.scene.fields[field].stores.is_empty() {
            return Ok(());
        }
        let Some((first, others)) = using.split_first() else { return Ok(()) };
        let mut fresh = self.size(field, Which::Fetched, Place::Wave, &[first.whole()])?;
        let mut end = first.range.end;
        for this in others {
            let earlier = Section { range: first.range.start..end, ..first.whole() };
            let loads = self.size(field, Which::Fetched, Place::Wave, &[this.whole()])?;
            fresh += loads - self.both(field, Kind::Wave, &[this.whole()], &[earlier])?;
            end = this.range.end;
        }
        let all = Section { range: first.range.start..end, ..first.whole() };
        let loaded = self.size(field, Which::Fetched, Place::Wave, &[all])?;
        let times = self.times(field, &first.range, depth)?;
        self.found[field].stored_first += self.scene.per_item_of_wave((loaded - fresh).max(0.0) * times);
        Ok(())
    }
}

fn add<By>(
    list: &mut Vec<Again<By>>,
    bytes: Bytes<PerItem>,
    distance: Bytes<By>,
    in_block: Option<Bytes<PerBlock>>,
) {
    if bytes > Bytes::ZERO {
        list.push(Again { bytes, distance, in_block });
    }
}
