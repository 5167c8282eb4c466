//! The reference program's wave and neighbour boxes, and their volumes in grid addressing (the paper's
//! sections 4.4.1 and 4.4.2).

use wavecast::expr::{Coord, Dim, Form};
use wavecast::footprint::Piece;

use super::address::Accesses;
use super::blocks::lines;

/// Threads from (included) to (excluded) along x, y, z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadBox {
    pub from: [i64; 3],
    pub to: [i64; 3],
}

impl ThreadBox {
    /// A box of blocks, clipped to the domain as if its cells were threads: with folding they are not,
    /// which is one of the program's known faults.
    fn of_blocks(from: [i64; 3], to: [i64; 3], block: [i64; 3], domain: [i64; 3]) -> Self {
        let clip = |at: [i64; 3]| [0, 1, 2].map(|d| (at[d] * block[d]).clamp(0, domain[d]));
        Self { from: clip(from), to: clip(to) }
    }

    /// Number of threads.
    pub fn threads(&self) -> i64 {
        (0..3).map(|d| (self.to[d] - self.from[d]).max(0)).product()
    }
}

/// A wave as the reference program rounds it, and what ran before it.
#[derive(Debug, Clone, Copy)]
pub struct WaveBoxes {
    pub wave: ThreadBox,
    pub x: ThreadBox,
    pub y: ThreadBox,
    pub z: ThreadBox,
}

/// How many rows of blocks the y set has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// One, as in the program's current version.
    One,
    /// As many as the wave, as at the time of the paper.
    OfTheWave,
}

impl WaveBoxes {
    /// A box of blocks at the end of x and y and at half of z. `resident` blocks run at once.
    pub fn new(grid: [i64; 3], block: [i64; 3], domain: [i64; 3], resident: i64, before: Rows) -> Self {
        // Rounded-up quotients of the blocks and the blocks of a row, or of a plane; those are not
        // whole where the block does not divide the domain. In floating point, as the program does it:
        // an exact quotient would be a row less where the rounding goes up.
        let of_row = domain[0] as f64 / block[0] as f64;
        let of_plane = domain[0] as f64 * domain[1] as f64 / block[0] as f64 / block[1] as f64;
        let rows = whole((resident as f64 / of_row).ceil());
        let planes = whole((resident as f64 / of_plane).ceil());
        let [wx, wy, wz] = [grid[0].min(resident), grid[1].min(rows), grid[2].min(planes)];
        let [gx, gy, _] = grid;
        // Where a single row of blocks at the end lies less than a tenth of a block inside the domain,
        // the published program (github.com/te42kyfo/warpspeed) moves up by one.
        let inside = (domain[1] - (gy - wy) * block[1]) as f64 / block[1] as f64;
        let top = if gy > 1 && inside < 0.1 { gy - 1 } else { gy };
        let middle = grid[2] / 2;
        let part = |from, to| ThreadBox::of_blocks(from, to, block, domain);
        Self {
            wave: part([gx - wx, top - wy, middle], [gx, top, middle + wz]),
            x: part([gx - 2 * wx, top - wy, middle], [gx - wx, top, middle + wz]),
            y: part(
                [0, (top - wy - if before == Rows::One { 1 } else { wy }).max(0), middle],
                [gx, top - wy, middle + wz],
            ),
            z: part([0, 0, middle - 1], [gx, gy, middle]),
        }
    }
}

/// A quotient that was rounded to an integer.
#[expect(clippy::cast_possible_truncation, reason = "at most the resident blocks times a block's size")]
fn whole(rounded: f64) -> i64 {
    rounded as i64
}

/// Bytes of one field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Volumes {
    /// Of the wave.
    pub new: i128,
    /// Of the x, y and z set.
    pub old: [i128; 3],
    /// Of the wave and the x set; of what is left of the wave and the y set; and so on.
    pub overlap: [i128; 3],
}

/// Volumes of the accesses of a field in lines of `line` bytes.
pub fn volumes(field: &Accesses, boxes: &WaveBoxes, line: i64) -> Result<Volumes, String> {
    let per_line = line / field.datatype;
    if per_line < 1 {
        return Err(format!("elements of {} bytes do not fit into a line of {line}", field.datatype));
    }
    let grid = Grid::around(field, &[boxes.wave, boxes.x, boxes.y, boxes.z], per_line)?;
    let union = |set: &[ThreadBox]| grid.lines(field, set).map(|n| i128::try_from(n).unwrap_or(i128::MAX));
    let WaveBoxes { wave, x, y, z } = *boxes;
    // |A ∩ S| = |A| + |S| - |A ∪ S|; what the earlier sets took is taken off.
    let new = union(&[wave])?;
    let with_x = new + union(&[x])? - union(&[wave, x])?;
    let with_y = new + union(&[x, y])? - union(&[wave, x, y])?;
    let with_z = new + union(&[x, y, z])? - union(&[wave, x, y, z])?;
    let bytes = i128::from(line) * i128::from(field.multiplicity);
    Ok(Volumes {
        new: new * bytes,
        old: [union(&[x])? * bytes, union(&[y])? * bytes, union(&[z])? * bytes],
        overlap: [with_x * bytes, (with_y - with_x) * bytes, (with_z - with_y) * bytes],
    })
}

/// Index tuples laid out so that no two meet: the line is `floor(x / per_line)`, y, z.
struct Grid {
    per_line: i64,
    /// Smallest index and number of indices of each dimension.
    low: [i64; 3],
    extent: [i64; 3],
}

impl Grid {
    fn around(field: &Accesses, boxes: &[ThreadBox], per_line: i64) -> Result<Self, String> {
        let (mut low, mut high) = ([i64::MAX; 3], [i64::MIN; 3]);
        for b in boxes.iter().filter(|b| b.threads() > 0) {
            let of = |c| match c {
                Coord::Thread(d) => Some((b.from[d.index()], b.to[d.index()] - 1)),
                _ => None,
            };
            for access in &field.indices {
                for d in 0..3 {
                    let (from, to) = access[d].interval(&of).ok_or("an index without bounds")?;
                    low[d] = low[d].min(from);
                    high[d] = high[d].max(to);
                }
            }
        }
        if low[0] > high[0] {
            return Ok(Self { per_line, low: [0; 3], extent: [1; 3] });
        }
        // Lines begin at multiples of their length; one more lies between rows.
        let start = low[0].div_euclid(per_line) * per_line;
        let row = ((high[0] - start) / per_line + 2) * per_line;
        Ok(Self {
            per_line,
            low: [start, low[1], low[2]],
            extent: [row, high[1] - low[1] + 1, high[2] - low[2] + 1],
        })
    }

    fn address(&self, index: &[Form<i64>; 3]) -> Option<Form<i64>> {
        let at = |d: usize| index[d].plus(&Form::int(-self.low[d])).ok();
        let plane = self.extent[0].checked_mul(self.extent[1])?;
        at(0)?.plus(&at(1)?.times(&self.extent[0]).ok()?).ok()?.plus(&at(2)?.times(&plane).ok()?).ok()
    }

    /// Distinct lines of the threads of all boxes together. Elements are the bytes of this count.
    fn lines(&self, field: &Accesses, boxes: &[ThreadBox]) -> Result<u128, String> {
        let mut pieces = Vec::new();
        for b in boxes.iter().filter(|b| b.threads() > 0) {
            for access in &field.indices {
                let range = |d: Dim| (Coord::Thread(d), b.from[d.index()], b.to[d.index()] - 1);
                pieces.push(Piece {
                    array: 0,
                    ranges: Dim::ALL.map(range).into(),
                    when: None,
                    address: self.address(access).ok_or("an address over 64 bits")?.into(),
                    width: 1,
                });
            }
        }
        lines(pieces, self.per_line)
    }
}
