//! Which threads of a block have their work inside the domain.

use super::blocks::Standing;
use crate::kernel::Kernel;
use crate::launch::{Launch, Program};
use crate::quantity::{ItemCount, PerBlock};
use crate::space::{Block, BlockIndex, Domain, Extents, Fold, ItemOffset};

/// How blocks of a grid lie in the domain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inside {
    domain: Domain,
    block: Block,
    fold: Fold,
}

impl Inside {
    pub(super) fn new(kernel: &Kernel, launch: &Launch, program: &Program<i64>) -> Self {
        Self { domain: kernel.extents(), block: launch.candidate.block(), fold: program.fold }
    }

    /// How many threads of a block, the first ones along each dimension, do their work item at this place of the fold
    /// inside the domain.
    pub(super) fn threads(&self, offset: ItemOffset, block: BlockIndex) -> Extents {
        Extents::along(|d| {
            // (block * shape + thread) * fold + offset < extent
            let all = i128::from(self.block[d]);
            let left = i128::from(self.domain[d]) - i128::from(offset[d]);
            let end = -(-left).div_euclid(self.fold[d].into()) - i128::from(block[d]) * all;
            i64::try_from(end.clamp(0, all)).expect("it is no larger than a block")
        })
    }

    /// Work items of a block on average, whether a guard holds for them or not.
    pub(super) fn mean_items(&self, program: &Program<i64>, blocks: &[Standing]) -> ItemCount<PerBlock> {
        let clipped = program.instructions.iter().any(|i| i.clipped);
        let of_block = |block: BlockIndex| -> f64 {
            let of_item = |offset| {
                let threads = if clipped { self.threads(offset, block) } else { Extents::from(*self.block) };
                threads.iter().map(|&n| n as f64).product::<f64>()
            };
            program.items.iter().map(|item| of_item(item.offset)).sum()
        };
        let sum: f64 = blocks.iter().map(|&(block, weight)| weight * of_block(block)).sum();
        let number: f64 = blocks.iter().map(|standing| standing.1).sum();
        ItemCount::new(if number > 0.0 { sum / number } else { 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::load;
    use crate::launch::Candidate;
    use crate::random::Random;

    /// All blocks together have the work items of the domain, wherever it cuts them and whatever a guard says.
    #[test]
    fn blocks_share_the_domain() {
        let mut random = Random::new(5);
        let mut number = |limit: usize| 1 + i64::try_from(random.below(limit)).unwrap();
        for _ in 0..200 {
            let [x, y] = [number(70), number(40)];
            let (block, fold) = ([number(40), number(20), 1], [number(3), number(2), 1]);
            let text = format!(
                "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f32, shape: [100, 100]}}}}\ndomain: {{x: {x}, y: {y}}}\n\
                 guard: x % 2 == 0\nbody: ['load a[y, x]']\n"
            );
            let kernel = load("k", &text, &Default::default()).unwrap().kernels.remove(0);
            let candidate = Candidate::new(block, fold).unwrap();
            let launch = Launch::new(&kernel, candidate).unwrap();
            let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
            let [nx, ny, nz] = *launch.sizes().grid;
            let at = |i: i64| BlockIndex::from([i % nx, i / nx % ny, i / nx / ny]);
            let blocks: Vec<Standing> = (0..nx * ny * nz).map(|i| (at(i), 1.0)).collect();
            let mean = Inside::new(&kernel, &launch, &program).mean_items(&program, &blocks);
            let all = mean.get() * blocks.len() as f64;
            assert!((all - (x * y) as f64).abs() < 1e-6, "{x}x{y} {block:?} {fold:?}: {all}");
        }
    }
}
