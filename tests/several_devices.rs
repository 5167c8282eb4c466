//! Questions about several devices at once: `-d` more than once, and `sweep --vary device`.

mod program;

use program::{answer, json, number, results, stderr, stdout, wavecast};
use serde_json::Value;

const DEVICES: [&str; 3] = ["a100-40gb", "h200", "mi300x"];
const KERNEL: &str = "kernels/star3d7.yaml";

fn given() -> Vec<&'static str> {
    DEVICES.iter().flat_map(|device| ["-d", device]).collect()
}

/// A document without what only an answer beside others has.
fn alone(mut document: Value) -> Value {
    document.as_object_mut().unwrap().remove("device_relative");
    document
}

#[test]
fn rankings_are_those_of_each_device() {
    let all = answer(&[&["rank", KERNEL], given().as_slice()].concat(), "");
    let all = all.as_array().unwrap();
    let mut best = Vec::new();
    for (document, device) in all.iter().zip(DEVICES) {
        let single = answer(&["rank", KERNEL, "-d", device], "");
        assert_eq!(single.get("device_relative"), None);
        assert_eq!(alone(document.clone()), single, "{device}");
        best.push((number(&results(document)[0], "time_s"), number(document, "device_relative")));
    }
    let fastest = best.iter().map(|b| b.0).fold(f64::INFINITY, f64::min);
    for (time, relative) in best {
        assert!((relative - fastest / time).abs() < 1e-12, "{relative}: {time} s beside {fastest} s");
    }
}

#[test]
fn rows_have_a_column_more() {
    let csv = |devices: &[&str]| {
        let output = wavecast(&[&["rank", KERNEL, "--top", "3", "--format", "csv"], devices].concat(), "");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    let all = csv(&given());
    let singles: Vec<String> = DEVICES.iter().map(|d| csv(&["-d", d])).collect();
    let head = singles[0].lines().next().unwrap();
    assert_eq!(all.lines().next().unwrap(), format!("{head},device_relative"));
    let rows = singles.iter().flat_map(|s| s.lines().skip(1));
    for (row, single) in all.lines().skip(1).zip(rows) {
        assert!(row.starts_with(&format!("{single},")), "{row}\n{single}");
    }
    assert_eq!(all.lines().count(), 1 + 3 * DEVICES.len());
}

#[test]
fn people_see_one_table() {
    for command in [vec!["rank", KERNEL], vec!["predict", KERNEL, "--block", "64,4,2"]] {
        let output = wavecast(&[command.as_slice(), &given()].concat(), "");
        let text = stdout(&output);
        assert_eq!(output.status.code(), Some(0), "{text}{}", stderr(&output));
        assert!(text.lines().next().unwrap().ends_with("LUP on 3 devices"), "{text}");
        for device in DEVICES {
            let rows = text.lines().filter(|l| l.trim_start().starts_with(device)).count();
            assert_eq!(rows, 1, "{device}: {text}");
        }
        let fastest: Vec<&str> = text.lines().filter(|l| l.contains("  1.000  ")).collect();
        assert_eq!(fastest.len(), 1, "{text}");
        assert!(text.lines().all(|l| l.chars().count() <= 120), "{text}");
    }
    let text = stdout(&wavecast(&[&["rank", KERNEL, "--top", "2"], given().as_slice()].concat(), ""));
    assert_eq!(text.lines().filter(|l| l.trim_start().starts_with("h200")).count(), 2, "{text}");
}

/// 96 KiB for a block: the A100 has them, the T4 does not.
const LARGE: &str = "{wavecast: 1, kernel: large, fields: {a: {dtype: f64, size: 1048576}, b: {like: a}},
    domain: {x: 1048576}, loads: ['a[x]'], stores: ['b[x]'],
    launch: {block: [[256, 1, 1]], registers: 32, shared: 98304}}";

#[test]
fn a_device_that_cannot_run_it_says_why() {
    for command in ["rank", "predict"] {
        let arguments = [command, "-", "-d", "a100", "-d", "t4"];
        let output = wavecast(&arguments, LARGE);
        let text = stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{text}{}", stderr(&output));
        assert!(text.contains(" a100-40gb  "), "{text}");
        let why = text.lines().find(|l| l.starts_with(" t4: ")).unwrap_or_else(|| panic!("{text}"));
        assert!(why.contains("shared"), "{why}");
        let documents = json(&wavecast(&[arguments.as_slice(), &["--format", "json"]].concat(), LARGE));
        assert_eq!(documents[0]["device_relative"], 1.0);
        assert_eq!(documents[1].get("device_relative"), None);
    }
}

#[test]
fn a_series_over_devices_is_one_prediction_of_each() {
    let sweep = ["sweep", KERNEL, "--vary", "device=NVIDIA H200,a100,mi300x", "--block", "64,4,2"];
    let document = answer(&sweep, "");
    let points = document["points"].as_array().unwrap();
    assert_eq!(points.len(), 3);
    assert_eq!(document["device"]["id"], "h200");
    for point in points {
        let device = point["values"]["device"].as_str().unwrap();
        let single = answer(&["predict", KERNEL, "--block", "64,4,2", "-d", device], "");
        assert_eq!(point["result"]["time_s"], single["result"]["time_s"], "{device}");
    }
    let output = wavecast(&sweep, "");
    let text = stdout(&output);
    assert!(
        text.starts_with("star3d7 over device (3 values)\n") && !text.contains("no device given"),
        "{text}"
    );
    let csv = stdout(&wavecast(&[sweep.as_slice(), &["--format", "csv"]].concat(), ""));
    let devices: Vec<&str> = csv.lines().map(|l| l.split(',').nth(1).unwrap()).collect();
    assert_eq!(devices, ["device", "h200", "a100-40gb", "mi300x"]);
    let both = wavecast(&[sweep.as_slice(), &["-d", "a100"]].concat(), "");
    assert_eq!(both.status.code(), Some(2));
    assert!(stderr(&both).contains("the device varies and is given"), "{}", stderr(&both));
}

#[test]
fn a_choice_is_bad_usage() {
    let output = wavecast(&["rank", KERNEL, "-d", "a100", "-d", "NVIDIA H100", "--format", "json"], "");
    assert_eq!(output.status.code(), Some(2));
    let error = &json(&output)["errors"][0];
    assert_eq!(error["code"], "ambiguous-device");
    for id in ["h100-pcie", "h100-sxm", "h100-nvl"] {
        assert!(error["help"].as_str().unwrap().contains(id), "{error}");
    }
}
