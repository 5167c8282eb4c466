//! Distinct sectors, lines and pages that blocks, a wave and what ran before it touch: what is known of a
//! launch before any hit rate is applied.

use super::l1::L1Counts;
use super::passes::again::Passes;
use crate::footprint::Engine;
use crate::kernel::FieldId;
use crate::quantity::{Bytes, ItemCount, Pages, PerBlock, PerItem, PerLaunch, PerWave, Ratio, Share};

/// Distinct bytes of one launch, in whole sectors, lines or pages.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Footprints {
    /// Of each global field that is accessed, on average over all waves.
    pub fields: Vec<FieldFootprint>,
    /// Kinds of waves, where some differ from the one in the middle and are not few; their shares add up to
    /// 1. Empty where the wave in the middle stands for all.
    pub waves: Vec<WaveKind>,
    /// Bytes of L1 lines that one block loads, all fields (`V_alloc` of section 4.3).
    pub block_alloc: Bytes<PerBlock>,
    /// The same of single stretches of the program, in single iterations, on average over what is loaded:
    /// what competes for the L1 at a time. Without loops and barriers the same number.
    pub stretch_alloc: Bytes<PerBlock>,
    /// Bytes that the wave in the middle loads or stores.
    pub wave: Bytes<PerWave>,
    /// Bytes of the lines of these over the bytes of their sectors: what the L2 keeps for each byte.
    pub lines: Ratio,
    /// Bytes that the blocks before the wave load or store: back to the start of their row, one row
    /// and one plane back.
    pub past: [Bytes<PerWave>; 3],
    /// Distinct pages of a wave: of two neighbours the one that has fewer.
    pub wave_pages: Pages<PerWave>,
    /// Distinct pages of one block.
    pub block_pages: Pages<PerBlock>,
    /// Distinct pages of one block in one iteration of its innermost loops, of the array with most.
    pub iteration_pages: Pages<PerBlock>,
    /// Work items of the launch.
    pub items: ItemCount<PerLaunch>,
    /// Blocks that have work: others end at once.
    pub working_blocks: i64,
    /// Work items of the wave. Here and below, those of blocks without work count for the blocks that have
    /// some.
    pub wave_items: ItemCount<PerWave>,
    /// Work items of a block on average.
    pub block_items: ItemCount<PerBlock>,
    /// Work items of a block that the domain does not cut.
    pub whole_items: ItemCount<PerBlock>,
    /// Work items of the launch for each one that is looked at: those of blocks without work count too. `None`
    /// where the L1 does not count points of the domain: in grid-stride loops, and where threads of a grid of
    /// their own share the domain evenly.
    pub stands_for: Option<Ratio>,
    /// Engines that counted, each once.
    pub engines: Vec<Engine>,
    /// Whether a count is an estimate.
    pub sampled: bool,
    /// Whether blocks differ in what they do, and only some of them were looked at.
    pub blocks_sampled: bool,
    /// How many counts were made, and how many of them a second engine confirmed. One that says several things is as many.
    pub counts: usize,
    /// See `counts`.
    pub verified: usize,
    /// Whether the blocks of the launch are one row.
    pub one_row: bool,
}

impl Footprints {
    /// Work items of the block that was counted in L1: the mean of several, of which the domain may cut
    /// some.
    pub fn items_in_l1(&self, l1: &L1Counts) -> ItemCount<PerBlock> {
        let counted =
            self.stands_for.map(|n| l1.work_items * n.get()).filter(|&items| items > ItemCount::ZERO);
        counted.unwrap_or(self.whole_items).max(ItemCount::new(1e-9))
    }

    /// What comes again in the same row, one row back and one plane back, as it is said of the grid: in one row of blocks,
    /// all of it is along x, however far back.
    pub fn along_axes(&self, again: [Bytes<PerItem>; 3]) -> [Bytes<PerItem>; 3] {
        if self.one_row { [again.iter().sum(), Bytes::ZERO, Bytes::ZERO] } else { again }
    }

    /// About what the whole launch loads or stores, each byte once.
    pub fn launch_bytes(&self) -> Bytes<PerLaunch> {
        let once = |f: &FieldFootprint| f.first_loads() + f.first_stores();
        self.fields.iter().filter(|f| !f.private).map(once).sum::<Bytes<_>>().in_all(self.items)
    }
}

/// Distinct bytes of one field, per work item.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FieldFootprint {
    /// The field.
    pub field: FieldId,
    /// Memory of threads, in which each block takes the place of one that has ended.
    pub private: bool,
    /// Sectors that a whole block loads (`V_comp` of section 4.3).
    pub block_load: Bytes<PerItem>,
    /// `block_load` on average over all blocks, those that the domain cuts too.
    pub mean_block_load: Bytes<PerItem>,
    /// The same of what blocks ask of the L2: loads, and atomics, which read what they change there.
    pub mean_block_fetch: Bytes<PerItem>,
    /// Sectors that the wave loads (`V_comp` of section 4.4) or changes by atomics, but for those that it
    /// stores first.
    pub wave_load: Bytes<PerItem>,
    /// Sectors that the wave changes by atomics, and those that its blocks do, each by itself.
    pub atomics: [Bytes<PerItem>; 2],
    /// Elements that the wave changes by atomics, in bytes; sectors where elements are not soon counted.
    pub atomic_elements: Bytes<PerItem>,
    /// Sectors that the wave stores.
    pub wave_store: Bytes<PerItem>,
    /// Of `wave_load`, what the blocks before the wave loaded or stored: in its row, one row back, one
    /// plane back; disjoint (`V_over` of section 4.4.2).
    pub reuse: [Bytes<PerItem>; 3],
    /// Of `wave_store`, likewise.
    pub store_reuse: [Bytes<PerItem>; 3],
    /// Bytes that the launch stores, each once; 0 where waves share none of the sectors that they store, or
    /// where it is not known.
    pub stored: Bytes<PerItem>,
    /// Of `block_load`, what blocks far away load as well.
    pub common_load: Bytes<PerItem>,
    /// Bytes of L1 lines that one block loads.
    pub block_alloc: Bytes<PerBlock>,
    /// Of what the blocks of an SM load that start together and run in step, the part that no other of them has loaded.
    pub new_together: Share,
    /// What the launch loads of the array, if it fits in an L1 and that is soon counted.
    pub small: Option<SmallArray>,
    /// Bytes of pairs of sectors over those of sectors, of what the wave loads.
    pub pairs: Ratio,
    /// Share of `wave_store` in sectors that no store completes.
    pub incomplete: Share,
    /// Bytes of the pieces of memory in which the launch stores something over those of the sectors that it stores.
    pub spread: Ratio,
    /// What the program touches again, and how much lies in between.
    pub passes: Passes,
}

/// What a launch loads of an array that fits in an L1: its distinct bytes, in whole sectors and in whole lines.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SmallArray {
    /// In sectors.
    pub sectors: Bytes<PerLaunch>,
    /// In lines.
    pub lines: Bytes<PerLaunch>,
}

impl FieldFootprint {
    /// What the wave loads and no blocks before it touched.
    pub fn first_loads(&self) -> Bytes<PerItem> {
        if self.private {
            return Bytes::ZERO;
        }
        self.wave_load - self.reuse.iter().sum()
    }

    /// What it stores and they did not.
    pub fn first_stores(&self) -> Bytes<PerItem> {
        self.wave_store - self.store_reuse.iter().sum()
    }

    /// Takes away what the wave stores before it loads it: the L2 has it already, or it is loaded again.
    pub(super) fn without_stored(&mut self) {
        let share = (self.passes.stored_first / self.wave_load.max(Bytes::new(1e-9))).clamp(0.0, 1.0);
        self.wave_load *= 1.0 - share;
        for reuse in &mut self.reuse {
            *reuse *= 1.0 - share;
        }
    }
}

/// Waves that are alike.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WaveKind {
    /// Their share of the work items.
    pub share: Share,
    /// Bytes that one of them loads or stores.
    pub wave: Bytes<PerWave>,
    /// Bytes that the blocks before it load or store; see [`Footprints::past`].
    pub past: [Bytes<PerWave>; 3],
    /// What one of them touches of each field; what is of blocks is that of all blocks.
    pub fields: Vec<FieldFootprint>,
}

impl Footprints {
    /// Makes the footprints of fields those of all kinds of waves.
    pub(super) fn average(&mut self) {
        if self.waves.is_empty() {
            return;
        }
        for (number, field) in self.fields.iter_mut().enumerate() {
            let mean = |of: &dyn Fn(&FieldFootprint) -> Bytes<PerItem>| {
                let of_kind = |k: &WaveKind| of(&k.fields[number]) * k.share;
                self.waves.iter().map(of_kind).sum::<Bytes<_>>()
            };
            field.wave_load = mean(&|f| f.wave_load);
            field.wave_store = mean(&|f| f.wave_store);
            field.atomics[0] = mean(&|f| f.atomics[0]);
            field.reuse = std::array::from_fn(|d| mean(&|f| f.reuse[d]));
            field.store_reuse = std::array::from_fn(|d| mean(&|f| f.store_reuse[d]));
        }
    }
}
