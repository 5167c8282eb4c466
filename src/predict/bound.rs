//! How long a launch takes at least, before it is known what its warps do in the L1.
//!
//! The time is no shorter than what memory takes, and the start of the kernel comes on top. What warps do in the L1 can
//! only add to the bytes from and to memory: what the L1 loses, and sectors that several of them write. Without
//! these, memory takes as long as with them, or less (docs/performance.md says why).

use super::estimate::{Estimator, Model};
use super::time::{Inputs, dram};
use crate::curve::TimeFit;
use crate::launch::{Launch, Occupancy};
use crate::quantity::Seconds;
use crate::traffic::l1::{FieldCounts, L1Counts};
use crate::traffic::{Footprints, ThreadPath, volumes};

/// What rounding may make of the sums and powers on both ways, as a share of them.
const ROUNDING: f64 = 1e-9;

/// Seconds that a launch of known footprints takes at least; `None` where coefficients leave that open.
pub(super) fn least_seconds(
    estimator: &Estimator<'_>,
    launch: &Launch,
    occupancy: &Occupancy,
    footprints: &Footprints,
) -> Option<Seconds> {
    let Estimator { kernel, device, model, caches, .. } = *estimator;
    let fit = estimator.curves.fit;
    let idle = L1Counts { fields: vec![FieldCounts::default(); kernel.fields.len()], ..L1Counts::default() };
    let volumes = volumes(device, launch, occupancy, &fit.volumes, caches, &idle, footprints);
    let seconds = match model {
        Model::Default if only_adds(&fit.time) => {
            let inputs = Inputs {
                device,
                work: &kernel.work,
                launch,
                occupancy,
                volumes: &volumes,
                path: &ThreadPath::default(),
                items: footprints.items,
                working_blocks: footprints.working_blocks,
            };
            dram(&inputs, &fit.time) + Seconds::new(fit.time.seconds_of_launch(device))
        }
        Model::Default => return None,
        Model::Roofline => {
            let bytes = volumes.dram.total().in_all(footprints.items);
            Seconds::new(bytes.get() / device.dram.bandwidth.value.0)
        }
    };
    Some(seconds * (1.0 - ROUNDING))
}

/// Whether nothing that is added to the work of a launch makes it shorter under these coefficients.
fn only_adds(fit: &TimeFit) -> bool {
    let costs = [
        &fit.turnaround,
        &fit.scatter_loss,
        &fit.refetch_loss,
        &fit.run_bytes,
        &fit.incomplete_bytes,
        &fit.few_blocks,
    ];
    let norms = [&fit.limiter_norm, &fit.latency_norm, &fit.core_norm, &fit.side_norm];
    costs.iter().all(|c| c.value >= 0.0) && norms.iter().all(|n| n.value > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;
    use crate::kernel;
    use crate::launch::{Candidate, Program, candidates, occupancy};
    use crate::space::{Block, Fold};
    use crate::traffic::Caches;

    /// No launch of the kernels that come with Wavecast is faster than its bound, on any device, whichever model and
    /// caches; and the bound says most of the time where memory is the limit.
    #[test]
    fn no_launch_is_faster_than_its_bound() {
        let (mut looked_at, mut near) = (0, 0);
        for name in ["star3d7", "star3d25", "lbm-d3q15", "stream-triad", "transpose-shared", "stencil2d-fold"]
        {
            let path = format!("{}/kernels/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
            let Ok(text) = std::fs::read_to_string(path) else { continue };
            let kernels = kernel::load(name, &text, &Default::default()).unwrap().kernels;
            for device in ["v100", "a100", "mi300x", "rx-6900-xt"] {
                let device = device::find(device, &[]).unwrap();
                let odd = [[31, 3, 1], [24, 5, 2], [100, 1, 1]]
                    .map(|b| Candidate::shaped(Block::known(b), Fold::ONE));
                for candidate in odd.into_iter().chain(candidates(&kernels[0]).step_by(7)) {
                    for (model, caches) in [(Model::Default, Caches::Warm), (Model::Roofline, Caches::Cold)] {
                        let estimator = Estimator { model, caches, ..Estimator::new(&kernels[0], &device) };
                        let Ok(launch) = Launch::new(&kernels[0], candidate) else { continue };
                        let Ok(occupancy) = occupancy(&device, &launch) else { continue };
                        let program =
                            Program::folded(&kernels[0], candidate.fold()).unwrap().at(&launch).unwrap();
                        let prediction = estimator.of_placed(launch.clone(), occupancy, &program).unwrap();
                        let least =
                            least_seconds(&estimator, &launch, &occupancy, &prediction.counted.footprints)
                                .unwrap();
                        let seconds = prediction.summary.time.seconds;
                        assert!(
                            least <= seconds,
                            "{name} {candidate:?} {}: {least:?} {seconds:?}",
                            device.id
                        );
                        looked_at += 1;
                        near += usize::from(least > seconds * 0.8);
                    }
                }
            }
        }
        assert!(looked_at > 500 && near * 3 > looked_at, "{near} of {looked_at}");
    }
}
