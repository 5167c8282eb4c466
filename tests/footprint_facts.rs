//! Footprints that others published or that follow from published figures.

use wavecast::expr::{Coord, Dim, Form};
use wavecast::footprint::{Addressing, Engine, Piece, Query, Threads, count, count_with};
use wavecast::kernel::{AccessKind, FieldId, Kernel, load};
use wavecast::launch::{BlockBox, Candidate, Launch, Program, blocks_of_wave};
use wavecast::space::Grid;

fn kernel(name: &str, set: &[&str]) -> Kernel {
    let path = format!("{}/kernels/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let options = wavecast::kernel::Options {
        set: set.iter().map(|s| (*s).to_owned()).collect(),
        ..Default::default()
    };
    load(name, &std::fs::read_to_string(path).unwrap(), &options).unwrap().kernels.remove(0)
}

/// Lines that the loads of all blocks of a launch touch in the first field.
fn loads(
    kernel: &Kernel,
    block: [i64; 3],
    blocks: &dyn Fn(Grid) -> Vec<BlockBox>,
    line: i64,
    addressing: Addressing,
) -> u128 {
    let candidate = Candidate::new(block, [1; 3]).unwrap();
    let launch = Launch::new(kernel, candidate).unwrap();
    let program = Program::placed(kernel, candidate).unwrap().at(&launch).unwrap();
    let threads = Threads { kernel, launch: &launch, program: &program };
    let mut total = 0;
    for field in 0..kernel.fields().len() {
        let id = FieldId(u16::try_from(field).unwrap());
        let query =
            threads.query(&blocks(launch.sizes().grid), id, &[AccessKind::Load], line, addressing).unwrap();
        let (lines, engine) = count(&query).unwrap();
        assert!(query.pieces.is_empty() || engine == Engine::Linear, "{}", kernel.name());
        total += lines;
    }
    total
}

fn everything(grid: Grid) -> Vec<BlockBox> {
    vec![BlockBox::whole(grid)]
}

/// Grid addressing, 32-byte lines: exact values of a prototype, independently of this program.
#[test]
fn a_box_of_256_x_4_x_216_threads() {
    let sizes = ["NX=256", "NY=4", "NZ=216"];
    let lines = |name| loads(&kernel(name, &sizes), [256, 4, 1], &everything, 32, Addressing::Grid);
    assert_eq!(lines("star3d25"), 169_664);
    assert_eq!(lines("box3d27"), 86_328);
    // 15 arrays of 4 x 216 rows: 64 lines of a row for the 5 directions without x, 65 for the 10 with it.
    assert_eq!(lines("lbm-d3q15"), 864 * (5 * 64 + 10 * 65));
    assert_eq!(864 * (5 * 64 + 10 * 65), 838_080);
}

#[test]
fn whole_grids() {
    let star = kernel("star3d25", &[]);
    assert_eq!(loads(&star, [64, 4, 4], &everything, 32, Addressing::Grid), 41_916_672);
    let five = kernel("star2d5", &["NX=1024", "NY=9766"]);
    assert_eq!(loads(&five, [64, 1, 1], &everything, 32, Addressing::Grid), 2_520_140);
}

/// Figure 6 of the paper: six lines under the four threads of a 2 x 2 block.
#[test]
fn figure_6() {
    let four = kernel("star2d4", &[]);
    let one = |_| vec![BlockBox::one([100, 100, 0].into())];
    assert_eq!(loads(&four, [2, 2, 1], &one, 32, Addressing::Grid), 6);
}

/// Section 5.7: compulsory loads per work item of waves 1, 2, 4, ... layers deep and wide.
#[test]
fn section_5_7() {
    let star = kernel("star3d25", &["NX=1024", "NY=1024", "NZ=1024"]);
    for (depth, bytes) in [(1_i64, 72_u128), (2, 40), (4, 24), (8, 16), (16, 12), (32, 10)] {
        // A wave over whole planes, `depth` planes deep, from an interior plane: its z neighbours count,
        // those along x and y are the border of the array.
        let wave = |_: Grid| vec![BlockBox { from: [0, 0, 64].into(), to: [1, 1024, 64 + depth].into() }];
        let lines = loads(&star, [1024, 1, 1], &wave, 32, Addressing::Linear);
        let work_items = 1024 * 1024 * u128::try_from(depth).unwrap();
        // (depth + 8) planes of the array, halo rows and columns of one percent left out.
        let exact = lines * 32;
        let expected = bytes * work_items;
        let border = exact.abs_diff(expected) * 100 / expected;
        assert!(border < 2, "{depth} deep: {} bytes per work item", exact as f64 / work_items as f64);
    }
}

/// A wave in the middle of the grid is the same in exact and in grid addressing where rows are padded
/// to lines and begin on one, up to nothing.
#[test]
fn addressings_agree_on_aligned_rows() {
    let star = kernel("star3d25", &[]);
    let wave = |grid: Grid| blocks_of_wave(grid, grid.volume() / 2, 216);
    for block in [[256, 2, 2], [16, 2, 32], [32, 32, 1]] {
        let linear = loads(&star, block, &wave, 32, Addressing::Linear);
        let grid = loads(&star, block, &wave, 32, Addressing::Grid);
        assert_eq!(linear, grid, "{block:?}");
    }
}

/// The example that docs/counting.md counts by hand.
#[test]
fn the_example_of_the_documentation() {
    let (x, y) = (Coord::Thread(Dim::X), Coord::Thread(Dim::Y));
    let pieces = [0, 5].map(|offset| {
        let element = Form::coord(y).times(&10).unwrap().plus(&Form::coord(x)).unwrap();
        let address = element.plus(&Form::int(offset)).unwrap().times(&8).unwrap();
        Piece {
            array: 0,
            ranges: vec![(x, 0, 3), (y, 0, 2)].into(),
            when: None,
            address: address.into(),
            width: 8,
        }
    });
    let query = Query { pieces: pieces.to_vec(), line: 32 };
    for engine in Engine::ALL {
        if engine != Engine::Isl || cfg!(feature = "isl") {
            assert_eq!(count_with(&query, engine), Ok(8), "{engine}");
        }
    }
}
