//! Data that a program touches again.

use crate::quantity::{Bytes, PerBlock, PerItem, PerWave};

/// Data of a field that is touched again, by a block or by a wave.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Again<By> {
    /// How much.
    pub bytes: Bytes<PerItem>,
    /// Bytes that all fields touch in between: for a block in L1 lines that it loads, for a wave in what it
    /// loads or stores.
    pub distance: Bytes<By>,
    /// For a wave, the distance in the L1 of one block, which may keep the L2 from being asked; `None` where
    /// the L1 does not hold what was written in between.
    pub in_block: Option<Bytes<PerBlock>>,
}

/// What is touched again of one field.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Passes {
    /// Sectors that a block loads in stretches, each iteration by itself; per work item.
    pub in_stretches: Bytes<PerItem>,
    /// Bytes of L1 lines that all fields load in such a stretch, on average over what this field loads.
    pub stretch_alloc: Bytes<PerBlock>,
    /// Sectors that a block loads and has loaded in an earlier part or iteration.
    pub block: Vec<Again<PerBlock>>,
    /// Sectors that the wave loads, or changes by atomics, and has touched in an earlier part or iteration.
    pub wave: Vec<Again<PerWave>>,
    /// Sectors that several blocks of the wave ask for in one stretch, with all that the stretch touches.
    pub shared: Vec<Again<PerWave>>,
    /// Sectors that the wave stores and has stored in an earlier part or iteration.
    pub stores: Vec<Again<PerWave>>,
    /// Of the sectors that the wave loads, those that it stores first.
    pub stored_first: Bytes<PerItem>,
    /// Whether the program has no loops and barriers, so that all that the wave touches lies between what its blocks share.
    pub of_one_stretch: bool,
}
