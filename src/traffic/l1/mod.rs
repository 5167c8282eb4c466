//! What warp-wide loads and stores cost in the first-level cache, and what they ask of the L2
//! (section 4.2 of Ernst et al.; MODEL sections 3 and 4).
//!
//! [`Pipe`] holds the rules for one warp-wide instruction; [`count`] applies them to all warps of a
//! block, averaged over blocks that are aligned differently.

mod access_shape;
mod accesses;
mod affine;
mod block_warps;
mod blocks;
mod by_place;
mod counts;
mod differing;
mod distinct;
mod inside;
mod iterations;
mod kinds;
mod lanes;
mod layouts;
mod least;
mod least_stores;
mod lockstep;
mod moves;
mod parted;
mod parts;
mod patterns;
mod pipe;
mod plan;
mod prepared;
mod repeated;
mod running;
mod sampled;
mod sectors;
mod sets;
mod shapes;
mod spans;
mod starts;
mod straight;
mod strata;
mod tags;
mod tally;
mod told_apart;
mod uniform;
mod unions;
mod unseen;
mod values;
mod warp;
mod warp_values;
mod warps;

pub use counts::{FieldCounts, InstructionCounts, L1Counts};
pub(super) use differing::{Differing, differing};
pub use lanes::Lanes;
pub(crate) use least::Least;
pub use pipe::{Pipe, StageWavefronts};
pub(crate) use straight::Straight;

use crate::device::Device;
use crate::kernel::Kernel;
use crate::launch::{Launch, NotRun, Program};

/// Counts what the warps of a block do, as a mean over blocks that are aligned differently.
///
/// Where addresses are affine and a block without inactive threads exists, data wavefronts, sectors
/// and lines are exact for such blocks; otherwise warps are run lane by lane, as many as a budget
/// allows. [`L1Counts::sampled`] says whether anything was left out.
pub fn count(
    kernel: &Kernel,
    launch: &Launch,
    program: &Program<i64>,
    device: &Device,
) -> Result<L1Counts, NotRun> {
    check_size(launch)?;
    let pipe = Pipe::new(device);
    match plan::AffinePlan::new(kernel, launch, program, &pipe) {
        Some(plan) => affine::count(&plan, &pipe),
        None => match parted::count(kernel, launch, program, &pipe) {
            Some(counts) => counts,
            None => lockstep::count(kernel, launch, program, &pipe),
        },
    }
}

/// As [`count`], but always lane by lane, all warps of the same blocks: slower, for comparison.
pub fn count_by_lane(
    kernel: &Kernel,
    launch: &Launch,
    program: &Program<i64>,
    device: &Device,
) -> Result<L1Counts, NotRun> {
    check_size(launch)?;
    let pipe = Pipe::new(device);
    match plan::AffinePlan::new(kernel, launch, program, &pipe) {
        Some(plan) => lockstep::count_blocks(kernel, launch, program, &pipe, plan.phases),
        None => lockstep::count(kernel, launch, program, &pipe),
    }
}

/// No device runs such blocks, but their warps would be walked over.
fn check_size(launch: &Launch) -> Result<(), NotRun> {
    if launch.threads_per_block() > blocks::MOST_THREADS {
        return Err(NotRun::Stopped(0));
    }
    Ok(())
}
