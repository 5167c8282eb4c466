//! Programs whose warps can be counted for certain: who wants only the best launches need not count all of them, but
//! has to know that each of them could be.

use super::blocks::{MOST_BLOCKS, MOST_THREADS};
use super::distinct::MOST_SPANS;
use super::lanes::MOST_LANES;
use super::least::Least;
use super::pipe::Pipe;
use super::plan::any_in_parts_by_set;
use crate::device::Device;
use crate::expr::{Coord, Scale, Term};
use crate::kernel::{Kernel, Space};
use crate::launch::{Launch, Program, Step};

/// Steps for a class of warps in one pattern beside those for each alignment, for a warp, and for what several accesses
/// of a field have in common, at most.
const STEPS_OF_CLASS: u64 = 300;
const STEPS_OF_WARP: u64 = 312;
const STEPS_OF_FIELD: u64 = 600_000;
/// Steps for a warp under an access: for its alignment, its group and its lines.
const STEPS_OF_ACCESS: u64 = 16;

/// A folded program that is one access after the other, at multiples of places of threads and blocks, without
/// conditions, loops, barriers and shared memory.
#[derive(Debug, Clone)]
pub struct Straight {
    accesses: u64,
    period: i64,
    warp: i64,
    sector: i64,
    /// What its warps take of the pipe.
    least: Least,
}

impl Straight {
    /// What is known of a program; `None` if it is not so simple.
    pub fn new(kernel: &Kernel, program: &Program<Scale>, device: &Device) -> Option<Self> {
        let pipe = Pipe::new(device);
        let period = pipe.period()?;
        let plain = program.loops.is_empty()
            && program.steps.iter().all(|step| matches!(step, Step::Access(_)))
            && program.items.iter().all(|item| item.guard.is_none())
            && kernel.fields.iter().all(|field| field.space != Space::Shared)
            && !any_in_parts_by_set(kernel, &program.instructions, &pipe);
        let place = |term: &Term<Scale>| {
            matches!(term, Term::Coord(Coord::Thread(_) | Coord::ThreadIdx(_) | Coord::BlockIdx(_)))
        };
        let affine = program
            .instructions
            .iter()
            .all(|i| i.clipped && i.when.is_none() && i.element.terms().iter().all(|(term, _)| place(term)));
        // Lanes of accesses that do not meet are laid side by side.
        let few = program.instructions.len() * MOST_LANES <= MOST_SPANS;
        let accesses = u64::try_from(program.instructions.len()).ok()?;
        let warp = i64::try_from(pipe.warp).ok()?;
        let of =
            || Self { accesses, period, warp, sector: pipe.sector, least: Least::new(kernel, program, pipe) };
        (plain && affine && few).then(of)
    }

    /// Whether lanes of a warp may lie in several rows.
    pub fn may_part(&self, launch: &Launch) -> bool {
        self.least.may_part(launch)
    }

    /// What warps of a launch do at least; `None` where blocks are so large that the domain cuts the first of them.
    pub fn least(&self, kernel: &Kernel, launch: &Launch) -> Option<&Least> {
        let mut extents = kernel.extents().into_iter().enumerate();
        extents.all(|(d, extent)| is_whole(launch, d, extent)).then_some(&self.least)
    }

    /// Steps that counting a launch takes at most, if addresses stay small; `None` where the domain cuts even the first
    /// block, and some items of a thread sooner than others, so that threads may lie in no box. Accesses are of so many
    /// patterns.
    pub fn most_steps(&self, kernel: &Kernel, launch: &Launch, patterns: usize) -> Option<u64> {
        let fold = launch.candidate.fold();
        let is_box = |(d, extent): (usize, i64)| extent % fold[d] == 0 || is_whole(launch, d, extent);
        let threads = launch.threads_per_block();
        if threads > MOST_THREADS || !kernel.extents().into_iter().enumerate().all(is_box) {
            return None;
        }
        let number = |n: i64| n.unsigned_abs();
        let warps = number(threads).div_ceil(number(self.warp).max(1));
        let starts = warps.checked_mul(number(MOST_BLOCKS))?;
        // Warps of a field in one class and at one alignment to sectors are one group.
        let groups = starts.min(warps.checked_mul(number(self.sector))?);
        let of_field = starts.checked_mul(groups + 1)?.checked_add(STEPS_OF_FIELD)?;
        let of_pattern = warps
            .checked_mul(STEPS_OF_CLASS + number(self.period))?
            .checked_add(starts.checked_mul(STEPS_OF_WARP)?)?
            .checked_add(of_field.checked_mul(2)?)?;
        let of_accesses = self
            .accesses
            .checked_mul(starts.checked_mul(STEPS_OF_ACCESS)?.checked_add(self.accesses + 64)?)?;
        u64::try_from(patterns).ok()?.checked_mul(of_pattern)?.checked_add(of_accesses)
    }
}

/// Whether a block fits into the domain along a dimension.
fn is_whole(launch: &Launch, d: usize, extent: i64) -> bool {
    let (block, fold) = (launch.candidate.block(), launch.candidate.fold());
    block[d].checked_mul(fold[d]).is_some_and(|n| n <= extent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effort::{left, within};
    use crate::launch::Candidate;
    use crate::space::{Block, Fold};
    use crate::traffic::l1;

    /// Counting never takes more, not even for blocks whose warps are all different.
    #[test]
    fn counting_takes_no_more_steps_than_it_may() {
        let mut looked_at = 0;
        for name in ["star3d7", "star3d25", "stream-triad", "star2d5", "lbm-d3q15"] {
            let path = format!("{}/kernels/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(path).unwrap();
            let kernel = crate::kernel::load(name, &text, &Default::default()).unwrap().kernels.remove(0);
            for device in ["v100", "mi300x", "rx-6900-xt"] {
                let device = crate::device::find(device, &[]).unwrap();
                for (block, fold) in [
                    ([32, 8, 1], Fold::ONE),
                    ([7, 13, 11], Fold::ONE),
                    ([31, 3, 1], Fold::known([2, 1, 1])),
                    ([1000, 1, 1], Fold::ONE),
                    ([3, 333, 1], Fold::ONE),
                    ([5, 1, 1], Fold::known([1, 2, 1])),
                    // The domain cuts even the first block.
                    ([1, 1024, 1], Fold::ONE),
                    ([7, 128, 1], Fold::known([1, 8, 1])),
                    ([1, 1, 1024], Fold::known([1, 1, 2])),
                ] {
                    let Ok(launch) = Launch::new(&kernel, Candidate::shaped(Block::known(block), fold))
                    else {
                        continue;
                    };
                    let Ok(program) = Program::folded(&kernel, fold) else { continue };
                    let Some(straight) = Straight::new(&kernel, &program, &device) else { continue };
                    let program = program.at(&launch).unwrap();
                    let Some(most) = straight.most_steps(&kernel, &launch, program.instructions.len()) else {
                        continue;
                    };
                    let all = 1 << 40;
                    let used = within(all, || {
                        l1::count(&kernel, &launch, &program, &device).unwrap();
                        all - left()
                    });
                    assert!(used <= most, "{name} {block:?} {fold:?}: {used} of {most}");
                    looked_at += 1;
                }
            }
        }
        assert!(looked_at > 30, "{looked_at}");
    }
}
