//! How long a whole estimate takes: one launch by itself, and per candidate where counts are shared.
//!
//! `cargo bench --bench estimate`; one core. Beside it stands the processor time that the program of the
//! paper's authors takes for one configuration of the same kernel (its results are what
//! `examples/validate_reference` compares with; measured on one core of a server).

use std::hint::black_box;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use wavecast::device::{self, Device};
use wavecast::kernel::{Kernel, load};
use wavecast::launch::{Candidate, candidates};
use wavecast::predict::{Choice, Estimator, rank};

/// Kernels, with one launch, and the reference's processor time for one, in seconds.
const CASES: [(&str, [i64; 3], [i64; 3], &str); 5] = [
    ("star3d25", [32, 2, 16], [1, 1, 1], "reference 17.7 s"),
    ("star3d25", [16, 2, 32], [1, 1, 2], "reference 17.7 s"),
    ("lbm-d3q19", [64, 4, 1], [1, 1, 1], "no reference"),
    ("lbm-d3q15", [64, 4, 1], [1, 1, 1], "reference 11.0 s"),
    ("star3d7", [32, 8, 2], [1, 1, 1], "reference 4.0 s"),
];

fn kernel(name: &str) -> Kernel {
    let path = format!("{}/kernels/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    load(name, &text, &Default::default()).unwrap().kernels.remove(0)
}

fn device() -> Device {
    device::find("a100-40gb", &[]).unwrap()
}

fn first_time(c: &mut Criterion) {
    let mut group = c.benchmark_group("one launch");
    let device = device();
    for (name, block, fold, reference) in CASES {
        let kernel = kernel(name);
        let estimator = Estimator::new(&kernel, &device);
        let candidate = Candidate::new(block, fold).unwrap();
        let label = format!("{name} {block:?} fold {fold:?} ({reference})").replace(", ", "x");
        group.bench_function(label, |b| b.iter(|| estimator.predict(black_box(candidate)).unwrap()));
    }
    group.finish();
}

/// All candidates of the shipped kernels, per candidate, on one thread.
fn ranked(c: &mut Criterion) {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let mut group = c.benchmark_group("candidate of a ranking");
    group.sample_size(20).measurement_time(Duration::from_secs(4));
    let device = device();
    for name in ["star3d25", "lbm-d3q19", "lbm-d3q15", "star3d7"] {
        let kernel = kernel(name);
        let estimators = [Estimator::new(&kernel, &device)];
        let choices: Vec<Choice> = candidates(&kernel).map(|c| Choice { kernel: 0, candidate: c }).collect();
        group.throughput(Throughput::Elements(choices.len() as u64));
        group.bench_with_input(BenchmarkId::new(name, choices.len()), &choices, |b, choices| {
            b.iter(|| one.install(|| rank(&estimators, choices, 0.04, usize::MAX, &AtomicUsize::new(0))));
        });
    }
    group.finish();
}

criterion_group!(benches, first_time, ranked);
criterion_main!(benches);
