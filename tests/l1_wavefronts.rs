//! The L1 rules against figures read off published runs of a microbenchmark (gpu-benches,
//! `gpu-strides`, on an A100 and an A40, whose wavefront columns are equal). All 144 rows are compared
//! by `cargo run --example validate_l1 -- FOLDER`.

mod l1_patterns;

use l1_patterns::{Elements, Pattern};
use wavecast::device::{self, Device};

/// Width, pattern, cycles on the A100, cycles on the A40, data wavefronts, tag wavefronts.
type Row = (i64, Elements, f64, Option<f64>, f64, f64);

const fn stride(elements: i64) -> Elements {
    Elements::Stride(elements)
}

const fn block(wide: i64) -> Elements {
    Elements::Block { wide, pitch: 4098 }
}

const ROWS: &[Row] = &[
    (4, block(1), 9.2, Some(9.2), 2.0, 9.2),
    (4, block(2), 5.1, Some(5.1), 1.0, 5.1),
    (4, block(8), 4.0, Some(4.0), 4.0, 2.1),
    (4, block(32), 1.02, Some(2.0), 1.0, 1.0),
    (8, block(1), 9.3, Some(9.3), 4.0, 9.3),
    (8, block(4), 4.0, Some(8.3), 4.0, 3.32),
    (8, block(16), 2.01, Some(8.1), 2.0, 1.4),
    (8, block(64), 2.0, Some(8.1), 2.0, 1.04),
    (4, stride(0), 1.02, Some(2.0), 1.0, 1.0),
    (4, stride(1), 1.02, Some(2.0), 1.0, 1.0),
    (4, stride(4), 4.0, Some(4.0), 4.0, 1.89),
    (4, stride(9), 3.03, Some(3.03), 1.0, 3.03),
    (4, stride(14), 4.0, Some(4.0), 2.0, 4.0),
    (4, stride(21), 6.0, None, 1.0, 6.0),
    (4, stride(32), 32.0, None, 32.0, 8.3),
    (4, stride(33), 8.8, None, 1.0, 8.8),
    (4, stride(40), 9.8, None, 8.0, 9.8),
    (4, stride(48), 16.0, None, 16.0, 10.4),
    (4, stride(64), 32.0, None, 32.0, 8.0),
    (8, stride(0), 2.01, None, 2.0, 1.0),
    (8, stride(3), 2.42, None, 2.0, 2.42),
    (8, stride(8), 16.0, None, 16.0, 4.75),
    (8, stride(15), 8.0, None, 2.0, 8.0),
    (8, stride(24), 16.0, None, 16.0, 10.5),
    (8, stride(40), 16.0, None, 16.0, 13.5),
    (8, stride(56), 16.0, None, 16.0, 10.0),
    (8, stride(64), 32.0, None, 32.0, 8.0),
];

fn device(name: &str) -> Device {
    device::find(name, &[]).unwrap()
}

fn error(predicted: f64, measured: f64) -> f64 {
    (predicted - measured).abs() / measured
}

fn mean(errors: &[f64]) -> f64 {
    errors.iter().sum::<f64>() / errors.len() as f64
}

#[test]
fn data_wavefronts_are_exact() {
    for &(width, elements, _, _, data, _) in ROWS {
        let predicted = Pattern { width, elements }.predict(&device("a100-40gb")).data;
        assert!((predicted - data).abs() < 0.005, "{width} {elements:?}: {predicted}, measured {data}");
    }
}

#[test]
fn tag_wavefronts_are_within_5_percent_on_average() {
    let device = device("a100-40gb");
    let of = |&(width, elements, .., tag): &Row| error(Pattern { width, elements }.predict(&device).tag, tag);
    let errors: Vec<f64> = ROWS.iter().map(of).collect();
    assert!(mean(&errors) < 0.05, "{}", mean(&errors));
    assert!(errors.iter().all(|&e| e < 0.1), "{errors:?}");
}

#[test]
fn cycles_are_within_5_percent_on_average() {
    let (a100, a40) = (device("a100-40gb"), device("a40"));
    let on_a100: Vec<f64> = ROWS
        .iter()
        .map(|&(width, elements, cycles, ..)| {
            error(Pattern { width, elements }.predict(&a100).cycles, cycles)
        })
        .collect();
    assert!(mean(&on_a100) < 0.05, "{}", mean(&on_a100));
    let on_a40: Vec<f64> = ROWS
        .iter()
        .filter_map(|&(width, elements, _, cycles, ..)| {
            Some(error(Pattern { width, elements }.predict(&a40).cycles, cycles?))
        })
        .collect();
    assert!(mean(&on_a40) < 0.05, "{}", mean(&on_a40));
}

#[test]
fn contiguous_lanes_cost_what_their_bytes_take() {
    // 64 lanes of a quarter wave each: 4 cycles for 4 bytes, 16 for 8 and for 16 (a published L1
    // bandwidth run on the MI210: 60, 32 and 60 B/cycle).
    for (width, cycles) in [(4, 4.0), (8, 16.0), (16, 16.0)] {
        let pattern = Pattern { width, elements: stride(1) };
        let pipe = wavecast::traffic::l1::Pipe::new(&device("mi210"));
        let lanes: Vec<i64> = (0..64).map(|l| l * width).collect();
        let wavefronts = pipe.global(wavecast::traffic::l1::Lanes::all(&lanes), width);
        assert!((pipe.cycles(wavefronts, width) - cycles).abs() < 1e-9, "{pattern:?}: {wavefronts:?}");
    }
    // Section 4.2 of the paper: A[t], B[2t], D[16t] of doubles take 1, 2, 16 cycles per half warp.
    for (elements, per_half) in [(stride(1), 1.0), (stride(2), 2.0), (stride(16), 16.0)] {
        let data = Pattern { width: 8, elements }.predict(&device("v100-pcie-32gb")).data;
        assert!((data - 2.0 * per_half).abs() < 1e-9);
    }
}

/// Half a line passes in a cycle on Turing, whose rows of banks take two: 32 rows of a matrix in 32 cycles (products with a
/// vector, RTX 2060), though registers get no more than half a row, and whole lines, or words of all of a line, are rows.
#[test]
fn half_a_line_takes_turing_one_cycle() {
    type Address = fn(i64) -> i64;
    let loads: [(&str, i64, Address, f64); 7] = [
        ("32 rows of a matrix", 4, |lane| 4096 * lane, 32.0),
        ("two rows of 16", 4, |lane| 4096 * (lane / 16) + 4 * (lane % 16), 2.0),
        ("four rows of 8", 4, |lane| 4096 * (lane / 8) + 4 * (lane % 8), 4.0),
        ("one row", 4, |lane| 4 * lane, 2.0),
        ("one word", 4, |_| 0, 2.0),
        ("every eighth word of eight lines", 4, |lane| 32 * lane, 16.0),
        ("a row of doubles", 8, |lane| 8 * lane, 4.0),
    ];
    let pipe = wavecast::traffic::l1::Pipe::new(&device("rtx-2080-ti"));
    for (what, width, address, cycles) in loads {
        let lanes: Vec<i64> = (0..32).map(address).collect();
        let wavefronts = pipe.global(wavecast::traffic::l1::Lanes::all(&lanes), width);
        let found = pipe.cycles(wavefronts, width);
        assert!((found - cycles).abs() < 1e-9, "{what}: {found} {wavefronts:?}");
    }
    // Conflicts in shared memory take two cycles each: 5,900 rows of counters.
    let column: Vec<i64> = (0..32).map(|lane| 4096 * lane).collect();
    assert_eq!(wavecast::traffic::l1::Pipe::shared(wavecast::traffic::l1::Lanes::all(&column), 4).data, 32);
}
