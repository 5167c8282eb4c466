//! Several passes over the same data: what an earlier loop or stretch of the program touched is still in a
//! cache if all that lies in between fits, at each level by itself.

mod program;

use program::{json, number, results, wavecast};
use wavecast::kernel::Kernel;
use wavecast::launch::{Candidate, candidates};
use wavecast::measure::compare::{CompareOptions, compare};
use wavecast::predict::{Estimator, Prediction};
use wavecast::traffic::Caches;
use wavecast::{device, kernel};

const HEAD: &str = "wavecast: 1\nkernel: rows\nparams: {ROWS: 4096, COLUMNS: 32768}\nfields:\n  \
    a: {dtype: f32, shape: [ROWS, COLUMNS], order: C}\n  b: {like: a}\ndomain: {row: ROWS, column: COLUMNS}\n\
    work: {unit: element, flops: 2}\nlaunch: {block: [[256]], grid: [ROWS], units_per_thread: COLUMNS/256, registers: 24}\nbody:\n";

/// A loop over the elements of a row; its variable has a name of its own.
fn pass(variable: &str, statement: &str) -> String {
    let statement = statement.replace('@', &format!("[blockIdx.x, {variable}]"));
    format!(
        "  - loop: {{{variable}: {{from: threadIdx.x, to: COLUMNS-1, step: blockDim.x}}}}\n    body: ['{statement}']\n"
    )
}

/// Two passes over each row, as loops that follow each other.
fn twice() -> String {
    format!("{HEAD}{}  - sync\n{}", pass("i", "load a@"), pass("j", "load a@"))
}

/// The same as iterations of a loop around them.
fn nested() -> String {
    let inner = pass("i", "load a@").replace("\n  ", "\n      ").replacen("  - loop", "      - loop", 1);
    format!("{HEAD}  - loop: {{p: 0..1}}\n    body:\n{inner}")
}

/// Bytes per element that L2 and memory are asked for on an A100.
fn loads(kernel: &str, columns: u32) -> [f64; 2] {
    let columns = format!("COLUMNS={columns}");
    let document =
        json(&wavecast(&["rank", "-", "-d", "a100", "--format", "json", "--set", &columns], kernel));
    ["l2", "dram"].map(|level| number(&results(&document)[0], &format!("volumes.{level}.load.total")))
}

#[test]
fn a_second_pass_misses_where_a_row_does_not_fit() {
    for kernel in [twice(), nested()] {
        // Eight blocks on an SM: rows of 4 KiB fit into the L1, those of 512 KiB into no cache at all.
        let [l2, _] = loads(&kernel, 1024);
        assert!((l2 - 4.0).abs() < 0.01, "{l2} of 4 B from L2\n{kernel}");
        for columns in [32768, 131_072] {
            let [l2, dram] = loads(&kernel, columns);
            assert!(l2 > 7.5 && l2 < 8.01, "{columns} columns: {l2} of 8 B from L2\n{kernel}");
            assert!(dram > 7.5 && dram < 8.01, "{columns} columns: {dram} of 8 B from memory\n{kernel}");
        }
    }
}

#[test]
fn passes_one_after_the_other_are_those_of_a_loop() {
    for columns in [1000, 1024, 4096, 10_000, 32768] {
        let (one, other) = (loads(&twice(), columns), loads(&nested(), columns));
        for (one, other) in one.into_iter().zip(other) {
            assert!((one - other).abs() < 0.01 * one, "{columns} columns: {one} and {other} B");
        }
    }
}

#[test]
fn what_lies_between_two_passes_pushes_out_the_first() {
    // 8 rows of 24 KiB just fit into the L1 of 192 KiB; with a pass over the other array in between they do not.
    let alone = format!("{HEAD}{}{}", pass("i", "load a@"), pass("k", "load a@"));
    let between = format!("{HEAD}{}{}{}", pass("i", "load a@"), pass("j", "load b@"), pass("k", "load a@"));
    let ([alone, _], [between, _]) = (loads(&alone, 6144), loads(&between, 6144));
    assert!(alone < 4.2, "{alone}");
    assert!(between > 9.0, "{between}");
}

#[test]
fn what_is_written_first_is_not_fetched() {
    let document = |columns: u32| {
        let kernel = format!("{HEAD}{}  - sync\n{}", pass("i", "store b@"), pass("j", "load b@"));
        let columns = format!("COLUMNS={columns}");
        json(&wavecast(&["rank", "-", "-d", "a100", "--format", "json", "--set", &columns], &kernel))
    };
    // The wave's rows of 1 KiB are in the L2 when they are read; those of 512 KiB have left it.
    let (near, far) = (document(1024), document(131_072));
    let load = |d| number(&results(d)[0], "volumes.dram.load.total");
    assert!(load(&near) < 0.05, "{} B", load(&near));
    assert!((load(&far) - 4.0).abs() < 0.1, "{} B", load(&far));
}

fn small_a100() -> device::Device {
    let keys = ["sm.count=1", "l2.capacity=512KiB", "l2.effective=512KiB"].map(str::to_owned);
    device::find("a100", &keys).unwrap()
}

fn first(kernel: &Kernel, device: &device::Device) -> (Prediction, [f64; 2]) {
    let estimator = Estimator { caches: Caches::Cold, ..Estimator::new(kernel, device) };
    let candidate = candidates(kernel).next().unwrap();
    let found =
        compare(&estimator, candidate, CompareOptions { warm_waves: 1, ways: 16, explain: false }).unwrap();
    let simulated = ["l2_load", "dram_load"]
        .map(|name| *found.quantities.iter().find(|q| *q.name() == name).unwrap().simulated());
    (found.prediction, simulated)
}

#[test]
fn caches_of_the_last_recently_used_line_agree() {
    // Simulated on a small device, well away from where caches begin to overflow.
    let small = small_a100();
    let passes = [
        twice(),
        nested(),
        format!("{HEAD}{}{}{}", pass("i", "load a@"), pass("j", "load b@"), pass("k", "load a@")),
        format!("{HEAD}{}{}{}", pass("i", "load a@"), pass("j", "load a@"), pass("k", "load a@")),
    ];
    for text in &passes {
        for columns in [512, 65536] {
            let text = text.replace("ROWS: 4096, COLUMNS: 32768", &format!("ROWS: 16, COLUMNS: {columns}"));
            let loaded = kernel::load("passes", &text, &kernel::Options::default()).unwrap();
            let (prediction, [l2, dram]) = first(&loaded.kernels[0], &small);
            let volumes = &prediction.volumes;
            let (of_l2, of_dram) = (volumes.l2.load.total.get(), volumes.dram.load.total.get());
            assert!((of_l2 / l2 - 1.0).abs() < 0.06, "{columns}: {of_l2} B from L2, {l2} simulated\n{text}");
            assert!(
                (of_dram / dram - 1.0).abs() < 0.06,
                "{columns}: {of_dram} B from memory, {dram}\n{text}"
            );
        }
    }
}

/// A plain product of matrices on a small device: rows and columns of a wave are nine times what the L2 holds, those of a step
/// of the sum a hundredth of it. Waves in the first row of blocks find less before them than others, and are looked at by
/// themselves.
#[test]
fn blocks_of_a_wave_share_what_they_touch_in_a_step() {
    let keys = ["sm.count=4", "l2.capacity=256KiB", "l2.effective=256KiB"].map(str::to_owned);
    let device = device::find("a100", &keys).unwrap();
    let text =
        include_str!("../kernels/matmul-naive.yaml").replace("K: 2048", "K: 1024").replace("2048", "256");
    let loaded = kernel::load("matmul-naive", &text, &kernel::Options::default()).unwrap();
    let estimator = Estimator::new(&loaded.kernels[0], &device);
    let candidate = Candidate::new([32, 8, 1], [1; 3]).unwrap();
    let found =
        compare(&estimator, candidate, CompareOptions { warm_waves: 1, ways: 16, explain: false }).unwrap();
    assert!(found.prediction.footprints().waves.len() > 1, "no wave is unlike the middle one");
    let dram = found.quantities.iter().find(|q| *q.name() == "dram_load").unwrap();
    let (analytic, simulated) = (found.prediction.volumes.dram.load.total.get(), dram.simulated());
    assert!((analytic / simulated - 1.0).abs() < 0.02, "{analytic} B from memory, {simulated} simulated");
}

/// What the L2 may lose within a wave follows from what one step touches, and `explain` says so.
#[test]
fn explain_tells_the_distance_of_a_step() {
    let sizes = ["--set", "M=4096", "--set", "N=4096", "--set", "K=4096", "--block", "32,32"];
    let arguments =
        [&["explain", "kernels/matmul-naive.yaml", "-d", "a100", "--format", "json"], &sizes[..]].concat();
    let document = json(&wavecast(&arguments, ""));
    let within = &document["layers"][0];
    let (distance, misses) = (number(within, "distance_bytes"), number(within, "miss"));
    assert!(distance < 1e6, "{distance} B between two uses by blocks of a wave");
    assert!(misses < 1e-6 && number(within, "lost_bytes") < 1e-3, "{within}");
}

#[test]
fn what_every_iteration_stores_is_written_out_once() {
    // A sum that is set to zero, and stored in each of many iterations that read more than the L2 holds.
    let text = "wavecast: 1\nkernel: sums\nparams: {N: 16384, K: 2048}\nfields:\n  a: {dtype: f32, shape: [N, K]}\n  \
                s: {dtype: f32, size: N}\ndomain: {x: N}\nbody:\n  - store s[x]\n  - loop: {k: 0..K-1}\n    \
                body: ['load a[x, k]', 'load s[x]', 'store s[x]']\nlaunch: {block: [[256]], registers: 32}\n";
    let document = json(&wavecast(&["rank", "-", "-d", "v100", "--format", "json"], text));
    let result = &results(&document)[0];
    let stored = number(result, "volumes.dram.store.total");
    assert!((stored - 4.0).abs() < 0.05, "{stored} B stored per item");
    let loaded = number(result, "volumes.dram.load.total") / 2048.0;
    assert!((loaded - 4.0).abs() < 0.01, "{loaded} B loaded per iteration");
}
