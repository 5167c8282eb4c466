//! What each instruction costs, and what only it needs: the prediction is made again without it.

use serde::Serialize;

use crate::effort::within;
use crate::kernel::{AccessKind, FieldId, Space};
use crate::launch::Program;
use crate::parallel;
use crate::predict::estimate::Estimator;
use crate::predict::prediction::Prediction;
use crate::quantity::{
    Bytes, Cycles, ItemsPerSecond, Occurrence, PerItem, Ratio, Sectors, Share, Times, Wavefronts,
};
use crate::sorting;

/// Most instructions that are left out one at a time, the costliest first.
const MOST_ALONE: usize = 256;

/// All of them together may take as many steps as so many launches.
const TIMES_ALONE: u64 = 4;

/// What an instruction of the program does.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct AccessShare {
    /// Its position in the program.
    pub position: usize,
    /// What it does.
    pub kind: AccessKind,
    /// To which field.
    pub field: FieldId,
    /// What it costs.
    pub cost: AccessCost,
}

/// What an instruction costs per work item, all copies of its field (`multiplicity`) together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AccessCost {
    /// Times that a warp issues it.
    pub issues: Times<PerItem>,
    /// Wavefronts of the data stage of the L1.
    pub data_wavefronts: Wavefronts<PerItem>,
    /// Wavefronts of the tag stage of the L1.
    pub tag_wavefronts: Wavefronts<PerItem>,
    /// Cycles of the L1 pipe; all accesses together take `volumes.l1.wavefront_cycles`.
    pub cycles: Cycles<PerItem>,
    /// Sectors per issue; null for shared memory and what is never issued.
    pub sectors_per_request: Option<Sectors<Occurrence>>,
    /// Bytes that lanes ask for over bytes of the sectors; more than 1 where lanes share bytes.
    pub efficiency: Option<Share>,
    /// Wavefronts of the data stage over those that as many bytes need where no lanes fall on the same bank; only there for
    /// shared memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bank_conflicts: Option<Ratio>,
    /// What the launch would be spared without it; null if there are too many accesses to look at each.
    pub alone: Option<Alone>,
}

/// What a launch would be spared without an access, bytes per work item.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Alone {
    /// Sectors that only it loads in a block: without it, `V_comp` of section 4.3 of the paper would be so much
    /// smaller.
    pub block_load_bytes: Bytes<PerItem>,
    /// Sectors that only it loads in a wave (`V_comp` of section 4.4).
    pub wave_load_bytes: Bytes<PerItem>,
    /// Sectors that only it stores in a wave.
    pub wave_store_bytes: Bytes<PerItem>,
    /// Between L1 and L2, loads and stores, after hit rates.
    pub l2_bytes: Bytes<PerItem>,
    /// Between L2 and memory, loads and stores, after hit rates.
    pub dram_bytes: Bytes<PerItem>,
    /// Work items per second without it.
    pub rate_per_s: ItemsPerSecond,
}

/// The shares of all instructions, in program order.
pub(super) fn shares(
    estimator: &Estimator<'_>,
    prediction: &Prediction,
    program: &Program<i64>,
) -> Vec<AccessShare> {
    let all = 0..program.instructions.len();
    let mut shares: Vec<AccessShare> = all.map(|i| share(estimator, prediction, program, i)).collect();
    let mut costly: Vec<usize> = (0..shares.len()).collect();
    sorting::sort_by(&mut costly, |&a, &b| shares[b].cost.cycles.total_cmp(&shares[a].cost.cycles));
    costly.truncate(MOST_ALONE);
    let steps = TIMES_ALONE.saturating_mul(estimator.kernel.steps) / (costly.len() as u64).max(1);
    let alone: Vec<(usize, Option<Alone>)> = parallel::map_each(costly, |i| {
        let without = program.without(shares[i].position);
        (i, within(steps, || alone(estimator, prediction, &without)))
    });
    for (i, alone) in alone {
        shares[i].cost.alone = alone;
    }
    shares
}

fn share(
    estimator: &Estimator<'_>,
    prediction: &Prediction,
    program: &Program<i64>,
    position: usize,
) -> AccessShare {
    let (instruction, counts) = (&program.instructions[position], &prediction.l1().instructions[position]);
    let copies = estimator.kernel.field(instruction.field).multiplicity as f64;
    let items = prediction.footprints().items_in_l1(prediction.l1());
    let per_item = copies / items.get();
    let sector = estimator.device.l1.sector.value.0 as f64;
    // Stores are written through without looking for their line: a wavefront takes a cycle.
    let cycles = if instruction.kind == AccessKind::Store { counts.data.get() } else { counts.cycles.get() };
    let global = counts.sectors > Sectors::ZERO && counts.issues > Times::ZERO;
    let asked = counts.lanes.get() * instruction.width as f64;
    let shared = estimator.kernel.field(instruction.field).space == Space::Shared;
    let needed = counts.issues.get().max(asked / estimator.device.l1.bandwidth.value.0);
    let cost = AccessCost {
        issues: Times::new(counts.issues.get() * per_item),
        data_wavefronts: Wavefronts::new(counts.data.get() * per_item),
        tag_wavefronts: Wavefronts::new(counts.tag.get() * per_item),
        cycles: Cycles::new(cycles * per_item),
        sectors_per_request: global.then(|| Sectors::new(counts.sectors.get() / counts.issues.get())),
        efficiency: global.then(|| Share::new(asked / counts.sectors.bytes(sector).get())),
        bank_conflicts: (shared && needed > 0.0).then(|| Ratio::new((counts.data.get() / needed).max(1.0))),
        alone: None,
    };
    AccessShare { position, kind: instruction.kind, field: instruction.field, cost }
}

/// What the launch is spared in this smaller program; `None` if that cannot be predicted.
fn alone(estimator: &Estimator<'_>, whole: &Prediction, program: &Program<i64>) -> Option<Alone> {
    let rest = estimator.of_part(whole.launch.clone(), whole.occupancy, program).ok()?;
    let spared = |bytes: fn(&Prediction) -> Bytes<PerItem>| (bytes(whole) - bytes(&rest)).or_none();
    Some(Alone {
        block_load_bytes: spared(|p| p.footprints().fields.iter().map(|f| f.mean_block_load).sum()),
        wave_load_bytes: spared(|p| p.footprints().fields.iter().map(|f| f.wave_load).sum()),
        wave_store_bytes: spared(|p| p.footprints().fields.iter().map(|f| f.wave_store).sum()),
        l2_bytes: spared(|p| p.volumes.l2.total()),
        dram_bytes: spared(|p| p.volumes.dram.total()),
        rate_per_s: rest.rate(),
    })
}
