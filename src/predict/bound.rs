//! How long a launch takes at least, before it is known what its warps do in the L1.
//!
//! Warps in the L1 can only add to what follows from footprints: to the bytes from and to the L2 and memory (what the L1
//! loses, and sectors that several of them write), to cycles of the L1, requests, instructions and what threads wait
//! for. All parts of the time grow with these, and so does what they are joined to. So the time of a launch whose warps
//! do nothing there is the least; or, where it is known that they do some of that at least, of one whose warps do no more.

use super::estimate::{Estimator, Model};
use super::inputs::Inputs;
use super::shared::Runnable;
use super::time::{combined, combined_seconds, roofline};
use crate::curve::{TimeFit, VolumeFit};
use crate::kernel::Statement;
use crate::quantity::Seconds;
use crate::traffic::l1::L1Counts;
use crate::traffic::{Footprints, L2Requests, ThreadPath, volumes};

/// What rounding may make of the sums and powers on both ways, as a share of them.
const ROUNDING: f64 = 1e-9;

/// Seconds that a launch of known footprints takes if its warps do at least so much; `None` where coefficients leave that open.
pub(super) fn least_seconds(
    estimator: &Estimator<'_>,
    Runnable { launch, occupancy }: &Runnable,
    footprints: &Footprints,
    least: &L1Counts,
) -> Option<Seconds> {
    let Estimator { kernel, device, model, caches, .. } = *estimator;
    let fit = estimator.curves.fit;
    if !volumes_only_add(&fit.volumes) || (model == Model::Default && !times_only_add(&fit.time)) {
        return None;
    }
    let mut volumes = volumes(device, launch, occupancy, &fit.volumes, caches, least, footprints);
    // How many sectors a request is for is not known.
    volumes.requests = L2Requests::default();
    // Where there are loops, how often a thread loads is not known, either.
    let loops = kernel.body.iter().any(|statement| matches!(statement, Statement::Loop(..)));
    let path = if loops { ThreadPath::default() } else { ThreadPath::without_loops() };
    let inputs = Inputs {
        device,
        work: &kernel.work,
        launch,
        occupancy,
        volumes: &volumes,
        path: &path,
        items: footprints.items,
        working_blocks: footprints.working_blocks,
    };
    let seconds = match model {
        Model::Default => {
            let seconds = combined_seconds(&inputs, &fit.time);
            debug_assert!(is_near(seconds, combined(&inputs, &fit.time).seconds), "{seconds:?}");
            seconds
        }
        Model::Roofline => roofline(&inputs).seconds,
    };
    Some(seconds * (1.0 - ROUNDING))
}

/// Whether two ways lead to the same, but for rounding.
fn is_near(one: Seconds, other: Seconds) -> bool {
    let apart = (one / other - 1.0).abs();
    // Of what is no number nothing follows.
    apart.is_nan() || apart < ROUNDING / 2.0
}

/// Seconds that the warps of a launch keep the L1s busy at least, if they do at least so much in blocks all of whose lanes
/// have work: no launch is faster than that. `None` if coefficients leave it open.
pub(super) fn least_seconds_in_l1(estimator: &Estimator<'_>, least: &L1Counts) -> Option<Seconds> {
    let Estimator { kernel, device, model, .. } = *estimator;
    let fit = estimator.curves.fit;
    let part = match model {
        Model::Default if volumes_only_add(&fit.volumes) && times_only_add(&fit.time) => {
            fit.time.l1_pipe.value
        }
        Model::Default => return None,
        Model::Roofline => 1.0,
    };
    let items: f64 = kernel.extents().iter().map(|&n| n as f64).product();
    let cycles = least.pipe_cycles.per_item(least.work_items).get() * items * part;
    let per_second = device.sm.count.value.0 as f64 * device.clock.value.0;
    Some(Seconds::new(cycles / per_second * (1.0 - ROUNDING)))
}

/// Whether no sector that is stored in part takes bytes away.
fn volumes_only_add(fit: &VolumeFit) -> bool {
    fit.partial_store.value >= 0.0 && fit.partial_store_l2.value >= 0.0
}

/// Whether nothing that is added to the work of a launch makes it shorter under these coefficients.
fn times_only_add(fit: &TimeFit) -> bool {
    let costs = [
        &fit.l1_pipe,
        &fit.load_request,
        &fit.store_request,
        &fit.address_instructions,
        &fit.thread_instructions,
        &fit.far_instructions,
        &fit.entry_instructions,
        &fit.iteration_instructions,
        &fit.condition_instructions,
        &fit.issue_overhead,
        &fit.store_cycles,
        &fit.update_cycles,
        &fit.memory_wait,
        &fit.load_wait,
        &fit.turnaround,
        &fit.scatter_loss,
        &fit.refetch_loss,
        &fit.run_bytes,
        &fit.incomplete_bytes,
        &fit.first_wave,
        &fit.block_ways,
        &fit.few_blocks,
    ];
    let norms = [&fit.limiter_norm, &fit.latency_norm, &fit.core_norm, &fit.side_norm, &fit.fill_bytes];
    costs.iter().all(|c| c.value >= 0.0)
        && norms.iter().all(|n| n.value > 0.0)
        // Whether there are barriers is not known yet, and the smaller exponent adds more.
        && (0.0..=fit.limiter_norm.value).contains(&fit.barrier_norm.value)
        && fit.block_ways.value <= fit.synced_block_ways.value
        // Who only stores does not wait longer than who loads.
        && (0.0..=1.0).contains(&fit.store_only.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;
    use crate::kernel;
    use crate::launch::{Candidate, Launch, Program, candidates, occupancy};
    use crate::space::{Block, Fold};
    use crate::traffic::Caches;
    use crate::traffic::l1::{Least, Straight};

    /// No launch of the kernels that come with Wavecast is faster than its bound, on any device, whichever model and
    /// caches; and the bound says most of the time where memory is the limit.
    #[test]
    fn no_launch_is_faster_than_its_bound() {
        let (mut looked_at, mut near, mut busy) = (0, 0, 0);
        for name in [
            "star3d7",
            "star3d25",
            "lbm-d3q15",
            "stream-triad",
            "transpose-tiled",
            "vec3",
            "minife",
            "strided",
            "polybench-2dconv",
            "conv1d-tiled",
        ] {
            let path = format!("{}/kernels/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(path).unwrap();
            let kernels = kernel::load(name, &text, &Default::default()).unwrap().kernels;
            for device in ["v100", "a100", "a40", "rtx-2080-ti", "mi300x", "rx-6900-xt"] {
                let device = device::find(device, &[]).unwrap();
                let odd = [[31, 3, 1], [24, 5, 2], [100, 1, 1]]
                    .map(|b| Candidate::shaped(Block::known(b), Fold::ONE));
                let folded = [[40, 1, 1], [33, 1, 1]]
                    .map(|b| Candidate::shaped(Block::known(b), Fold::known([2, 1, 1])));
                let odd = odd.into_iter().chain(folded);
                for candidate in odd.into_iter().chain(candidates(&kernels[0]).step_by(11)) {
                    for (model, caches) in [(Model::Default, Caches::Warm), (Model::Roofline, Caches::Cold)] {
                        let estimator = Estimator { model, caches, ..Estimator::new(&kernels[0], &device) };
                        let Ok(launch) = Launch::new(&kernels[0], candidate) else { continue };
                        let Ok(occupancy) = occupancy(&device, &launch) else { continue };
                        let folded = Program::folded(&kernels[0], candidate.fold()).unwrap();
                        let straight = Straight::new(&kernels[0], &folded, &device);
                        let Ok(program) = folded.at(&launch) else { continue };
                        let predicted = estimator.of_placed(launch.clone(), occupancy, &program);
                        let Ok(prediction) = predicted else { continue };
                        let footprints = &prediction.counted.footprints;
                        let runnable = Runnable { launch, occupancy };
                        let straight = straight.as_ref().filter(|_| footprints.stands_for.is_some());
                        let full = straight.and_then(|s| s.least(&kernels[0], &runnable.launch));
                        let warps = match full {
                            Some(least) => least.of_full_blocks(&kernels[0], &runnable.launch),
                            None => Least::nothing(&kernels[0]),
                        };
                        let least = least_seconds(&estimator, &runnable, footprints, &warps).unwrap();
                        let seconds = prediction.summary.time.seconds;
                        if full.is_some() {
                            let in_l1 = least_seconds_in_l1(&estimator, &warps).unwrap();
                            assert!(in_l1 <= seconds, "{name} {candidate:?} {}: {in_l1:?}", device.id);
                            busy += usize::from(in_l1 > seconds * 0.5);
                        }
                        assert!(
                            least <= seconds,
                            "{name} {candidate:?} {}: {least:?} {seconds:?}",
                            device.id
                        );
                        looked_at += 1;
                        near += usize::from(least > seconds * 0.95);
                    }
                }
            }
        }
        assert!(looked_at > 500 && near * 4 > looked_at, "{near} of {looked_at}");
        assert!(busy > 20, "{busy}");
    }
}
