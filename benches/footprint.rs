//! How long it takes to count the distinct lines under a wave of threads.
//!
//! `cargo bench --bench footprint`. "count" is the closed form alone, on boxes that are made already;
//! "query and count" includes making them from the program of a thread and the boxes of blocks.
//! "quasi-affine" are addresses with quotients, remainders and diagonals under 1024 x 1024 threads.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use wavecast::expr::{Coord, Dim, Form};
#[cfg(feature = "isl")]
use wavecast::footprint::Budget;
use wavecast::footprint::{Addressing, Counter, Engine, FieldTouches, Piece, Query, Threads, count_with};
use wavecast::kernel::{AccessKind, FieldId, Kernel, Options, load};
use wavecast::launch::{BlockBox, Candidate, Launch, Program, blocks_of_wave};

const LINE: i64 = 32;

struct Case {
    kernel: Kernel,
    launch: Launch,
    program: Program<i64>,
    blocks: Vec<BlockBox>,
}

impl Case {
    /// A wave of about `threads` threads in the middle of the grid, or the whole grid.
    fn new(name: &str, set: &[&str], block: [i64; 3], threads: Option<i64>) -> Self {
        let path = format!("{}/kernels/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let options = Options { set: set.iter().map(|s| (*s).to_owned()).collect(), ..Default::default() };
        let text = std::fs::read_to_string(path).unwrap();
        let kernel = load(name, &text, &options).unwrap().kernels.remove(0);
        let candidate = Candidate::new(block, [1; 3]).unwrap();
        let launch = Launch::new(&kernel, candidate).unwrap();
        let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
        let all = launch.blocks();
        let blocks = match threads {
            Some(threads) => {
                let count = threads / launch.threads_per_block();
                // Not at a row's or plane's beginning, so that the wave is a union of four or five boxes.
                blocks_of_wave(launch.sizes().grid, all / 2 + launch.sizes().grid[0] / 3, count)
            }
            None => blocks_of_wave(launch.sizes().grid, 0, all),
        };
        Self { kernel, launch, program, blocks }
    }

    fn touched(&self) -> FieldTouches {
        let threads = Threads { kernel: &self.kernel, launch: &self.launch, program: &self.program };
        threads.touched(FieldId(0), &[AccessKind::Load], Addressing::Linear).unwrap()
    }

    fn query(&self) -> Query {
        self.query_in(Addressing::Linear)
    }

    fn query_in(&self, addressing: Addressing) -> Query {
        let threads = Threads { kernel: &self.kernel, launch: &self.launch, program: &self.program };
        threads.query(&self.blocks, FieldId(0), &[AccessKind::Load], LINE, addressing).unwrap()
    }
}

fn footprint(c: &mut Criterion) {
    let wave = Some(177_000);
    let odd: &[&str] = &["NX=633"];
    let cases = [
        ("star3d25 wave", Case::new("star3d25", &[], [32, 4, 8], wave)),
        ("star3d25 wave, pitch 641", Case::new("star3d25", odd, [32, 4, 8], wave)),
        ("box3d27 wave", Case::new("box3d27", &[], [32, 4, 8], wave)),
        ("box3d27 wave, odd pitch", Case::new("box3d27", &["NX=639"], [32, 4, 8], wave)),
        ("d3q19 wave", Case::new("lbm-d3q19", &[], [32, 4, 8], wave)),
        ("d3q19 wave, odd pitch", Case::new("lbm-d3q19", &["NX=255"], [32, 4, 8], wave)),
        ("star3d25 grid 632x504x504", Case::new("star3d25", &[], [32, 4, 8], None)),
        ("star3d7 wave", Case::new("star3d7", &[], [32, 4, 8], wave)),
        ("star3d25 block of 1024", Case::new("star3d25", &[], [16, 2, 32], Some(1024))),
    ];
    let mut group = c.benchmark_group("footprint");
    for (name, case) in &cases {
        let query = case.query();
        group.bench_function(format!("{name}/count ({} boxes)", case.blocks.len()), |b| {
            b.iter(|| count_with(black_box(&query), Engine::Linear).unwrap());
        });
        group.bench_function(format!("{name}/query and count"), |b| {
            b.iter(|| count_with(&black_box(case).query(), Engine::Linear).unwrap());
        });
        let touched = case.touched();
        let counter = Counter::cheapest();
        group.bench_function(format!("{name}/short way"), |b| {
            b.iter(|| FieldTouches::count(&[(black_box(&touched), &case.blocks)], LINE, &counter).unwrap());
        });
        group.bench_function(format!("{name}/place and count"), |b| {
            b.iter(|| {
                let query = black_box(&touched).under(&case.blocks, LINE).unwrap();
                count_with(&query, Engine::Linear).unwrap()
            });
        });
    }
    group.finish();
}

/// From 10^5 to 10^9 threads of the star.
fn scaling(c: &mut Criterion) {
    let mut group = c.benchmark_group("threads");
    for power in 5..=9 {
        let threads = 10_i64.pow(power);
        let case = Case::new("star3d25", &["NX=1024", "NY=1024", "NZ=2048"], [32, 4, 8], Some(threads));
        let query = case.query();
        group.bench_function(format!("10^{power}"), |b| {
            b.iter(|| count_with(black_box(&query), Engine::Linear).unwrap());
        });
    }
    group.finish();
}

/// One double for each of 1024 x 1024 threads, at `address` in doubles.
fn plane(address: &Form<i64>) -> Query {
    let ranges = [Dim::X, Dim::Y].map(|d| (Coord::Thread(d), 0, 1023)).to_vec();
    let address = address.times(&8).unwrap();
    Query {
        pieces: vec![Piece {
            array: 0,
            ranges: ranges.into(),
            when: None,
            address: address.into(),
            width: 8,
        }],
        line: LINE,
    }
}

fn quasi_affine(c: &mut Criterion) {
    let (x, y) = (Form::coord(Coord::Thread(Dim::X)), Form::coord(Coord::Thread(Dim::Y)));
    let times = |form: &Form<i64>, factor: i64| form.times(&factor).unwrap();
    let sum = |parts: &[&Form<i64>]| Form::total(parts.iter().map(|&p| p.clone()).collect()).unwrap();
    let (half, tile, inside) =
        (x.floor_div(&2).unwrap(), x.floor_div(&16).unwrap(), x.remainder(&16).unwrap());
    let diagonal = sum(&[&x, &y]);
    let cases = [
        ("x%16, y", sum(&[&inside, &times(&y, 16)])),
        ("x%16, y of rows of 1024", sum(&[&inside, &times(&y, 1024)])),
        ("x/2, y", sum(&[&half, &times(&y, 512)])),
        ("x/2, y of odd rows", sum(&[&half, &times(&y, 513)])),
        ("diagonal x+y, x", sum(&[&times(&diagonal, 1024), &x])),
        ("diagonal (x+y)%1024, x", sum(&[&times(&diagonal.remainder(&1024).unwrap(), 1024), &x])),
        ("tile x/16, y, x%16", sum(&[&times(&tile, 16 * 1024), &times(&y, 16), &inside])),
        ("skew y, x+y", sum(&[&times(&y, 1024), &diagonal])),
    ];
    let mut group = c.benchmark_group("quasi-affine");
    for (name, address) in cases {
        let query = plane(&address);
        let engine = Counter::cheapest().count(&query).unwrap().engine;
        group.bench_function(format!("{name} ({engine})"), |b| {
            b.iter(|| Counter::cheapest().count(black_box(&query)).unwrap());
        });
    }
    group.finish();
}

/// isl on the counts of the closed form; "no answer" names those for which its quota did not do.
#[cfg(feature = "isl")]
fn isl(c: &mut Criterion) {
    let quota = Budget { operations: 5_000_000, ..Budget::default() };
    let isl = Counter::forced(Engine::Isl).within(quota);
    let mut group = c.benchmark_group("isl");
    group.sample_size(10);
    for name in ["star3d7", "star3d25", "box3d27"] {
        for (set, threads) in [("block of 1024", 1024), ("wave", 177_000)] {
            for addressing in [Addressing::Grid, Addressing::Linear] {
                let query = Case::new(name, &[], [32, 4, 8], Some(threads)).query_in(addressing);
                let name = format!("{name} {set}, {addressing:?}");
                let linear = count_with(&query, Engine::Linear).unwrap();
                match isl.count(&query) {
                    Ok(count) => assert_eq!(count.lines, linear, "{name}"),
                    Err(why) => {
                        println!("isl/{name}: no answer: {why}");
                        continue;
                    }
                }
                group.bench_function(format!("{name}: linear"), |b| {
                    b.iter(|| count_with(black_box(&query), Engine::Linear).unwrap());
                });
                group.bench_function(format!("{name}: isl"), |b| {
                    b.iter(|| isl.count(black_box(&query)).unwrap());
                });
            }
        }
    }
    group.finish();
}

#[cfg(not(feature = "isl"))]
fn isl(_: &mut Criterion) {}

criterion_group!(benches, footprint, scaling, quasi_affine, isl);
criterion_main!(benches);
