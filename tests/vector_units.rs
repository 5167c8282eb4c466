//! Where a scheduler has one vector unit, addresses take turns with arithmetic.

mod program;

use program::{answer, number};

fn fp(device: &str) -> f64 {
    let set = ["--set", "THREADS=4194304", "--set", "ITERATIONS=64"];
    let arguments = ["predict", "kernels/mixbench.yaml", "-d", device, "--variant", "f32", "--block", "256"];
    let arguments: Vec<&str> = arguments.into_iter().chain(set).collect();
    number(&answer(&arguments, "")["result"], "time_terms_s.fp")
}

/// 8 loads of 2 instructions and 18 of the thread, beside 516 multiply-adds, in 4 cycles each on one of 4 SIMDs.
#[test]
fn addresses_share_the_unit_on_amd() {
    let (cycles_of_sm, clock, sms) = (4_194_304.0 / 64.0, 1.502e9, 120.0);
    let expected = cycles_of_sm * (516.0 + 34.0) / (clock * sms);
    let found = fp("mi100");
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} s, {expected} s by hand");
}

/// GPUs of NVIDIA compute addresses elsewhere; a device that is said to have one unit takes longer.
#[test]
fn a_device_without_it_has_units_of_their_own() {
    let flops = 4_194_304.0 * (16.0 * 64.0 + 8.0);
    let found = fp("a100");
    let expected = flops / (128.0 * 108.0 * 1.41e9);
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} s, {expected} s by hand");
    let mut before = found;
    for cycles in [1, 2, 4] {
        let id = format!("vectors-{cycles}");
        let file = format!("{}/{id}.yaml", env!("CARGO_TARGET_TMPDIR"));
        let text = format!(
            "wavecast-device: 1\nid: {id}\nname: What if\ninherit: a100\nabout: one vector unit for each scheduler\n\
             aliases: []\nsources:\n  guess: {{kind: assumed, text: a test}}\nsm:\n  \
             vector_cycles: {{value: {cycles} cycles, source: guess}}\n"
        );
        std::fs::write(&file, text).unwrap();
        let shared = fp(&file);
        assert!(shared > before, "{cycles}: {shared} s, {before} s with less");
        before = shared;
    }
}
