//! `wavecast diff`: two launches, devices, kernels or saved answers beside each other.

mod program;

use program::{answer, json, number, stderr, stdout, wavecast};
use serde_json::Value;

const STAR: &str = "kernels/star3d25.yaml";
const TWO_BLOCKS: [&str; 8] = ["diff", STAR, "-d", "a100", "--block", "256,4,1", "--block", "16,2,32"];

fn terms(document: &Value) -> &[Value] {
    document["terms"].as_array().unwrap()
}

/// Effects add up, and the sides are what `predict` says.
fn check(document: &Value, a: &Value, b: &Value) {
    let time = |side: &Value| number(side, "result.time_s");
    assert_eq!(document["a"]["time_s"], a["result"]["time_s"]);
    assert_eq!(document["b"]["time_s"], b["result"]["time_s"]);
    let scale = number(document, "scale");
    let difference = time(b) * scale - time(a);
    assert!((number(document, "difference_s") - difference).abs() < 1e-15);
    let effects: f64 = terms(document).iter().map(|t| number(t, "effect_s")).sum();
    assert!((effects - difference).abs() <= 1e-9 * time(a), "{effects} {difference}");
    let shares: f64 = terms(document).iter().filter_map(|t| t["share"].as_f64()).sum();
    assert!((shares - 1.0).abs() < 1e-6, "{shares}");
    for list in ["volumes", "fields", "limits", "occupancy"] {
        for difference in document[list].as_array().unwrap() {
            assert_ne!(difference["a"], difference["b"], "{list}");
        }
    }
}

#[test]
fn two_launches() {
    let document = answer(&TWO_BLOCKS, "");
    let predict = |block: &str| answer(&["predict", STAR, "-d", "a100", "--block", block], "");
    check(&document, &predict("256,4,1"), &predict("16,2,32"));
    assert_eq!(document["schema"], "wavecast/diff/1");
    assert_eq!(document["scale"], 1.0);
    assert!(number(&document, "speedup") > 1.5);
    // The deep block loads less from memory, and that is why it is faster.
    let first = &terms(&document)[0];
    assert_eq!(first["term"], "dram");
    assert!(number(first, "share") > 0.5 && number(first, "volume_factor") < 0.6, "{first}");
    let volumes = document["volumes"].as_array().unwrap();
    assert!(volumes.iter().any(|v| v["name"] == "dram.load.total"));
}

#[test]
fn what_is_turned_around_is_the_opposite() {
    let there = answer(&TWO_BLOCKS, "");
    let back = answer(&["diff", STAR, "-d", "a100", "--block", "16,2,32", "--block", "256,4,1"], "");
    assert!((number(&there, "speedup") * number(&back, "speedup") - 1.0).abs() < 1e-12);
    for term in terms(&there) {
        let other = terms(&back).iter().find(|t| t["term"] == term["term"]).unwrap();
        let sum = number(term, "effect_s") + number(other, "effect_s");
        assert!(sum.abs() < 1e-12, "{term} {other}");
    }
}

#[test]
fn two_devices_and_two_kernels() {
    let devices = answer(&["diff", STAR, "-d", "a100", "-d", "h200", "--block", "16,2,32"], "");
    let predict =
        |kernel: &str, device: &str| answer(&["predict", kernel, "-d", device, "--block", "16,2,32"], "");
    check(&devices, &predict(STAR, "a100"), &predict(STAR, "h200"));
    let memory = terms(&devices).iter().find(|t| t["term"] == "dram").unwrap();
    assert!(number(memory, "speed_factor") > 1.5, "{memory}");
    let other = "kernels/star3d7.yaml";
    let kernels = answer(&["diff", other, STAR, "-d", "a100", "--block", "16,2,32"], "");
    check(&kernels, &predict(other, "a100"), &predict(STAR, "a100"));
    // Their domains differ: times are those of the work items of the first.
    assert!((number(&kernels, "scale") - 640.0 * 512.0 * 512.0 / (632.0 * 504.0 * 504.0)).abs() < 1e-9);
}

#[test]
fn saved_answers() {
    let folder = std::env::temp_dir().join(format!("wavecast-diff-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let saved = |name: &str, arguments: &[&str]| {
        let path = folder.join(name).to_str().unwrap().to_owned();
        let output = wavecast(&[arguments, &["-o", &path]].concat(), "");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        path
    };
    let one = saved("one.json", &["predict", STAR, "-d", "a100", "--block", "256,4,1"]);
    let all = saved("all.json", &["rank", STAR, "-d", "a100"]);
    let both = saved("both.json", &["predict", STAR, "-d", "a100", "-d", "h200", "--block", "16,2,32"]);
    let fresh = answer(&TWO_BLOCKS, "");
    let of = |arguments: &[&str]| answer(&[&["diff"], arguments].concat(), "");
    let parts = |document: &Value| [document["terms"].clone(), document["volumes"].clone()];
    // A saved prediction beside one of now, and beside a launch of a saved ranking.
    let mixed = of(&[&one, STAR, "-d", "a100", "--block", "16,2,32"]);
    assert_eq!(parts(&mixed), parts(&fresh));
    let ranked = of(&[&all, "--block", "256,4,1", "--block", "16,2,32", "--fold", "1,1,1"]);
    assert_eq!(parts(&ranked), parts(&fresh));
    let best = of(&[&one, &all]);
    assert!(number(&best, "speedup") >= number(&fresh, "speedup"));
    assert_eq!(of(&[&both])["b"]["device"], "h200");
    let missing = wavecast(&["diff", &one, &all, "--block", "7,7,7"], "");
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).contains("no launch with this block"), "{}", stderr(&missing));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn people_are_told_why() {
    let output = wavecast(&TWO_BLOCKS, "");
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for said in [
        "A  star3d25, block 256x4x1, on a100-40gb: ",
        "B is ",
        " times as fast as A.",
        "memory makes ",
        "times the bytes",
    ] {
        assert!(text.contains(said), "`{said}` is missing: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
    let same = stdout(&wavecast(&["diff", STAR, STAR, "-d", "a100", "--block", "64,4,4"], ""));
    assert!(same.contains("A and B are equally fast."), "{same}");
}

#[test]
fn what_is_not_two_is_bad_usage() {
    for (arguments, expected) in [
        (vec!["diff", STAR, "-d", "a100"], "two predictions are compared, and one is named"),
        (vec!["diff", STAR, STAR, STAR], "more than two are named"),
        (vec!["diff", "tests/measured", STAR], "tests/measured"),
    ] {
        let output = wavecast(&arguments, "");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
    let impossible = ["diff", STAR, "-d", "a100", "--block", "64,4,4", "--block", "64,64,64"];
    let output = wavecast(&[impossible.as_slice(), &["--format", "json"]].concat(), "");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(json(&output)["errors"][0]["code"], "threads-per-block");
}
