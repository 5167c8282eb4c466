//! Volumes that the published estimator (github.com/te42kyfo/warpspeed, run for this project; `basic` of
//! its records) counted, a dozen copied here, counted again by our engines from hand-written boxes under
//! its definitions. `tools/validate_reference` compares all records; this keeps CI honest without
//! them.

use wavecast::expr::{Coord, Dim, Form};
use wavecast::footprint::{Piece, Query, count};

/// Threads from (included) to (excluded) along x, y, z.
type Box3 = ([i64; 3], [i64; 3]);

/// Pieces of accesses at offsets of an array, over boxes of threads; first bytes only, as there.
fn pieces(boxes: &[Box3], offsets: &[[i64; 3]], address: impl Fn([i64; 3]) -> Form<i64>) -> Vec<Piece> {
    let piece = |&(from, to): &Box3, offset: [i64; 3]| Piece {
        array: 0,
        ranges: Dim::ALL.map(|d| (Coord::Thread(d), from[d.index()], to[d.index()] - 1)).into(),
        when: None,
        address: address(offset).into(),
        width: 1,
    };
    boxes.iter().flat_map(|b| offsets.iter().map(move |&o| piece(b, o))).collect()
}

fn lines(pieces: Vec<Piece>, line: i64) -> i64 {
    i64::try_from(count(&Query { pieces, line }).unwrap().0).unwrap()
}

/// scale * (start + tidx + ny*tidy + nz*tidz + offset).
fn linear(strides: [i64; 3], start: i64, scale: i64, offset: [i64; 3]) -> Form<i64> {
    let mut form = Form::int(start);
    for d in Dim::ALL {
        let index = Form::coord(Coord::Thread(d)).plus(&Form::int(offset[d.index()])).unwrap();
        form = form.plus(&index.times(&strides[d.index()]).unwrap()).unwrap();
    }
    form.times(&scale).unwrap()
}

fn star(range: i64, dimensions: usize) -> Vec<[i64; 3]> {
    let mut offsets = vec![[0; 3]];
    for d in 0..dimensions {
        for r in (1..=range).flat_map(|r| [-r, r]) {
            let mut offset = [0; 3];
            offset[d] = r;
            offsets.push(offset);
        }
    }
    offsets
}

/// Sum over boxes of `inner` threads at every place of `outer`.
fn tiled(
    inner: [i64; 3],
    outer: [i64; 3],
    offsets: &[[i64; 3]],
    line: i64,
    address: impl Fn([i64; 3]) -> Form<i64> + Copy,
) -> i64 {
    let mut total = 0;
    for (z, y, x) in
        (0..outer[2]).flat_map(|z| (0..outer[1]).flat_map(move |y| (0..outer[0]).map(move |x| (z, y, x))))
    {
        let from = [x * inner[0], y * inner[1], z * inner[2]];
        let to = [0, 1, 2].map(|d| from[d] + inner[d]);
        total += lines(pieces(&[(from, to)], offsets, address), line);
    }
    total
}

/// `d_star3d25pt`, block 1 x 32 x 32, A100: 640 x 512 x 512, alignment 4, means over 8 x 8 x 8 blocks.
#[test]
fn a_thin_block_of_the_25_point_star() {
    let address = |o| linear([1, 640, 640 * 512], 4, 8, o);
    let offsets = star(4, 3);
    let blocks = ([1, 32, 32], [8, 8, 8]);
    // The record's values are means of whole numbers of blocks: compared as sums, in integers.
    let sum = |mean: i64| mean * 512;
    // fieldBlockL2Load.A, blockL1LoadAlloc.
    assert_eq!(tiled(blocks.0, blocks.1, &offsets, 32, address) * 32, sum(114_688));
    assert_eq!(tiled(blocks.0, blocks.1, &offsets, 128, address) * 128, sum(196_608));
    // Warps are boxes of 1 x 32 x 1: blockL1Load of every access, fieldBlockL2Store.B.
    let warps = ([1, 32, 1], [8, 8, 8 * 32]);
    let load: i64 = offsets.iter().map(|&o| tiled(warps.0, warps.1, &[o], 32, address)).sum();
    assert_eq!(load * 32, sum(819_200));
    assert_eq!(tiled(warps.0, warps.1, &[[0; 3]], 32, address) * 32, sum(32_768));
}

/// `b_star2d5pt`: 15000 x 15000 in an array of 15002 x 15002, alignment 1, means over 8 x 8 blocks.
#[test]
fn blocks_of_the_5_point_star() {
    let address = |o| linear([1, 15_002, 0], 1, 8, o);
    let offsets = star(1, 2);
    // Block, fieldBlockL2Load.A, blockL1LoadAlloc, fieldBlockL2Store.B.
    for (block, load, alloc, store) in [([256, 2, 1], 8320, 8704, 4608), ([32, 4, 1], 1728, 2304, 1152)] {
        assert_eq!(tiled(block, [8, 8, 1], &offsets, 32, address) * 32, load * 64, "{block:?}");
        assert_eq!(tiled(block, [8, 8, 1], &offsets, 128, address) * 128, alloc * 64, "{block:?}");
        let warps = [8 * block[0] / 32, 8 * block[1], 1];
        assert_eq!(tiled([32, 1, 1], warps, &[[0; 3]], 32, address) * 32, store * 64, "{block:?}");
    }
}

/// Lines of 8 elements (64 bytes of f64) in grid addressing: rows and planes so far apart, and so much
/// before the first element, that tuples of indices meet only where they are equal.
fn grid(offset: [i64; 3]) -> Form<i64> {
    linear([1, 1 << 16, 1 << 32], 1 << 10, 1, offset)
}

/// `d_star3d25pt`, block 1 x 32 x 32, A100: the wave is 216 x 1 x 1 blocks at the end of x and y and at
/// half of z.
#[test]
fn a_wave_of_the_25_point_star() {
    let offsets = star(4, 3);
    let count = |boxes: &[Box3]| lines(pieces(boxes, &offsets, grid), 8) * 64;
    let wave = ([424, 480, 256], [640, 512, 288]);
    let x = ([208, 480, 256], [424, 512, 288]);
    let y = ([0, 448, 256], [640, 480, 288]);
    let z = ([0, 0, 224], [640, 512, 256]);
    // waveMemLoadNew and waveMemStoreNew.
    assert_eq!(count(&[wave]), 2_785_280);
    assert_eq!(lines(pieces(&[wave], &[[0; 3]], grid), 8) * 64, 1_769_472);
    // waveMemOld, loads and stores.
    let stored = |b: Box3| lines(pieces(&[b], &[[0; 3]], grid), 8) * 64;
    assert_eq!(count(&[y]) + stored(y), 13_238_272);
    assert_eq!(count(&[z]) + stored(z), 192_151_552);
    // waveMemLoadOverlap: x and y together, then z.
    let with = |sets: &[Box3]| {
        let mut all = sets.to_vec();
        all.push(wave);
        count(&[wave]) + count(sets) - count(&all)
    };
    assert_eq!(with(&[x, y]), 565_248);
    assert_eq!(with(&[x, y, z]) - with(&[x, y]), 407_552);
    assert_eq!(with(&[x, y]) - with(&[x]), 434_176);
}

/// `b_star2d5pt`, block 256 x 2, A100: 432 resident blocks are 8 rows of blocks, clipped at 15000.
#[test]
fn a_clipped_wave_of_the_5_point_star() {
    let offsets = star(1, 2);
    let wave = ([0, 14_984, 0], [15_000, 15_000, 1]);
    // waveMemLoadNew is 1992543.4368: scaled from the 15000 x 16 cells of the box to 432 x 512.
    let new = lines(pieces(&[wave], &offsets, grid), 8) * 64;
    assert_eq!(new * (432 * 512) * 10_000, 19_925_434_368 * (15_000 * 16));
    let before: Box3 = ([0, 14_982, 0], [15_000, 14_984, 1]);
    let old = lines(pieces(&[before], &offsets, grid), 8) + lines(pieces(&[before], &[[0; 3]], grid), 8);
    assert_eq!(old * 64, 720_256);
}
