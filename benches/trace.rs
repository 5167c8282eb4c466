//! The trace-based models, in accesses per second of processor time on one core.
//!
//! `cargo bench --bench trace --no-default-features --features trace`

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use wavecast::trace::coalesce::{Coalescing, Requests};
use wavecast::trace::format::{Collector, ReadOptions, Sink, TrcWriter, read_text};
use wavecast::trace::pattern::AccessPattern;
use wavecast::trace::reuse::{
    ReuseConfig, ReuseRules, RunKind, lru_misses, profile, sampled_profile, simulate,
};
use wavecast::trace::schedule::Grouping;
use wavecast::trace::sets::SetIndex;
use wavecast::trace::{Header, Tables, Trace};

/// Time that the processor worked for this thread: what else runs on the machine does not count. Wall time
/// where the system does not say.
struct CpuTime;

static WALL: WallTime = WallTime;

fn now() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|n| n.parse().ok());
    nanoseconds
        .map_or_else(|| std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default(), Duration::from_nanos)
}

impl Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        now()
    }

    fn end(&self, start: Duration) -> Duration {
        now().saturating_sub(start)
    }

    fn add(&self, a: &Duration, b: &Duration) -> Duration {
        *a + *b
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WALL.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WALL.formatter()
    }
}

/// A plain generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }
}

/// Lines at random out of so many.
fn uniform(count: usize, lines: u64) -> Vec<u64> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    (0..count).map(|_| random.next() % lines).collect()
}

/// As warps in turn have it: each goes on from line to line, comes back to its last ones, and now and then
/// leaves for another place.
fn gpu_like(count: usize) -> Vec<u64> {
    let mut random = Random(7);
    let mut at: Vec<u64> = (0..48).map(|w| w * 1000).collect();
    let one = |i: usize| {
        let warp = i % at.len();
        match random.next() % 16 {
            0 => at[warp] += 1,
            1 => at[warp] = at[warp].saturating_sub(1),
            2 if random.next().is_multiple_of(64) => at[warp] = random.next() % 65_536,
            _ => {}
        }
        at[warp]
    };
    (0..count).map(one).collect()
}

fn pattern(params: &str) -> Trace {
    serde_json::from_str::<AccessPattern>(params)
        .ok()
        .and_then(|p| p.trace())
        .expect("a pattern of the crate")
}

fn text(trace: &Trace) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = TrcWriter::new(&mut out);
    let header = Header { kernel: None, block: trace.block, grid: None };
    writer.begin(&header, false).expect("written to memory");
    for &access in trace.accesses() {
        writer.access(access, &trace.tables).expect("written to memory");
    }
    writer.end(Tables::default()).expect("written to memory");
    out
}

fn sequences(c: &mut Criterion<CpuTime>) {
    const COUNT: usize = 4_000_000;
    const SAMPLE: usize = 8192;
    let traces = [
        ("64K_uniform", uniform(COUNT, 65_536)),
        ("4M_uniform", uniform(COUNT, 4 << 20)),
        ("gpu", gpu_like(COUNT)),
    ];
    let mut group = c.benchmark_group("sequence");
    group.throughput(Throughput::Elements(COUNT as u64)).sample_size(10);
    let index = SetIndex::Modulo(32);
    for (name, lines) in &traces {
        group.bench_function(format!("exact/{name}"), |b| {
            b.iter(|| profile(black_box(lines).iter().copied()));
        });
        group.bench_function(format!("sampled/{name}"), |b| {
            b.iter(|| sampled_profile(black_box(lines).iter().copied(), SAMPLE));
        });
        group.bench_function(format!("lru_hits/{name}"), |b| {
            b.iter(|| lru_misses(black_box(lines).iter().copied(), &index, 4));
        });
        // The error that sampling buys: mean over cache sizes, in points.
        let (exact, sample) =
            (profile(lines.iter().copied()), sampled_profile(lines.iter().copied(), SAMPLE));
        let errors: Vec<f64> = (4..22)
            .map(|k| {
                100.0 * (exact.misses(1 << k) as f64 - sample.misses(1 << k) as f64).abs() / COUNT as f64
            })
            .collect();
        println!("sampled/{name}: mean error {:.3} points", errors.iter().sum::<f64>() / errors.len() as f64);
    }
    group.finish();
}

fn model(c: &mut Criterion<CpuTime>) {
    let mut group = c.benchmark_group("model");
    group.sample_size(10);
    let patterns = [
        ("mm_16x4", r#"{"kernel":"mm","N":64,"wgx":16,"wgy":16}"#),
        ("colcopy_H256", r#"{"kernel":"colcopy","H":256,"W":1024}"#),
        ("atax1_N512", r#"{"kernel":"polybench","which":"atax1","N":512,"acc":0}"#),
        ("gather", r#"{"kernel":"gather","T":2048,"M":16,"D":1048576}"#),
    ];
    for (name, params) in patterns {
        let trace = pattern(params);
        let how = Coalescing { grouping: Grouping::Position, ..Coalescing::default() };
        let all = Requests::coalesced(&trace, how, 0..trace.blocks());
        // Four runs count as four.
        group.throughput(Throughput::Elements(4 * all.requests.len() as u64));
        group.bench_function(format!("four_runs/{name}"), |b| {
            let config = ReuseConfig::fermi_16k(ReuseRules::PAPER);
            b.iter(|| simulate(black_box(&all), trace.block_threads(), &config, RunKind::FOUR));
        });
    }
    group.finish();
}

fn parsing(c: &mut Criterion<CpuTime>) {
    let trace = pattern(r#"{"kernel":"mm","N":96,"wgx":16,"wgy":16}"#);
    let text = text(&trace);
    let mut group = c.benchmark_group("parse");
    group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(10);
    group.bench_function("trc", |b| {
        b.iter(|| {
            let mut collector = Collector::default();
            read_text(black_box(&text), ReadOptions::default(), &mut collector).expect("it was just written");
            collector.traces
        });
    });
    group.finish();
}

/// The patterns of the published program's timings, from the text to the four runs.
fn published(c: &mut Criterion<CpuTime>) {
    let cases = [
        ("mt_32x4", r#"{"kernel":"mt","N":128,"wgx":32,"wgy":32}"#),
        ("mm_16x4", r#"{"kernel":"mm","N":64,"wgx":16,"wgy":16}"#),
        ("mm_32x3", r#"{"kernel":"mm","N":96,"wgx":32,"wgy":32}"#),
        (
            "st3d",
            r#"{"kernel":"stencil3d","nx":128,"ny":128,"nz":32,"bx":64,"by":1,"bz":1,"max_threads":8192}"#,
        ),
        ("st2d_512_b32x8", r#"{"kernel":"stencil2d","bx":32,"by":8,"gx":16,"gy":4,"max_threads":8192}"#),
        ("colcopy_H32", r#"{"kernel":"colcopy","H":32,"W":1024}"#),
        ("colcopy_H128", r#"{"kernel":"colcopy","H":128,"W":1024}"#),
        ("colcopy_H256", r#"{"kernel":"colcopy","H":256,"W":1024}"#),
        ("atax1_N512_reg", r#"{"kernel":"polybench","which":"atax1","N":512,"acc":0}"#),
        ("atax2_N1024_reg", r#"{"kernel":"polybench","which":"atax2","N":1024,"acc":0}"#),
        ("atax1_N4096_T256_reg", r#"{"kernel":"polybench","which":"atax1","N":4096,"threads":256,"acc":0}"#),
    ];
    let mut group = c.benchmark_group("published");
    group.sample_size(10);
    for (name, params) in cases {
        let text = text(&pattern(params));
        for (cache, config) in [
            ("16K", ReuseConfig::fermi_16k(ReuseRules::CODE)),
            ("48K", ReuseConfig::fermi_48k(ReuseRules::CODE)),
        ] {
            group.bench_function(format!("{name}/{cache}"), |b| {
                b.iter(|| {
                    let mut collector = Collector::default();
                    read_text(black_box(&text), ReadOptions::default(), &mut collector)
                        .expect("it was just written");
                    let how =
                        Coalescing { grouping: Grouping::Position, split: false, ..Coalescing::default() };
                    let trace = &collector.traces[0];
                    let all = Requests::coalesced(trace, how, 0..trace.blocks());
                    simulate(&all, trace.block_threads(), &config, RunKind::FOUR)
                });
            });
        }
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = sequences, model, parsing, published
}
criterion_main!(benches);
