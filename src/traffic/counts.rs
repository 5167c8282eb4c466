//! Counts of distinct sectors, lines and pages of one field, and which engines made them.

use super::alignment::{Aligned, alignments};
use super::fields::{Sizes, TouchedField};
use super::places::Representative;
use super::waves::{Past, Wave};
use crate::footprint::{Addressing, Counter, Engine, FieldTouches, Uncounted};
use crate::launch::BlockBox;
use crate::quantity::{Bytes, ItemCount, Pages, PerBlock, PerItem, PerWave};

/// How footprints are counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counting {
    /// Which engines.
    pub counter: Counter,
    /// What counts as the same address.
    pub addressing: Addressing,
}

impl Default for Counting {
    fn default() -> Self {
        Self { counter: Counter::cheapest(), addressing: Addressing::Linear }
    }
}

/// Footprints of sets that hold each other: one that adds nothing is as large as the nearer one.
pub(super) fn nested(wave: &Wave, past: [Bytes<PerWave>; 3]) -> [Bytes<PerWave>; 3] {
    let mut nearer = Bytes::ZERO;
    let mut out = past;
    for (bytes, set) in out.iter_mut().zip(&wave.before) {
        if set.blocks.is_empty() {
            *bytes = nearer;
        }
        nearer = *bytes;
    }
    out
}

/// What a block touches of one field, on average over the representatives.
#[derive(Clone, Copy, Default)]
pub(super) struct OfBlock {
    pub(super) load: Bytes<PerBlock>,
    /// With atomics.
    pub(super) fetch: Bytes<PerBlock>,
    /// Of atomics alone.
    pub(super) atomic: Bytes<PerBlock>,
    /// Of blocks that the domain does not cut.
    pub(super) whole_load: Bytes<PerItem>,
    pub(super) alloc: Bytes<PerBlock>,
    pub(super) pages: Pages<PerBlock>,
}

/// What a wave touches of one field.
#[derive(Clone, Copy, Default)]
pub(super) struct OfWave {
    pub(super) load: Bytes<PerWave>,
    pub(super) store: Bytes<PerWave>,
    pub(super) atomic: Bytes<PerWave>,
    pub(super) all: Bytes<PerWave>,
    pub(super) past: [Bytes<PerWave>; 3],
    pub(super) reuse: [Bytes<PerWave>; 3],
    pub(super) store_reuse: [Bytes<PerWave>; 3],
}

/// What a wave loads and stores of one field.
#[derive(Clone, Copy)]
pub(super) struct LoadsAndStores {
    pub(super) load: Bytes<PerWave>,
    pub(super) store: Bytes<PerWave>,
    /// How many counts that took, and how many of them were verified.
    made: [usize; 2],
}

/// Counts, and remembers how.
pub(super) struct FieldCounter<'a> {
    pub(super) counting: &'a Counting,
    pub(super) engines: Vec<Engine>,
    pub(super) sampled: bool,
    /// Whether blocks stand for others that may touch more or less.
    pub(super) some_blocks: bool,
    pub(super) made: usize,
    pub(super) verified: usize,
}

impl<'a> FieldCounter<'a> {
    /// One that has counted nothing.
    pub(super) fn new(counting: &'a Counting) -> Self {
        Self { counting, engines: Vec::new(), sampled: false, some_blocks: false, made: 0, verified: 0 }
    }
}

impl FieldCounter<'_> {
    /// Bytes in whole lines of `line` bytes.
    pub(super) fn bytes(
        &mut self,
        touched: &FieldTouches,
        blocks: &[BlockBox],
        line: i64,
    ) -> Result<f64, Uncounted> {
        self.union(&[(touched, blocks)], line)
    }

    /// Notes that what was counted since these numbers of counts stands for as much again, so many times.
    fn known_again(&mut self, times: usize, before: [usize; 2]) {
        let made = self.made_since(before);
        for _ in 0..times {
            self.count_again(made);
        }
    }

    /// How many counts were made since these numbers of counts, and how many of them verified.
    pub(super) fn made_since(&self, [made, verified]: [usize; 2]) -> [usize; 2] {
        [self.made - made, self.verified - verified]
    }

    /// Notes that so many counts stand for as many others.
    pub(super) fn count_again(&mut self, [made, verified]: [usize; 2]) {
        self.made += made;
        self.verified += verified;
    }

    /// Bytes in whole lines that are touched in one of several ways.
    pub(super) fn union(
        &mut self,
        parts: &[(&FieldTouches, &[BlockBox])],
        line: i64,
    ) -> Result<f64, Uncounted> {
        if parts.iter().all(|(touched, blocks)| touched.is_empty() || blocks.is_empty()) {
            return Ok(0.0);
        }
        let count = FieldTouches::count(parts, line, &self.counting.counter)?;
        if count.lines == 0 {
            return Ok(0.0);
        }
        if !self.engines.contains(&count.engine) {
            self.engines.push(count.engine);
        }
        self.sampled |= count.interval_lines.is_some();
        self.made += 1;
        self.verified += usize::from(count.verified_by.is_some());
        Ok(count.lines as f64 * line as f64)
    }

    /// Bytes in whole lines that a block touches, on average over those that a block stands for.
    pub(super) fn mean_bytes(
        &mut self,
        touched: &FieldTouches,
        of: &Representative,
        line: i64,
    ) -> Result<f64, Uncounted> {
        if touched.is_empty() {
            return Ok(0.0);
        }
        let Some(steps) = touched.steps(&of.alike, line) else {
            let some = of.some();
            // Where conditions choose, it is looked for blocks that differ for them; addresses that move otherwise than
            // others may come together anywhere.
            let is_some = i64::try_from(some.len()).is_ok_and(|some| some < of.alike.count());
            self.some_blocks |= is_some && !touched.is_conditional();
            let all = some.iter().map(|&block| self.bytes(touched, &[BlockBox::one(block)], line));
            return Ok(all.sum::<Result<f64, _>>()? / some.len() as f64);
        };
        let mut sum = 0.0;
        for Aligned { block, share, spread } in alignments(steps, &of.alike, line) {
            let at = [BlockBox::one(block)];
            sum += share
                * if spread == line {
                    self.bytes(touched, &at, line)?
                } else {
                    self.bytes(&touched.widened(line - spread), &at, spread)?
                };
        }
        Ok(sum)
    }

    pub(super) fn blocks(
        &mut self,
        field: &TouchedField,
        blocks: &[Representative],
        sizes: &Sizes,
    ) -> Result<OfBlock, Uncounted> {
        let mut sum = OfBlock::default();
        let whole = || blocks.iter().filter(|b| b.whole);
        let whole_share: f64 = whole().map(|b| b.share).sum();
        let whole_items: ItemCount<PerBlock> = whole().map(|b| b.items * b.share).sum();
        let mut whole_load = Bytes::ZERO;
        for one in blocks {
            let share = one.share * field.times();
            let mut mean = |touched: &FieldTouches, line| {
                self.mean_bytes(touched, one, line).map(|n| Bytes::new(share * n))
            };
            let load = mean(&field.loads, sizes.sector)?;
            sum.load += load;
            if one.whole {
                whole_load += load;
                sum.alloc += mean(&field.loads, sizes.line)? / whole_share;
            }
            if let Some(atomics) = &field.atomics {
                sum.fetch += mean(&atomics.with_loads, sizes.sector)?;
                sum.atomic += mean(&atomics.alone, sizes.sector)?;
            } else {
                sum.fetch = sum.load;
            }
        }
        sum.whole_load = whole_load.per_item(whole_items.max(ItemCount::new(1e-9)));
        if let Some(first) = blocks.first() {
            let pages = self.bytes(field.touched(), &[first.block], sizes.page)? / sizes.page as f64;
            sum.pages = Pages::new(pages * field.times());
        }
        Ok(sum)
    }

    /// What a wave loads and stores of one field, of as many as are like it.
    pub(super) fn loads_and_stores(
        &mut self,
        field: &TouchedField,
        wave: &Wave,
        sizes: &Sizes,
    ) -> Result<LoadsAndStores, Uncounted> {
        let before = [self.made, self.verified];
        let load = self.bytes(field.fetched(), &wave.blocks, sizes.fetch)?;
        let store = if field.is_in_place() {
            self.known_again(2, before);
            load
        } else {
            self.bytes(&field.stores, &wave.blocks, sizes.fetch)?
        };
        let [load, store] = [load, store].map(Bytes::new);
        Ok(LoadsAndStores { load, store, made: self.made_since(before) })
    }

    /// What a wave touches of one field, of which it may be known already what it loads and stores.
    pub(super) fn wave(
        &mut self,
        field: &TouchedField,
        wave: &Wave,
        known: Option<LoadsAndStores>,
        sizes: &Sizes,
    ) -> Result<OfWave, Uncounted> {
        let LoadsAndStores { load, store, .. } = match known {
            Some(known) => {
                self.count_again(known.made);
                known
            }
            None => self.loads_and_stores(field, wave, sizes)?,
        };
        let mut found = OfWave { load, store, ..OfWave::default() };
        let of_wave = |counter: &mut Self, touched: &FieldTouches| {
            counter.bytes(touched, &wave.blocks, sizes.fetch).map(Bytes::new)
        };
        if field.is_in_place() {
            found.all = load;
        } else {
            found.all = match (field.fetched().is_empty(), field.stores.is_empty()) {
                (_, true) => found.load,
                (true, _) => found.store,
                _ => of_wave(self, &field.all)?,
            };
        }
        if let Some(atomics) = &field.atomics {
            found.atomic = of_wave(self, &atomics.alone)?;
        }
        for (i, past) in wave.before.iter().enumerate() {
            if past.blocks.is_empty() {
                continue;
            }
            found.past[i] = Bytes::new(self.bytes(field.touched(), &past.blocks, sizes.fetch)?);
            // |A and B| = |A| + |B| - |A or B|; what nearer blocks touched counts for them.
            let before = [self.made, self.verified];
            let with_fetched = self.with_past(field.fetched(), field, wave, past, sizes)?;
            let again = with_fetched.map_or(Bytes::ZERO, |n| found.load + found.past[i] - Bytes::new(n));
            found.reuse[i] = (again - found.reuse.iter().sum()).or_none();
            let with_stored = if field.is_in_place() {
                self.known_again(1, before);
                with_fetched
            } else {
                self.with_past(&field.stores, field, wave, past, sizes)?
            };
            let again = with_stored.map_or(Bytes::ZERO, |n| found.store + found.past[i] - Bytes::new(n));
            found.store_reuse[i] = (again - found.store_reuse.iter().sum()).or_none();
        }
        let times = field.times();
        let volumes = [&mut found.load, &mut found.store, &mut found.atomic, &mut found.all];
        let lists = found.past.iter_mut().chain(&mut found.reuse).chain(&mut found.store_reuse);
        for bytes in volumes.into_iter().chain(lists) {
            *bytes *= times;
        }
        Ok(found)
    }

    /// Pages of a wave that touches so many bytes of the field, or of the one beside it, whichever has fewer; less one,
    /// as bytes in one piece happen to cross one end of a page more or not, which says nothing about how scattered a
    /// wave is. No fewer than they fill.
    pub(super) fn pages(
        &mut self,
        field: &TouchedField,
        wave: &Wave,
        touched: Bytes<PerWave>,
        sizes: &Sizes,
    ) -> Result<Pages<PerWave>, Uncounted> {
        let page = sizes.page as f64;
        let mut pages = self.bytes(field.touched(), &wave.blocks, sizes.page)? / page;
        if pages > 1.0 {
            pages = pages.min(self.bytes(field.touched(), &wave.beside, sizes.page)? / page);
        }
        Ok(Pages::new((pages - 1.0).max(touched.get() / page)))
    }

    /// Pages of a block in an iteration of its innermost loops, of the nest that has most.
    pub(super) fn pages_of_iteration(
        &mut self,
        field: &TouchedField,
        block: BlockBox,
        sizes: &Sizes,
    ) -> Result<Pages<PerBlock>, Uncounted> {
        let mut most = 0.0_f64;
        for iteration in field.all.innermost() {
            most = most.max(self.bytes(&iteration, &[block], sizes.page)? / sizes.page as f64);
        }
        Ok(Pages::new(most * field.times()))
    }

    /// Bytes that the wave touches through `some` or the blocks before it at all; `None` if `some` are
    /// none.
    fn with_past(
        &mut self,
        some: &FieldTouches,
        field: &TouchedField,
        wave: &Wave,
        past: &Past,
        sizes: &Sizes,
    ) -> Result<Option<f64>, Uncounted> {
        if some.is_empty() {
            return Ok(None);
        }
        let bytes = if field.is_in_place() || some.len() == field.all.len() {
            self.bytes(some, &past.with_wave, sizes.fetch)
        } else {
            self.union(&[(some, &wave.blocks), (&field.all, &past.blocks)], sizes.fetch)
        };
        bytes.map(Some)
    }
}
