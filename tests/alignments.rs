//! What blocks load on average is what all blocks together load, each counted by itself, over their number:
//! however many ways there are in which they lie relative to lines.

use proptest::prelude::*;
use wavecast::device::{self, Device};
use wavecast::footprint::{Addressing, Counter, Threads};
use wavecast::kernel::{AccessKind, FieldId, Kernel, Options, load};
use wavecast::launch::{BlockBox, Candidate, Launch, Program, work_items};
use wavecast::traffic::{Counting, footprints};

/// Bytes per work item in whole sectors that blocks load of the first field: as predicted, and counted for
/// every block of the grid.
fn loaded(kernel: &Kernel, device: &Device, candidate: Candidate) -> [f64; 2] {
    let launch = Launch::new(kernel, candidate).unwrap();
    let program = Program::placed(kernel, candidate).unwrap().at(&launch).unwrap();
    let found = footprints(kernel, &launch, &program, device, 32, &Counting::default()).unwrap();
    let sector = i64::try_from(device.l1().sector().value().0).unwrap();
    let threads = Threads { kernel, launch: &launch, program: &program };
    let touched = threads.touched(FieldId(0), &[AccessKind::Load], Addressing::Linear).unwrap();
    let [nx, ny, nz] = *launch.sizes().grid;
    let (mut lines, mut items) = (0.0, 0.0);
    for n in 0..nx * ny * nz {
        let at = [BlockBox::one([n % nx, n / nx % ny, n / nx / ny].into())];
        lines += Counter::cheapest().count(&touched.under(&at, sector).unwrap()).unwrap().lines as f64;
        items += work_items(kernel, &launch, &program, &at);
    }
    [found.fields[0].mean_block_load.get(), lines * sector as f64 / items]
}

fn read(text: &str, set: &[&str]) -> Kernel {
    let set = set.iter().map(|s| (*s).to_owned()).collect();
    load("k", text, &Options { set, ..Options::default() }).unwrap().kernels.remove(0)
}

/// A box stencil with rows of `pitch` elements; `fold` items of a thread along y.
fn stencil(dtype: &str, domain: [i64; 3], pitch: i64, reach: [i64; 3], more: &str) -> Kernel {
    let [x, y, z] = domain;
    let [a, b, c] = reach;
    read(
        &format!(
            "wavecast: 1\nkernel: k\nfields:\n  a: {{dtype: {dtype}, size: {}}}\n  b: {{like: a}}\n\
             domain: {{x: {x}, y: {y}, z: {z}}}\nloads:\n  - for: {{i: 0..{a}, j: 0..{b}, k: 0..{c}}}\n    \
             at: 'a[x + i + {pitch}*(y + j + {}*(z + k))]'\nstores: ['b[x]']\n{more}",
            pitch * (y + b + 1) * (z + c + 1) + x + a + 1,
            y + b
        ),
        &[],
    )
}

fn near([found, counted]: [f64; 2], tolerance: f64) -> bool {
    (found / counted - 1.0).abs() <= tolerance
}

#[test]
fn narrow_blocks_are_those_of_all_alignments() {
    let path = format!("{}/kernels/box3d27.yaml", env!("CARGO_MANIFEST_DIR"));
    let box27 = std::fs::read_to_string(path).unwrap();
    let box27 = read(&box27, &["NX=126", "NY=32", "NZ=64"]);
    // The blocks in the middle are those that lie across two sectors.
    let row = |dtype: &str| stencil(dtype, [128, 512, 1], 160, [2, 0, 0], "");
    for (kernel, device, block) in [
        (&box27, "rx-6900-xt", [1, 16, 64]),
        (&box27, "mi210", [1, 16, 64]),
        (&row("u8"), "a100", [1, 256, 1]),
        (&row("f32"), "a100", [1, 256, 1]),
    ] {
        let device = device::find(device, &[]).unwrap();
        let found = loaded(kernel, &device, Candidate::new(block, [1; 3]).unwrap());
        assert!(near(found, 1e-3), "{} {block:?}: {found:?}", device.id());
    }
}

#[test]
fn guards_that_always_hold_change_nothing() {
    let plain = stencil("f32", [96, 64, 2], 101, [3, 1, 0], "");
    let guarded = stencil("f32", [96, 64, 2], 101, [3, 1, 0], "guard: 'x >= 0'\n");
    let device = device::find("mi210", &[]).unwrap();
    let candidate = Candidate::new([3, 16, 1], [1; 3]).unwrap();
    let [a, b] = [&plain, &guarded].map(|k| loaded(k, &device, candidate)[0]);
    assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
}

fn devices() -> impl Strategy<Value = Device> {
    let names = ["a100", "v100", "rx-6900-xt", "mi210", "mi300x", "gtx-480"];
    prop::sample::select(names.to_vec()).prop_map(|name| device::find(name, &[]).unwrap())
}

fn blocks() -> impl Strategy<Value = [i64; 3]> {
    let extent = || prop::sample::select(vec![1_i64, 1, 2, 3, 4, 8, 16, 32]);
    [extent(), extent(), extent()].prop_filter("threads", |b| b.iter().product::<i64>() <= 512)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(120) })]

    #[test]
    fn any_stencil_on_any_device(
        device in devices(),
        dtype in prop::sample::select(vec!["u8", "f16", "f32", "f64"]),
        block in blocks(),
        grid in [1_i64..40, 1_i64..12, 1_i64..5],
        fold in prop::sample::select(vec![1_i64, 1, 2]),
        spare in 0_i64..100,
        reach in [0_i64..5, 0_i64..3, 0_i64..2],
        cut in [prop::bool::weighted(0.2), prop::bool::weighted(0.2), prop::bool::weighted(0.2)],
    ) {
        prop_assume!(grid.iter().product::<i64>() <= 400);
        let whole = [block[0] * grid[0], block[1] * grid[1] * fold, block[2] * grid[2]];
        let domain = [0, 1, 2].map(|d| (whole[d] - i64::from(cut[d])).max(1));
        let kernel = stencil(dtype, domain, domain[0] + reach[0] + spare, reach, "");
        let found = loaded(&kernel, &device, Candidate::new(block, [1, fold, 1]).unwrap());
        // Small shares of all blocks are left out. Of more than 16 positions that are not equally frequent, as
        // small grids of small elements have, some stand for all.
        let some = dtype == "u8" || dtype == "f16";
        let tolerance = if some || cut.iter().any(|&c| c) { 0.03 } else { 0.01 };
        prop_assert!(near(found, tolerance), "{} {dtype} {block:?} {domain:?}: {found:?}", device.id());
    }
}
