//! What is counted for one launch before any hit rate is applied: distinct sectors, lines and pages of
//! blocks, of a wave and of what ran before it.

use super::alignment::{Aligned, alignments};
use super::fields::{Sizes, TouchedField, touched_fields};
use super::l1::L1Counts;
use super::passes::{Passes, Scene};
use super::places::{Representative, representatives};
use super::wave_kinds::{WaveKind, unlike};
use super::waves::{Past, Wave, Waves};
use crate::device::Device;
use crate::effort::within;
use crate::footprint::{Addressing, Counter, Engine, Threads, Touched, Uncounted};
use crate::kernel::{FieldId, Kernel};
use crate::launch::{BlockBox, Launch, Part, Program, Working, are_points, work_items};

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

/// Distinct bytes of one launch, in whole sectors, lines or pages.
#[derive(Debug, Clone, PartialEq)]
pub struct Footprints {
    /// Of each global field that is accessed, on average over all waves.
    pub fields: Vec<FieldFootprint>,
    /// Kinds of waves, where some differ from the one in the middle and are not few; their shares add up to
    /// 1. Empty where the wave in the middle stands for all.
    pub waves: Vec<WaveKind>,
    /// Bytes of L1 lines that one block loads, all fields (`V_alloc` of section 4.3).
    pub block_alloc: f64,
    /// The same of single stretches of the program, in single iterations, on average over what is loaded:
    /// what competes for the L1 at a time. Without loops and barriers the same number.
    pub stretch_alloc: f64,
    /// Bytes that the wave in the middle loads or stores.
    pub wave: f64,
    /// Bytes that the blocks before the wave load or store: back to the start of their row, one row
    /// and one plane back.
    pub past: [f64; 3],
    /// Distinct pages of a wave: of two neighbours the one that has fewer.
    pub wave_pages: f64,
    /// Pages that the wave would touch if what it loads and what it stores were contiguous.
    pub contiguous_pages: f64,
    /// Distinct pages of one block.
    pub block_pages: f64,
    /// Distinct pages of one block in one iteration of its innermost loops.
    pub iteration_pages: f64,
    /// Work items of the launch.
    pub items: f64,
    /// Blocks that have work: others end at once.
    pub working_blocks: i64,
    /// Work items of the wave. Here and below, those of blocks without work count for the blocks that have
    /// some.
    pub wave_items: f64,
    /// Work items of a block on average.
    pub block_items: f64,
    /// Work items of a block that the domain does not cut.
    pub whole_items: f64,
    /// Work items of the launch for each one that is looked at: those of blocks without work count too. `None`
    /// where the L1 does not count points of the domain: in grid-stride loops, and where threads of a grid of
    /// their own share the domain evenly.
    pub stands_for: Option<f64>,
    /// Engines that counted, each once.
    pub engines: Vec<Engine>,
    /// Whether a count is an estimate.
    pub sampled: bool,
    /// How many counts were made, and how many of them a second engine confirmed.
    pub counts: usize,
    /// See `counts`.
    pub verified: usize,
}

impl Footprints {
    /// Work items of the block that was counted in L1: the mean of several, of which the domain may cut
    /// some.
    pub fn items_in_l1(&self, l1: &L1Counts) -> f64 {
        let counted = self.stands_for.map(|n| n * l1.work_items).filter(|&items| items > 0.0);
        counted.unwrap_or(self.whole_items).max(1e-9)
    }

    /// About what the whole launch loads or stores, each byte once.
    pub fn launch_bytes(&self) -> f64 {
        let once = |f: &FieldFootprint| {
            (f.wave_load - f.reuse.iter().sum::<f64>()) + (f.wave_store - f.store_reuse.iter().sum::<f64>())
        };
        self.fields.iter().map(once).sum::<f64>() * self.items
    }
}

/// Distinct bytes of one field, per work item.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldFootprint {
    /// The field.
    pub field: FieldId,
    /// Sectors that a whole block loads (`V_comp` of section 4.3).
    pub block_load: f64,
    /// `block_load` on average over all blocks, those that the domain cuts too.
    pub mean_block_load: f64,
    /// The same of what blocks ask of the L2: loads, and atomics, which read what they change there.
    pub mean_block_fetch: f64,
    /// Sectors that the wave loads (`V_comp` of section 4.4) or changes by atomics, but for those that it
    /// stores first.
    pub wave_load: f64,
    /// Sectors that the wave changes by atomics, and those that its blocks do, each by itself.
    pub atomics: [f64; 2],
    /// Sectors that the wave stores.
    pub wave_store: f64,
    /// Of `wave_load`, what the blocks before the wave loaded or stored: in its row, one row back, one
    /// plane back; disjoint (`V_over` of section 4.4.2).
    pub reuse: [f64; 3],
    /// Of `wave_store`, likewise.
    pub store_reuse: [f64; 3],
    /// Bytes that the launch stores, each once; 0 where waves share none of the sectors that they store, or
    /// where it is not known.
    pub stored: f64,
    /// What the program touches again, and how much lies in between.
    pub passes: Passes,
}

impl FieldFootprint {
    /// Takes away what the wave stores before it loads it: the L2 has it already, or it is loaded again.
    pub(super) fn without_stored(&mut self) {
        let share = (self.passes.stored_first / self.wave_load.max(1e-9)).clamp(0.0, 1.0);
        self.wave_load *= 1.0 - share;
        for reuse in &mut self.reuse {
            *reuse *= 1.0 - share;
        }
    }
}

/// Counts the footprints of a launch with `resident` blocks at a time.
pub fn footprints(
    kernel: &Kernel,
    launch: &Launch,
    program: &Program<i64>,
    device: &Device,
    resident: i64,
    counting: &Counting,
) -> Result<Footprints, Uncounted> {
    let threads = Threads { kernel, launch, program };
    let fields = touched_fields(kernel, &threads, counting.addressing)?;
    of_fields(&threads, &fields, device, resident, counting)
}

/// The same where it is known what threads touch.
pub(super) fn of_fields(
    threads: &Threads<'_>,
    fields: &[TouchedField<'_>],
    device: &Device,
    resident: i64,
    counting: &Counting,
) -> Result<Footprints, Uncounted> {
    let Threads { kernel, launch, program } = *threads;
    let mut counts = Counts { counting, engines: Vec::new(), sampled: false, made: 0, verified: 0 };
    let sizes = Sizes::of(device);
    let items_of = |blocks: &[BlockBox]| work_items(kernel, launch, program, blocks);
    let all = BlockBox { from: [0; 3], to: launch.sizes.grid };
    let working = Working::of(kernel, launch, program);
    let items = items_of(&[all]);
    // Work items of blocks that do nothing belong to the launch, too.
    let factor = items / items_of(&[working.blocks]).max(1e-9);
    let waves = Waves::of(&working, resident);
    let wave = waves.middle();
    let wave_items = (factor * items_of(&wave.blocks)).max(1e-9);
    let blocks = representatives(threads, &working, factor / working.share);
    let by_points = are_points(kernel, launch) && program.instructions.iter().all(|i| i.clipped);
    let block_items = blocks.iter().map(|b| b.share * b.items).sum::<f64>().max(1e-9);
    let mut found = Footprints {
        fields: Vec::with_capacity(fields.len()),
        waves: Vec::new(),
        block_alloc: 0.0,
        stretch_alloc: 0.0,
        wave: 0.0,
        past: [0.0; 3],
        wave_pages: 0.0,
        contiguous_pages: 0.0,
        block_pages: 0.0,
        iteration_pages: 0.0,
        items,
        working_blocks: working.count(),
        wave_items,
        block_items,
        whole_items: blocks.first().map_or(0.0, |b| b.items),
        stands_for: by_points.then_some(factor / working.share),
        engines: Vec::new(),
        sampled: false,
        counts: 0,
        verified: 0,
    };
    for field in fields {
        let of_block = counts.blocks(field, &blocks, &sizes)?;
        found.iteration_pages += match (blocks.first(), field.all.depth()) {
            (Some(first), 1..) => counts.pages_of_iteration(field, first.block, &sizes)?,
            _ => of_block.pages,
        };
        let mut of_wave = counts.wave(field, &wave, &sizes)?;
        found.block_alloc += of_block.alloc;
        found.block_pages += of_block.pages;
        found.wave_pages += counts.pages(field, &wave, &sizes)? * field.times();
        let used = [of_wave.load, of_wave.store].into_iter().filter(|b| *b > 0.0);
        found.contiguous_pages += used.map(|b| b / sizes.page as f64 + field.times()).sum::<f64>();
        found.wave += of_wave.all;
        for (sum, bytes) in found.past.iter_mut().zip(of_wave.past) {
            *sum += bytes;
        }
        let shares_stores = of_wave.store_reuse.iter().any(|&bytes| bytes > 0.0);
        let stored_once = if shares_stores { stored(field, &working.blocks) / items.max(1e-9) } else { 0.0 };
        of_wave.per_item(wave_items);
        found.fields.push(FieldFootprint {
            field: field.id,
            block_load: of_block.whole_load,
            mean_block_load: of_block.load / block_items,
            mean_block_fetch: of_block.fetch / block_items,
            wave_load: of_wave.load,
            atomics: [of_wave.atomic, of_block.atomic / block_items],
            wave_store: of_wave.store,
            reuse: of_wave.reuse,
            store_reuse: of_wave.store_reuse,
            stored: stored_once,
            passes: Passes::default(),
        });
    }
    passes(&mut found, threads, fields, &mut counts, &blocks, &wave, &sizes)?;
    found.past = nested(&wave, found.past);
    let items_of_wave = |wave: &Wave| (factor * items_of(&wave.blocks)).max(1e-9);
    for (wave, share) in unlike(&waves, &found, device, &items_of_wave) {
        let items = items_of_wave(&wave);
        let kind = counts.kind(fields, &found.fields, &wave, share, items, &sizes)?;
        found.waves.push(kind);
    }
    found.average();
    (found.engines, found.sampled) = (counts.engines, counts.sampled);
    (found.counts, found.verified) = (counts.made, counts.verified);
    found.engines.sort_unstable();
    Ok(found)
}

/// Finds what the program touches again.
fn passes(
    found: &mut Footprints,
    threads: &Threads<'_>,
    fields: &[TouchedField<'_>],
    counts: &mut Counts<'_>,
    blocks: &[Representative],
    wave: &Wave,
    sizes: &Sizes,
) -> Result<(), Uncounted> {
    let Threads { kernel, program, .. } = *threads;
    let parts = program.parts(kernel);
    let (Some(first), false) = (blocks.first(), matches!(parts.as_slice(), [] | [Part::Stretch(_)])) else {
        // All of it competes at the same time.
        found.stretch_alloc = found.block_alloc;
        for field in &mut found.fields {
            field.passes = Passes::of_one_stretch(field, found.block_alloc, found.wave);
        }
        return Ok(());
    };
    let (block, block_items) = (first.block, first.items.max(1e-9));
    let scene = Scene { fields, sizes, block, block_items, wave: &wave.blocks, wave_items: found.wave_items };
    let (mut alloc, mut loads) = (0.0, 0.0);
    for (field, passes) in found.fields.iter_mut().zip(counts.passes(&scene, &parts)?) {
        alloc += passes.in_stretches * passes.stretch_alloc;
        loads += passes.in_stretches;
        field.passes = passes;
        field.without_stored();
    }
    found.stretch_alloc = if loads > 0.0 { alloc / loads } else { 0.0 };
    Ok(())
}

/// Steps for counting what all blocks store, where that has no closed form.
const STEPS_FOR_STORED: u64 = 1 << 18;

/// Bytes that all blocks store of a field, each once; 0 if that has no closed form and is not soon counted.
fn stored(field: &TouchedField<'_>, blocks: &BlockBox) -> f64 {
    let by = |engine| Touched::count(&[(&field.stores, &[*blocks])], 1, &Counter::forced(engine));
    let count = by(Engine::Linear).or_else(|_| within(STEPS_FOR_STORED, || by(Engine::Runs)));
    count.map_or(0.0, |count| count.lines as f64 * field.times())
}

/// Footprints of sets that hold each other: one that adds nothing is as large as the nearer one.
pub(super) fn nested(wave: &Wave, past: [f64; 3]) -> [f64; 3] {
    let mut nearer = 0.0;
    let mut out = past;
    for (bytes, set) in out.iter_mut().zip(&wave.before) {
        if set.blocks.is_empty() {
            *bytes = nearer;
        }
        nearer = *bytes;
    }
    out
}

/// Bytes of one field that a block touches, on average over the representatives.
#[derive(Default)]
struct OfBlock {
    load: f64,
    /// With atomics.
    fetch: f64,
    /// Of atomics alone.
    atomic: f64,
    /// Per work item, of blocks that the domain does not cut.
    whole_load: f64,
    alloc: f64,
    pages: f64,
}

/// Bytes of one field that a wave touches.
#[derive(Default)]
pub(super) struct OfWave {
    pub(super) load: f64,
    pub(super) store: f64,
    pub(super) atomic: f64,
    pub(super) all: f64,
    pub(super) past: [f64; 3],
    pub(super) reuse: [f64; 3],
    pub(super) store_reuse: [f64; 3],
}

impl OfWave {
    /// Divides what is per work item.
    pub(super) fn per_item(&mut self, items: f64) {
        let volumes = [&mut self.load, &mut self.store, &mut self.atomic];
        for bytes in volumes.into_iter().chain(&mut self.reuse).chain(&mut self.store_reuse) {
            *bytes /= items;
        }
    }
}

/// Counts, and remembers how.
pub(super) struct Counts<'a> {
    counting: &'a Counting,
    engines: Vec<Engine>,
    sampled: bool,
    made: usize,
    verified: usize,
}

impl Counts<'_> {
    /// Bytes in whole lines of `line` bytes.
    pub(super) fn bytes(
        &mut self,
        touched: &Touched,
        blocks: &[BlockBox],
        line: i64,
    ) -> Result<f64, Uncounted> {
        self.union(&[(touched, blocks)], line)
    }

    /// Bytes in whole lines that are touched in one of several ways.
    pub(super) fn union(&mut self, parts: &[(&Touched, &[BlockBox])], line: i64) -> Result<f64, Uncounted> {
        if parts.iter().all(|(touched, blocks)| touched.is_empty() || blocks.is_empty()) {
            return Ok(0.0);
        }
        let count = Touched::count(parts, line, &self.counting.counter)?;
        if count.lines == 0 {
            return Ok(0.0);
        }
        if !self.engines.contains(&count.engine) {
            self.engines.push(count.engine);
        }
        self.sampled |= count.interval.is_some();
        self.made += 1;
        self.verified += usize::from(count.verified_by.is_some());
        Ok(count.lines as f64 * line as f64)
    }

    /// Bytes in whole lines that a block touches, on average over those that a block stands for.
    pub(super) fn mean_bytes(
        &mut self,
        touched: &Touched,
        of: &Representative,
        line: i64,
    ) -> Result<f64, Uncounted> {
        if touched.is_empty() {
            return Ok(0.0);
        }
        let Some(steps) = touched.steps(&of.alike, line) else {
            let some = of.some();
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

    fn blocks(
        &mut self,
        field: &TouchedField<'_>,
        blocks: &[Representative],
        sizes: &Sizes,
    ) -> Result<OfBlock, Uncounted> {
        let mut sum = OfBlock::default();
        let of_whole =
            |of: fn(&Representative) -> f64| blocks.iter().filter(|b| b.whole).map(of).sum::<f64>();
        let (whole_share, whole_items) = (of_whole(|b| b.share), of_whole(|b| b.share * b.items));
        for one in blocks {
            let share = one.share * field.times();
            let load = self.mean_bytes(&field.loads, one, sizes.sector)?;
            sum.load += share * load;
            if one.whole {
                sum.whole_load += share * load;
                sum.alloc += share * self.mean_bytes(&field.loads, one, sizes.line)? / whole_share;
            }
            if let Some(atomics) = &field.atomics {
                sum.fetch += share * self.mean_bytes(&atomics.with_loads, one, sizes.sector)?;
                sum.atomic += share * self.mean_bytes(&atomics.alone, one, sizes.sector)?;
            } else {
                sum.fetch = sum.load;
            }
        }
        sum.whole_load /= whole_items.max(1e-9);
        if let Some(first) = blocks.first() {
            let pages = self.bytes(&field.all, &[first.block], sizes.page)? / sizes.page as f64;
            sum.pages = pages * field.times();
        }
        Ok(sum)
    }

    pub(super) fn wave(
        &mut self,
        field: &TouchedField<'_>,
        wave: &Wave,
        sizes: &Sizes,
    ) -> Result<OfWave, Uncounted> {
        let mut found = OfWave {
            load: self.bytes(field.fetched(), &wave.blocks, sizes.fetch)?,
            store: self.bytes(&field.stores, &wave.blocks, sizes.fetch)?,
            ..OfWave::default()
        };
        if let Some(atomics) = &field.atomics {
            found.atomic = self.bytes(&atomics.alone, &wave.blocks, sizes.fetch)?;
        }
        found.all = match (field.fetched().is_empty(), field.stores.is_empty()) {
            (_, true) => found.load,
            (true, _) => found.store,
            _ => self.bytes(&field.all, &wave.blocks, sizes.fetch)?,
        };
        for (i, past) in wave.before.iter().enumerate() {
            if past.blocks.is_empty() {
                continue;
            }
            found.past[i] = self.bytes(&field.all, &past.blocks, sizes.fetch)?;
            // |A and B| = |A| + |B| - |A or B|; what nearer blocks touched counts for them.
            let either = self.with_past(field.fetched(), field, wave, past, sizes)?;
            let again = either.map_or(0.0, |n| found.load + found.past[i] - n);
            found.reuse[i] = (again - found.reuse.iter().sum::<f64>()).max(0.0);
            let either = self.with_past(&field.stores, field, wave, past, sizes)?;
            let again = either.map_or(0.0, |n| found.store + found.past[i] - n);
            found.store_reuse[i] = (again - found.store_reuse.iter().sum::<f64>()).max(0.0);
        }
        let times = field.times();
        let volumes = [&mut found.load, &mut found.store, &mut found.atomic, &mut found.all];
        let lists = found.past.iter_mut().chain(&mut found.reuse).chain(&mut found.store_reuse);
        for bytes in volumes.into_iter().chain(lists) {
            *bytes *= times;
        }
        Ok(found)
    }

    /// Pages of the wave or of the one beside it, whichever has fewer. Few bytes in one piece may happen
    /// to cross a page's end, which says nothing about how scattered waves are; but two neighbours that
    /// are smaller than half a page cannot both do so.
    fn pages(&mut self, field: &TouchedField<'_>, wave: &Wave, sizes: &Sizes) -> Result<f64, Uncounted> {
        let here = self.bytes(&field.all, &wave.blocks, sizes.page)?;
        let bytes = if here > sizes.page as f64 {
            here.min(self.bytes(&field.all, &wave.beside, sizes.page)?)
        } else {
            here
        };
        Ok(bytes / sizes.page as f64)
    }

    /// Pages of a block in an iteration of its innermost loops, of the nest that has most.
    fn pages_of_iteration(
        &mut self,
        field: &TouchedField<'_>,
        block: BlockBox,
        sizes: &Sizes,
    ) -> Result<f64, Uncounted> {
        let mut most = 0.0_f64;
        for iteration in field.all.innermost() {
            most = most.max(self.bytes(&iteration, &[block], sizes.page)? / sizes.page as f64);
        }
        Ok(most * field.times())
    }

    /// Bytes that the wave touches through `some` or the blocks before it at all; `None` if `some` are
    /// none.
    fn with_past(
        &mut self,
        some: &Touched,
        field: &TouchedField<'_>,
        wave: &Wave,
        past: &Past,
        sizes: &Sizes,
    ) -> Result<Option<f64>, Uncounted> {
        if some.is_empty() {
            return Ok(None);
        }
        let bytes = if some.len() == field.all.len() {
            self.bytes(some, &past.with_wave, sizes.fetch)
        } else {
            self.union(&[(some, &wave.blocks), (&field.all, &past.blocks)], sizes.fetch)
        };
        bytes.map(Some)
    }
}
