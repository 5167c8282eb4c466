//! Which blocks of a grid have work: a grid may be larger than the domain, and a guard may leave out whole
//! blocks, which end at once.

use super::candidate::Launch;
use super::program::Program;
use super::wave::BlockBox;
use crate::expr::{Cond, Coord};
use crate::kernel::Kernel;

/// Most boxes of blocks that are looked at to find the first or last one with work.
const MOST_LOOKS: u32 = 1 << 10;
/// Most different conditions of instructions that are looked at.
const MOST_CONDITIONS: usize = 64;

/// The smallest box that holds all blocks with work, as far as intervals can tell; those of the domain if
/// none has any.
pub fn working_blocks(kernel: &Kernel, launch: &Launch, program: &Program<i64>) -> BlockBox {
    let mut blocks = BlockBox { from: [0; 3], to: launch.sizes.grid };
    if program.instructions.iter().all(|i| i.clipped) {
        for (d, extent) in kernel.extents().into_iter().enumerate() {
            let size = i128::from(launch.candidate.block[d]) * i128::from(launch.candidate.fold[d]);
            let last = i64::try_from(i128::from(extent - 1) / size.max(1)).unwrap_or(i64::MAX);
            blocks.to[d] = blocks.to[d].min(last.saturating_add(1)).max(1);
        }
    }
    let Some(conditions) = conditions(program) else { return blocks };
    let mut search = Search { launch, conditions, looks: 0 };
    if search.may_work(&blocks) {
        for d in 0..3 {
            blocks.from[d] = search.edge(blocks, d, false).unwrap_or(blocks.from[d]);
            blocks.to[d] = search.edge(blocks, d, true).map_or(blocks.to[d], |last| last + 1);
        }
    }
    blocks
}

/// The conditions under which anything is done, one of which has to hold; `None` if something is always
/// done, or if they are too many.
fn conditions(program: &Program<i64>) -> Option<Vec<[Option<&Cond<i64>>; 2]>> {
    let mut found = Vec::new();
    for instruction in &program.instructions {
        for item in instruction.items.iter() {
            let guard = program.items.get(usize::from(item)).and_then(|i| i.guard.as_ref());
            let both = [instruction.when.as_ref(), guard];
            if both == [None, None] || found.len() > MOST_CONDITIONS {
                return None;
            }
            if !found.contains(&both) {
                found.push(both);
            }
        }
    }
    Some(found)
}

struct Search<'a> {
    launch: &'a Launch,
    conditions: Vec<[Option<&'a Cond<i64>>; 2]>,
    looks: u32,
}

impl Search<'_> {
    /// Whether a block of a box may have work.
    fn may_work(&mut self, blocks: &BlockBox) -> bool {
        self.looks += 1;
        let within = |coord| match coord {
            Coord::ThreadIdx(d) => Some((0, self.launch.sizes.block[d.index()] - 1)),
            Coord::BlockIdx(d) => Some((blocks.from[d.index()], blocks.to[d.index()] - 1)),
            Coord::Axis(_) | Coord::Thread(_) | Coord::Loop(_) => None,
        };
        let may_hold = |cond: Option<&Cond<i64>>| cond.is_none_or(|c| c.decided(&within) != Some(false));
        self.looks > MOST_LOOKS || self.conditions.iter().any(|both| both.iter().all(|c| may_hold(*c)))
    }

    /// The first or last place along a dimension at which a block of the box may have work.
    fn edge(&mut self, blocks: BlockBox, d: usize, last: bool) -> Option<i64> {
        if !self.may_work(&blocks) {
            return None;
        }
        let (from, to) = (blocks.from[d], blocks.to[d]);
        if to - from == 1 {
            return Some(from);
        }
        let (mut lower, mut upper) = (blocks, blocks);
        (lower.to[d], upper.from[d]) = (from + (to - from) / 2, from + (to - from) / 2);
        let [first, second] = if last { [upper, lower] } else { [lower, upper] };
        self.edge(first, d, last).or_else(|| self.edge(second, d, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::load;
    use crate::launch::Candidate;

    fn working(domain: &str, guard: &str, more: &str, block: [i64; 3]) -> ([i64; 3], [i64; 3]) {
        let text = format!(
            "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f64, size: 1000000}}}}\ndomain: {domain}\n\
             loads: ['a[x]']\nguard: '{guard}'\n{more}"
        );
        let kernel = load("k", &text, &Default::default()).unwrap().kernels.remove(0);
        let candidate = Candidate { block, fold: [1; 3] };
        let launch = Launch::new(&kernel, candidate).unwrap();
        let program = Program::of(&kernel, candidate).unwrap().at(&launch).unwrap();
        let found = working_blocks(&kernel, &launch, &program);
        (found.from, found.to)
    }

    #[test]
    fn guards_and_the_domain_leave_a_box() {
        let line = "{x: 1000}";
        assert_eq!(working(line, "x >= 0", "", [10, 1, 1]), ([0; 3], [100, 1, 1]));
        assert_eq!(working(line, "x < 495 && x > 9", "", [10, 1, 1]), ([1, 0, 0], [50, 1, 1]));
        assert_eq!(working(line, "x % 100 == 99", "", [10, 1, 1]), ([9, 0, 0], [100, 1, 1]));
        assert_eq!(working(line, "x < 0", "", [10, 1, 1]), ([0; 3], [100, 1, 1]));
        let square = "{x: 100, y: 100}";
        assert_eq!(working(square, "x + 2*y < 50", "", [10, 10, 1]), ([0; 3], [5, 3, 1]));
        let larger = "launch: {grid: [1 << 40]}";
        assert_eq!(working(line, "x >= 500", larger, [10, 1, 1]), ([50, 0, 0], [100, 1, 1]));
    }
}
