//! `--engine isl` runs whole estimates through isl, and they are the same; `--verify` says how many counts
//! were confirmed.
#![cfg(feature = "isl")]

use std::process::Command;

use serde_json::Value;

fn ranking(kernel: &str, more: &[&str]) -> Value {
    let path = format!("{}/kernels/{kernel}.yaml", env!("CARGO_MANIFEST_DIR"));
    let fixed = ["rank", &path, "-d", "a100-40gb", "--format", "json"];
    let output = Command::new(env!("CARGO_BIN_EXE_wavecast")).args(fixed).args(more).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The results without what says how they were counted.
fn results(ranking: &Value) -> Vec<Value> {
    let mut results = ranking["results"].as_array().unwrap().clone();
    for result in &mut results {
        result.as_object_mut().unwrap().remove("counting");
    }
    results
}

#[test]
fn isl_gives_the_same_rankings() {
    for (kernel, more) in [
        ("star3d25", &["--threads", "256"][..]),
        ("star3d7", &["--threads", "512"]),
        ("transpose-naive", &[]),
        ("stream-triad", &[]),
        ("matmul-tiled", &[]),
    ] {
        let of_isl = ranking(kernel, &[more, &["--engine", "isl", "--limit", "steps=10000000000"]].concat());
        let closed = ranking(kernel, more);
        assert!(!results(&closed).is_empty(), "{kernel}");
        assert_eq!(results(&of_isl), results(&closed), "{kernel}");
        for result in of_isl["results"].as_array().unwrap() {
            assert_eq!(result["counting"]["engines"], serde_json::json!(["isl"]), "{kernel}");
        }
    }
}

#[test]
fn a_second_engine_confirms_every_count() {
    let verified = ranking("star3d25", &["--block", "32,2,16", "--fold", "1,1,1", "--verify"]);
    let counting = &verified["results"][0]["counting"];
    assert!(counting["counts"].as_u64().unwrap() > 8, "{counting:#}");
    assert_eq!(counting["counts"], counting["verified"]);
}
