//! What the first wave of blocks loads, and what the last one computes, hides behind nothing.
//!
//! Goldens: times of mixbench on the MI100 (ROCm/omniperf, commit 717a21cf, MIT).

mod program;

use program::{answer, number};
use serde_json::Value;

fn mixbench(device: &str, variant: &str, set: &[&str]) -> Value {
    let set = set.iter().flat_map(|s| ["--set", s]);
    let arguments =
        ["predict", "kernels/mixbench.yaml", "-d", device, "--variant", variant, "--block", "256"];
    answer(&arguments.into_iter().chain(set).collect::<Vec<_>>(), "")["result"].clone()
}

fn term(result: &Value, name: &str) -> f64 {
    number(result, &format!("time_terms_s.{name}"))
}

/// Arithmetic that takes longer than the loads did not hide all of them: 34 to 50 us above what it takes by itself.
#[test]
fn long_sums_do_not_hide_all_loads() {
    let measured = [
        ("mi100", "f32", 28, 128, 408.957),
        ("mi100", "f32", 12, 256, 787.674),
        ("mi100", "f64", 20, 128, 793.914),
        ("mi100", "f64", 20, 256, 1541.909),
        ("mi100", "half2", 24, 96, 318.077),
        ("mi100", "half2", 24, 80, 270.398),
    ];
    for (device, variant, registers, iterations, us) in measured {
        let [registers, iterations] = [format!("REGISTERS={registers}"), format!("ITERATIONS={iterations}")];
        let found = mixbench(device, variant, &["THREADS=4194304", &registers, &iterations]);
        let time = number(&found, "time_s") * 1e6;
        assert!(
            (time / us - 1.0).abs() < 0.04,
            "{device} {variant} {iterations}: {time} us, {us} us measured"
        );
    }
}

/// The more waves there are, the less the first one matters; of a single one, everything is loaded before anything is computed.
#[test]
fn each_wave_beside_the_first_hides_one() {
    for iterations in ["ITERATIONS=4", "ITERATIONS=64", "ITERATIONS=512"] {
        let mut before = f64::INFINITY;
        for doubled in 0..7 {
            // 120 CUs hold 10 blocks of 256 threads each: whole waves.
            let threads = format!("THREADS={}", (120 * 10 * 256) << doubled);
            let found = mixbench("mi100", "f32", &[&threads, iterations]);
            let waves = number(&found, "occupancy.waves");
            let shorter = term(&found, "fp").min(term(&found, "dram"));
            let first = term(&found, "first_wave");
            // Beside the memory's bandwidth there is its latency, beside arithmetic issuing.
            assert!(
                (0.99..1.35).contains(&(first * waves / shorter)),
                "{iterations} {waves}: {first} {shorter}"
            );
            let part = first / number(&found, "time_s");
            assert!(
                part < before,
                "{iterations} {waves}: {part} of the time, {before} with half as many waves"
            );
            before = part;
        }
    }
}

/// A curve file without it is one of before, and says what it said then.
#[test]
fn coefficients_without_it_leave_it_out() {
    let curves = std::fs::read_to_string("fits/v100-pcie-32gb.yaml").unwrap();
    let old = curves.replace("  first_wave:\n    value: 1.0\n    source: fill\n", "");
    assert_ne!(curves, old);
    let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/first_wave.yaml");
    std::fs::write(file, old).unwrap();
    let arguments = ["predict", "kernels/mixbench.yaml", "-d", "v100", "--variant", "f32", "--curves"];
    let old = answer(&arguments.into_iter().chain([file]).collect::<Vec<_>>(), "");
    let new = answer(&arguments[..arguments.len() - 1], "");
    assert!(term(&old["result"], "first_wave").abs() < 1e-15);
    assert!(term(&new["result"], "first_wave") > 0.0);
    assert!(number(&old["result"], "time_s") < number(&new["result"], "time_s"));
}
