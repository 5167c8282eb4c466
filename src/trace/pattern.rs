//! Access patterns of well-known kernels, made from parameters: what published reference results were
//! computed for. Arrays lie behind each other from 2 MiB on, 256 bytes apart at least; blocks are numbered
//! x fastest; there are only loads.

use serde::Deserialize;

use super::model::{Dim3, Header, Tables, Trace, TraceAccess, TraceBuilder, TraceKind};
use crate::random::Random;

/// A pattern and its parameters.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kernel", rename_all = "lowercase")]
#[allow(missing_docs, reason = "parameters of published reference cases, explained where they are used")]
pub enum AccessPattern {
    /// N figure 3: one block of H threads; thread t copies row t of W elements.
    Colcopy {
        #[serde(rename = "H")]
        h: u64,
        #[serde(rename = "W", default = "width")]
        w: u64,
    },
    /// C listing 7.1: matrix multiplication.
    Mm(Square),
    /// C listing 7.2: matrix transposition.
    Mt(Square),
    /// C listing 7.3: a stencil of 7 points in the order k+1, k-1, j+1, j-1, i+1, i-1, centre.
    Stencil3d { nx: u64, ny: u64, nz: u64, bx: u32, by: u32, bz: u32, max_threads: Option<u64> },
    /// A stencil of 5 points over gx times gy blocks, with a halo of one.
    Stencil2d { bx: u32, by: u32, gx: u32, gy: u32, max_threads: Option<u64> },
    /// N figure 7: one warp, loops of coalesced loads 2^s bytes apart.
    Stream {
        s: u32,
        loads: u64,
        #[serde(default = "two")]
        passes: u64,
        #[serde(default)]
        base: u64,
    },
    /// A kernel of PolyBench/GPU's atax, mvt or bicg.
    Polybench {
        which: String,
        #[serde(rename = "N")]
        n: u64,
        threads: Option<u64>,
        acc: u8,
        #[serde(default = "block")]
        block: u32,
    },
    /// Indices, and data at random places.
    Gather {
        #[serde(rename = "T")]
        t: u64,
        #[serde(rename = "M")]
        m: u64,
        #[serde(rename = "D")]
        d: u64,
        #[serde(default = "one")]
        seed: u64,
        #[serde(default = "block")]
        block: u32,
    },
    /// Vector loads of several widths.
    Vec {
        #[serde(rename = "T")]
        t: u64,
        loads: u64,
        bytes: u16,
        #[serde(default)]
        off: u64,
        #[serde(default = "two")]
        passes: u64,
        #[serde(default = "block")]
        block: u32,
    },
    /// Addresses as they are.
    List {
        #[serde(default = "four")]
        bytes: u16,
        block: [u32; 3],
        threads: Vec<Vec<u64>>,
    },
}

/// A square matrix, a thread for each element.
#[derive(Debug, Clone, Copy, Deserialize)]
#[allow(missing_docs, reason = "parameters of published reference cases")]
pub struct Square {
    #[serde(rename = "N")]
    pub n: u64,
    pub wgx: u32,
    pub wgy: u32,
    pub max_threads: Option<u64>,
}

fn width() -> u64 {
    1024
}
fn one() -> u64 {
    1
}
fn two() -> u64 {
    2
}
fn four() -> u16 {
    4
}
fn block() -> u32 {
    256
}

/// Accesses beyond which parameters are hardly meant.
const MOST: u64 = 1 << 28;

impl AccessPattern {
    /// The trace; none if the parameters make no sense or too many accesses.
    pub fn trace(&self) -> Option<Trace> {
        let mut making = Making { builder: None, left: MOST };
        self.make(&mut making)?;
        Some(making.builder?.finish(Tables::default()))
    }

    fn make(&self, out: &mut Making) -> Option<()> {
        match self {
            Self::Colcopy { h, w } => out.line(u32::try_from(*h).ok()?, *h, |t, out| {
                (0..*w).try_for_each(|j| out.load(t, BASE + 4 * (t * w + j), 4))
            }),
            Self::Mm(square) => out.square(*square, |n, t, x, y, out| {
                let b = BASE + aligned(4 * n * n);
                (0..n).try_for_each(|i| {
                    out.load(t, BASE + 4 * (y * n + i), 4)?;
                    out.load(t, b + 4 * (i * n + x), 4)
                })
            }),
            Self::Mt(square) => out.square(*square, |n, t, x, y, out| out.load(t, BASE + 4 * (y * n + x), 4)),
            Self::Stencil3d { .. } | Self::Stencil2d { .. } => self.stencil(out),
            Self::Stream { s, loads, passes, base } => out.line(32, 32, |t, out| {
                let stride = 1_u64.checked_shl(*s)?;
                (0..passes * loads).try_for_each(|i| {
                    out.load(t, base.checked_add((i % loads).checked_mul(stride)?)?.checked_add(4 * t)?, 4)
                })
            }),
            Self::Polybench { which, n, threads, acc, block } => {
                let kernel = Polybench::named(which, *n)?;
                out.line(*block, threads.unwrap_or(*n), |t, out| {
                    (0..*n).try_for_each(|j| kernel.iteration(t, j, *acc != 0, out))
                })
            }
            Self::Gather { t: threads, m, d, seed, block } => out.line(*block, *threads, |t, out| {
                let data = BASE + aligned(4 * threads * m);
                (0..*m).try_for_each(|i| {
                    out.load(t, BASE + 4 * (i * threads + t), 4)?;
                    let at = (seed.wrapping_shl(40)).wrapping_add(i * threads + t);
                    out.load(t, data + 4 * (Random::new(at).next() % (*d).max(1)), 4)
                })
            }),
            Self::Vec { t: threads, loads, bytes, off, passes, block } => {
                out.line(*block, *threads, |t, out| {
                    (0..passes * loads).try_for_each(|i| {
                        out.load(t, BASE + (i % loads * threads + t) * u64::from(*bytes) + off, *bytes)
                    })
                })
            }
            Self::List { bytes, block, threads } => {
                out.begin(Dim3(*block))?;
                let mut all = (0_u64..).zip(threads);
                all.try_for_each(|(t, list)| list.iter().try_for_each(|&a| out.load(t, a, *bytes)))
            }
        }
    }

    fn stencil(&self, out: &mut Making) -> Option<()> {
        match *self {
            Self::Stencil3d { nx, ny, nz, bx, by, bz, max_threads } => {
                let blocks =
                    |n: u64, b: u32| u32::try_from(n.saturating_sub(2).div_ceil(u64::from(b.max(1))));
                let grid = Dim3([blocks(nx, bx).ok()?, blocks(ny, by).ok()?, blocks(nz, bz).ok()?]);
                out.grid(Dim3([bx, by, bz]), grid, max_threads, |t, [x, y, z], out| {
                    let at = |i: u64, j: u64, k: u64| BASE + 4 * (i + nx * (j + ny * k));
                    let (i, j, k) = (x + 1, y + 1, z + 1);
                    if i >= nx - 1 || j >= ny - 1 || k >= nz - 1 {
                        return Some(());
                    }
                    let points = [
                        at(i, j, k + 1),
                        at(i, j, k - 1),
                        at(i, j + 1, k),
                        at(i, j - 1, k),
                        at(i + 1, j, k),
                        at(i - 1, j, k),
                        at(i, j, k),
                    ];
                    points.into_iter().try_for_each(|a| out.load(t, a, 4))
                })
            }
            Self::Stencil2d { bx, by, gx, gy, max_threads } => {
                let nx = u64::from(bx) * u64::from(gx) + 2;
                out.grid(Dim3([bx, by, 1]), Dim3([gx, gy, 1]), max_threads, |t, [x, y, _], out| {
                    let at = |i: u64, j: u64| BASE + 4 * (i + nx * j);
                    let (i, j) = (x + 1, y + 1);
                    let points = [at(i, j), at(i, j - 1), at(i, j + 1), at(i - 1, j), at(i + 1, j)];
                    points.into_iter().try_for_each(|a| out.load(t, a, 4))
                })
            }
            _ => None,
        }
    }
}

/// Where the first array lies.
const BASE: u64 = 0x20_0000;

fn aligned(bytes: u64) -> u64 {
    bytes.div_ceil(256) * 256
}

/// The arrays of a kernel in the order of their allocation; one of a matrix and a vector, by row or column.
struct Polybench {
    n: u64,
    by_row: bool,
    accumulator: u64,
    vector: u64,
}

impl Polybench {
    fn named(which: &str, n: u64) -> Option<Self> {
        let (matrix, vector) = (aligned(n.checked_mul(n)?.checked_mul(4)?), aligned(4 * n));
        let array = |i: u64| BASE + matrix + i * vector;
        // atax: x, y, tmp; mvt: x1, x2, y1, y2; bicg: r, s, p, q.
        let (by_row, accumulator, vector) = match which {
            "atax1" => (true, 2, 0),
            "atax2" => (false, 1, 2),
            "mvt1" => (true, 0, 2),
            "mvt2" => (false, 1, 3),
            "bicg1" => (false, 1, 0),
            "bicg2" => (true, 3, 2),
            _ => return None,
        };
        Some(Self { n, by_row, accumulator: array(accumulator), vector: array(vector) })
    }

    fn iteration(&self, t: u64, j: u64, accumulates: bool, out: &mut Making) -> Option<()> {
        if accumulates {
            out.load(t, self.accumulator + 4 * t, 4)?;
        }
        let element = if self.by_row { t * self.n + j } else { j * self.n + t };
        out.load(t, BASE + 4 * element, 4)?;
        out.load(t, self.vector + 4 * j, 4)
    }
}

struct Making {
    builder: Option<TraceBuilder>,
    left: u64,
}

impl Making {
    fn begin(&mut self, block: Dim3) -> Option<()> {
        (block.volume() > 0 && block.volume() <= 1 << 20).then_some(())?;
        self.builder = Some(TraceBuilder::new(Header { kernel: None, block, grid: None }, false));
        Some(())
    }

    fn load(&mut self, thread: u64, address: u64, bytes: u16) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        let thread = u32::try_from(thread).ok().filter(|&t| t < 1 << 26)?;
        self.builder.as_mut()?.push(TraceAccess::plain(thread, TraceKind::Load, address, bytes));
        Some(())
    }

    /// Threads in a row.
    fn line(
        &mut self,
        block: u32,
        threads: u64,
        mut of: impl FnMut(u64, &mut Self) -> Option<()>,
    ) -> Option<()> {
        self.begin(Dim3([block, 1, 1]))?;
        (0..threads).try_for_each(|t| of(t, self))
    }

    /// Threads of a grid by their global place; of the first blocks, where threads are limited.
    fn grid(
        &mut self,
        block: Dim3,
        grid: Dim3,
        max_threads: Option<u64>,
        mut of: impl FnMut(u64, [u64; 3], &mut Self) -> Option<()>,
    ) -> Option<()> {
        self.begin(block)?;
        let size = block.volume();
        let blocks = max_threads.map_or(u64::MAX, |m| m / size).min(grid.volume());
        for b in 0..blocks {
            let of_block = grid.place(b).0;
            for t in 0..size {
                let of_thread = block.place(t).0;
                let at = |d: usize| u64::from(of_block[d]) * u64::from(block.0[d]) + u64::from(of_thread[d]);
                of(b * size + t, [at(0), at(1), at(2)], self)?;
            }
        }
        Some(())
    }

    fn square(
        &mut self,
        Square { n, wgx, wgy, max_threads }: Square,
        mut of: impl FnMut(u64, u64, u64, u64, &mut Self) -> Option<()>,
    ) -> Option<()> {
        let blocks = |w: u32| u32::try_from(n.checked_div(u64::from(w))?).ok();
        let grid = Dim3([blocks(wgx)?, blocks(wgy)?, 1]);
        self.grid(Dim3([wgx, wgy, 1]), grid, max_threads, |t, [x, y, _], out| of(n, t, x, y, out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(params: &str) -> Option<Trace> {
        serde_json::from_str::<AccessPattern>(params).ok()?.trace()
    }

    #[test]
    fn patterns_have_the_accesses_of_their_kernels() {
        let mm = parsed(r#"{"kernel":"mm","N":32,"wgx":16,"wgy":16}"#).unwrap();
        assert_eq!((mm.threads(), mm.accesses().len(), mm.blocks()), (1024, 65_536, 4));
        // Thread 16 of block 0 is at row 1: it loads the second row of A and column 0 of B.
        let first: Vec<u64> = mm.thread(16).iter().take(3).map(|a| a.address - BASE).collect();
        assert_eq!(first, [128, 4096, 132]);
        let stencil = parsed(
            r#"{"kernel":"stencil3d","nx":34,"ny":34,"nz":34,"bx":32,"by":1,"bz":1,"max_threads":8192}"#,
        );
        assert_eq!(stencil.unwrap().accesses().len(), 57_344);
        let list = parsed(r#"{"kernel":"list","block":[1,1,1],"threads":[[0,4],[16]]}"#).unwrap();
        assert_eq!((list.threads(), list.thread(0).len()), (2, 2));
    }

    #[test]
    fn senseless_parameters_make_no_trace() {
        assert!(parsed(r#"{"kernel":"mm","N":32,"wgx":0,"wgy":16}"#).is_none());
        assert!(parsed(r#"{"kernel":"polybench","which":"x","N":8,"acc":0}"#).is_none());
        assert!(parsed(r#"{"kernel":"colcopy","H":1000000,"W":1000000}"#).is_none());
        assert!(parsed(r#"{"kernel":"vec","T":4,"loads":4,"bytes":8,"block":0}"#).is_none());
        assert!(parsed(r#"{"kernel":"unknown"}"#).is_none());
    }
}
