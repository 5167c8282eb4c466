//! Which waves stand for all of them.

use crate::launch::{BlockBox, Working, blocks_of_wave};
use crate::quantity::Share;
use crate::space::{BlockIndex, Grid};

/// Most waves before a wave, in its row of blocks, that are looked at for what it uses again.
const WAVES_IN_ROW: i64 = 4;
/// So many waves or fewer are all looked at, where they differ.
const FEW: i64 = 8;

/// A wave of blocks and the blocks that ran before it, as far as they matter for reuse.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wave {
    /// The blocks of the wave.
    pub(super) blocks: Vec<BlockBox>,
    /// The blocks of the wave that follows it, as far as there is one.
    pub(super) beside: Vec<BlockBox>,
    /// Blocks before it: back to the start of their row, one row back, one plane back. Each holds
    /// those before it; empty where nothing is added. The reuse sets of the paper's section 4.4.2.
    pub(super) before: [Past; 3],
}

/// Blocks that ran before a wave.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Past {
    /// These blocks; empty if the set adds nothing to the nearer one.
    pub(super) blocks: Vec<BlockBox>,
    /// These blocks and those of the wave.
    pub(super) with_wave: Vec<BlockBox>,
}

/// The waves of a grid: its blocks that have work, so many at a time. Blocks start in x-y-z order (section
/// 4.4), so that waves and what came before them are consecutive blocks; those without work end at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Waves {
    /// The first block.
    origin: BlockIndex,
    /// Blocks along each dimension.
    grid: Grid,
    /// Blocks after which lines come again: rows and planes of the grid, or what is like them where the grid is one row.
    row: i64,
    plane: i64,
    /// Blocks of a wave.
    size: i64,
}

impl Waves {
    pub(super) fn new(working: &Working<'_>, resident: i64) -> Self {
        let from = working.blocks.from;
        let grid = Grid::known(working.blocks.counts().into());
        let all = working.blocks.count();
        #[expect(clippy::cast_possible_truncation, reason = "no more blocks than there are")]
        let with_idle = (resident as f64 / working.share().get()).min(all as f64).ceil() as i64;
        Self { origin: from, grid, row: grid[0], plane: grid[0] * grid[1], size: with_idle.clamp(1, all) }
    }

    /// The same if lines come again at such distances in the only row of blocks, the nearer one first.
    pub(super) fn coming_back(self, [near, far]: [i64; 2]) -> Self {
        // All blocks of a wave find what is at one distance only if they all have as much before them.
        if far - near <= self.size {
            Self { row: far, ..self }
        } else {
            Self { row: near, plane: far, ..self }
        }
    }

    /// How many blocks there are if they are one row.
    pub(super) fn in_one_row(&self) -> Option<i64> {
        (self.grid[1] * self.grid[2] == 1).then_some(self.grid[0])
    }

    /// Blocks of a wave.
    pub(super) fn size(&self) -> i64 {
        self.size
    }

    fn all(&self) -> i64 {
        self.grid.volume()
    }

    /// Rows of a plane.
    fn rows(&self) -> i64 {
        parts(self.plane, self.row)
    }

    /// Planes of the grid.
    fn planes(&self) -> i64 {
        parts(self.all(), self.plane)
    }

    /// A wave in the middle of the blocks that have work, which crosses a row or plane only if most waves
    /// do.
    pub(super) fn middle(&self) -> Wave {
        self.at(self.rows() / 2, self.planes() / 2)
    }

    /// All of them in their order, if they are few but more than one.
    pub(super) fn few(&self) -> Option<Vec<Wave>> {
        self.up_to(FEW)
    }

    /// All of them if they are no more than that, but more than one.
    pub(super) fn up_to(&self, most: i64) -> Option<Vec<Wave>> {
        let wave = |i: i64| self.starting(i * self.size, self.size.min(self.all() - i * self.size));
        (2..=most).contains(&self.count()).then(|| (0..self.count()).map(wave).collect())
    }

    /// How many there are, of which the last may be smaller.
    pub(super) fn count(&self) -> i64 {
        parts(self.all(), self.size)
    }

    /// Where the last full wave begins.
    pub(super) fn last_start(&self) -> i64 {
        self.all() - self.size
    }

    /// Where waves begin that are the first to have a wave, a row and a plane before them, as all later ones have.
    pub(super) fn first_with_all_before(&self) -> [i64; 3] {
        [self.size, self.row, self.plane]
    }

    /// The wave that starts with such a block of all.
    pub(super) fn from(&self, start: i64) -> Wave {
        self.starting(start, self.size)
    }

    /// The share of waves in the first plane of blocks; `None` if there is one plane.
    pub(super) fn share_in_first_plane(&self) -> Option<Share> {
        let share = Share::new(self.plane.max(self.size) as f64 / self.all() as f64);
        (self.planes() > 1).then_some(share)
    }

    /// One of them.
    pub(super) fn in_first_plane(&self) -> Wave {
        // Only the first wave is there if it holds a plane.
        let y = if self.size < self.plane { self.rows() / 2 } else { 0 };
        self.at(y, 0)
    }

    /// The share of waves that have one start of a plane more than the wave in the middle has; `None` if planes have one
    /// row, or if all waves start with a plane.
    pub(super) fn share_in_first_row(&self) -> Option<Share> {
        let share = Share::new(self.beyond_planes().max(self.row) as f64 / self.plane as f64);
        (self.rows() > 1 && self.beyond_planes() > 0).then_some(share)
    }

    /// One that starts with a plane in the middle.
    pub(super) fn in_first_row(&self) -> Wave {
        self.at(0, self.planes() / 2)
    }

    /// Blocks of a wave beyond whole planes: a wave has as many starts of planes as it has whole planes, and
    /// one more in this share of a plane's blocks.
    fn beyond_planes(&self) -> i64 {
        self.size % self.plane
    }

    /// A wave around the middle of a row of a plane, as far as there is room.
    fn at(&self, y: i64, z: i64) -> Wave {
        let Self { size, row, plane, .. } = *self;
        // In the middle of the row unless waves hold whole rows: then little depends on where in a row they
        // start.
        let along = if size >= row { 0 } else { (row - size) / 2 };
        let middle = z * plane + y * row + along;
        let beyond = self.beyond_planes();
        let back = match beyond {
            // All waves start with a plane.
            0 => y * row,
            // The wave of a first row begins with it.
            _ if y == 0 && self.rows() > 1 => 0,
            _ => (beyond - beyond.min(row)) / row / 2 * row,
        };
        self.starting((middle - back).clamp(0, self.all() - size), size)
    }

    /// The wave of so many blocks that starts with a block.
    fn starting(&self, start: i64, size: i64) -> Wave {
        let Self { row, plane, .. } = *self;
        // In a long row only the last waves matter: what is older has left the L2 or is in them as well, unless it is known
        // how far back it is.
        let folded = row < self.grid[0];
        // No block of the wave finds there what is a row before it.
        let near = if folded { start.min(row - size) } else { start % row };
        let in_row = near.min(size.saturating_mul(WAVES_IN_ROW));
        let row_back = if start < row { in_row } else { row };
        let mut nearer = 0;
        let before = [in_row, row_back, plane].map(|distance| {
            let distance = if row == self.all() { in_row } else { distance.min(start) };
            if distance <= nearer {
                return Past::default();
            }
            nearer = distance;
            Past {
                blocks: self.blocks(start - distance, distance),
                with_wave: self.blocks(start - distance, distance + size),
            }
        });
        let last = self.all() - size;
        Wave { blocks: self.blocks(start, size), beside: self.blocks((start + size).min(last), size), before }
    }

    /// So many blocks in a row.
    pub(super) fn blocks(&self, start: i64, size: i64) -> Vec<BlockBox> {
        let there = |at: BlockIndex| BlockIndex::along(|d| self.origin[d] + at[d]);
        let boxes = blocks_of_wave(self.grid, start, size).into_iter();
        boxes.map(|b| BlockBox { from: there(b.from), to: there(b.to) }).collect()
    }
}

/// How many parts of a size there are, of which the last may be smaller.
fn parts(all: i64, size: i64) -> i64 {
    all / size + i64::from(all % size > 0)
}
