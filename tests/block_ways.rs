//! A block takes its own work and its way to memory one after the other, whatever others on its SM do meanwhile.
//!
//! Goldens: times of the tiled 1D convolution, 2^26 elements and 5 weights, on the RTX 2060 and the RTX 3060 Laptop
//! (R100001/Programming-Massively-Parallel-Processors, commits a972fb50 and 0cd47d01; figures alone).

mod program;

use program::{answer, number};
use serde_json::Value;

fn tiled(device: &str, threads: u32, further: &[&str]) -> Value {
    let (block, set) = (threads.to_string(), format!("B={threads}"));
    let arguments = [
        "predict",
        "kernels/conv1d-tiled.yaml",
        "-d",
        device,
        "--set",
        "N=67108864",
        "--set",
        &set,
        "--block",
        &block,
    ];
    answer(&arguments.into_iter().chain(further.iter().copied()).collect::<Vec<_>>(), "")["result"].clone()
}

/// Blocks of one warp, of which an SM holds 16, and of half an SM take longer than those of four warps, though all have
/// the same work: by 89 and 20 % on the RTX 2060, and by 83 and 2 % on the RTX 3060, whose SM holds three of 512.
#[test]
fn few_and_small_blocks_do_not_hide_their_way() {
    let measured = [
        ("rtx-2060", 32, 6588.0 / 3477.0, 0.12),
        ("rtx-2060", 64, 3475.0 / 3477.0, 0.12),
        ("rtx-2060", 512, 4157.0 / 3477.0, 0.12),
        ("rtx-2060", 1024, 6060.0 / 3477.0, 0.25),
        ("rtx-3060-laptop", 32, 5976.0 / 3256.0, 0.3),
        ("rtx-3060-laptop", 64, 3440.0 / 3256.0, 0.12),
        ("rtx-3060-laptop", 512, 3315.0 / 3256.0, 0.12),
        ("rtx-3060-laptop", 1024, 5898.0 / 3256.0, 0.3),
    ];
    for (device, threads, ratio, within) in measured {
        let time = |threads| number(&tiled(device, threads, &[]), "time_s");
        let predicted = time(threads) / time(128);
        assert!(
            (predicted / ratio - 1.0).abs() < within,
            "{device} {threads}: {predicted:.2} times as long as 128 threads, {ratio:.2} measured"
        );
    }
}

/// No launch is faster than one block after the other in each place of an SM, which takes its own work and the way to
/// memory: twice, as its threads wait for each other, where other blocks share the SM.
#[test]
fn each_block_takes_at_least_its_work_and_its_way() {
    for device in ["rtx-2060", "a100-80gb", "h200", "mi300x"] {
        for threads in [32, 64, 128, 256, 512, 1024] {
            let found = tiled(device, threads, &[]);
            let term = |name: &str| number(&found, &format!("time_terms_s.{name}"));
            let places = number(&found, "occupancy.blocks_per_sm");
            let ways = if places > 1.0 { 2.0 } else { 1.0 };
            // `latency` has a fifth more for the store of a thread.
            let least = term("fp").max(term("l1")) / places + ways * term("latency") / 1.2;
            let time = number(&found, "time_s") - term("launch");
            assert!(time > 0.999 * least, "{device} {threads}: {time} {least}");
        }
    }
}

/// What blocks do not hide of each other is a part of what comes on top, also where something else takes longer.
#[test]
fn what_is_not_hidden_is_a_part() {
    let mut shown = 0;
    for (kernel, devices) in [("stream-copy", ["v100", "h200"]), ("conv1d-tiled", ["rtx-2060", "a100"])] {
        for (device, threads) in devices.into_iter().flat_map(|d| [32, 64, 256, 1024].map(|n| (d, n))) {
            let (file, block) = (format!("kernels/{kernel}.yaml"), threads.to_string());
            let found = answer(&["predict", &file, "-d", device, "--block", &block], "")["result"].clone();
            let term = |name: &str| number(&found, &format!("time_terms_s.{name}"));
            let (blocks, top) = (term("blocks"), term("combination") + term("tail"));
            assert!(
                blocks >= 0.0 && blocks <= top * (1.0 + 1e-9),
                "{kernel} {device} {threads}: {blocks} {top}"
            );
            shown += usize::from(blocks > 0.01 * number(&found, "time_s"));
        }
    }
    assert!(shown >= 2, "{shown}");
}

/// A curve file without these coefficients is one of before: blocks that share an SM hide each other's way.
#[test]
fn coefficients_without_them_leave_them_out() {
    let curves = std::fs::read_to_string("fits/v100-pcie-32gb.yaml").unwrap();
    let start = curves.find("  block_ways:\n").unwrap();
    let end = curves.find("  few_blocks:\n").unwrap();
    let old = format!("{}{}", &curves[..start], &curves[end..]);
    let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/block_ways.yaml");
    std::fs::write(file, old).unwrap();
    let time = |curves| number(&tiled("rtx-2060", 32, &["--curves", curves]), "time_s");
    let (old, new) = (time(file), time("fits/v100-pcie-32gb.yaml"));
    assert!(old < 0.9 * new, "{old} {new}");
}
