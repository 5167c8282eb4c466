//! How long it takes to count what the warps of a block do in the first-level cache.
//!
//! `cargo bench --bench l1 --no-default-features`. Programs are made beforehand.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use wavecast::device::{self, Device};
use wavecast::kernel::{Kernel, load};
use wavecast::launch::{Candidate, Launch, Program};
use wavecast::traffic::l1;

struct Case {
    kernel: Kernel,
    launch: Launch,
    program: Program<i64>,
    device: Device,
}

impl Case {
    fn new(name: &str, block: [i64; 3], fold: [i64; 3]) -> Self {
        let path = format!("{}/kernels/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let kernel = load(name, &text, &Default::default()).unwrap().kernels.remove(0);
        let candidate = Candidate::new(block, fold).unwrap();
        let launch = Launch::new(&kernel, candidate).unwrap();
        let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
        let device = device::find("a100-40gb", &[]).unwrap();
        Self { kernel, launch, program, device }
    }
}

fn blocks(c: &mut Criterion) {
    let mut group = c.benchmark_group("l1");
    for (name, block, fold) in [
        ("star3d25", [32, 4, 8], [1, 1, 1]),
        ("star3d25", [16, 2, 32], [1, 1, 2]),
        ("star3d25", [4, 16, 16], [1, 1, 2]),
        ("star3d25", [1, 32, 32], [1, 2, 1]),
        ("star3d25", [1024, 1, 1], [1, 1, 1]),
        ("star3d7", [32, 4, 8], [1, 1, 1]),
        ("star3d7", [2, 32, 16], [1, 1, 1]),
        ("lbm-d3q19", [32, 4, 8], [1, 1, 1]),
        ("lbm-d3q15", [32, 4, 8], [1, 1, 1]),
        ("matmul-naive", [16, 16, 1], [1, 1, 1]),
        ("matmul-tiled", [16, 16, 1], [1, 1, 1]),
        ("stream-triad", [256, 1, 1], [1, 1, 1]),
    ] {
        let case = Case::new(name, block, fold);
        let label = format!("{name} {block:?} fold {fold:?}").replace(", ", "x");
        group.bench_function(label, |b| {
            b.iter(|| l1::count(&case.kernel, &case.launch, &case.program, black_box(&case.device)).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, blocks);
criterion_main!(benches);
