//! How fast a document is read and its accesses are expanded for launch candidates.
//!
//! `cargo bench --bench expand`: "fold and place" is what a candidate costs when nothing is shared
//! between candidates, "place" when the folded program is; both divided by candidates times accesses
//! give the cost per candidate and access.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use wavecast::kernel::{Kernel, load};
use wavecast::launch::{Candidate, Launch, Program, candidates};

const CANDIDATES: usize = 1000;

fn kernel(name: &str) -> Kernel {
    let path = format!("{}/kernels/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    load(name, &text, &Default::default()).unwrap().kernels.remove(0)
}

fn expand(c: &mut Criterion) {
    let mut group = c.benchmark_group("expand");
    for name in ["star3d25", "star3d7", "lbm-d3q19"] {
        let kernel = kernel(name);
        let mut some: Vec<Candidate> = candidates(&kernel).filter(|c| c.fold() == [1; 3]).collect();
        some = some.iter().copied().cycle().take(CANDIDATES).collect();
        group.throughput(Throughput::Elements((CANDIDATES * kernel.body().len()) as u64));
        group.bench_function(format!("{name}/fold and place"), |b| {
            b.iter(|| {
                for &candidate in &some {
                    let launch = Launch::new(&kernel, candidate).unwrap();
                    black_box(Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap());
                }
            });
        });
        let folded = Program::folded(&kernel, wavecast::space::Fold::ONE).unwrap();
        group.bench_function(format!("{name}/place"), |b| {
            b.iter(|| {
                for &candidate in &some {
                    let launch = Launch::new(&kernel, candidate).unwrap();
                    black_box(folded.at(&launch).unwrap());
                }
            });
        });
    }
    group.finish();
}

fn read(c: &mut Criterion) {
    let mut group = c.benchmark_group("read");
    for name in ["star3d25", "lbm-d3q19"] {
        let path = format!("{}/kernels/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |b| b.iter(|| load(name, black_box(&text), &Default::default()).unwrap()));
    }
    group.finish();
}

criterion_group!(benches, expand, read);
criterion_main!(benches);
