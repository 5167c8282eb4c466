//! `compare`: the parts of a difference add up to it, and the steps they are made of are what they say.

use std::collections::HashSet;
use std::path::Path;

use wavecast::cache::{CacheKind, Hierarchy};
use wavecast::device::{self, Device};
use wavecast::kernel::{Kernel, Options, load};
use wavecast::launch::{Candidate, Launch};
use wavecast::measure::{self, UNEXPLAINED, compare};
use wavecast::predict::Estimator;
use wavecast::trace::TraceKind;
use wavecast::trace::coalesce::{Coalescing, Requests};
use wavecast::trace::synth::Synth;

const KERNELS: [(&str, &[&str], [i64; 3]); 8] = [
    ("star3d25", &["NX=64", "NY=48", "NZ=32"], [16, 4, 4]),
    ("star2d5", &["NX=512", "NY=256"], [32, 8, 1]),
    ("lbm-d3q19", &["NX=32", "NY=16", "NZ=16"], [4, 4, 4]),
    ("minife", &["NX=20", "NY=16", "NZ=12"], [64, 1, 1]),
    ("matmul-naive", &["M=96", "N=96", "K=32"], [16, 16, 1]),
    ("matmul-tiled", &["M=64", "N=64", "K=32"], [8, 8, 1]),
    ("transpose-naive", &["WIDTH=256", "HEIGHT=256"], [16, 16, 1]),
    ("stream-triad", &["N=100000"], [128, 1, 1]),
];

fn kernel(file: &str, set: &[&str]) -> Kernel {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels").join(file).with_extension("yaml");
    let options = Options { set: set.iter().map(|s| (*s).to_owned()).collect(), ..Options::default() };
    load(file, &std::fs::read_to_string(path).unwrap(), &options).unwrap().kernels.remove(0)
}

/// Few SMs, so that waves are small, and an L2 of some size.
fn small(name: &str, l2: &str) -> Device {
    device::find(name, &[format!("l2.effective={l2}"), "sm.count=3".to_owned()]).unwrap()
}

#[test]
fn the_parts_of_every_difference_add_up_to_it() {
    // A device with a last-level cache, one with small caches and one with large ones.
    let devices =
        [("v100", "64 KiB"), ("a100", "8 MiB"), ("mi300x", "512 KiB")].map(|(name, l2)| small(name, l2));
    let (mut differences, mut parts) = (0, HashSet::new());
    for (file, set, block) in KERNELS {
        let kernel = kernel(file, set);
        for (device, warm_waves) in devices.iter().zip([2, 0, 1]) {
            let estimator = Estimator::new(&kernel, device);
            let options = measure::CompareOptions { warm_waves, ..Default::default() };
            let found = compare(&estimator, Candidate::new(block, [1; 3]).unwrap(), options).unwrap();
            for q in &found.quantities {
                let difference = q.analytic() - q.simulated();
                let sum: f64 = q.terms().iter().map(|t| *t.value()).sum();
                let size = q.analytic().abs() + q.simulated().abs();
                // What parts of opposite sign add up to may be as small as their own last digits.
                let rounding = q.terms().iter().map(|t| 1e-14 * t.value().abs()).fold(0.0, f64::max);
                assert!(
                    (difference - sum).abs() <= (1e-9 * size).max(rounding),
                    "{file}, {}: {sum} of {difference}",
                    q.name()
                );
                assert!(
                    q.terms().iter().all(|t| *t.name() != UNEXPLAINED),
                    "{file}, {}: {:?}",
                    q.name(),
                    q.terms()
                );
                differences += usize::from(difference.abs() > 1e-6 * size);
                parts.extend(q.terms().iter().map(|t| (*q.name(), *t.name())));
            }
        }
    }
    assert!(differences > 60, "{differences}");
    for part in ["compulsory", "shared-l1", "room", "sets"] {
        assert!(parts.contains(&("l2_load", part)), "{part}: {parts:?}");
    }
    for part in ["compulsory", "earlier-blocks", "room", "sets", "last-level"] {
        assert!(parts.contains(&("dram_load", part)), "{part}: {parts:?}");
    }
}

/// Counted by hand: what an endless L2 loads is what is distinct, and what blocks load alone is what is distinct in
/// each.
#[test]
fn endless_caches_load_what_is_distinct() {
    let kernel = kernel("star2d5", &["NX=300", "NY=64"]);
    let launch = Launch::new(&kernel, Candidate::new([32, 4, 1], [1; 3]).unwrap()).unwrap();
    let synth = Synth::new(&kernel, &launch).unwrap();
    let config = measure::hierarchy(&small("v100", "64 KiB"), 4, 0).unwrap();
    let mut hierarchy = Hierarchy::new(&config);
    let without_sets = hierarchy.add(CacheKind::Real, CacheKind::WithoutSets);
    let endless = hierarchy.add(CacheKind::Endless, CacheKind::Endless);
    hierarchy.count_alone();
    let how = Coalescing {
        line: config.l1.geometry().line(),
        loads_only: false,
        partial_warps: false,
        ..Coalescing::default()
    };
    let of = |block| Requests::coalesced(&synth.trace([block]).unwrap(), how, 0..1);
    let Ok(()) = hierarchy.run(0..synth.blocks(), |block| Ok::<_, std::convert::Infallible>(of(block)));
    let (mut distinct, mut stored, mut alone) = (HashSet::new(), HashSet::new(), 0);
    for block in 0..synth.blocks() {
        let trace = synth.trace([block]).unwrap();
        let mut own = HashSet::new();
        for access in trace.accesses() {
            let sectors = access.address / 32..=(access.address + u64::from(access.bytes) - 1) / 32;
            match access.kind {
                TraceKind::Load => own.extend(sectors),
                _ => stored.extend(sectors),
            }
        }
        alone += own.len();
        distinct.extend(own);
    }
    let sectors = |n: usize| n as u64 * config.sector;
    assert_eq!(config.sector, 32);
    assert_eq!(hierarchy.volumes_of(endless).dram_load_bytes, sectors(distinct.len()));
    assert_eq!(hierarchy.volumes_of(endless).dram_store_bytes, 0);
    assert_eq!(hierarchy.waiting_of(endless).dirty, sectors(stored.len()));
    assert_eq!(hierarchy.alone(), sectors(alone));
    // Less room can only lose more.
    let real = hierarchy.volumes();
    assert!(hierarchy.volumes_of(without_sets).dram_load_bytes >= sectors(distinct.len()));
    assert!(real.dram_load_bytes >= sectors(distinct.len()) && real.l2_load_bytes <= sectors(alone) * 2);
}

/// What both models say of a quantity, the analytic one first.
fn of(found: &measure::Comparison, name: &str) -> [f64; 2] {
    let q = found.quantities.iter().find(|q| *q.name() == name).unwrap();
    [*q.analytic(), *q.simulated()]
}

fn compared(kernel: &Kernel, device: &Device, block: [i64; 3]) -> measure::Comparison {
    let options = measure::CompareOptions { warm_waves: 2, ..Default::default() };
    compare(&Estimator::new(kernel, device), Candidate::new(block, [1; 3]).unwrap(), options).unwrap()
}

/// A copy of every so manieth double, in waves of three SMs.
fn strided(stride: u32, device: &[&str]) -> measure::Comparison {
    let text = format!(
        "wavecast: 1\nkernel: strided\nparams: {{N: 262144, S: {stride}}}\nfields: {{a: {{dtype: f64, size: S*N}}, b: \
         {{like: a}}}}\ndomain: {{i: N}}\nloads: ['a[S*i]']\nstores: ['b[S*i]']\nwork: {{flops: 0}}\n\
         launch: {{block: [[256]], registers: 16}}\n"
    );
    let kernel = load("strided", &text, &Options::default()).unwrap().kernels.remove(0);
    let set: Vec<String> =
        ["l2.effective=256KiB", "sm.count=3"].iter().chain(device).map(|&s| s.to_owned()).collect();
    compared(&kernel, &device::find("a100", &set).unwrap(), [256, 1, 1])
}

#[test]
fn sectors_that_are_stored_in_part_are_filled() {
    for (stride, moved) in [(1, 16.0), (2, 48.0), (4, 96.0)] {
        let found = strided(stride, &[]);
        let ([load, simulated_load], [store, simulated_store]) =
            (of(&found, "dram_load"), of(&found, "dram_store"));
        assert!(
            (simulated_load + simulated_store - moved).abs() < 0.02 * moved,
            "{stride}: {simulated_load}"
        );
        assert!((load + store - moved).abs() < 0.02 * moved, "{stride}: {load} {store}");
        // Every line is touched: what is fetched beside would be asked for as well.
        assert!(found.quantities.iter().all(|q| *q.name() != "dram_beside"), "{stride}");
    }
    // Memory that can be written in part.
    let found = strided(4, &["dram.fill=false"]);
    for (a, b) in of(&found, "dram_load").into_iter().zip([32.0; 2]) {
        assert!((a - b).abs() < 0.5, "{a}");
    }
}

#[test]
fn memory_gives_lone_sectors_with_their_neighbours() {
    let found = strided(8, &[]);
    for (name, expected) in
        [("dram_load", 64.0), ("dram_store", 32.0), ("dram_beside", 32.0), ("l2_load", 32.0)]
    {
        let [analytic, simulated] = of(&found, name);
        assert!((analytic - expected).abs() < 0.02 * expected, "{name}: {analytic}");
        assert!((simulated - expected).abs() < 0.02 * expected, "{name}: {simulated}");
    }
}

/// Gaps between elements are whole lines in the caches: a quarter of the elements takes as much of them.
#[test]
fn caches_hold_whole_lines() {
    let text = "wavecast: 1\nkernel: twice\nparams: {N: 49152, S: 16}\nfields: {a: {dtype: f64, size: S*N}, b: {dtype: f64, \
                size: N}}\ndomain: {i: N}\nbody: ['load a[S*i]', {loop: {k: 1..2}, body: ['load a[S*((i + 1024*k) % N)]']}, \
                'store b[i]']\nwork: {flops: 0}\nlaunch: {block: [[256]], registers: 16}\n";
    let kernel = load("twice", text, &Options::default()).unwrap().kernels.remove(0);
    // A wave touches 6144 and 2048 more sectors of 32 bytes: 256 KiB, in lines of 128 bytes 1 MiB.
    for (room, fits) in [("2MiB", true), ("512KiB", false)] {
        let found = compared(&kernel, &small("a100", room), [256, 1, 1]);
        let [_, simulated] = of(&found, "dram_load");
        assert_eq!(simulated < 40.0, fits, "{room}: {simulated}");
    }
}

#[test]
fn an_l1_keeps_what_all_blocks_load() {
    let text = "wavecast: 1\nkernel: sum\nparams: {N: 262144}\nfields: {atoms: {dtype: f32, size: 128}, e: {dtype: f32, size: \
                N}}\ndomain: {i: N}\nbody: [{loop: {k: 0..127}, body: ['load atoms[k]']}, 'store e[i]']\n\
                work: {flops: 128}\nlaunch: {block: [[128]], registers: 16}\n";
    let kernel = load("sum", text, &Options::default()).unwrap().kernels.remove(0);
    let found = compared(&kernel, &small("a100", "64KiB"), [128, 1, 1]);
    // Each block by itself would load 512 B for its 128 threads.
    let [analytic, simulated] = of(&found, "l2_load");
    assert!(analytic < 0.05 * 4.0 && simulated < 0.05 * 4.0, "{analytic} {simulated}");
}

#[test]
fn a_last_level_cache_is_simulated() {
    let kernel = kernel("star3d7", &["NX=64", "NY=64", "NZ=24"]);
    let on = |llc: &str| {
        let set = ["l2.effective=64KiB", "sm.count=3", llc].map(str::to_owned);
        compared(&kernel, &device::find("mi300x", &set).unwrap(), [64, 4, 1])
    };
    let (large, tiny) = (on("llc.capacity=64MiB"), on("llc.capacity=64KiB"));
    // All arrays fit, and an earlier launch left them there.
    for quantity in ["dram_load", "dram_store"] {
        let [analytic, simulated] = of(&large, quantity);
        assert!(analytic < 0.1 && simulated < 0.1, "{quantity}: {analytic} {simulated}");
        let [_, simulated] = of(&tiny, quantity);
        assert!(simulated > 7.0, "{quantity}: {simulated}");
    }
    // The L2 above it is the same.
    assert_eq!(of(&large, "llc_load").map(f64::to_bits), of(&tiny, "llc_load").map(f64::to_bits));
    assert!(of(&large, "llc_load")[1] > 7.0);
    assert!(strided(2, &[]).quantities.iter().all(|q| !q.name().starts_with("llc")));
}
