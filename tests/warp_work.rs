//! A warp waits for what loops load, and does its own work beside: with few others on its scheduler nothing else is
//! done meanwhile.
//!
//! Goldens: times of the Xgemm of `CLBlast` on the RTX 2080 Ti (`AutoTuningAssociation/benchmark_hub`, MIT) and the A100
//! (`fjwillemsen/kernel_tuner_paper`, MIT); figures alone.

mod program;

use program::{answer, number, wavecast};
use serde_json::Value;
use wavecast::device;

/// A product of matrices with these parameters.
fn xgemm(device: &[&str], params: &str) -> f64 {
    let values: Vec<&str> = params.split(' ').collect();
    let set = values.iter().flat_map(|value| ["--set", value]);
    let arguments = ["predict", "kernels/xgemm.yaml"];
    let arguments: Vec<&str> = arguments.into_iter().chain(device.iter().copied()).chain(set).collect();
    number(&answer(&arguments, "")["result"], "time_s") * 1e3
}

/// Threads that compute 64 sums and more each need so many registers that a scheduler has one or two warps. They were
/// predicted to be the fastest, and take 9 to 32 % longer than the best, of which it has four.
#[test]
fn few_warps_do_not_hide_what_each_of_them_does() {
    let turing = ["-d", "rtx-2080-ti", "--clock", "1.87GHz"];
    let ampere = ["-d", "a100-40gb", "--clock", "1.41GHz", "--set", "V8=1"];
    let cases = [
        (
            &turing[..],
            ("MWG=128 NWG=128 MDIMC=32 NDIMC=8 MDIMA=16 NDIMB=32 VWM=4 VWN=2 SA=0", 12.208),
            ("MWG=64 NWG=128 MDIMC=8 NDIMC=8 MDIMA=8 NDIMB=32 VWM=4 VWN=4 SA=0", 15.256),
        ),
        (
            &turing[..],
            ("MWG=128 NWG=128 MDIMC=32 NDIMC=8 MDIMA=32 NDIMB=32 VWM=4 VWN=2", 12.749),
            ("MWG=64 NWG=128 MDIMC=8 NDIMC=8 MDIMA=16 NDIMB=32 VWM=2 VWN=4", 16.144),
        ),
        (
            &ampere[..],
            ("MWG=64 NWG=128 MDIMC=8 NDIMC=16 MDIMA=16 NDIMB=16 VWM=4 VWN=4 STRM=1 STRN=1", 8.093),
            ("MWG=64 NWG=128 MDIMC=8 NDIMC=8 MDIMA=32 NDIMB=32 VWM=1 VWN=4 STRM=1 STRN=1", 8.897),
        ),
    ];
    for (device, (best, best_ms), (few, few_ms)) in cases {
        let [predicted, of_few] = [best, few].map(|params| xgemm(device, params));
        assert!(predicted < of_few, "{device:?} {few}: {of_few} ms, {predicted} ms with more warps");
        assert!((predicted / best_ms - 1.0).abs() < 0.08, "{best}: {predicted} ms, {best_ms} ms measured");
        assert!((of_few / few_ms - 1.0).abs() < 0.25, "{few}: {of_few} ms, {few_ms} ms measured");
    }
}

const WALK: &str = "wavecast: 1\nkernel: walk\nparams: {N: 4194304, K: 16}\nfields:\n  a: {dtype: f64, shape: [K, N]}\n  b: {like: a}\n\
    domain: {x: N}\nbody:\n  - loop: {k: 0..K-1}\n    body: ['load a[x, k]', 'store b[x, k]']\n";

fn walk(text: &str, registers: &str, device: &str) -> Value {
    let arguments = ["predict", "-", "-d", device, "--block", "256", "--registers", registers];
    answer(&arguments, text)["result"].clone()
}

/// The term is what the loop waits for, in each wave, and a warp's share of what the SM computes and has in the L1.
#[test]
fn a_warp_takes_its_waits_and_its_own_work() {
    for name in ["v100", "a100-80gb", "rtx-2080-ti", "h200"] {
        let device = device::find(name, &[]).unwrap();
        for registers in ["32", "64", "128", "255"] {
            let found = walk(WALK, registers, name);
            let term = |name: &str| number(&found, &format!("time_terms_s.{name}"));
            let warps = number(&found, "occupancy.warps_per_sm");
            let of_scheduler = warps / device.sm().schedulers().value().0 as f64;
            let trips = 0.8 * 16.0 * device.dram().latency().value().0 / device.clock().value().0;
            let waits = trips * number(&found, "occupancy.waves");
            let own = term("fp").max(term("issue")) / of_scheduler + term("l1") / warps;
            let expected = waits + own;
            assert!(
                (term("waits") / expected - 1.0).abs() < 1e-9,
                "{name} {registers}: {} {expected}",
                term("waits")
            );
        }
    }
}

/// Where no loop waits, nothing is added: what a block takes beside its way to memory is another term.
#[test]
fn straight_code_has_no_waits() {
    let straight = WALK.replace(
        "  - loop: {k: 0..K-1}\n    body: ['load a[x, k]', 'store b[x, k]']",
        "  - load a[x, 0]\n  - store b[x, 0]",
    );
    assert_ne!(straight, WALK);
    assert!(number(&walk(&straight, "32", "v100"), "time_terms_s.waits") == 0.0);
}

/// Curve files of before have two coefficients that the model no longer has. They are read.
#[test]
fn older_curve_files_are_read() {
    let curves = std::fs::read_to_string("fits/v100-pcie-32gb.yaml").unwrap();
    let further = "time:\n  shared_wait: {value: 0.24, source: joint}\n  iteration_wait: {value: 0.61, source: joint}\n";
    let older = curves.replacen("time:\n", further, 1);
    assert_ne!(curves, older);
    let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/warp_work.yaml");
    std::fs::write(file, older).unwrap();
    let arguments = ["predict", "kernels/xgemm.yaml", "-d", "v100"];
    let output = wavecast(&[&arguments[..], &["--curves", file]].concat(), "");
    assert!(output.status.success(), "{}", program::stderr(&output));
    let text = program::stdout(&output).replace(&format!(" of the file {file}"), "");
    assert_eq!(text, program::stdout(&wavecast(&arguments, "")));
}
