//! Counts the footprints of one launch.

use super::common::{Residency, new_together, small, soon_counted};
use super::counts::{Counting, FieldCounter, OfBlock, OfWave, nested};
use super::far::far_back;
use super::fields::{Sizes, TouchedField, touched_fields};
use super::footprints::{FieldFootprint, Footprints};
use super::passes::{Passes, Scene, passes_of_one_stretch};
use super::places::{Representative, Representatives, representatives};
use super::sparse::{Gaps, PIECE};
use super::wave_kinds::{AllWaves, unlike};
use super::waves::{Wave, Waves};
use crate::device::{Device, signed};
use crate::effort::within;
use crate::footprint::{Counter, Engine, FieldTouches, Threads, Uncounted};
use crate::kernel::Kernel;
use crate::launch::{BlockBox, Launch, Part, Program, Working, are_points, work_items};
use crate::quantity::{Bytes, ItemCount, Pages, PerBlock, PerWave, Ratio, Share};

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
    fields: &[TouchedField],
    device: &Device,
    resident: i64,
    counting: &Counting,
) -> Result<Footprints, Uncounted> {
    let Threads { kernel, launch, program } = *threads;
    let mut counts = FieldCounter::new(counting);
    let sizes = Sizes::new(device);
    let items_of = |blocks: &[BlockBox]| work_items(kernel, launch, program, blocks);
    let all = BlockBox::whole(launch.sizes.grid);
    let working = Working::new(kernel, launch, program);
    let items = items_of(&[all]);
    // Work items of blocks that do nothing belong to the launch, too.
    let factor = items / items_of(&[working.blocks]).max(1e-9);
    let waves = Waves::new(&working, resident);
    let waves = far_back(&waves, fields, &sizes).map_or(waves, |distances| waves.coming_back(distances));
    let wave = waves.middle();
    let items_of_wave = |wave: &Wave| ItemCount::new((factor * items_of(&wave.blocks)).max(1e-9));
    let wave_items = items_of_wave(&wave);
    let Representatives { blocks, differ, sampled } =
        representatives(threads, &working, factor / working.share().get());
    let by_points = are_points(kernel, launch) && program.instructions.iter().all(|i| i.clipped);
    let least = ItemCount::new(1e-9);
    let block_items = blocks.iter().map(|b| b.items * b.share).sum::<ItemCount<_>>().max(least);
    let mut found = Footprints {
        fields: Vec::with_capacity(fields.len()),
        waves: Vec::new(),
        block_alloc: Bytes::ZERO,
        stretch_alloc: Bytes::ZERO,
        wave: Bytes::ZERO,
        lines: Ratio::new(1.0),
        past: [Bytes::ZERO; 3],
        wave_pages: Pages::ZERO,
        block_pages: Pages::ZERO,
        iteration_pages: Pages::ZERO,
        items: ItemCount::new(items),
        working_blocks: working.count(),
        wave_items,
        block_items,
        whole_items: blocks.first().map_or(ItemCount::ZERO, |b| b.items),
        stands_for: by_points.then(|| Ratio::new(factor / working.share().get())),
        engines: Vec::new(),
        sampled: false,
        blocks_sampled: false,
        counts: 0,
        verified: 0,
        one_row: waves.in_one_row().is_some(),
    };
    let residency = Residency { working: working.blocks, resident, sms: signed(device.sm.count.value.0) };
    let mut lines = Bytes::ZERO;
    let mut known: Vec<OfField> = Vec::with_capacity(fields.len());
    for field in fields {
        let of = match field.like {
            Some(place) => {
                counts.count_again(known[place].made);
                known[place]
            }
            None => counts.field(threads, field, &blocks, &wave, &sizes, residency)?,
        };
        known.push(of);
        let OfField { block: of_block, wave: of_wave, gaps, common, .. } = of;
        found.iteration_pages = found.iteration_pages.max(of.at_a_time / field.times());
        found.block_alloc += of_block.alloc;
        found.block_pages += of_block.pages;
        found.wave_pages += of.pages * field.times();
        found.wave += of_wave.all;
        lines += of_wave.all * gaps.lines.get();
        for (sum, bytes) in found.past.iter_mut().zip(of_wave.past) {
            *sum += bytes;
        }
        let shares_stores = of_wave.store_reuse.iter().any(|&bytes| bytes > Bytes::ZERO);
        let stored_once = if shares_stores { stored(field, &working.blocks) / items.max(1e-9) } else { 0.0 };
        found.fields.push(FieldFootprint {
            field: field.id,
            private: field.private,
            block_load: of_block.whole_load,
            mean_block_load: of_block.load.per_item(block_items),
            mean_block_fetch: of_block.fetch.per_item(block_items),
            wave_load: of_wave.load.per_item(wave_items),
            atomics: [of_wave.atomic.per_item(wave_items), of_block.atomic.per_item(block_items)],
            atomic_elements: atomic_elements(field, &wave, of_wave.atomic).per_item(wave_items),
            wave_store: of_wave.store.per_item(wave_items),
            reuse: of_wave.reuse.map(|bytes| bytes.per_item(wave_items)),
            store_reuse: of_wave.store_reuse.map(|bytes| bytes.per_item(wave_items)),
            stored: Bytes::new(stored_once),
            common_load: common.per_item(blocks.first().map_or(block_items, |b| b.items.max(least))),
            block_alloc: of_block.alloc,
            new_together: of.together,
            small: small(field, &working.blocks, &sizes),
            pairs: gaps.pairs,
            incomplete: if device.dram.fill.value.0 { gaps.incomplete } else { Share::ZERO },
            spread: if gaps.apart { spread(field, &working.blocks, &sizes) } else { Ratio::new(1.0) },
            passes: Passes::default(),
        });
    }
    found.lines = if found.wave > Bytes::ZERO { Ratio::new(lines / found.wave) } else { Ratio::new(1.0) };
    passes(&mut found, threads, fields, &mut counts, &blocks, &wave, &sizes)?;
    found.past = nested(&wave, found.past);
    let all_waves = AllWaves { waves: &waves, items_of: &items_of_wave, fields, sizes: &sizes };
    let some_waves = counts.kinds_of_waves(&mut found, &all_waves, device, differ)?;
    found.blocks_sampled = some_waves || sampled || counts.some_blocks || working.share_is_sampled();
    found.average();
    (found.engines, found.sampled) = (counts.engines, counts.sampled);
    (found.counts, found.verified) = (counts.made, counts.verified);
    found.engines.sort_unstable();
    Ok(found)
}

/// Elements that a wave changes by atomics, in bytes.
fn atomic_elements(field: &TouchedField, wave: &Wave, sectors: Bytes<PerWave>) -> Bytes<PerWave> {
    let Some(atomics) = &field.atomics else { return Bytes::ZERO };
    soon_counted(field, &[(&atomics.alone, &wave.blocks)], field.element_bytes).map_or(sectors, Bytes::new)
}

impl FieldCounter<'_> {
    /// Finds the kinds of waves where one does not stand for all. Says whether there are waves that differ from those.
    fn kinds_of_waves(
        &mut self,
        found: &mut Footprints,
        all: &AllWaves<'_>,
        device: &Device,
        differ: bool,
    ) -> Result<bool, Uncounted> {
        if differ && all.waves.count() > 1 {
            let (kinds, not_all) = self.differing(all, &found.fields)?;
            found.waves = kinds;
            return Ok(not_all);
        }
        for (wave, share) in unlike(all.waves, found, device, all.items_of) {
            let items = (all.items_of)(&wave);
            let kind = self.kind(all, &found.fields, &wave, share, items, &[])?;
            found.waves.push(kind);
        }
        Ok(false)
    }
}

/// What is counted of one field in blocks and in a wave.
#[derive(Clone, Copy)]
struct OfField {
    block: OfBlock,
    /// Pages of an iteration of a block.
    at_a_time: Pages<PerBlock>,
    wave: OfWave,
    /// Pages of the wave.
    pages: Pages<PerWave>,
    gaps: Gaps,
    /// What all blocks load.
    common: Bytes<PerBlock>,
    /// What is new of what blocks load that start together.
    together: Share,
    /// How many counts that took, and how many of them were verified.
    made: [usize; 2],
}

impl FieldCounter<'_> {
    fn field(
        &mut self,
        threads: &Threads<'_>,
        field: &TouchedField,
        blocks: &[Representative],
        wave: &Wave,
        sizes: &Sizes,
        residency: Residency,
    ) -> Result<OfField, Uncounted> {
        let before = [self.made, self.verified];
        let of_block = self.blocks(field, blocks, sizes)?;
        let at_a_time = match (blocks.first(), field.all.depth()) {
            (Some(first), 1..) => self.pages_of_iteration(field, first.block, sizes)?,
            _ => of_block.pages,
        };
        let of_wave = self.wave(field, wave, None, sizes)?;
        let pages = self.pages(field, wave, of_wave.all / field.times(), sizes)?;
        let gaps = self.gaps(threads, field, wave, sizes, [of_wave.all, of_wave.load, of_wave.store])?;
        let common = match blocks.first() {
            Some(first) => self.common(field, first, residency.resident, sizes)?,
            None => Bytes::ZERO,
        };
        let own = (blocks.len() == 1).then_some(of_block.load);
        let together = new_together(field, own, residency, sizes);
        let made = self.made_since(before);
        Ok(OfField { block: of_block, at_a_time, wave: of_wave, pages, gaps, common, together, made })
    }
}

/// Finds what the program touches again.
fn passes(
    found: &mut Footprints,
    threads: &Threads<'_>,
    fields: &[TouchedField],
    counts: &mut FieldCounter<'_>,
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
            field.passes = passes_of_one_stretch(field, found.block_alloc, found.wave);
        }
        return Ok(());
    };
    let (block, block_items) = (first.block, first.items.max(ItemCount::new(1e-9)));
    let scene = Scene { fields, sizes, block, block_items, wave: &wave.blocks, wave_items: found.wave_items };
    let (mut alloc, mut loads) = (Bytes::ZERO, 0.0);
    for (field, passes) in found.fields.iter_mut().zip(counts.passes(&scene, &parts)?) {
        alloc += passes.stretch_alloc * passes.in_stretches.get();
        loads += passes.in_stretches.get();
        field.passes = passes;
        field.without_stored();
    }
    found.stretch_alloc = if loads > 0.0 { alloc / loads } else { Bytes::ZERO };
    Ok(())
}

/// Steps for counting what all blocks store, where that has no closed form.
const STEPS_FOR_STORED: u64 = 1 << 18;

/// Bytes that all blocks store of a field, each once; 0 if that has no closed form and is not soon counted.
fn stored(field: &TouchedField, blocks: &BlockBox) -> f64 {
    stored_in_lines(field, blocks, 1).map_or(0.0, |bytes| bytes * field.times())
}

/// The same in whole lines of `line` bytes, and not known instead of 0.
fn stored_in_lines(field: &TouchedField, blocks: &BlockBox, line: i64) -> Option<f64> {
    let by = |engine| FieldTouches::count(&[(&field.stores, &[*blocks])], line, &Counter::forced(engine));
    let count = by(Engine::Linear).or_else(|_| within(STEPS_FOR_STORED, || by(Engine::Runs)));
    count.ok().map(|count| count.lines as f64 * line as f64)
}

/// Bytes of pieces that the launch stores to over those of the sectors: what lies between them is never stored. Taken
/// to be dense where that is not known.
fn spread(field: &TouchedField, blocks: &BlockBox, sizes: &Sizes) -> Ratio {
    let of = |line| stored_in_lines(field, blocks, line).filter(|&bytes| bytes > 0.0);
    match (of(PIECE), of(sizes.sector)) {
        (Some(pieces), Some(sectors)) => Ratio::new((pieces / sectors).max(1.0)),
        _ => Ratio::new(1.0),
    }
}
