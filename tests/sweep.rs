//! `wavecast sweep`: what a series shows, how what varies is written, what cannot be.

use std::process::{Command, Output};

use serde_json::Value;

const STAR: &str = "kernels/star3d25.yaml";

fn sweep(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wavecast"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .arg("sweep")
        .args(arguments)
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap() + &String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = sweep(&[arguments, &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn dram_load(point: &Value) -> f64 {
    point["result"]["volumes"]["dram"]["load"]["total"].as_f64().unwrap()
}

/// Domains of equal size with growing XY planes (section 5.7 and figure 23 of the paper): DRAM loads by
/// block and by plane.
fn planes() -> Value {
    json(&[
        STAR,
        "-d",
        "a100-40gb",
        "--vary",
        "NX=200..800 step 100",
        "--set",
        "NY=NX",
        "--set",
        "NZ=512*1024*1024/(NX*NX)",
        "--block",
        "512,2,1",
        "--block",
        "64,4,4",
        "--block",
        "16,2,32",
    ])
}

#[test]
fn planes_that_grow_leave_the_low_level_as_in_figure_23() {
    let series = planes();
    let points = series["points"].as_array().unwrap();
    assert_eq!(points.len(), 3 * 7);
    let at = |line: usize, nx: i64| {
        let point = &points[7 * line + usize::try_from(nx / 100 - 2).unwrap()];
        assert_eq!(point["values"]["NX"], nx);
        assert_eq!(point["domain"][1], nx, "NY follows");
        assert_eq!(point["domain"][2], 512 * 1024 * 1024 / (nx * nx), "NZ keeps the size");
        dram_load(point)
    };
    // A flat block is near 8 B as long as nine planes fit, and near 72 B in the end.
    assert!(at(0, 300) < 9.0 && at(0, 800) > 68.0, "{} {}", at(0, 300), at(0, 800));
    // It leaves the low level just above 400 x 400; deeper blocks leave it earlier, for a lower one.
    assert!(at(0, 400) < 14.0 && at(0, 500) > 25.0, "{} {}", at(0, 400), at(0, 500));
    assert!(at(1, 400) > 1.1 * at(0, 400), "{} {}", at(1, 400), at(0, 400));
    assert!((20.0..30.0).contains(&at(1, 800)), "four planes deep: 24 B, {}", at(1, 800));
    assert!((200..=800).step_by(100).all(|nx| at(2, nx) < 12.0), "32 planes deep: about 10 B everywhere");
    let plane = |nx: usize| points[nx / 100 - 2]["oversubscription"]["l2_plane"].as_f64().unwrap();
    assert!(plane(300) < 0.5 && plane(800) > 2.0);
}

#[test]
fn a_point_is_what_predict_says() {
    let series = json(&[STAR, "-d", "v100", "--vary", "R=2,4", "--block", "64,4,4", "--fold", "1,1,2"]);
    assert_eq!(series["schema"], "wavecast/sweep/1");
    assert_eq!(series["vary"][0]["values"], serde_json::json!([2, 4]));
    let alone = Command::new(env!("CARGO_BIN_EXE_wavecast"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["predict", STAR, "-d", "v100", "--set", "R=2", "--block", "64,4,4", "--fold", "1,1,2"])
        .args(["--format", "json"])
        .output()
        .unwrap();
    let alone: Value = serde_json::from_slice(&alone.stdout).unwrap();
    assert_eq!(series["points"][0]["result"], alone["result"]);
    assert_eq!(series["points"][0]["params"]["R"], 2);
}

#[test]
fn the_best_is_the_first_of_the_ranking() {
    let series = json(&[STAR, "-d", "a100", "--vary", "l2.effective=10MiB,20MiB", "--best"]);
    let output = Command::new(env!("CARGO_BIN_EXE_wavecast"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["rank", STAR, "-d", "a100", "--device-set", "l2.effective=10MiB", "--top", "1"])
        .args(["--format", "json"])
        .output()
        .unwrap();
    let ranking: Value = serde_json::from_slice(&output.stdout).unwrap();
    let best = &ranking["results"][0];
    let point = &series["points"][0];
    assert_eq!(point["values"]["l2.effective"], "10 MiB");
    assert_eq!(point["config"]["block"], best["config"]["block"]);
    assert_eq!(point["result"]["rate_per_s"], best["rate_per_s"]);
    assert_eq!(series["vary"][0]["unit"], "MiB");
    assert_eq!(series["vary"][0]["numbers"], serde_json::json!([10.0, 20.0]));
}

#[test]
fn a_second_thing_makes_lines() {
    let vary = ["--vary", "block.x=pow2(32..128)", "--vary", "block.y=1,2"];
    let arguments = [&[STAR, "-d", "a100"], &vary[..]].concat();
    let series = json(&arguments);
    let blocks: Vec<[i64; 2]> = series["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| [0, 1].map(|i| p["config"]["block"][i].as_i64().unwrap()))
        .collect();
    assert_eq!(blocks, [[32, 1], [64, 1], [128, 1], [32, 2], [64, 2], [128, 2]]);
    let csv = text(&sweep(&[&arguments[..], &["--format", "csv"]].concat()));
    assert!(csv.starts_with("kernel,device,block.x,block.y,variant,block,fold,domain,"), "{csv}");
    assert_eq!(csv.lines().count(), 7);
    let lines = text(&sweep(&[&arguments[..], &["--format", "jsonl"]].concat()));
    assert_eq!(lines.lines().count(), 6);
    for line in lines.lines() {
        assert_eq!(serde_json::from_str::<Value>(line).unwrap()["kernel"]["name"], "star3d25");
    }
    let one = text(&sweep(&[&arguments[..], &["--jobs", "1"]].concat()));
    let two = text(&sweep(&[&arguments[..], &["--jobs", "2"]].concat()));
    assert_eq!(one, two);
}

#[test]
fn points_that_cannot_be_are_listed() {
    let output = sweep(&[STAR, "-d", "a100", "--vary", "block=2048,64x4x4"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output).contains("block = 2048x1x1, block 2048x1x1: threads_per_block 2048 > 1024"));
    let output = sweep(&[STAR, "-d", "a100", "--vary", "NX=0,64", "--format", "json"]);
    let series: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(series["summary"], serde_json::json!({"points": 2, "feasible": 1}));
    assert_eq!(series["points"][0]["error"]["code"], "domain");
    assert_eq!(series["points"][0]["domain"], serde_json::json!([]));
    let none = sweep(&[STAR, "-d", "a100", "--vary", "block=2048,4096"]);
    assert_eq!(none.status.code(), Some(1), "nothing can run");
    let none = sweep(&[STAR, "-d", "a100", "--vary", "NX=32,64", "--block", "2048", "--best"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(text(&none).contains("no launch can run: threads_per_block"), "{}", text(&none));
}

#[test]
fn wrong_requests_say_what_to_write() {
    for (arguments, expected) in [
        (&["--vary", "NXX=1..2"][..], "did you mean `NX`?"),
        (&["--vary", "l2.efective=1MiB"], "did you mean `l2.effective`?"),
        (&["--vary", "NX=9..1"], "has no values"),
        (&["--vary", "NX=1..20000"], "at most 10000"),
        (&["--vary", "NX=1..200", "--vary", "NY=1..200"], "40000 points; at most 10000"),
        (&["--vary", "NX=1..6000", "--block", "32", "--block", "64"], "12000 points; at most 10000"),
        (&["--vary", "NX=1", "--set", "NX=2"], "`NX` varies and is set"),
        (&["--vary", "l2.effective=10"], "40 MiB"),
        (&["--vary", "block=64", "--best"], "--best"),
        (&["--vary", "block=64", "--block", "32"], "`block` varies and is given"),
        (&["--vary", "NX"], "--vary NAME=VALUES"),
    ] {
        let output = sweep(&[&[STAR, "-d", "a100"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output));
        assert!(text(&output).contains(expected), "{arguments:?}: {}", text(&output));
    }
    let program = sweep(&[STAR, "-d", "a100", "--vary", "NXX=1", "--format", "json"]);
    let error: Value = serde_json::from_slice(&program.stdout).unwrap();
    assert_eq!(error["errors"][0]["code"], "unknown-param");
}

#[test]
fn what_varies_in_vain_is_said() {
    let output =
        text(&sweep(&[STAR, "-d", "a100", "--vary", "l2.capacity=40MiB,80MiB", "--block", "64,4,4"]));
    assert!(output.contains("`l2.capacity` changes nothing; the model counts with l2.effective"), "{output}");
    let output = text(&sweep(&[STAR, "-d", "a100", "--vary", "NX=320,640", "--block", "64,4,4"]));
    assert!(!output.contains("changes nothing"), "{output}");
}
