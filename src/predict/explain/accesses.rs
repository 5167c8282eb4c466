//! What each instruction costs, and what only it needs: the prediction is made again without it.

use crate::effort::within;
use crate::kernel::{AccessKind, FieldId};
use crate::launch::Program;
use crate::parallel;
use crate::predict::estimate::Estimator;
use crate::predict::prediction::Prediction;

/// Most instructions that are left out one at a time, the costliest first.
const MOST_ALONE: usize = 256;

/// All of them together may take as many steps as so many launches.
const TIMES_ALONE: u64 = 4;

/// What an instruction does per work item, all copies of its field (`multiplicity`) together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AccessShare {
    /// Its position in the program.
    pub position: usize,
    /// What it does.
    pub kind: AccessKind,
    /// To which field.
    pub field: FieldId,
    /// Times that a warp issues it.
    pub issues: f64,
    /// Wavefronts of the data stage.
    pub data: f64,
    /// Wavefronts of the tag stage.
    pub tag: f64,
    /// Cycles of the L1 pipe; those of all instructions add up to the launch's.
    pub cycles: f64,
    /// Sectors per issue; `None` for shared memory and what is never issued.
    pub sectors_per_request: Option<f64>,
    /// Bytes that lanes ask for over the bytes of the sectors. More than 1 where lanes share bytes.
    pub efficiency: Option<f64>,
    /// What only it needs; `None` if it was not looked at because there are too many.
    pub alone: Option<Alone>,
}

/// What a launch would be spared without one of its instructions, per work item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alone {
    /// Bytes of the sectors that only it loads in a block: without it, `V_comp` of section 4.3 of the
    /// paper would be so much smaller.
    pub block_load: f64,
    /// Bytes of the sectors that only it loads in a wave (`V_comp` of section 4.4).
    pub wave_load: f64,
    /// Bytes of the sectors that only it stores in a wave.
    pub wave_store: f64,
    /// Bytes between L1 and L2, loads and stores, after hit rates.
    pub l2: f64,
    /// Bytes between L2 and memory, loads and stores, after hit rates.
    pub dram: f64,
    /// Work items per second without it.
    pub rate: f64,
}

/// The shares of all instructions, in program order.
pub(super) fn shares(
    estimator: &Estimator<'_>,
    prediction: &Prediction,
    program: &Program<i64>,
) -> Vec<AccessShare> {
    let mut shares: Vec<AccessShare> =
        (0..program.instructions.len()).filter_map(|i| share(estimator, prediction, program, i)).collect();
    let mut costly: Vec<usize> = (0..shares.len()).collect();
    costly.sort_by(|&a, &b| shares[b].cycles.total_cmp(&shares[a].cycles));
    costly.truncate(MOST_ALONE);
    let steps = TIMES_ALONE.saturating_mul(estimator.kernel.steps) / (costly.len() as u64).max(1);
    let alone: Vec<(usize, Option<Alone>)> = parallel::map_each(costly, |i| {
        let without = program.without(shares[i].position);
        (i, within(steps, || alone(estimator, prediction, &without)))
    });
    for (i, alone) in alone {
        shares[i].alone = alone;
    }
    shares
}

fn share(
    estimator: &Estimator<'_>,
    prediction: &Prediction,
    program: &Program<i64>,
    position: usize,
) -> Option<AccessShare> {
    let instruction = program.instructions.get(position)?;
    let counts = prediction.l1.instructions.get(position)?;
    let copies = estimator.kernel.field(instruction.field).multiplicity as f64;
    let per_item = copies / prediction.footprints.items_in_l1(&prediction.l1);
    let sector = estimator.device.l1.sector.value.0 as f64;
    // Stores are written through without looking for their line.
    let cycles = if instruction.kind == AccessKind::Store { counts.data } else { counts.cycles };
    let global = counts.sectors > 0.0 && counts.issues > 0.0;
    Some(AccessShare {
        position,
        kind: instruction.kind,
        field: instruction.field,
        issues: counts.issues * per_item,
        data: counts.data * per_item,
        tag: counts.tag * per_item,
        cycles: cycles * per_item,
        sectors_per_request: global.then(|| counts.sectors / counts.issues),
        efficiency: global.then(|| counts.lanes * instruction.width as f64 / (counts.sectors * sector)),
        alone: None,
    })
}

/// What the launch is spared in this smaller program; `None` if that cannot be predicted.
fn alone(estimator: &Estimator<'_>, whole: &Prediction, program: &Program<i64>) -> Option<Alone> {
    let rest = estimator.of_part(whole.launch.clone(), whole.occupancy, program).ok()?;
    let spared = |bytes: fn(&Prediction) -> f64| (bytes(whole) - bytes(&rest)).max(0.0);
    Some(Alone {
        block_load: spared(|p| p.footprints.fields.iter().map(|f| f.mean_block_load).sum()),
        wave_load: spared(|p| p.footprints.fields.iter().map(|f| f.wave_load).sum()),
        wave_store: spared(|p| p.footprints.fields.iter().map(|f| f.wave_store).sum()),
        l2: spared(|p| p.volumes.l2.load() + p.volumes.l2.store),
        dram: spared(|p| p.volumes.dram.load() + p.volumes.dram.store()),
        rate: rest.rate(),
    })
}
