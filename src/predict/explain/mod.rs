//! Why a launch is as fast as it is: what each access costs and what only it needs, what each level
//! moves, which reuse the L2 loses, and what other blocks would change. Numbers only; the words are made
//! in the report.

mod accesses;
mod halos;
mod levels;
mod neighbours;

pub use accesses::{AccessCost, AccessShare, Alone};
pub use halos::Halo;
pub use levels::{CachePressure, Layer, LoadParts, MemoryLevel};
pub use neighbours::{Neighbour, Neighbours};

use std::sync::atomic::AtomicUsize;

use super::estimate::{Estimator, Unpredicted};
use super::prediction::Prediction;
use super::ranking::Choice;
use crate::launch::{Launch, Program, occupancy};
use crate::space::Domain;

/// A prediction and what it rests on.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Explanation {
    /// What is explained.
    pub prediction: Prediction,
    /// What a thread does.
    pub program: Program<i64>,
    /// What each instruction of the program costs, in its order.
    pub accesses: Vec<AccessShare>,
    /// What moves at each boundary of the memory hierarchy, from registers to memory.
    pub levels: Vec<MemoryLevel>,
    /// Reuse in L2 between blocks: within a wave, and from earlier blocks along x, y and z.
    pub layers: [Layer; 4],
    /// How far the loads of each field reach beyond a work item.
    pub halos: Vec<Halo>,
    /// Work items of a wave along x, y, z: of the box around it.
    pub wave: Domain,
    /// What other launches would change.
    pub neighbours: Neighbours,
}

/// Explains a launch of one of several kernels: of the variants of a document. Beside its neighbours,
/// `others` are compared with it; `done` counts the launches that were.
pub fn explain(
    estimators: &[Estimator<'_>],
    choice: Choice,
    others: &[Choice],
    done: &AtomicUsize,
) -> Result<Explanation, Unpredicted> {
    let Choice { kernel, candidate } = choice;
    let estimator = &estimators[kernel];
    let launch = Launch::new(estimator.kernel, candidate)?;
    let resident = occupancy(estimator.device, &launch)?;
    let program = Program::folded(estimator.kernel, candidate.fold())?.at(&launch)?;
    let prediction = estimator.of_placed(launch, resident, &program)?;
    Ok(Explanation {
        accesses: accesses::shares(estimator, &prediction, &program),
        levels: levels::levels(estimator.device, &prediction),
        layers: levels::layers(estimator.device, &prediction),
        halos: halos::halos(estimator.kernel),
        wave: wave_extents(&prediction),
        neighbours: neighbours::neighbours(estimators, choice, others, done),
        program,
        prediction,
    })
}

/// The box around a wave that begins with a row and plane of blocks, in work items.
fn wave_extents(prediction: &Prediction) -> Domain {
    let launch = &prediction.launch;
    let [nx, ny, nz] = *launch.sizes.grid;
    let blocks = prediction.occupancy.wave_blocks.max(1);
    let up = |n: i64, by: i64| n / by + i64::from(n % by != 0);
    let rows = up(blocks, nx);
    let along = [blocks.min(nx), rows.min(ny), up(rows, ny).min(nz)];
    let (block, fold) = (launch.candidate.block(), launch.candidate.fold());
    Domain::known(std::array::from_fn(|d| along[d].saturating_mul(block[d]).saturating_mul(fold[d])))
}
