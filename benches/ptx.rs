//! Kernels in PTX: parsing them, reading documents out of them, running them, and making traces of them.
//!
//! `cargo bench --bench ptx --no-default-features --features trace`

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use wavecast::ptx::run::Who;
use wavecast::ptx::{Compiled, Given};
use wavecast::space::Block;
use wavecast::trace::TraceLimits;
use wavecast::trace::entry::EntrySynth;

#[path = "../tests/ptx_cases/mod.rs"]
mod ptx_cases;

use ptx_cases::{Case, cases};

/// Steps of a run that is timed.
const STEPS: u64 = 1_000_000;

fn case(name: &str) -> Case {
    cases().into_iter().find(|c| c.ptx == name).unwrap()
}

/// A kernel of about 2,000 instructions with three loops in each other, as compilers write them when they unroll.
fn long() -> String {
    let mut body = String::new();
    for i in 0..220 {
        let _ = writeln!(
            body,
            "add.s32 %r40, %r20, {i};\nmad.lo.s32 %r41, %r21, 1024, %r40;\nadd.s32 %r42, %r41, %r4;\n\
             mul.wide.s32 %rd3, %r42, 4;\nadd.s64 %rd4, %rd1, %rd3;\nld.global.f32 %f2, [%rd4];\n\
             ld.global.f32 %f3, [%rd7+{}];\nfma.rn.f32 %f1, %f2, %f3, %f1;",
            4 * i
        );
    }
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry long(.param .u64 x, .param .u64 w, .param .u64 y, .param .u32 n)\n{{\n\
         .reg .pred %p<8>; .reg .b32 %r<64>; .reg .b64 %rd<16>; .reg .f32 %f<8>;\n\
         ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [w]; ld.param.u64 %rd5, [y]; ld.param.u32 %r9, [n];\n\
         mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;\n\
         setp.ge.s32 %p1, %r4, %r9; @%p1 bra $END;\n\
         mov.f32 %f1, 0f00000000; mov.u32 %r20, 0;\n\
         $A: mov.u32 %r21, 0; mov.u64 %rd7, %rd2;\n\
         $B: mov.u32 %r22, 0;\n\
         $C:\n{body}\
         add.s64 %rd7, %rd7, 4; add.s32 %r22, %r22, 1; setp.lt.s32 %p2, %r22, 16; @%p2 bra $C;\n\
         add.s32 %r21, %r21, 1; setp.ne.s32 %p3, %r21, 32; @%p3 bra $B;\n\
         add.s32 %r20, %r20, 4; setp.lt.s32 %p4, %r20, %r9; @%p4 bra $A;\n\
         mul.wide.s32 %rd8, %r4, 4; add.s64 %rd9, %rd5, %rd8; st.global.f32 [%rd9], %f1;\n\
         $END: ret;\n}}\n"
    )
}

fn given(args: &[&str], block: [i64; 3], grid: [i64; 3]) -> Given {
    Given {
        args: args.iter().map(|a| (*a).to_owned()).collect(),
        blocks: vec![Block::new(block).unwrap()],
        grid: Some(grid.map(|n| n.to_string()).join(", ")),
        ..Given::default()
    }
}

fn parse(c: &mut Criterion) {
    let mut group = c.benchmark_group("parse");
    for (name, text) in
        [("matmul_registers", case("nvrtc/matmul_registers").text), ("2000 instructions", long())]
    {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |b| b.iter(|| Compiled::new(name, black_box(&text)).unwrap()));
    }
    group.finish();
}

fn read(c: &mut Criterion) {
    let mut group = c.benchmark_group("read");
    for name in ["nvrtc/saxpy", "nvrtc/stencil3d_radius4", "nvrtc/matmul_registers"] {
        let case = case(name);
        let launch = case.launches[0];
        let args: Vec<&str> = case.given.iter().map(String::as_str).collect();
        let given = given(&args, launch.block, launch.grid);
        let compiled = Compiled::new(name, &case.text).unwrap();
        assert!(compiled.read(None, &given).unwrap().document.is_some());
        group.bench_function(name, |b| b.iter(|| compiled.read(None, black_box(&given)).unwrap()));
    }
    let compiled = Compiled::new("long", &long()).unwrap();
    let given = given(&["n=4096"], [256, 1, 1], [16, 1, 1]);
    assert!(compiled.read(None, &given).unwrap().document.is_some());
    group.bench_function("2000 instructions", |b| b.iter(|| compiled.read(None, black_box(&given)).unwrap()));
    // All blocks that it may be launched with.
    let case = case("nvrtc/stencil3d7");
    let all = Given { args: case.given.clone(), ..Given::default() };
    let compiled = Compiled::new("stencil3d7", &case.text).unwrap();
    group.bench_function("all blocks of stencil3d7", |b| {
        b.iter(|| compiled.read(None, black_box(&all)).unwrap());
    });
    group.finish();
}

const RUN: [&str; 6] = [
    "nvrtc/saxpy",
    "nvrtc/stencil3d_radius4",
    "nvrtc/spmv_csr",
    "nvrtc/matmul_tile",
    "nvrtc/matmul_registers",
    "nvrtc/nbody_tile",
];

/// Blocks until so many steps are done, and the steps.
fn run_some(case: &Case) -> u64 {
    let machine = case.machine(&case.launches[0]);
    let mut run = machine.start(u64::MAX);
    let blocks = case.launches[0].some_blocks();
    while run.steps() < STEPS {
        for &block in &blocks {
            run.block(block.into(), Who::All, &mut |_, event| _ = black_box(event)).unwrap();
        }
    }
    run.steps()
}

fn run(c: &mut Criterion) {
    let mut group = c.benchmark_group("run");
    group.sample_size(10);
    for name in RUN {
        let case = case(name);
        group.throughput(Throughput::Elements(run_some(&case)));
        group.bench_function(name, |b| b.iter(|| run_some(&case)));
    }
    group.finish();
}

/// Traces of blocks until so many steps are done, and the steps.
fn trace_some(case: &Case) -> u64 {
    let machine = case.machine(&case.launches[0]);
    let blocks = u64::try_from(case.launches[0].blocks()).unwrap();
    let mut steps = 0;
    while steps < STEPS {
        let mut synth = EntrySynth::new(&machine, &case.ptx, TraceLimits::default()).unwrap();
        black_box(synth.trace(0..blocks.min(64)).unwrap());
        steps += synth.steps();
    }
    steps
}

fn trace(c: &mut Criterion) {
    let mut group = c.benchmark_group("trace");
    group.sample_size(10);
    for name in RUN {
        let case = case(name);
        group.throughput(Throughput::Elements(trace_some(&case)));
        group.bench_function(name, |b| b.iter(|| trace_some(&case)));
    }
    group.finish();
}

criterion_group!(benches, parse, read, run, trace);
criterion_main!(benches);
